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
//!
//! A server of gRPC has other messages, too: errors ([`STATUS`]), health and reflection, with the [`file_descriptors`]
//! that reflection sends.

mod decode;
mod encode;
mod file_descriptor;
mod invalid_message;
mod message_type;
mod method;
mod schema;
mod tables;
mod well_known;

pub use self::file_descriptor::{file_descriptors, services};
pub use self::invalid_message::InvalidMessage;
pub use self::schema::{FileDescriptor, MessageType, Method};
pub use self::tables::{
    HEALTH_CHECK_REQUEST, HEALTH_CHECK_RESPONSE, SERVER_REFLECTION_REQUEST,
    SERVER_REFLECTION_RESPONSE, STATUS,
};
