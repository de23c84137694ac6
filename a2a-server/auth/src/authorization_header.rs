//! The header `Authorization`.

use http::header::{AUTHORIZATION, HeaderMap};

/// Credentials of an authentication scheme that a request shows.
pub(crate) enum Shown<'a> {
    /// No credentials of this scheme.
    Nothing,
    /// A header that cannot be read, or several.
    Malformed,
    /// The text after the name of the scheme.
    Credentials(&'a str),
}

/// Returns the credentials of a scheme, like `Bearer`; its case does not matter.
pub(crate) fn shown<'a>(headers: &'a HeaderMap, scheme: &str) -> Shown<'a> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Shown::Nothing;
    };
    if values.next().is_some() {
        return Shown::Malformed;
    }
    let Ok(text) = value.to_str() else {
        return Shown::Malformed;
    };
    let (name, credentials) = text.split_once(' ').unwrap_or((text, ""));
    match (name.eq_ignore_ascii_case(scheme), credentials.trim()) {
        (false, _) => Shown::Nothing,
        (true, "") => Shown::Malformed,
        (true, credentials) => Shown::Credentials(credentials),
    }
}
