//! Check that secrets cannot be guessed from each other.

use serde_json::Value;

use super::equality::{at, text_of};

/// Returns whether two of the texts at a path differ in few letters only, like a counter or a time.
pub(super) fn are_guessable(items: &[Value], path: &str) -> bool {
    let texts = items.iter().map(|item| text_of(at(item, path)));
    let texts: Vec<_> = texts.collect();
    let is_close = |(end, text): (usize, &String)| {
        let mut before = texts.iter().take(end);
        before.any(|other| difference(other, text) < FEW)
    };
    texts.iter().enumerate().any(is_close)
}

/// Returns the number of places in which two texts differ.
fn difference(one: &str, other: &str) -> usize {
    let mut letters = one.chars();
    let differ = other.chars().filter(|own| letters.next() != Some(*own));
    let differ = differ.count();
    differ + letters.count()
}

/// Number of differing letters from which texts count as unrelated. Random texts of 16 hexadecimal
/// digits differ in fewer once in nine million times.
const FEW: usize = 8;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(texts: &[&str], expected: bool) {
        let items = texts.iter().map(|text| json!({"token": text}));
        let items: Vec<_> = items.collect();
        assert_eq!(are_guessable(&items, "token"), expected, "{texts:?}");
    }

    #[test]
    fn counted_texts_are_guessable() {
        check(&["token-for-config-1", "token-for-config-2"], true);
        check(&["2026-01-01T10:00:00Z", "2026-01-01T10:00:09Z"], true);
        check(&["token", "token"], true);
        check(&["0123456789abcdef", "0123456789abcdef1234567"], true);
    }

    #[test]
    fn random_texts_are_not_guessable() {
        let [one, two, three] = [(); 3].map(|()| uuid::Uuid::new_v4().to_string());
        check(&[&one, &two, &three], false);
        check(&[&one], false);
        check(&["0123456789abcdef", "0123456789abcdef12345678"], false);
    }
}
