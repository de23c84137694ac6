//! The version that a request names.

use tonic::Request;

use crate::error::Error;

/// Returns the message of a request. Fails if its `a2a-version` names another version than the service has; the
/// service decides where there is none.
pub(crate) fn read<T>(request: Request<T>, version: &str) -> Result<T, Error> {
    if let Some(named) = request.metadata().get("a2a-version") {
        let named = named.to_str().unwrap_or("?");
        let patch = named.strip_prefix(version);
        if !patch.is_some_and(|patch| patch.is_empty() || patch.starts_with('.')) {
            return Err(Error::VersionNotSupported {
                version: named.to_owned(),
            });
        }
    }
    Ok(request.into_inner())
}
