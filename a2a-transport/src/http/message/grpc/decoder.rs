//! Messages of an answer by gRPC, as JSON.

use a2a_protobuf::MessageType;
use a2a_types::reading::Violation;
use http::{HeaderMap, StatusCode};

use super::frame::{FrameError, Frames};
use super::trailers::read_status;
use crate::Error;
use crate::binding::grpc::{Code, Status};

/// Decoder of the messages in a body.
#[derive(Debug)]
pub(crate) struct GrpcDecoder {
    frames: Frames,
    response: &'static MessageType,
    status: Option<Status>,
}

impl GrpcDecoder {
    /// Creates a decoder of an answer with these headers, whose messages have at most `limit` bytes.
    pub(crate) fn new(response: &'static MessageType, headers: &HeaderMap, limit: usize) -> Self {
        let is_gzip = headers
            .get("grpc-encoding")
            .is_some_and(|name| name == "gzip");
        Self {
            frames: Frames::new(is_gzip, limit),
            response,
            // Some servers have an error in the headers, and no trailers.
            status: read_status(headers),
        }
    }

    /// Returns the messages that are whole with these bytes, as JSON.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        self.frames.push(bytes);
        let mut messages = Vec::new();
        while let Some(message) = self.frames.next().map_err(malformed)? {
            let json = self.response.to_json(&message).map_err(|error| {
                Error::Malformed(Violation {
                    path: error.path,
                    problem: format!("{} ({})", error.problem, self.response.name()),
                })
            })?;
            messages.push(json);
        }
        Ok(messages)
    }

    /// Takes the trailers.
    pub(crate) fn trailers(&mut self, trailers: &HeaderMap) {
        self.status = read_status(trailers).or(self.status.take());
    }

    /// Checks the end of a body: that no message is broken off, and that the status is no error.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        match self.status.take() {
            Some(status) if status.code != Code::OK => Err(status.into_error()),
            _ if self.frames.buffered() > 0 => Err(malformed(FrameError::Truncated)),
            Some(_) => Ok(()),
            None => Err(Error::NotA2a {
                status: StatusCode::OK.as_u16(),
                problem: "the answer ends without `grpc-status`".to_owned(),
            }),
        }
    }

    /// Returns the number of bytes that are kept.
    pub(crate) fn buffered(&self) -> usize {
        self.frames.buffered()
    }
}

fn malformed(error: FrameError) -> Error {
    match error {
        FrameError::TooLarge(limit) => Error::TooLarge {
            what: "body",
            limit,
        },
        error => Error::Malformed(Violation {
            path: "$".to_owned(),
            problem: error.to_string(),
        }),
    }
}
