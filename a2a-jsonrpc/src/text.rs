//! A JSON string without its escapes.

use std::borrow::Cow;

use serde::Deserialize;

/// A decoded string, borrowed when it was written without escapes.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Text<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

impl<'a> Text<'a> {
    /// Returns the string in `json`, which must be JSON, or `None` if it is another kind of value.
    pub(crate) fn of(json: &'a str) -> Option<Self> {
        let text = json.strip_prefix('"')?.strip_suffix('"')?;
        match text.contains('\\') {
            true => serde_json::from_str(json).ok(),
            false => Some(Self(text.into())),
        }
    }
}
