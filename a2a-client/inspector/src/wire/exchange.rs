//! Exchange: a request and its answer, as they went over the wire.

use std::borrow::Cow;
use std::time::Duration;

use a2a_client::credentials::{is_secret_name, shown_header, shown_text};
use a2a_client::recorder::{self, RecordedRequest, RecordedResponse, recorded_headers};
use a2a_transport::binding::grpc::{Status, operation_at};
use a2a_transport::http::grpc::{MessageDecoder, read_status};
use a2a_transport::sse::{Bounds, Decoder};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode, Uri, Version};
use jiff::Timestamp;

use super::grpc::{Message, Messages, is_grpc};
use crate::proxy::SecretNames;

/// An exchange. Its headers and its URL are kept as they were sent, secrets included: what leaves the inspector is
/// made by [`shown_headers`] and has the [shown URL](Request::shown_url).
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) number: u64,
    pub(crate) source: Source,
    pub(crate) began_at: Timestamp,
    pub(crate) request: Request,
    pub(crate) call: Option<CallKind>,
    pub(crate) response: Option<Response>,
    pub(crate) state: State,
    pub(crate) failure: Option<String>,
    /// Time from the request to the end of the answer.
    pub(crate) duration: Option<Duration>,
}

/// Sender of a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Source {
    /// The inspector's client of an agent, by the agent's id.
    Client(String),
    /// A caller of a proxy, by the proxy's id.
    Proxy(String),
    /// The page, which sends a request again: with the connections of the agent of this id, if any.
    Resend(Option<String>),
}

impl Source {
    /// Returns the id of the agent with whose connections the request is sent.
    pub(crate) fn agent(&self) -> Option<&str> {
        match self {
            Self::Client(agent) => Some(agent),
            Self::Resend(agent) => agent.as_deref(),
            Self::Proxy(_) => None,
        }
    }
}

/// State of an exchange.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum State {
    Open,
    Done,
    Failed,
}

/// Kind of call that a request is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct CallKind {
    pub(crate) operation: &'static str,
    pub(crate) version: Option<&'static str>,
    pub(crate) binding: Option<&'static str>,
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) url: String,
    /// The URL with `***` in place of an API key.
    pub(crate) shown_url: String,
    /// The version of HTTP, if it is known before the answer.
    pub(crate) http_version: Option<Version>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
}

/// An answer, as far as it has come.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) http_version: Version,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
    pub(crate) trailers: HeaderMap,
    /// Path of the method that answers, if it answers by gRPC.
    pub(crate) grpc_path: Option<String>,
    /// Time from the request to the head.
    pub(crate) head_after: Duration,
    /// Number of events, those included that are not kept.
    pub(crate) frames: u64,
    /// Ends of the pieces in which the body came, with their times; of streams and of answers by gRPC only.
    pub(crate) pieces: Vec<Piece>,
}

/// A piece of a body, as it came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// Time since the request.
    pub(crate) after: Duration,
    /// Offset of its end in the body.
    pub(crate) end: usize,
}

/// One event of a stream, or one message by gRPC.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    /// Time since the request.
    pub(crate) after: Duration,
    pub(crate) id: Option<String>,
    pub(crate) event: Option<String>,
    pub(crate) data: Vec<u8>,
    /// Reason why the data are not JSON but the bytes of a message.
    pub(crate) problem: Option<String>,
}

/// A body, of which the first [`MAX_BODY_BYTES`] are kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    /// All bytes, those included that are not kept.
    pub(crate) total: u64,
}

/// Bytes that are kept of a body.
pub(crate) const MAX_BODY_BYTES: usize = 4 << 20;

impl Exchange {
    /// Returns the bytes that it counts against the bound of the log.
    pub(crate) fn weight(&self) -> usize {
        let headers = |headers: &HeaderMap| {
            let sizes = headers.iter().map(|(name, value)| {
                name.as_str().len() + value.len() + size_of::<(HeaderName, HeaderValue)>()
            });
            sizes.sum::<usize>()
        };
        let Request { url, shown_url, .. } = &self.request;
        let response = self.response.as_ref().map_or(0, |response| {
            headers(&response.headers)
                + headers(&response.trailers)
                + response.grpc_path.as_ref().map_or(0, String::len)
                + response.body.bytes.len()
                + size_of_val(response.pieces.as_slice())
        });
        let failure = self.failure.as_ref().map_or(0, String::len);
        size_of::<Self>()
            + url.len()
            + shown_url.len()
            + headers(&self.request.headers)
            + self.request.body.bytes.len()
            + response
            + failure
    }

    /// Returns the exchange as the suite reads it, without secrets.
    pub(crate) fn recorded(&self) -> recorder::Exchange {
        recorder::Exchange {
            request: self.request.recorded(),
            response: self.response.as_ref().map(|response| RecordedResponse {
                status: response.status.as_u16(),
                headers: recorded_headers(&response.all_headers()),
                body: response.shown_text().into_owned(),
            }),
            failure: self.failure.clone(),
        }
    }
}

impl Request {
    /// Returns the request as the suite reads it, without secrets.
    fn recorded(&self) -> RecordedRequest {
        RecordedRequest {
            body: self.shown_text().into_owned(),
            ..self.readable()
        }
    }

    /// Returns the request to be read, with the secrets of its body.
    pub(crate) fn readable(&self) -> RecordedRequest {
        RecordedRequest {
            method: self.method.to_string(),
            url: self.shown_url.clone(),
            headers: recorded_headers(&self.headers),
            body: self.text().into_owned(),
        }
    }

    /// Returns the path of the method that is called, if it is called by gRPC.
    pub(crate) fn grpc_path(&self) -> Option<String> {
        let uri = self.url.parse::<Uri>().ok()?;
        is_grpc(&self.headers).then(|| uri.path().to_owned())
    }

    /// Returns the messages of the body, if it is by gRPC.
    pub(crate) fn messages(&self) -> Option<Messages> {
        let path = self.grpc_path()?;
        let decoder = MessageDecoder::of_requests(&path, &self.headers, MAX_BODY_BYTES);
        Some(Messages::of(decoder, &self.body.bytes))
    }

    /// Returns the messages to be shown by gRPC, if they are not just one.
    pub(crate) fn shown_frames(&self) -> Option<Vec<Frame>> {
        let messages = self.messages().filter(|messages| !messages.is_plain())?;
        Some(self.body.frames(messages, |_| Duration::ZERO))
    }

    /// Returns the text of the body: by gRPC, the JSON of each message in a line.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        let messages = self.messages();
        messages.map_or_else(|| self.body.text(), |it| it.json().into())
    }

    /// Returns the text of the body without secrets, for what leaves this machine.
    pub(crate) fn shown_text(&self) -> Cow<'_, str> {
        without_secrets(self.text())
    }

    /// Returns the headers to be shown, and the headers that the client's HTTP/1.1 adds on the way.
    pub(crate) fn shown_headers(&self) -> Vec<(String, String)> {
        let mut shown = shown_headers(&self.headers);
        let mut add = |name: HeaderName, value: Option<String>| {
            if let Some(value) = value.filter(|_| !self.headers.contains_key(&name)) {
                shown.push((name.to_string(), value));
            }
        };
        let uri = self.shown_url.parse::<Uri>().ok();
        add(HOST, uri.and_then(|uri| Some(uri.authority()?.to_string())));
        let length = (self.body.total > 0).then(|| self.body.total.to_string());
        add(CONTENT_LENGTH, length);
        shown
    }

    /// Marks the headers and parameters of these names as secret.
    pub(crate) fn mark(&mut self, names: &SecretNames) {
        for (name, value) in &mut self.headers {
            if names.headers.iter().any(|secret| secret == name.as_str()) {
                value.set_sensitive(true);
            }
        }
        let Some((place, query)) = self.shown_url.split_once('?') else {
            return;
        };
        let is_secret = |pair: &str| {
            let name = form_urlencoded::parse(pair.as_bytes()).next();
            name.is_some_and(|(name, _)| names.parameters.contains(&name.to_ascii_lowercase()))
        };
        let shown = query.split('&').map(|pair| match pair.split_once('=') {
            Some((name, _)) if is_secret(pair) => format!("{name}={MASK}"),
            _ => pair.to_owned(),
        });
        self.shown_url = format!("{place}?{}", shown.collect::<Vec<_>>().join("&"));
    }

    /// Returns the kind of call that it is, if it can be read as one.
    pub(crate) fn call_kind(&self) -> Option<CallKind> {
        let recorded = self.readable();
        if recorded.is_card() {
            return Some(CallKind {
                operation: "GetAgentCard",
                version: None,
                binding: None,
            });
        }
        let envelope = recorded.read_call().ok()?.envelope;
        Some(CallKind {
            operation: envelope.operation.name(),
            version: Some(envelope.protocol_version.version()),
            binding: Some(envelope.binding.as_str()),
        })
    }
}

impl Response {
    /// Returns whether the answer is a stream: of Server-Sent Events, or by gRPC.
    pub(crate) fn is_stream(&self) -> bool {
        let method = self.grpc_path.as_deref().and_then(operation_at);
        is_event_stream(&self.headers) || method.is_some_and(|(it, _)| it.is_stream())
    }

    /// Returns the messages of the body, if it is by gRPC.
    pub(crate) fn messages(&self) -> Option<Messages> {
        let path = self.grpc_path.as_deref()?;
        let decoder = MessageDecoder::of_responses(path, &self.headers, MAX_BODY_BYTES);
        Some(Messages::of(decoder, &self.body.bytes))
    }

    /// Returns the status of an answer by gRPC, which is in the trailers or, without a message, in the headers.
    pub(crate) fn grpc_status(&self) -> Option<Status> {
        self.grpc_path.as_ref()?;
        read_status(&self.trailers).or_else(|| read_status(&self.headers))
    }

    /// Returns the headers and, after them, the trailers.
    fn all_headers(&self) -> HeaderMap {
        let mut all = self.headers.clone();
        all.extend(self.trailers.clone());
        all
    }

    /// Returns the text of the body: by gRPC, the JSON of each message in a line.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        let messages = self.messages();
        messages.map_or_else(|| self.body.text(), |it| it.json().into())
    }

    /// Returns the text of the body without secrets, for what leaves this machine.
    pub(crate) fn shown_text(&self) -> Cow<'_, str> {
        without_secrets(self.text())
    }

    /// Returns the frames to be shown: of a stream, or of messages by gRPC that are not just one. The last message of an
    /// answer that is open may not be whole yet: it is left out.
    pub(crate) fn shown_frames(&self, is_open: bool) -> Option<Vec<Frame>> {
        let Some(mut messages) = self.messages() else {
            return self.is_stream().then(|| self.frames());
        };
        messages.rest = messages.rest.filter(|_| !is_open);
        (self.is_stream() || !messages.is_plain()).then(|| self.message_frames(messages))
    }

    fn message_frames(&self, messages: Messages) -> Vec<Frame> {
        let after = |message: &Message| {
            let is_before = |piece: &Piece| piece.end < message.place.end;
            let last = self.pieces.get(self.pieces.partition_point(is_before));
            last.map_or(self.head_after, |piece| piece.after)
        };
        self.body.frames(messages, after)
    }

    /// Returns the events of a stream, or the whole messages by gRPC, of the part that is kept.
    pub(crate) fn frames(&self) -> Vec<Frame> {
        if let Some(Messages { whole, .. }) = self.messages() {
            return self.message_frames(Messages { whole, rest: None });
        }
        let mut decoder = Decoder::new(Bounds::default());
        let mut frames = Vec::new();
        let mut start = 0;
        for Piece { after, end } in &self.pieces {
            // A line or an event is never larger than the body that is kept.
            let events = decoder.push(&self.body.bytes[start..*end]);
            let events = events.unwrap_or_default().into_iter();
            frames.extend(events.map(|event| Frame {
                after: *after,
                id: event.id,
                event: event.name,
                data: event.data,
                problem: None,
            }));
            start = *end;
        }
        frames
    }
}

impl Body {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut body = Self::default();
        body.append(bytes);
        body
    }

    /// Appends what there is room for, and returns whether that is all.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> bool {
        let room = MAX_BODY_BYTES - self.bytes.len();
        self.total += bytes.len() as u64;
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        bytes.len() <= room
    }

    /// Returns the bytes that are not kept.
    pub(crate) fn omitted(&self) -> u64 {
        self.total - self.bytes.len() as u64
    }

    pub(crate) fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// Returns the frames of messages by gRPC; `after` is the time at which one had come.
    fn frames(&self, messages: Messages, after: impl Fn(&Message) -> Duration) -> Vec<Frame> {
        let all = messages.whole.into_iter().chain(messages.rest);
        let frames = all.map(|message| {
            let after = after(&message);
            let (data, problem) = match message.json {
                Ok(json) => (json.into_bytes(), None),
                Err(problem) => (self.bytes[message.place].to_vec(), Some(problem)),
            };
            Frame {
                after,
                id: None,
                event: None,
                data,
                problem,
            }
        });
        frames.collect()
    }
}

fn without_secrets(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => shown_text(text),
        Cow::Owned(text) => Cow::Owned(shown_text(&text).into_owned()),
    }
}

/// Returns whether headers announce Server-Sent Events that can be read.
pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).to_lowercase();
    let media_type = headers.get(CONTENT_TYPE).map(text);
    let is_compressed = headers.contains_key(http::header::CONTENT_ENCODING);
    media_type.is_some_and(|text| text.starts_with("text/event-stream")) && !is_compressed
}

/// Returns headers as they are shown, in order: [`MASK`] in place of secret values.
pub(crate) fn shown_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let shown = headers
        .iter()
        .map(|(name, value)| (name.to_string(), shown_header(name.as_str(), value)));
    shown.collect()
}

/// Text in place of a secret.
pub(crate) const MASK: &str = "***";

/// Returns whether a header is a secret: it is marked as one, or its name says so.
pub(crate) fn is_secret(name: &HeaderName, value: &HeaderValue) -> bool {
    value.is_sensitive() || is_secret_name(name.as_str())
}
