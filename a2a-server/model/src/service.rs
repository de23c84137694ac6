//! Requests to the service of a model, and its stream of events.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use a2a_transport::http::{HttpClient, retry_after};
use a2a_transport::sse::{Bounds, Decoder, ServerSentEvent};
use a2a_transport::{Error, Phase};
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use http::{HeaderValue, Request, StatusCode, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tokio::time::timeout;

use crate::error::{ModelError, clip, detail};

/// A service that is called at one address.
pub(crate) struct Service {
    pub(crate) client: HttpClient,
    pub(crate) uri: Uri,
    pub(crate) authorization: Option<HeaderValue>,
    /// Timeout of the next bytes.
    pub(crate) silence: Duration,
    /// Bytes of an event.
    pub(crate) max_event: usize,
}

impl Service {
    /// Sends a request once. Dropping the stream, or this future, closes the connection.
    pub(crate) async fn send(&self, body: Bytes) -> Result<EventStream, ModelError> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = self.uri.clone();
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static(EVENT_STREAM));
        if let Some(authorization) = &self.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        let response = match timeout(self.silence, self.client.fetch(request)).await {
            Ok(response) => response.map_err(|error| self.failed_fetch(error))?,
            Err(_) => return Err(ModelError::Silence(self.silence)),
        };
        let (head, body) = response.into_parts();
        let body = body.map_err(Into::into).boxed_unsync();
        if !head.status.is_success() {
            let text = self.explanation(body).await;
            return Err(refusal(head.status, &head.headers, text));
        }
        let text = |name| {
            head.headers
                .get(name)
                .map(|it| String::from_utf8_lossy(it.as_bytes()))
        };
        let kind = text(CONTENT_TYPE).unwrap_or(EVENT_STREAM.into());
        if !kind.to_ascii_lowercase().starts_with(EVENT_STREAM) {
            let problem = format!("it is `{}`, expected `{EVENT_STREAM}`", clip(&kind));
            return Err(ModelError::NotUnderstood(problem));
        }
        let coding = text(CONTENT_ENCODING).unwrap_or("identity".into());
        if coding != "identity" {
            let problem = "it is compressed, which was not requested".to_owned();
            return Err(ModelError::NotUnderstood(problem));
        }
        let mut bounds = Bounds::default();
        (bounds.line, bounds.event) = (self.max_event, self.max_event);
        Ok(EventStream {
            body,
            decoder: Decoder::new(bounds),
            events: VecDeque::new(),
            silence: self.silence,
            unused: 0,
            max_unused: 2 * self.max_event,
            has_ended: false,
        })
    }

    fn failed_fetch(&self, error: Error) -> ModelError {
        match error {
            Error::Connection(source) => ModelError::Cut(Some(source)),
            Error::Timeout { phase, limit } if phase != Phase::Connect => {
                ModelError::Silence(limit)
            }
            error => ModelError::Unreachable(error),
        }
    }

    /// Reads the start of a refusal's body.
    async fn explanation(&self, mut body: ResponseBody) -> String {
        let mut text = Vec::new();
        while text.len() < MAX_EXPLANATION {
            match timeout(self.silence.min(EXPLANATION_TIMEOUT), body.frame()).await {
                Ok(Some(Ok(frame))) => {
                    let data = frame.into_data().unwrap_or_default();
                    let rest = MAX_EXPLANATION - text.len();
                    text.extend_from_slice(&data[..data.len().min(rest)]);
                }
                _ => break,
            }
        }
        let text = match serde_json::from_slice::<Value>(&text) {
            Ok(Value::Object(mut members)) => {
                let error = members.remove("error");
                detail(&error.unwrap_or(Value::Object(members)))
            }
            _ => String::from_utf8_lossy(&text).into_owned(),
        };
        self.quoted(&text)
    }

    /// Returns the start of a service's text without the API key, which it may repeat.
    pub(crate) fn quoted(&self, text: &str) -> String {
        let key = self.authorization.as_ref().and_then(|it| it.to_str().ok());
        match key.and_then(|key| key.strip_prefix("Bearer ")) {
            Some(key) => clip(&text.replace(key, "***")),
            None => clip(text),
        }
    }
}

fn refusal(status: StatusCode, headers: &HeaderMap, detail: String) -> ModelError {
    let retry_after = retry_after(headers, SystemTime::now());
    let number = status.as_u16();
    match number {
        401 | 403 => ModelError::Refused {
            status: number,
            detail,
        },
        429 => ModelError::RateLimited {
            retry_after,
            detail,
        },
        500.. | 408 => ModelError::Service {
            status: Some(number),
            retry_after,
            detail,
        },
        400..500 => ModelError::Rejected {
            status: number,
            detail,
        },
        _ => ModelError::NotUnderstood(format!("its HTTP status is {number}")),
    }
}

type ResponseBody = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// A response, event by event.
pub(crate) struct EventStream {
    body: ResponseBody,
    decoder: Decoder,
    events: VecDeque<ServerSentEvent>,
    silence: Duration,
    /// Bytes since the last output.
    unused: usize,
    max_unused: usize,
    has_ended: bool,
}

impl EventStream {
    /// Returns the data of the next event, or `None` after the last one.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<u8>>, ModelError> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event.data));
            }
            if self.has_ended {
                return Ok(None);
            }
            let frame = timeout(self.silence, self.body.frame()).await;
            let frame = frame.map_err(|_| ModelError::Silence(self.silence))?;
            let read = match frame {
                Some(frame) => {
                    let frame = frame.map_err(|error| ModelError::Cut(Some(error)))?;
                    let data = frame.into_data().unwrap_or_default();
                    self.unused += data.len();
                    self.decoder.push(&data).map(VecDeque::from)
                }
                None => {
                    self.has_ended = true;
                    self.decoder.finish().map(VecDeque::from_iter)
                }
            };
            self.events = read.map_err(|_| self.too_long())?;
            if self.unused > self.max_unused {
                return Err(self.too_long());
            }
        }
    }

    /// Reports that an event had output: an endless stream may have none.
    pub(crate) fn was_useful(&mut self) {
        self.unused = 0;
    }

    /// Returns whether the service has ended the stream.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Reads the end of the stream, in the background: the next request then takes the same connection.
    pub(crate) fn drain(mut self) {
        let draining = async move { while let Ok(Some(_)) = self.next().await {} };
        tokio::spawn(timeout(DRAIN_TIMEOUT, draining));
    }

    fn too_long(&self) -> ModelError {
        ModelError::TooLong {
            what: "event",
            limit: self.max_unused / 2,
        }
    }
}

const EVENT_STREAM: &str = "text/event-stream";
/// Bytes of a refusal's body that are read.
const MAX_EXPLANATION: usize = 8 << 10;
/// Timeout of the end of a stream that has had its last event.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// Timeout of the next bytes of a refusal's body.
const EXPLANATION_TIMEOUT: Duration = Duration::from_secs(5);
