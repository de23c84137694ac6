//! Errors of settings.

use std::io;
use std::path::PathBuf;

/// Settings that cannot be used. No message quotes a key, a password, a hash or a token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("{}: it cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A file has other content than expected.
    #[error("{}: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The expected content, and the line.
        problem: String,
    },
    /// A value has another form than expected.
    #[error("{what}: {problem}")]
    Value {
        /// Name of the value.
        what: String,
        /// The expected form.
        problem: String,
    },
}

impl ConfigError {
    pub(crate) fn value(what: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Value {
            what: what.into(),
            problem: problem.into(),
        }
    }
}
