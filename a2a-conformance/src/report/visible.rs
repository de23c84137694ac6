//! Escaping of control and bidirectional characters in a target's text.

use std::borrow::Cow;

/// Escapes every character that is invisible, or that changes how others are displayed. Keeps line
/// breaks and tabs.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    spelled(text, |character| {
        !matches!(character, '\n' | '\t') && acts(character)
    })
}

/// Escapes line breaks and tabs too.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    spelled(text, acts)
}

/// Returns whether a character is invisible or changes how others are displayed.
pub(crate) fn acts(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// Returns the first part of a text, of at most `bytes` bytes, and the number of bytes left out.
pub(crate) fn head(text: &str, bytes: usize) -> (&str, usize) {
    let boundary = |end: &usize| text.is_char_boundary(*end);
    let end = (0..=bytes.min(text.len())).rev().find(boundary);
    let (head, rest) = text.split_at(end.unwrap_or_default());
    (head, rest.len())
}

fn spelled(text: &str, is_spelled: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_spelled) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match is_spelled(character) {
            true => escaped.extend(character.escape_default()),
            false => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(
            visible("plain “text”, 中文, 👩\n\tok"),
            "plain “text”, 中文, 👩\n\tok"
        );
        assert_eq!(visible("\u{1b}[31mred\r\0"), "\\u{1b}[31mred\\r\\u{0}");
        assert_eq!(
            visible("\u{202e}txt.exe\u{2066}\u{9b}"),
            "\\u{202e}txt.exe\\u{2066}\\u{9b}"
        );
        let unseen =
            "\u{ad}\u{61c}\u{180e}\u{200b}\u{200f}\u{2028}\u{2060}\u{feff}\u{fff9}\u{e0041}\u{7f}";
        assert!(unseen.chars().all(acts));
        assert_eq!(line("one\ntwo\tthree"), "one\\ntwo\\tthree");
    }

    #[test]
    fn a_head_ends_between_characters() {
        assert_eq!(head("aé", 2), ("a", 2));
        assert_eq!(head("aé", 9), ("aé", 0));
    }
}
