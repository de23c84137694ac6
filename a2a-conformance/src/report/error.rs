//! Errors of reports.

use std::path::PathBuf;

use thiserror::Error;

/// Failure to read the input of a report, or to make or write it.
#[derive(Debug, Error)]
pub enum Error {
    /// The argument of `--redact` is not a regular expression.
    #[error("{pattern:?} is not a regular expression: {problem}")]
    Pattern {
        /// The argument.
        pattern: String,
        /// The problem with it.
        problem: String,
    },
    /// A file cannot be read.
    #[error("{}: cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file does not have the expected content.
    #[error("{}: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The problem, its place, and what was expected.
        problem: String,
    },
    /// A directory for reports does not exist or is not writable.
    #[error("{}: reports cannot be written there", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A report cannot be written.
    #[error("{}: cannot be written", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A report cannot be made in a form.
    #[error("the {form} report cannot be made: {problem}")]
    Form {
        /// The name of the form.
        form: &'static str,
        /// The problem.
        problem: String,
    },
}

impl Error {
    /// Returns the exit code of a program: 2 for a wrong argument, 4 if its work failed.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Pattern { .. }
            | Self::Read { .. }
            | Self::Content { .. }
            | Self::Directory { .. } => 2,
            Self::Write { .. } | Self::Form { .. } => 4,
        }
    }
}
