//! A JSON string without its escapes.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A decoded string, borrowed when it was written without escapes.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Text<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

impl<'a> Text<'a> {
    /// The string that a value is, if it is one.
    pub(crate) fn of(raw: &'a RawValue) -> Option<Self> {
        serde_json::from_str(raw.get()).ok()
    }
}
