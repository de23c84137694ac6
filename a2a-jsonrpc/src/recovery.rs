//! Recovery of the id of a message that could not be read, so that its sender can match the error to it.

use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::Id;
use crate::text::Text;

/// Finds the top-level `id` before or after the fault, or returns [`Id::Null`].
///
/// Values are skipped without being built, and the search ends at the first syntax error. Two ids,
/// or a number at the end of the text, which may be cut short, give [`Id::Null`] too: a wrong id is worse
/// than none.
pub(crate) fn recover_id(bytes: &[u8]) -> Id {
    let mut found = IdSearch::Nothing;
    let mut json = serde_json::Deserializer::from_slice(bytes);
    // The error, if there is one, has already been reported by the caller.
    let _ = json.deserialize_map(IdVisitor(&mut found));
    match found {
        IdSearch::Whole(id) => id,
        IdSearch::Last(Id::Number(number)) if bytes.ends_with(number.as_str().as_bytes()) => {
            Id::Null
        }
        IdSearch::Last(id) => id,
        IdSearch::Nothing | IdSearch::Unclear => Id::Null,
    }
}

/// State of the search.
#[derive(Debug)]
enum IdSearch {
    Nothing,
    /// An id after which nothing was read yet.
    Last(Id),
    /// An id that was followed by something, and therefore ends where it seems to.
    Whole(Id),
    /// More than one `id`, or a value that is not a valid id.
    Unclear,
}

impl IdSearch {
    fn id(&mut self, raw: &RawValue) {
        *self = match (&*self, Id::from_json(raw.get())) {
            (Self::Nothing, Ok(id)) => Self::Last(id),
            _ => Self::Unclear,
        };
    }

    fn followed(&mut self) {
        *self = match std::mem::replace(self, Self::Nothing) {
            Self::Last(id) => Self::Whole(id),
            other => other,
        };
    }
}

#[derive(Debug)]
struct IdVisitor<'s>(&'s mut IdSearch);

impl<'de> Visitor<'de> for IdVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        loop {
            let key = members.next_key()?;
            self.0.followed();
            match key {
                Some(Text(key)) if key == "id" => self.0.id(members.next_value()?),
                Some(_) => drop(members.next_value::<IgnoredAny>()?),
                None => return Ok(()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: impl AsRef<[u8]>, expected: impl Into<Id>) {
        assert_eq!(recover_id(bytes.as_ref()), expected.into());
    }

    #[test]
    fn the_id_is_found_before_the_fault() {
        check(r#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"#, 7);
        check(r#"{"id":"a","params":x"#, "a");
        check(r#"{"id":"a""#, "a");
        check(r#"{"id":7,"method":"#, 7);
        check(r#"{"id":7 "#, 7);
        check(r#"{"id":7}}"#, 7);
    }

    #[test]
    fn the_id_is_found_after_the_fault() {
        check(r#"{"params":{"a":1,"a":2},"id":7}"#, 7);
        check(
            format!(
                r#"{{"params":{}{},"id":7}}"#,
                "[".repeat(9_999),
                "]".repeat(9_999)
            ),
            7,
        );
        check(b"{\"params\":\"\xff\",\"id\":7}", 7);
        check(r#"{"params":"\ud800","\u0069d":7}"#, 7);
    }

    #[test]
    fn an_ambiguous_id_is_null() {
        check("", Id::Null);
        check("[7]", Id::Null);
        check(r#"{"id":7"#, Id::Null);
        check(r#"{"id":"7"#, Id::Null);
        check(r#"{"id":nul"#, Id::Null);
        check(r#"{"id":7,"id":7}"#, Id::Null);
        check(r#"{"id":7,"id":[]}"#, Id::Null);
        check(r#"{"id":{},"id":7}"#, Id::Null);
        check(r#"{"params":{"id":7},"id""#, Id::Null);
        check(r#"{"params":x,"id":7}"#, Id::Null);
    }
}
