//! URLs to call.

use http::Uri;

use crate::Error;

/// Reads the URL of an agent.
///
/// Errors: it is not an HTTP URL, or needs TLS, which this build does not have.
pub(crate) fn address(url: &str) -> Result<Uri, Error> {
    let uri: Uri = url.parse().map_err(|error| bad_address(url, error))?;
    let authority = uri.authority();
    // A port that is too large parses as no port, and the default port would be called.
    if authority.is_some_and(|it| it.port().is_none() && !it.as_str().ends_with(it.host())) {
        return Err(bad_address(url, "expected a port from 0 to 65535"));
    }
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
