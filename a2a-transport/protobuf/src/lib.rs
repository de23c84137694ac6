//! Protocol Buffers messages of A2A 1.0 and 0.3 as JSON, and back.
//!
//! The gRPC binding sends the messages of JSON-RPC and HTTP+JSON in another encoding. This crate converts the encodings
//! and knows nothing else: no socket, no gRPC. Its tables are made from the `.proto` files of the specification.
//!
//! ```
//! let method = a2a_protobuf::Method::at("/lf.a2a.v1.A2AService/GetTask").unwrap();
//! let message = method.request().to_protobuf(br#"{"id":"4f2c","historyLength":3}"#)?;
//! assert_eq!(message, b"\x12\x044f2c\x18\x03");
//! assert_eq!(method.request().to_json(&message)?, br#"{"id":"4f2c","historyLength":3}"#);
//! # Ok::<_, a2a_protobuf::InvalidMessage>(())
//! ```

mod decode;
mod encode;
mod method;
mod schema;
mod tables;

pub use self::method::Method;
pub use self::schema::MessageType;

/// Reason for which a message cannot be converted.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct InvalidMessage {
    /// Place in the message, as in its JSON: `$.message.parts[0]`.
    pub path: String,
    /// Problem there, and what was expected.
    pub problem: String,
}

impl InvalidMessage {
    fn new(problem: impl Into<String>) -> Self {
        Self {
            path: "$".to_owned(),
            problem: problem.into(),
        }
    }

    /// Returns the error as one of the message that has this member.
    fn within(mut self, member: &str) -> Self {
        self.path = format!("${member}{}", &self.path[1..]);
        self
    }
}
