//! Why a report could not be made.

use std::path::PathBuf;

use thiserror::Error;

/// Why a report could not be made, or what it is made of not be read.
#[derive(Debug, Error)]
pub enum Error {
    /// What `--redact` was given is no regular expression.
    #[error("{pattern:?} is no regular expression: {problem}")]
    Pattern {
        /// What was given.
        pattern: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A file cannot be read.
    #[error("{}: cannot be read", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not what it was given as.
    #[error("{}: {problem}", path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// What is wrong, where, and what was expected.
        problem: String,
    },
    /// A directory for reports is not there, or not for us.
    #[error("{}: reports cannot be written there", path.display())]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A report cannot be written.
    #[error("{}: cannot be written", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A report cannot be put into its form.
    #[error("the {form} report cannot be made: {problem}")]
    Form {
        /// Which.
        form: &'static str,
        /// Why.
        problem: String,
    },
}

impl Error {
    /// With what a program ends for it: 2 if what it was given is wrong, 4 if it did not get its work
    /// done.
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
