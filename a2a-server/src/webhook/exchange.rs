//! One request and its answer, on a connection of its own.

use bytes::Bytes;
use http::header::{CONNECTION, HOST, HeaderValue, USER_AGENT};
use http::uri::PathAndQuery;
use http::{Method, Request, Response, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio_util::task::AbortOnDropHandle;
use url::Position;

use super::connector::Connector;
use super::outcome::Reason;
use super::refusal::Refusal;
use super::url_policy::Target;

/// The head of an answer, with a body to be read.
pub(super) struct Answer {
    pub(super) response: Response<Incoming>,
    /// Task that moves the bytes; dropped, it closes the connection.
    _connection: AbortOnDropHandle<()>,
}

impl Connector {
    /// Sends a request to a target, with the target's path and host. Does not follow redirects: they are
    /// returned like other answers.
    pub(super) async fn ask(
        &self,
        target: &Target,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Answer, Reason> {
        *request.uri_mut() = Uri::from(target.path()?);
        let headers = request.headers_mut();
        headers.insert(HOST, target.authority()?);
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));

        let wire = TokioIo::new(self.connect(target).await?);
        let (mut sender, connection) = http1::Builder::new()
            .max_buf_size(MAX_AT_ONCE)
            .handshake(wire)
            .await
            .map_err(|_| Reason::Http)?;
        let connection = AbortOnDropHandle::new(tokio::spawn(async move {
            // The request fails, too, and its caller sees that.
            let _ = connection.await;
        }));
        let response = sender.send_request(request).await;
        Ok(Answer {
            response: response.map_err(|_| Reason::Http)?,
            _connection: connection,
        })
    }
}

impl Answer {
    /// Returns the body, if it ends within `limit` bytes.
    pub(super) async fn body(&mut self, limit: usize) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        while let Some(frame) = self.response.body_mut().frame().await {
            if let Ok(data) = frame.ok()?.into_data() {
                body.extend_from_slice(&data);
            }
            if body.len() > limit {
                return None;
            }
        }
        Some(body)
    }

    /// Reads and drops up to so much of the body, so that its sender is not cut off.
    pub(super) async fn drain(&mut self, limit: usize) {
        let mut left = limit;
        while let Some(Ok(frame)) = self.response.body_mut().frame().await {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
            if left == 0 {
                return;
            }
        }
    }
}

impl Target {
    /// Returns the path and query for the request line.
    pub(super) fn path(&self) -> Result<PathAndQuery, Refusal> {
        let path = &self.url[Position::BeforePath..Position::AfterQuery];
        path.parse().map_err(|_| Refusal::Malformed)
    }

    /// Returns the value of the `Host` header.
    fn authority(&self) -> Result<HeaderValue, Refusal> {
        let authority = &self.url[Position::BeforeHost..Position::AfterPort];
        authority.parse().map_err(|_| Refusal::Malformed)
    }
}

/// A request without a body.
pub(super) fn get() -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::default());
    *request.method_mut() = Method::GET;
    request
}

/// A request with one.
pub(super) fn post(body: Bytes) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = Method::POST;
    request
}

/// Value of the `User-Agent` header.
const AGENT: &str = concat!("a2a-server/", env!("CARGO_PKG_VERSION"));

/// Bytes of an answer that are buffered before they are read, its head included.
const MAX_AT_ONCE: usize = 64 << 10;
