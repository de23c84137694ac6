//! An answer by gRPC: its messages, as JSON, and its status.

use a2a_protobuf::MessageType;
use http::{HeaderMap, StatusCode};

use super::frame::FrameError;
use super::message_decoder::{MessageDecoder, malformed};
use super::trailers::read_status;
use crate::Error;
use crate::binding::grpc::{Code, Status};

/// Decoder of an answer.
#[derive(Debug)]
pub(crate) struct GrpcDecoder {
    messages: MessageDecoder,
    status: Option<Status>,
}

impl GrpcDecoder {
    /// Creates a decoder of an answer with these headers, whose messages have at most `limit` bytes.
    pub(crate) fn new(response: &'static MessageType, headers: &HeaderMap, limit: usize) -> Self {
        Self {
            messages: MessageDecoder::new(response, headers, limit),
            // Some servers have an error in the headers, and no trailers.
            status: read_status(headers),
        }
    }

    /// Returns the messages that are whole with these bytes, as JSON.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        self.messages.push(bytes)
    }

    /// Takes the trailers.
    pub(crate) fn trailers(&mut self, trailers: &HeaderMap) {
        self.status = read_status(trailers).or(self.status.take());
    }

    /// Checks the end of a body: that no message is broken off, and that the status is no error.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        match self.status.take() {
            Some(status) if status.code != Code::OK => Err(status.into_error()),
            _ if self.messages.buffered() > 0 => Err(malformed(FrameError::Truncated)),
            Some(_) => Ok(()),
            None => Err(Error::NotA2a {
                status: StatusCode::OK.as_u16(),
                problem: "the answer ends without `grpc-status`".to_owned(),
            }),
        }
    }

    /// Returns the number of bytes that are kept.
    pub(crate) fn buffered(&self) -> usize {
        self.messages.buffered()
    }
}
