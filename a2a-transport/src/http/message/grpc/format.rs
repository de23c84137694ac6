//! Format of an answer by gRPC or gRPC-Web.

use std::borrow::Cow;
use std::fmt::Write;

use a2a_protobuf::MessageType;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::{CONTENT_TYPE, HeaderValue};

use super::frame::write_message;
use super::trailers::write_status;
use crate::binding::grpc::{Code, Status};

/// Form of gRPC-Web, whose trailers are a frame of the body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Web {
    /// The frames as they are.
    Binary,
    /// The frames in Base64.
    Text,
}

/// Flag of a frame of gRPC-Web that has the trailers.
const TRAILERS: u8 = 0x80;

/// Format of the answer to a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GrpcFormat {
    /// Type of the messages.
    pub(crate) response: &'static MessageType,
    /// Set if messages are compressed, like the request.
    pub(crate) gzip: bool,
    /// Set for gRPC-Web.
    pub(crate) web: Option<Web>,
    /// Maximum bytes of a message.
    pub(crate) limit: usize,
}

impl Web {
    /// Returns the frames in the body of a request: Base64 may be padded anywhere.
    pub(crate) fn frames(self, body: &[u8]) -> Option<Cow<'_, [u8]>> {
        if self == Self::Binary {
            return Some(Cow::Borrowed(body));
        }
        let groups = body
            .trim_ascii()
            .chunks(4)
            .map(|group| STANDARD.decode(group).ok());
        let groups: Option<Vec<_>> = groups.collect();
        Some(Cow::Owned(groups?.concat()))
    }
}

impl GrpcFormat {
    /// Returns the form of a media type: `None` for one that is not of gRPC with Protocol Buffers.
    pub(crate) fn form(content_type: &str) -> Option<Option<Web>> {
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        let essence = essence.to_ascii_lowercase();
        match essence.strip_suffix("+proto").unwrap_or(&essence) {
            "application/grpc" => Some(None),
            "application/grpc-web" => Some(Some(Web::Binary)),
            "application/grpc-web-text" => Some(Some(Web::Text)),
            _ => None,
        }
    }

    /// Appends a message, from its JSON.
    pub(crate) fn message(self, json: &[u8], out: &mut Vec<u8>) -> Result<(), Status> {
        let internal = |problem: String| Status::new(Code::INTERNAL, problem);
        let message = self.response.to_protobuf(json);
        let message =
            message.map_err(|error| internal(format!("the answer is malformed: {error}")))?;
        let too_large = |error| {
            let text = format!("{error}: ask for less of it, for example of its history");
            Status::new(Code::RESOURCE_EXHAUSTED, text)
        };
        let Some(Web::Text) = self.web else {
            return write_message(&message, self.gzip, self.limit, out).map_err(too_large);
        };
        let mut frame = Vec::new();
        write_message(&message, self.gzip, self.limit, &mut frame).map_err(too_large)?;
        self.append(&frame, out);
        Ok(())
    }

    /// Ends an answer: returns its trailers, which are appended in gRPC-Web.
    pub(crate) fn end(self, status: &Status, out: &mut Vec<u8>) -> Option<HeaderMap> {
        let mut trailers = HeaderMap::new();
        write_status(status, &mut trailers);
        let Some(_) = self.web else {
            return Some(trailers);
        };
        let mut text = String::new();
        for (name, value) in &trailers {
            let _ = write!(text, "{name}: {}\r\n", value.to_str().unwrap_or_default());
        }
        let mut frame = vec![TRAILERS, 0, 0, 0, 0];
        frame[1..].copy_from_slice(&(text.len() as u32).to_be_bytes());
        frame.extend_from_slice(text.as_bytes());
        self.append(&frame, out);
        None
    }

    fn append(self, frame: &[u8], out: &mut Vec<u8>) {
        match self.web {
            Some(Web::Text) => out.extend_from_slice(STANDARD.encode(frame).as_bytes()),
            _ => out.extend_from_slice(frame),
        }
    }

    /// Writes the headers of an answer.
    pub(crate) fn write_headers(self, headers: &mut HeaderMap) {
        let content_type = match self.web {
            None => "application/grpc+proto",
            Some(Web::Binary) => "application/grpc-web+proto",
            Some(Web::Text) => "application/grpc-web-text+proto",
        };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        headers.insert(
            "grpc-accept-encoding",
            HeaderValue::from_static("identity,gzip"),
        );
        if self.gzip {
            headers.insert("grpc-encoding", HeaderValue::from_static("gzip"));
        }
    }
}
