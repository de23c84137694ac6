//! Secret text.

use std::fmt;
use std::sync::Arc;

/// A text that is never printed.
#[derive(Clone, Eq, Hash, PartialEq)]
pub(super) struct Secret(Arc<str>);

impl Secret {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into().into())
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}
