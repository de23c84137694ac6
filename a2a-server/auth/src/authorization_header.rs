//! The header `Authorization`.

use http::header::{AUTHORIZATION, HeaderMap};

use crate::scheme::Verdict;

/// Returns the credentials of a scheme, like `Bearer`; its case does not matter.
///
/// Errors: `Absent` for none of this scheme, `Invalid` for a header that cannot be read, or for several.
pub(crate) fn credentials<'a>(headers: &'a HeaderMap, scheme: &str) -> Result<&'a str, Verdict> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Err(Verdict::Absent);
    };
    if values.next().is_some() {
        return Err(Verdict::Invalid);
    }
    let Ok(text) = value.to_str() else {
        return Err(Verdict::Invalid);
    };
    let (name, credentials) = text.split_once(' ').unwrap_or((text, ""));
    match (name.eq_ignore_ascii_case(scheme), credentials.trim()) {
        (false, _) => Err(Verdict::Absent),
        (true, "") => Err(Verdict::Invalid),
        (true, credentials) => Ok(credentials),
    }
}
