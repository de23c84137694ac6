//! The commands, each in a module of its own.

pub(crate) mod agent;
pub(crate) mod client;
pub(crate) mod coverage;
pub(crate) mod diff;
mod document;
pub(crate) mod explain;
pub(crate) mod interruption;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod print;
pub(crate) mod recordings;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod reports;
pub(crate) mod self_test;
pub(crate) mod values;
pub(crate) mod verify_card;

use std::error::Error;

use anstyle::AnsiColor;

/// Tells on standard error why something could not be done, with what was behind it.
pub(crate) fn complain(error: &dyn Error) {
    let bad = AnsiColor::Red.on_default();
    let mut told = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        told = format!("{told}: {cause}");
        source = cause.source();
    }
    anstream::eprintln!("{bad}error{bad:#}: {told}");
}
