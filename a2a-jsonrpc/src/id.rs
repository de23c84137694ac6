//! The id that pairs a response with its request.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::value::RawValue;

use crate::value_kind::ValueKind;

/// The id of a request: null, a number in the digits it was written in, or a string.
/// JSON-RPC 2.0 §4.
///
/// A server has to echo an id as it was sent, so `1.0`, `1e2` and `12345678901234567890123` keep their
/// spelling; for the same reason `1` and `1.0` are different ids.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Id {
    /// No id: the answer to a request whose id could not be read. JSON-RPC 2.0 §5.
    Null,
    /// A number.
    Number(Number),
    /// A string.
    String(String),
}

impl Id {
    /// Returns an id that is a whole number, as clients count their requests.
    pub fn number(n: u64) -> Self {
        Self::Number(Number(n.to_string().into()))
    }

    /// Reads an id from text that is JSON. Errors: a phrase such as `must be …, found …`.
    pub(crate) fn from_json(text: &str) -> Result<Self, String> {
        match ValueKind::of(text) {
            ValueKind::Null => Ok(Self::Null),
            ValueKind::Number => Ok(Self::Number(Number(text.into()))),
            ValueKind::String => serde_json::from_str(text)
                .map(Self::String)
                .map_err(|error| format!("must be a string of Unicode: {error}")),
            other => Err(format!("must be a string, a number or null, found {other}")),
        }
    }
}

/// A JSON number in the digits it was written in.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Number(Box<str>);

impl Number {
    /// Returns the digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Writes the id as JSON: strings keep their quotes, so that `7` and `"7"` differ.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Number(number) => f.write_str(number.as_str()),
            Self::String(text) => {
                f.write_str(&serde_json::to_string(text).map_err(|_| fmt::Error)?)
            }
        }
    }
}

impl From<u64> for Id {
    fn from(n: u64) -> Self {
        Self::number(n)
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Id {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Number(number) => match number.as_str().parse::<u64>() {
                Ok(number) => serializer.serialize_u64(number),
                Err(_) => RawValue::from_string(number.as_str().to_owned())
                    .map_err(ser::Error::custom)?
                    .serialize(serializer),
            },
            Self::String(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_json(raw.get()).map_err(|problem| de::Error::custom(format!("an id {problem}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wire: &str, expected: Result<Id, &str>) {
        let found = serde_json::from_str::<Id>(wire).map_err(|error| error.to_string());
        assert_eq!(
            found.as_ref().map_err(String::as_str),
            expected.as_ref().map_err(|text| *text)
        );
        if let Ok(id) = found {
            assert_eq!(serde_json::to_string(&id).unwrap(), wire.trim());
            assert_eq!(id.to_string(), wire.trim());
        }
    }

    fn digits(text: &str) -> Result<Id, &str> {
        Ok(Id::Number(Number(text.into())))
    }

    #[test]
    fn ids_are_echoed_as_they_were_sent() {
        check("null", Ok(Id::Null));
        check("7", Ok(Id::number(7)));
        check(" 7 ", Ok(Id::number(7)));
        check("\"7\"", Ok(Id::from("7")));
        check(r#""a \"b\"\n""#, Ok(Id::from("a \"b\"\n".to_owned())));
        for spelling in ["1.0", "1e2", "-0", "12345678901234567890123", "1e400"] {
            check(spelling, digits(spelling));
        }
    }

    #[test]
    fn nothing_else_is_an_id() {
        check(
            "{}",
            Err("an id must be a string, a number or null, found an object"),
        );
        check(
            "[1]",
            Err("an id must be a string, a number or null, found an array"),
        );
        check(
            "true",
            Err("an id must be a string, a number or null, found a boolean"),
        );
        check(
            r#""\ud800""#,
            Err("an id must be a string of Unicode: \
                 unexpected end of hex escape at line 1 column 8"),
        );
    }

    #[test]
    fn spelling_makes_the_id() {
        assert_eq!(Id::from(1), Id::number(1));
        assert_ne!(digits("1.0"), Ok(Id::number(1)));
        assert_ne!(Id::from("1"), Id::number(1));
    }
}
