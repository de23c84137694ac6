//! The reports of one realistic run, in every form.

mod commands;
mod golden;
mod hostile;
mod page;
mod sample;
mod secrets;
mod standing;
