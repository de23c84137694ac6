//! gRPC over HTTP/2, and gRPC-Web: frames, compression, trailers and deadlines.

mod deadline;
mod decoder;
mod format;
mod frame;
mod message_decoder;
mod trailers;

pub(crate) use self::deadline::read_timeout;
pub(crate) use self::decoder::GrpcDecoder;
pub(crate) use self::format::{GrpcFormat, Web};
pub(crate) use self::frame::{FrameError, Frames, read_message};
pub(crate) use self::message_decoder::frame;
pub use self::message_decoder::{MessageDecoder, frame_request, frame_response};
pub use self::trailers::{read_details, read_status, write_status};
