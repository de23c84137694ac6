//! Escaping of a peer's text for a terminal.
//!
//! ```
//! use a2a_client::terminal::{escape, escape_json};
//!
//! assert_eq!(escape("done\u{1b}[2J"), "done\\u{1b}[2J");
//! // JSON stays JSON: its readers get back the original.
//! assert_eq!(escape_json("\"\u{202e}\""), "\"\\u202e\"");
//! ```

use std::borrow::Cow;
use std::fmt::Write;

/// Returns whether a character controls a terminal, is invisible, or changes how others are displayed: C0 and C1
/// controls, line and paragraph separators, interlinear annotations, and the characters that Unicode calls default
/// ignorable (bidirectional controls, zero-width characters, tags), except the variation selectors 1 to 16 of
/// symbols.
pub fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Returns a text with its [unsafe](is_unsafe) characters escaped as in Rust, like `\u{1b}`. Line breaks and tabs
/// stay.
pub fn escape(text: &str) -> Cow<'_, str> {
    replace(
        text,
        |character| !matches!(character, '\n' | '\t') && is_unsafe(character),
        |escaped, character| escaped.extend(character.escape_default()),
    )
}

/// Returns a text on one line: line breaks and tabs are escaped, too.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    replace(text, is_unsafe, |escaped, character| {
        escaped.extend(character.escape_default());
    })
}

/// Returns a JSON text with its [unsafe](is_unsafe) characters escaped as in JSON, like `\u001b`: its value is
/// unchanged. Line breaks between its values stay.
pub fn escape_json(json: &str) -> Cow<'_, str> {
    replace(
        json,
        |character| !matches!(character, '\n' | '\r' | '\t') && is_unsafe(character),
        |escaped, character| {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a `String` cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        },
    )
}

fn replace(
    text: &str,
    is_replaced: impl Fn(char) -> bool,
    write: impl Fn(&mut String, char),
) -> Cow<'_, str> {
    if !text.chars().any(&is_replaced) {
        return Cow::Borrowed(text);
    }
    let mut replaced = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match is_replaced(character) {
            true => write(&mut replaced, character),
            false => replaced.push(character),
        }
    }
    Cow::Owned(replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_characters_are_escaped_and_scripts_are_not() {
        let plain = "plain “text”, 中文, हिन्दी, ❤\u{fe0f}, 👩\n\tok";
        assert_eq!(escape(plain), plain);
        assert_eq!(escape("\u{1b}[31mred\r\0"), "\\u{1b}[31mred\\r\\u{0}");
        assert_eq!(
            escape("\u{202e}txt.exe\u{2066}\u{9b}"),
            "\\u{202e}txt.exe\\u{2066}\\u{9b}"
        );
        let unseen = "\u{ad}\u{61c}\u{180e}\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{2028}\u{2029}\u{2060}\u{feff}\
             \u{fff9}\u{e0001}\u{e0041}\u{e007f}\u{7f}\u{3164}";
        assert!(unseen.chars().all(is_unsafe));
        assert_eq!(escape_line("one\ntwo\tthree"), "one\\ntwo\\tthree");
    }

    #[test]
    fn escaped_json_says_the_same() {
        for text in [
            "\u{1b}]0;x\u{7}\u{9b}",
            "\u{e0041}\u{e007f}",
            "\u{1d173}\u{200b}\u{2028}",
            "a\\\"\n\tb",
        ] {
            let json = serde_json::to_string_pretty(&[text]).unwrap();
            let escaped = escape_json(&json);
            assert!(escaped.chars().all(|it| it == '\n' || !is_unsafe(it)));
            let read: Vec<String> = serde_json::from_str(&escaped).unwrap();
            assert_eq!(read, [text], "{escaped}");
        }
    }
}
