//! Output of the commands, and their exit codes.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use a2a_client::terminal::{escape, escape_json};
use anstyle::{AnsiColor, Style};
use serde::Serialize;

/// The command line is wrong, or there is nothing to do.
pub(crate) const USAGE: u8 = 2;

/// The agent or document cannot be reached.
pub(crate) const UNREACHABLE: u8 = 3;

/// Style of emphasized text.
pub(crate) const BOLD: Style = Style::new().bold();
/// Style of secondary text.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Style of success.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Style of warnings.
pub(crate) const FAIR: Style = AnsiColor::Yellow.on_default();
/// Style of errors.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

/// Prints as JSON.
pub(crate) fn print_json(value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
    writeln!(anstream::stdout(), "{}", escape_json(&text))
}

/// Returns the exit code of a command that has printed: [`USAGE`] if the output could not be written.
pub(crate) fn ended(printed: &io::Result<()>, code: u8) -> ExitCode {
    match printed {
        Ok(()) => ExitCode::from(code),
        Err(_) => ExitCode::from(USAGE),
    }
}

/// Prints a problem of the command line, and returns the usage exit code.
pub(crate) fn refused(problem: &str) -> ExitCode {
    failed(USAGE, problem)
}

/// Prints a failure, and returns its exit code.
pub(crate) fn failed(code: u8, problem: &str) -> ExitCode {
    anstream::eprintln!("{BAD}error{BAD:#}: {}", escape(problem));
    ExitCode::from(code)
}

/// Prints a failure with its causes, and returns its exit code.
pub(crate) fn failed_by(code: u8, error: &(dyn Error + 'static)) -> ExitCode {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    let causes: Vec<_> = causes.map(ToString::to_string).collect();
    failed(code, &causes.join(": "))
}
