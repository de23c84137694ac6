//! gRPC over HTTP/2, and gRPC-Web: frames, compression, trailers and deadlines.

mod deadline;
mod decoder;
mod format;
mod frame;
mod trailers;

pub(crate) use self::deadline::read_timeout;
pub(crate) use self::decoder::GrpcDecoder;
pub(crate) use self::format::{GrpcFormat, Web};
pub(crate) use self::frame::{FrameError, Frames, read_message, write_message};
pub(crate) use self::trailers::write_status;
