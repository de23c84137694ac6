//! Wire types, and reading of text as one of them.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::salvage::{salvage, unwrapped};
use super::words::other_words;
use super::{Deviation, Hints, JsonPath, Mode, Normalizer, Quirk, Violation, read_canonical};
use crate::{Event, Object};

/// A wire type of a protocol version.
pub trait Wire: DeserializeOwned + Serialize {
    /// Checks rules of the specification that the types cannot express. By default these are the rules of
    /// [`Wire::check_lenient`].
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        self.check_lenient(at)
    }

    /// Checks rules that a lenient reader enforces, too.
    fn check_lenient(&self, _at: &JsonPath<'_>) -> Result<(), Violation> {
        Ok(())
    }

    /// Repairs the known quirks of an object that should have been this type.
    fn normalize(_object: &mut Object, _normalizer: &mut Normalizer<'_>) {}
}

/// A value and the repairs that reading it took.
#[derive(Clone, Debug, PartialEq)]
pub struct WithRepairs<T> {
    /// The value.
    pub value: T,
    /// Every repair, in the order in which they were made; empty if there was none.
    pub repairs: Vec<Deviation>,
}

impl<T> WithRepairs<T> {
    /// Returns a value that took no repairs.
    pub(crate) fn unrepaired(value: T) -> Self {
        Self {
            value,
            repairs: Vec::new(),
        }
    }

    /// Applies a function to the value and keeps the repairs.
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> WithRepairs<U> {
        WithRepairs {
            value: map(self.value),
            repairs: self.repairs,
        }
    }

    /// Applies a function that may fail to the value, and keeps the repairs.
    pub(crate) fn try_map<U>(
        self,
        map: impl FnOnce(T) -> Result<U, Violation>,
    ) -> Result<WithRepairs<U>, Violation> {
        let (value, repairs) = (map(self.value)?, self.repairs);
        Ok(WithRepairs { value, repairs })
    }
}

/// One item of a stream as read.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamItem {
    /// The event.
    pub event: Event,
    /// `true` if the event ends the stream in 0.1 to 0.3: by `final`, or as a direct answer.
    pub last: bool,
}

/// Reads JSON text as a wire type.
pub fn read<T: Wire>(
    json: &str,
    mode: Mode,
    hints: &Hints<'_>,
) -> Result<WithRepairs<T>, Violation> {
    let root = JsonPath::Root(hints.root);
    let parsed: Result<T, Violation> = read_canonical(json, hints);
    let strict = parsed.and_then(|value: T| value.check(&root).map(|()| value));
    match strict {
        Ok(value) => Ok(WithRepairs::unrepaired(value)),
        Err(violation) if mode == Mode::Strict => Err(violation),
        Err(violation) => {
            let Ok(mut value @ Value::Object(_)) = serde_json::from_str(json) else {
                return Err(violation);
            };
            let mut normalizer = Normalizer::new(hints);
            if let Value::Object(object) = &mut value {
                T::normalize(object, &mut normalizer);
            }
            let read = read_canonical(&value.to_string(), hints)
                .and_then(|value: T| value.check_lenient(&root).map(|()| value));
            let (read, salvaged) = match read {
                Err(violation) if mode == Mode::Tolerant => {
                    let salvaged = salvage(value, json.len(), hints).map_err(|_| violation)?;
                    (Ok(salvaged.0), salvaged.1)
                }
                read => (read, Vec::new()),
            };
            let read = read.map_err(|violation| normalizer.as_sent(violation))?;
            normalizer.repairs.extend(salvaged);
            Ok(WithRepairs {
                value: read,
                repairs: normalizer.repairs,
            })
        }
    }
}

/// Reads JSON text as a type of the canonical model, in a mode.
pub fn read_canonical_in<T: DeserializeOwned>(
    json: &str,
    mode: Mode,
    hints: &Hints<'_>,
) -> Result<WithRepairs<T>, Violation> {
    match read_canonical(json, hints) {
        Ok(value) if mode == Mode::Lenient => Ok(WithRepairs::unrepaired(value)),
        Ok(value) => {
            let repairs = other_words(json, mode, hints)?;
            Ok(WithRepairs { value, repairs })
        }
        Err(violation) if mode == Mode::Tolerant => {
            let Ok(value) = serde_json::from_str(json) else {
                return Err(violation);
            };
            let (value, mut repairs) = salvage(value, json.len(), hints).map_err(|_| violation)?;
            repairs.extend(other_words(json, mode, hints)?);
            Ok(WithRepairs { value, repairs })
        }
        Err(violation) => Err(violation),
    }
}

/// Reads a result or event; unwraps it if it has the wrapper of another version.
pub fn read_unwrapped<T>(
    json: &str,
    mode: Mode,
    hints: &Hints<'_>,
    read: impl Fn(&str) -> Result<WithRepairs<T>, Violation>,
) -> Result<WithRepairs<T>, Violation> {
    let violation = match read(json) {
        Err(violation) if mode == Mode::Tolerant => violation,
        read => return read,
    };
    let value = serde_json::from_str(json).ok();
    let Some((name, inner)) = value.and_then(unwrapped) else {
        return Err(violation);
    };
    let mut read = read(&inner.to_string()).map_err(|_| violation)?;
    let path = format!("{}.{name}", hints.root);
    read.repairs.insert(0, Deviation::new(Quirk::Wrapped, path));
    Ok(read)
}
