//! The six members that a message can have, found but not yet checked.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::fast_path::members;
use crate::path::clip;
use crate::text::Text;
use crate::validate::walk;
use crate::value_kind::ValueKind;
use crate::{Fault, Id, Limits, Reason};

/// An object that has passed validation, with its members as they were written.
///
/// An absent member is `None`, a null member is not, because JSON-RPC distinguishes them.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(Eq, PartialEq))]
pub(crate) struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) method: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) params: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) result: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) error: Option<&'a str>,
}

/// Value of the member `jsonrpc`. JSON-RPC 2.0 §4.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Version {
    /// `"2.0"`.
    V2,
    /// The member is absent.
    Absent,
    /// Another value, which only a response may have: a request with one is refused.
    Other,
}

/// Reason for which a document has no envelope.
#[derive(Debug)]
pub(crate) enum EnvelopeError {
    Fault(Fault),
    /// JSON of this kind, but not an object.
    NotAnObject(ValueKind),
}

/// Violation of JSON-RPC by one member.
#[derive(Debug, thiserror::Error)]
#[error("{path} {problem}")]
pub(crate) struct MemberError {
    pub(crate) path: &'static str,
    pub(crate) problem: String,
}

impl<'a> Envelope<'a> {
    pub(crate) fn read(bytes: &'a [u8], limits: &Limits) -> Result<Self, EnvelopeError> {
        Self::read_fast(bytes, limits).map_or_else(|| Self::read_validated(bytes, limits), Ok)
    }

    /// Reads a message on the fast path, which nearly every one takes.
    fn read_fast(bytes: &'a [u8], limits: &Limits) -> Option<Self> {
        let mut envelope = Self::default();
        members(bytes, limits, |key, value| {
            let member = match key {
                "jsonrpc" => &mut envelope.jsonrpc,
                "id" => &mut envelope.id,
                "method" => &mut envelope.method,
                "params" => &mut envelope.params,
                "result" => &mut envelope.result,
                "error" => &mut envelope.error,
                _ => return,
            };
            *member = Some(value);
        })?;
        Some(envelope)
    }

    /// Reads any message, after the full walk of validation.
    fn read_validated(bytes: &'a [u8], limits: &Limits) -> Result<Self, EnvelopeError> {
        walk(bytes, limits).map_err(EnvelopeError::Fault)?;
        // Derived code would also take an array for a struct.
        match ValueKind::of(bytes) {
            ValueKind::Object => serde_json::from_slice(bytes).map_err(EnvelopeError::inconsistent),
            other => Err(EnvelopeError::NotAnObject(other)),
        }
    }

    /// Returns whether the member `jsonrpc` is present, with any value.
    pub(crate) fn is_marked(&self) -> bool {
        self.jsonrpc.is_some()
    }

    /// Returns the value of the member `jsonrpc`. JSON-RPC 2.0 §4.
    pub(crate) fn version(&self) -> Result<Version, MemberError> {
        let Some(raw) = self.jsonrpc else {
            return Ok(Version::Absent);
        };
        match Text::of(raw) {
            Some(Text(version)) if version == "2.0" => Ok(Version::V2),
            Some(Text(other)) => Err(MemberError::new(
                "$.jsonrpc",
                format!("must be \"2.0\", found \"{}\"", clip(&other)),
            )),
            None => Err(MemberError::new(
                "$.jsonrpc",
                format!("must be \"2.0\", found {}", ValueKind::of(raw)),
            )),
        }
    }

    /// Returns the member `id`, or `None` if it is absent. JSON-RPC 2.0 §4.
    pub(crate) fn id(&self) -> Result<Option<Id>, MemberError> {
        self.id
            .map(Id::from_json)
            .transpose()
            .map_err(|problem| MemberError::new("$.id", problem))
    }
}

impl EnvelopeError {
    /// Returns the fault for two readings that disagree, which would be a mistake of ours: the peer gets
    /// a sentence and no panic.
    fn inconsistent(error: serde_json::Error) -> Self {
        Self::Fault(Fault {
            path: "$".to_owned(),
            line: error.line(),
            column: error.column(),
            reason: Reason::Syntax("two readings disagree".to_owned()),
        })
    }
}

impl MemberError {
    pub(crate) fn new(path: &'static str, problem: impl Into<String>) -> Self {
        Self {
            path,
            problem: problem.into(),
        }
    }
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de str>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(|raw| Some(raw.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_path_and_walk_find_the_same_members() {
        let limits = Limits::default();
        let text = br#" {"error":null, "result":[1] ,"params":{"a":"b"},"more":1,"method":"x","id":1,"jsonrpc":"2.0"}"#;
        let fast = Envelope::read_fast(text, &limits).unwrap();
        assert_eq!(fast, Envelope::read_validated(text, &limits).unwrap());
        assert!(fast.jsonrpc.and(fast.id).is_some());
        assert_eq!(
            Envelope::read_fast(b"{}", &limits),
            Some(Envelope::default())
        );
        assert_eq!(Envelope::read_fast(b"[]", &limits), None);
    }
}
