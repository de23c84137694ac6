//! The reports of one realistic run, in every form.

mod golden;
mod page;
mod sample;
