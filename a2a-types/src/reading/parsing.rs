//! Reading of JSON text as typed values, and the place of an error.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Hints, Violation};
pub(super) use crate::by_name::PathStep;
use crate::by_name::{ByName, Trail};

/// Reads JSON text as a type of the canonical model, which has its own liberties (ProtoJSON). An error has
/// the path of the first value that does not fit.
pub fn read_canonical<T: DeserializeOwned>(json: &str, hints: &Hints<'_>) -> Result<T, Violation> {
    let trail = Trail::default();
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let read = T::deserialize(ByName(&mut deserializer, &trail));
    read.and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| violation(&error, &trail, hints))
}

/// Reads a value as a type, like [`read_canonical`]. An error has the steps to its place, too.
pub(super) fn read_value<T: DeserializeOwned>(
    value: &Value,
    hints: &Hints<'_>,
) -> Result<T, (Vec<PathStep>, Violation)> {
    let trail = Trail::default();
    T::deserialize(ByName(value, &trail))
        .map_err(|error| (trail.steps(), violation(&error, &trail, hints)))
}

fn violation(error: &serde_json::Error, trail: &Trail, hints: &Hints<'_>) -> Violation {
    // serde_json appends a position in the text; the path serves better.
    let text = without_values(error);
    let problem = text.split_once(" at line ");
    Violation {
        path: trail.path(hints.root),
        problem: problem
            .map_or(text.as_str(), |(problem, _)| problem)
            .to_owned(),
    }
}

/// Returns the message of a deserializer in the words of JSON, without the strings that it repeats:
/// a misplaced one may be a secret, and errors are logged.
pub fn without_values(error: &impl std::fmt::Display) -> String {
    let text = of_json(error.to_string());
    for (begins, kept) in KINDS {
        if let Some(rest) = text.strip_prefix(begins) {
            // The last one is ours, whatever the string contains.
            return match rest.rsplit_once(", expected ") {
                Some((_, expected)) => format!("{kept}, expected {expected}"),
                None => (*kept).to_owned(),
            };
        }
    }
    text
}

/// Replaces a Rust number type that a message expects by its words in JSON.
fn of_json(text: String) -> String {
    let Some((found, expected)) = text.rsplit_once(", expected ") else {
        return text;
    };
    let (word, rest) = expected.split_at(expected.find(' ').unwrap_or(expected.len()));
    match NUMBERS.iter().find(|(rust, _)| *rust == word) {
        Some((_, json)) => format!("{found}, expected {json}{rest}"),
        None => text,
    }
}

/// Rust number types in words of JSON.
const NUMBERS: &[(&str, &str)] = &[
    ("u32", "an integer from 0 to 4294967295"),
    ("u64", "an integer from 0 to 18446744073709551615"),
    ("i32", "an integer from -2147483648 to 2147483647"),
    ("i64", "an integer of 64 bits"),
    ("f64", "a number"),
];

/// First words of messages that repeat a string or use a word of Rust, and their replacements.
const KINDS: &[(&str, &str)] = &[
    ("invalid type: string", "invalid type: string"),
    ("invalid value: string", "invalid value: string"),
    ("unknown variant", "invalid value: string"),
    ("invalid type: map", "invalid type: object"),
    ("invalid type: sequence", "invalid type: array"),
    ("invalid type: unit value", "invalid type: null"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_after_the_document_is_a_violation() {
        let hints = Hints::at("$");
        let read = |json| read_canonical::<crate::Message>(json, &hints);
        let json = r#"{"messageId": "1", "role": "ROLE_USER", "parts": []}"#;
        read(json).expect("this is a message");
        let violation = read(&format!("{json} {{}}")).expect_err("something comes after it");
        assert_eq!(violation.path, hints.root);
        assert!(
            violation.problem.starts_with("trailing characters"),
            "{violation:?}"
        );
    }
}
