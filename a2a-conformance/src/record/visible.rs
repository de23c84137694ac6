//! Escaping and shortening of a target's text.

pub(crate) use a2a_client::terminal::{escape as visible, escape_line as line};

/// Returns the first part of a text, of at most `bytes` bytes, and the number of bytes left out.
pub(crate) fn head(text: &str, bytes: usize) -> (&str, usize) {
    let boundary = |end: &usize| text.is_char_boundary(*end);
    let end = (0..=bytes.min(text.len())).rev().find(boundary);
    let (head, rest) = text.split_at(end.unwrap_or_default());
    (head, rest.len())
}

#[cfg(test)]
mod tests {
    use a2a_client::terminal::is_unsafe;

    use super::*;

    #[test]
    fn unsafe_characters_match_the_unicode_classes() {
        let class = r"[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{fff9}-\u{fffb}--\u{fe00}-\u{fe0f}]";
        let expected = regex::Regex::new(class).unwrap();
        for character in char::MIN..=char::MAX {
            let mut text = [0; 4];
            let text = character.encode_utf8(&mut text);
            let is_expected = expected.is_match(text);
            assert_eq!(
                is_unsafe(character),
                is_expected,
                "U+{:04X}",
                u32::from(character)
            );
        }
    }

    #[test]
    fn a_head_ends_between_characters() {
        assert_eq!(head("aé", 2), ("a", 2));
        assert_eq!(head("aé", 9), ("aé", 0));
    }
}
