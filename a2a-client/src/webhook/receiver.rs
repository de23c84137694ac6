//! HTTP service that receives push notifications.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use a2a_transport::binding::ReadOptions;
use a2a_transport::http::Body;
use a2a_transport::spans::{HTTP_STATUS, OTEL_KIND, WEBHOOK_RECEIPT};
use a2a_transport::webhook::{CHALLENGE, read_notice};
use a2a_transport::{BoxFuture, TraceContext, spans};
use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time::timeout;
use tracing::Instrument;
use tracing::field::Empty;

use super::checks::Checks;
use super::delivery::is_word;
use super::recent_deliveries::{Lookup, RecentDeliveries};
use super::refusal::{Refusal, plain};
use super::{BoxError, Notification};

/// A receiver of push notifications: a service for hyper and for tower. Clones share the deliveries
/// they remember.
#[derive(Clone)]
pub struct Receiver(Arc<Settings>);

/// The user's code.
pub(super) type Handler =
    dyn Fn(Notification) -> BoxFuture<'static, Result<(), BoxError>> + Send + Sync;

pub(super) struct Settings {
    pub(super) handler: Arc<Handler>,
    pub(super) checks: Checks,
    pub(super) seen: RecentDeliveries,
    pub(super) challenge: bool,
    pub(super) limit: usize,
    pub(super) body_timeout: Duration,
    pub(super) handler_timeout: Duration,
    pub(super) clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl Receiver {
    pub(super) fn of(settings: Settings) -> Self {
        Self(Arc::new(settings))
    }

    /// Answers one request.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<BoxError>,
    {
        let (head, body) = request.into_parts();
        let answer = match head.method {
            Method::POST => return self.receipt(head, body).await,
            Method::GET if self.0.challenge => echo(&head),
            _ if self.0.challenge => Err(Refusal::Method("GET, POST")),
            _ => Err(Refusal::Method("POST")),
        };
        answered(answer)
    }

    /// Receives a notification within the trace of its sender.
    async fn receipt<B>(&self, head: Parts, body: B) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<BoxError>,
    {
        let span = tracing::info_span!(
            WEBHOOK_RECEIPT,
            { OTEL_KIND } = "server",
            { HTTP_STATUS } = Empty,
        );
        let trace = spans::join(&span, TraceContext::read(&head.headers));
        let received = self.receive(head, body, trace).instrument(span.clone());
        let response = answered(received.await.map(|()| String::new()));
        span.record(HTTP_STATUS, response.status().as_u16());
        response
    }

    async fn receive<B>(
        &self,
        head: Parts,
        body: B,
        trace: Option<TraceContext>,
    ) -> Result<(), Refusal>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<BoxError>,
    {
        let Settings { checks, seen, .. } = &*self.0;
        let now = self.now();
        let shown = checks.head(&head.headers, now).await?;
        let body = self.collect(body).await?;
        let names = checks.body(shown, &body, now)?;
        let mut limits = ReadOptions::default().limits;
        limits.bytes = self.0.limit;
        let notice = read_notice(&body, &limits)
            .map_err(|violation| Refusal::Body(violation.to_string()))?;
        let claim = match seen.claim(&names.all) {
            Lookup::New(claim) => claim,
            Lookup::InProgress => return Err(Refusal::Open),
            Lookup::Handled => return Ok(()),
        };
        let handled = (self.0.handler)(Notification {
            task: notice.task,
            event: notice.event,
            protocol_version: notice.protocol_version,
            delivery: names.id,
            uri: head.uri,
            trace,
        });
        match timeout(self.0.handler_timeout, handled).await {
            Ok(Ok(())) => claim.handled(),
            Ok(Err(error)) => return Err(Refusal::Failed(error.to_string())),
            Err(_) => return Err(Refusal::Late),
        }
        Ok(())
    }

    async fn collect<B>(&self, body: B) -> Result<Bytes, Refusal>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<BoxError>,
    {
        let body = Limited::new(body, self.0.limit).collect();
        match timeout(self.0.body_timeout, body).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Refusal::TooLarge),
            Ok(Err(_)) | Err(_) => Err(Refusal::Slow),
        }
    }

    /// Returns the seconds since the Unix epoch; 0 before it.
    fn now(&self) -> u64 {
        let since = (self.0.clock)().duration_since(SystemTime::UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs())
    }
}

fn answered(answer: Result<String, Refusal>) -> Response<Body> {
    match answer {
        Ok(text) => plain(StatusCode::OK, text),
        Err(refusal) => refusal.into_response(),
    }
}

/// Returns the answer to the challenge of 0.1.
fn echo(head: &Parts) -> Result<String, Refusal> {
    let query = head.uri.query().unwrap_or_default();
    let mut words = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == CHALLENGE);
    match (words.next(), words.next()) {
        (Some((_, word)), None) if is_word(&word) => Ok(word.into_owned()),
        _ => Err(Refusal::Challenge),
    }
}

impl<B> hyper::service::Service<Request<B>> for Receiver
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn call(&self, request: Request<B>) -> Self::Future {
        let receiver = self.clone();
        Box::pin(async move { Ok(receiver.handle(request).await) })
    }
}

impl<B> tower_service::Service<Request<B>> for Receiver
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(
        &mut self,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Infallible>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        hyper::service::Service::call(self, request)
    }
}
