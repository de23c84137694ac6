//! URLs to call.

use http::Uri;

use crate::Error;

/// Reads the URL of an agent.
///
/// Errors: it is none of HTTP, or needs TLS, which this build has not.
pub(crate) fn address(url: &str) -> Result<Uri, Error> {
    let uri: Uri = url.parse().map_err(|error| bad_address(url, error))?;
    match uri.scheme_str() {
        Some("http") if uri.host().is_some() => Ok(uri),
        Some("https") if uri.host().is_some() => match cfg!(feature = "tls") {
            true => Ok(uri),
            false => Err(bad_address(url, "https needs the feature `tls`")),
        },
        _ => Err(bad_address(
            url,
            "expected `https://host[:port][/path]`, or `http://…`",
        )),
    }
}

/// Returns the error of a URL that cannot be called.
pub(crate) fn bad_address(url: &str, problem: impl ToString) -> Error {
    Error::Address {
        url: url.to_owned(),
        problem: problem.to_string(),
    }
}
