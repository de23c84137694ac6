//! The reports of one realistic run, in every form.

mod commands;
mod exit_code;
mod golden;
mod hostile;
mod index;
mod page;
mod sample;
mod secrets;
