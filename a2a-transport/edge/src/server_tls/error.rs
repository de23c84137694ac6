//! Faults of the files of TLS.

use std::io;
use std::path::PathBuf;

/// Fault of a file that the TLS of a server is made of.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerTlsError {
    /// The file cannot be read.
    #[error("`{}` cannot be read", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// There is no certificate in the file, or one that is cut off.
    #[error(
        "`{}` has no certificate, or none that is whole: expected PEM with `-----BEGIN CERTIFICATE-----`, the server's own first",
        file.display()
    )]
    NoCertificate {
        /// The file.
        file: PathBuf,
    },
    /// There is no private key in the file, or one that is cut off or encrypted.
    #[error(
        "`{}` has no private key, or none that is whole: expected PEM with `-----BEGIN PRIVATE KEY-----`, not encrypted",
        file.display()
    )]
    NoKey {
        /// The file.
        file: PathBuf,
    },
    /// The key is that of another certificate.
    #[error(
        "the private key in `{}` is not that of the first certificate in `{}`: expected the key that this certificate was requested with",
        key.display(),
        chain.display()
    )]
    KeyMismatch {
        /// The file of the certificate chain.
        chain: PathBuf,
        /// The file of the private key.
        key: PathBuf,
    },
    /// The file is PEM, but its content cannot be used.
    #[error("`{}` cannot be used: {problem}", file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// The reason.
        problem: String,
    },
}
