//! The messages of a body, as JSON.

use a2a_protobuf::{MessageType, Method};
use a2a_types::reading::Violation;
use bytes::Bytes;
use http::HeaderMap;

use super::frame::{FrameError, Frames, write_message};
use crate::Error;

/// Decoder of the messages in the body of a request or of an answer.
#[derive(Debug)]
pub struct MessageDecoder {
    frames: Frames,
    message: &'static MessageType,
}

impl MessageDecoder {
    /// Creates a decoder of requests to the method at a path, whose messages have at most `limit` bytes; `None` if A2A
    /// has no such method. `headers` belong to the request.
    pub fn of_requests(path: &str, headers: &HeaderMap, limit: usize) -> Option<Self> {
        Some(Self::new(Method::at(path)?.request(), headers, limit))
    }

    /// Creates a decoder of answers, likewise.
    pub fn of_responses(path: &str, headers: &HeaderMap, limit: usize) -> Option<Self> {
        Some(Self::new(Method::at(path)?.response(), headers, limit))
    }

    pub(crate) fn new(message: &'static MessageType, headers: &HeaderMap, limit: usize) -> Self {
        let is_gzip = headers
            .get("grpc-encoding")
            .is_some_and(|name| name == "gzip");
        Self {
            frames: Frames::new(is_gzip, limit),
            message,
        }
    }

    /// Returns the messages that are whole with these bytes, in ProtoJSON.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        self.add(bytes);
        let mut messages = Vec::new();
        while let Some(message) = self.next_message()? {
            messages.push(message);
        }
        Ok(messages)
    }

    /// Adds bytes, whose messages [`next_message`](Self::next_message) returns.
    pub fn add(&mut self, bytes: &[u8]) {
        self.frames.push(bytes);
    }

    /// Returns the next message that is whole, in ProtoJSON.
    ///
    /// Errors: the message cannot be decoded. The next call returns the message after it, unless the frame itself
    /// cannot be read: then the [buffered](Self::buffered) bytes stay, and each further call is the same error.
    pub fn next_message(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let Some(message) = self.frames.next().map_err(malformed)? else {
            return Ok(None);
        };
        let json = self.message.to_json(&message).map_err(|error| {
            Error::Malformed(Violation {
                path: error.path,
                problem: format!("{} ({})", error.problem, self.message.name()),
            })
        })?;
        Ok(Some(json))
    }

    /// Returns the number of bytes of a message that is not whole.
    pub fn buffered(&self) -> usize {
        self.frames.buffered()
    }
}

/// Returns the frame of a request to the method at a path, from its ProtoJSON.
///
/// Errors: there is no such method, or the JSON is not that of its message.
pub fn frame_request(path: &str, json: &[u8]) -> Result<Bytes, Error> {
    frame(method(path)?.request(), json)
}

/// Returns the frame of a message that answers, likewise.
pub fn frame_response(path: &str, json: &[u8]) -> Result<Bytes, Error> {
    frame(method(path)?.response(), json)
}

pub(crate) fn frame(message: &'static MessageType, json: &[u8]) -> Result<Bytes, Error> {
    let message = message.to_protobuf(json);
    let message = message.map_err(|error| violation(error.path, error.problem))?;
    let mut body = Vec::new();
    write_message(&message, false, usize::MAX, &mut body).map_err(malformed)?;
    Ok(body.into())
}

fn method(path: &str) -> Result<&'static Method, Error> {
    let unknown = || violation("$".to_owned(), format!("`{path}` is not a method of A2A"));
    Method::at(path).ok_or_else(unknown)
}

pub(super) fn malformed(error: FrameError) -> Error {
    match error {
        FrameError::TooLarge(limit) => Error::TooLarge {
            what: "body",
            limit,
        },
        error => violation("$".to_owned(), error.to_string()),
    }
}

fn violation(path: String, problem: String) -> Error {
    Error::Malformed(Violation { path, problem })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_they_were_framed() {
        let path = "/lf.a2a.v1.A2AService/GetTask";
        let decode = |decoder: Option<MessageDecoder>, frame: &[u8]| {
            let mut decoder = decoder.unwrap();
            let (first, rest) = frame.split_at(3);
            assert_eq!(decoder.push(first).unwrap(), [b""; 0]);
            assert_eq!(decoder.buffered(), 3);
            decoder.push(rest).unwrap()
        };
        let headers = HeaderMap::new();
        let request = frame_request(path, br#"{"id":"t"}"#).unwrap();
        let decoder = MessageDecoder::of_requests(path, &headers, 100);
        assert_eq!(decode(decoder, &request), [br#"{"id":"t"}"#]);
        let task = br#"{"id":"t","status":{"state":"TASK_STATE_WORKING"}}"#;
        let response = frame_response(path, task).unwrap();
        let decoder = MessageDecoder::of_responses(path, &headers, 100);
        assert_eq!(decode(decoder, &response), [task]);
    }

    #[test]
    fn a_message_that_cannot_be_decoded_does_not_hide_others() {
        let path = "/lf.a2a.v1.A2AService/GetTask";
        let whole = frame_request(path, br#"{"id":"t"}"#).unwrap();
        let mut decoder = MessageDecoder::of_requests(path, &HeaderMap::new(), 100).unwrap();
        decoder.add(&whole);
        // A field of a length that is not there, and a frame with unknown flags.
        decoder.add(&[0, 0, 0, 0, 2, 0x0a, 9]);
        decoder.add(&whole);
        decoder.add(&[7, 0, 0, 0, 0]);
        let expected = br#"{"id":"t"}"#.to_vec();
        assert_eq!(decoder.next_message().unwrap(), Some(expected.clone()));
        assert!(decoder.next_message().is_err());
        assert_eq!(decoder.next_message().unwrap(), Some(expected));
        for _ in 0..2 {
            let error = decoder.next_message().unwrap_err().to_string();
            assert!(error.contains("flags 7"), "{error}");
            assert_eq!(decoder.buffered(), 5);
        }
    }

    #[test]
    fn a_message_that_cannot_be_framed_is_an_error() {
        let unknown = frame_request("/lf.a2a.v1.A2AService/Guess", b"{}");
        let text = unknown.unwrap_err().to_string();
        assert!(text.contains("is not a method of A2A"), "{text}");
        let wrong = frame_request("/lf.a2a.v1.A2AService/GetTask", br#"{"id":7}"#);
        let text = wrong.unwrap_err().to_string();
        assert!(text.contains("id: invalid type"), "{text}");
    }
}
