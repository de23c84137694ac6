//! Documents given to a command: files, and contents of URLs.

use std::process::ExitCode;

use a2a_client::causes;
use a2a_transport::http::{HttpClient, Timeouts};
use a2a_transport::webhook::Jwks;
use http::HeaderMap;

use super::print::{UNREACHABLE, failed, refused};

/// Reason why there is no document.
pub(super) enum DocumentError {
    /// A file that cannot be read or, where a key set is expected, is not a key set.
    Usage(String),
    /// A URL that does not answer with a document.
    Unreachable(String),
}

impl DocumentError {
    pub(super) fn report(self) -> ExitCode {
        match self {
            Self::Usage(problem) => refused(&problem),
            Self::Unreachable(problem) => failed(UNREACHABLE, &problem),
        }
    }
}

/// The keys of a JSON Web Key Set.
pub(super) async fn read_keys(jwks: &str) -> Result<Jwks, DocumentError> {
    let text = match is_url(jwks) {
        true => fetch(jwks).await.map_err(DocumentError::Unreachable)?,
        false => read_file(jwks)?,
    };
    let read = Jwks::read(text.as_bytes());
    read.map_err(|error| {
        DocumentError::Usage(format!("{jwks}: it is not a JSON Web Key Set: {error}"))
    })
}

pub(super) fn is_url(place: &str) -> bool {
    place.starts_with("http://") || place.starts_with("https://")
}

pub(super) fn read_file(file: &str) -> Result<String, DocumentError> {
    std::fs::read_to_string(file).map_err(|error| DocumentError::Usage(format!("{file}: {error}")))
}

/// The text at a URL, or why there is none.
pub(super) async fn fetch(url: &str) -> Result<String, String> {
    let http = HttpClient::new(Timeouts::default());
    let fetched = http.get(url, &HeaderMap::new()).await;
    let fetched = fetched.map_err(|error| format!("{url}: {}", causes(&error)))?;
    if !fetched.status.is_success() {
        return Err(format!("{url}: {}", fetched.status));
    }
    String::from_utf8(fetched.body.into()).map_err(|_| format!("{url}: the body is not UTF-8"))
}
