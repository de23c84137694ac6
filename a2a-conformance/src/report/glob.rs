//! Names of checks with `*` in them.

use globset::{Glob, GlobMatcher};

/// Whether names are as a pattern: `*` and `?` stand for anything, `{a,b}` for one of several.
pub(crate) struct Names(GlobMatcher);

impl Names {
    /// Reads a pattern; what is wrong with it otherwise.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let glob = Glob::new(pattern).map_err(|error| error.to_string())?;
        Ok(Self(glob.compile_matcher()))
    }

    /// Whether a name is so.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}
