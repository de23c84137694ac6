//! Types of messages, as the tables have them.

use crate::InvalidMessage;
use crate::decode;
use crate::encode;

/// Type of a message.
#[derive(Debug)]
pub struct MessageType {
    /// Full name, like `lf.a2a.v1.Task`.
    pub(crate) name: &'static str,
    /// Fields, the lowest number first.
    pub(crate) fields: &'static [Field],
}

impl MessageType {
    /// Returns the full name, like `lf.a2a.v1.Task`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Converts a message to JSON. Unknown fields are skipped.
    ///
    /// Errors: the bytes are not a message of this type, or it is nested more than 100 messages deep.
    pub fn to_json(&'static self, message: &[u8]) -> Result<Vec<u8>, InvalidMessage> {
        decode::to_json(self, message)
    }

    /// Converts JSON to a message. Members that the message has no field for are skipped.
    ///
    /// Errors: the JSON is malformed, or a member has another type than its field.
    pub fn to_protobuf(&'static self, json: &[u8]) -> Result<Vec<u8>, InvalidMessage> {
        encode::to_protobuf(self, json)
    }
}

/// Field of a message.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) number: u32,
    /// Name in JSON.
    pub(crate) name: &'static str,
    /// Name in the `.proto` file, which JSON may have, too.
    pub(crate) proto_name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) rule: Rule,
}

/// Type of a field's value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Bool,
    Int32,
    Text,
    Bytes,
    /// Names by number.
    Enum(&'static [(i32, &'static str)]),
    Message(&'static MessageType),
    /// `google.protobuf.Timestamp`
    Timestamp,
    /// `google.protobuf.Struct`
    Struct,
    /// `google.protobuf.Value`
    Value,
    /// `google.protobuf.ListValue`
    List,
}

/// Number of times that a field occurs, and whether its default value is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Rule {
    /// Not written if it has the default value.
    Implicit,
    /// Written whenever it is present.
    Explicit,
    /// The last one of this group counts.
    OneOf(u8),
    Repeated,
    /// Map from text.
    Map,
}
