//! HTTP messages as written: requests and answers.

use std::fmt;

use http::{Method, StatusCode};

use crate::ResponseContext;

/// An answer as written.
#[derive(Clone, Eq, PartialEq)]
#[non_exhaustive]
pub struct OutgoingReply {
    /// The HTTP status: with JSON-RPC 200, unless the caller is not admitted.
    pub status: StatusCode,
    /// The JSON.
    pub body: Vec<u8>,
}

/// A request as written.
#[derive(Clone)]
#[non_exhaustive]
pub struct OutgoingCall {
    /// The HTTP method.
    pub method: Method,
    /// Path and query, to be put behind the URL of the agent; nothing by JSON-RPC.
    pub target: String,
    /// The JSON, if the request has a body.
    pub body: Option<Vec<u8>>,
    /// Envelope for reading the answer.
    pub envelope: ResponseContext,
}

impl fmt::Debug for OutgoingReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingReply")
            .field("status", &self.status)
            .field("body", &Length(&self.body))
            .finish()
    }
}

impl fmt::Debug for OutgoingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingCall")
            .field("method", &self.method)
            .field("target", &self.target)
            .field("body", &self.body.as_deref().map(Length))
            .field("envelope", &self.envelope)
            .finish()
    }
}

/// A body where it is printed: it may hold the secrets of webhooks.
struct Length<'a>(&'a [u8]);

impl fmt::Debug for Length<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} bytes)", self.0.len())
    }
}
