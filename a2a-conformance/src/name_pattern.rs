//! Names of checks with `*` in them.

use globset::{Glob, GlobMatcher};

/// Pattern of names: `*` and `?` stand for anything, `{a,b}` for one of several.
pub(crate) struct NamePattern(GlobMatcher);

impl NamePattern {
    /// Reads a pattern. Errors: what is wrong with it.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let glob = Glob::new(pattern).map_err(|error| error.to_string())?;
        Ok(Self(glob.compile_matcher()))
    }

    /// Returns whether a name matches.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

/// Returns whether a name matches a pattern; none matches an invalid one.
pub(crate) fn is_like(pattern: &str, name: &str) -> bool {
    NamePattern::new(pattern).is_ok_and(|names| names.has(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_their_patterns() {
        for (pattern, name, expected) in [
            ("send.*", "send.text-is-answered", true),
            ("*", "send.a", true),
            ("*.a", "send.a", true),
            ("send.a", "send.a", true),
            ("send.a", "send.ab", false),
            ("send.*", "resend.a", false),
            ("{push,send}.*", "push.a", true),
            ("{push", "push.a", false),
            ("", "send.a", false),
        ] {
            assert_eq!(is_like(pattern, name), expected, "{pattern} {name}");
        }
    }
}
