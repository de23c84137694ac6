//! Sanitized text of peers, for error messages.

/// Returns a peer's text cut to one line, with `?` for everything but printable ASCII.
pub(super) fn printable(text: &str) -> String {
    let shown = text.chars().take(MAX_SHOWN).map(|char| match char {
        ' '..='~' => char,
        _ => '?',
    });
    let mut shown: String = shown.collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// Formats an error with its causes.
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let all = std::iter::successors(Some(error), |error| error.source());
    let all: Vec<_> = all.map(ToString::to_string).collect();
    printable(&all.join(": "))
}

/// Number of characters shown.
const MAX_SHOWN: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_text_is_short_and_ascii_without_control_characters() {
        assert_eq!(printable("a b\u{1b}[2J\r\né"), "a b?[2J???");
        let long = printable(&"x".repeat(10_000));
        assert_eq!(long.chars().count(), MAX_SHOWN + 1);
        assert_eq!(printable(&"x".repeat(MAX_SHOWN)), "x".repeat(MAX_SHOWN));
    }
}
