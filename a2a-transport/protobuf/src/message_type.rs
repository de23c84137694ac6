//! Conversions of the messages of a type.

use crate::invalid_message::InvalidMessage;
use crate::schema::MessageType;
use crate::{decode, encode};

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
