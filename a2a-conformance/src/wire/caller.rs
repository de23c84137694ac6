//! A caller that sends requests as they are.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use a2a_transport::http::HttpClient;
use a2a_transport::sse::{Decoder, ServerSentEvent};
use http::header::CONTENT_TYPE;
use http::response::Parts;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tokio::time::timeout;

use super::exchange::{ResponseBody, boxed, set_header};

/// Time for which a peer may be silent before it is given up.
pub(crate) const SILENCE_TIMEOUT: Duration = Duration::from_secs(5);

/// A caller that sends requests as they are.
pub(crate) struct PlainCaller {
    http: HttpClient,
    url: String,
}

/// The head of a response, and its body as it comes.
pub(crate) struct IncomingResponse {
    pub(crate) head: Parts,
    body: ResponseBody,
    decoder: Decoder,
    ready: VecDeque<ServerSentEvent>,
}

impl PlainCaller {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self {
            http: HttpClient::default(),
            url: format!("http://{address}"),
        }
    }

    /// Sends a request, and waits for the head of the response.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &BTreeMap<String, String>,
        body: String,
    ) -> Result<IncomingResponse, String> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header(CONTENT_TYPE, "application/json")
            .body(Full::from(body));
        let mut request = request.map_err(|error| error.to_string())?;
        for (name, value) in headers {
            set_header(request.headers_mut(), name, Some(value))?;
        }
        let response = timeout(2 * SILENCE_TIMEOUT, self.http.fetch(request)).await;
        let response = response
            .map_err(|_| "no answer")?
            .map_err(|error| format!("no answer: {error}"))?;
        let (head, body) = response.into_parts();
        Ok(IncomingResponse {
            head,
            body: boxed(body),
            decoder: Decoder::default(),
            ready: VecDeque::new(),
        })
    }
}

impl IncomingResponse {
    /// Returns the media type, without its parameters.
    pub(crate) fn media_type(&self) -> &str {
        let value = self.head.headers.get(CONTENT_TYPE);
        let value = value.and_then(|value| value.to_str().ok());
        value
            .unwrap_or_default()
            .split(';')
            .next()
            .unwrap_or_default()
    }

    /// Reads the whole body as JSON.
    pub(crate) async fn json(self) -> Result<Value, String> {
        let body = timeout(SILENCE_TIMEOUT, self.body.collect()).await;
        let body = body
            .map_err(|_| "$: the body does not end")?
            .map_err(|error| error.to_string())?
            .to_bytes();
        match body.is_empty() {
            true => Err("$: expected an answer, found no body".to_owned()),
            false => serde_json::from_slice(&body)
                .map_err(|error| format!("$: the answer is not JSON: {error}")),
        }
    }

    /// Reads the next event; `None` at the end of the stream.
    pub(crate) async fn event(&mut self) -> Result<Option<Value>, String> {
        let event = loop {
            if let Some(event) = self.ready.pop_front() {
                break event;
            }
            let frame = timeout(SILENCE_TIMEOUT, self.body.frame()).await;
            let frame = frame
                .map_err(|_| "$: expected an event or the end of the stream, found silence")?;
            let decoded = match frame.transpose().map_err(|error| error.to_string())? {
                Some(frame) => self.decoder.push(&frame.into_data().unwrap_or_default()),
                None => match self.decoder.finish().map_err(|error| error.to_string())? {
                    Some(last) => break last,
                    None => return Ok(None),
                },
            };
            self.ready
                .extend(decoded.map_err(|error| error.to_string())?);
        };
        serde_json::from_slice(&event.data)
            .map(Some)
            .map_err(|error| format!("$: an event is not JSON: {error}"))
    }
}
