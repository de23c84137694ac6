//! Texts that are not too long to be shown.

/// Returns a text, or its first `most` characters and an ellipsis.
pub(crate) fn excerpt(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
