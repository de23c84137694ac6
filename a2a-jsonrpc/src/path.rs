//! Place of a value in a document: `$.params.message.parts[3]`.

use std::fmt::{self, Write};

/// A place, as links up the stack of the scan; it becomes text only when something is wrong there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Path<'p> {
    /// The document itself.
    Root,
    /// A member of the object at a place.
    Member(&'p Path<'p>, &'p str),
    /// An element of the array at a place.
    Element(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Root => f.write_char('$'),
            Self::Member(parent, key) if is_plain(key) => write!(f, "{parent}.{key}"),
            Self::Member(parent, key) => write!(f, "{parent}[\"{}\"]", clip(key)),
            Self::Element(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Returns a peer's text in a form fit for a message: escaped, on one line, at most `MAX_TEXT` characters.
pub(crate) fn clip(text: &str) -> String {
    let mut clipped: String = text
        .chars()
        .take(MAX_TEXT)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(MAX_TEXT).is_some() {
        clipped.push('…');
    }
    clipped
}

/// Returns whether a key needs no quotes: an identifier short enough to print whole.
fn is_plain(key: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
    key.len() <= MAX_TEXT && key.starts_with(|c: char| !c.is_ascii_digit()) && key.bytes().all(word)
}

/// Longest text that is printed whole, in characters.
const MAX_TEXT: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(key: &str, expected: &str) {
        let params = Path::Member(&Path::Root, "params");
        let path = Path::Member(&params, key);
        assert_eq!(Path::Element(&path, 3).to_string(), expected);
    }

    #[test]
    fn plain_keys_follow_a_dot() {
        check("parts", "$.params.parts[3]");
        check("_a1", "$.params._a1[3]");
    }

    #[test]
    fn odd_keys_are_quoted_and_escaped() {
        check("", r#"$.params[""][3]"#);
        check("1a", r#"$.params["1a"][3]"#);
        check("a.b", r#"$.params["a.b"][3]"#);
        check("a\"]\n", r#"$.params["a\"]\n"][3]"#);
        check("é", r#"$.params["é"][3]"#);
    }

    #[test]
    fn long_keys_are_clipped() {
        check(&"k".repeat(40), &format!("$.params.{}[3]", "k".repeat(40)));
        check(
            &"k".repeat(4_000),
            &format!("$.params[\"{}…\"][3]", "k".repeat(40)),
        );
        check(
            &"é".repeat(41),
            &format!("$.params[\"{}…\"][3]", "é".repeat(40)),
        );
    }
}
