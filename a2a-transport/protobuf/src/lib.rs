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
mod descriptors;
mod encode;
mod file_descriptor;
mod invalid_message;
mod message_type;
mod method;
mod schema;
mod tables;

pub use self::descriptors::SERVICES;
pub use self::file_descriptor::FileDescriptor;
pub use self::invalid_message::InvalidMessage;
pub use self::schema::{MessageType, Method};
pub use self::tables::{
    BAD_REQUEST, ERROR_INFO, HEALTH_CHECK_REQUEST, HEALTH_CHECK_RESPONSE, RETRY_INFO,
    SERVER_REFLECTION_REQUEST, SERVER_REFLECTION_RESPONSE, STATUS,
};
