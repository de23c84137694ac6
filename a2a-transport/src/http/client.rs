//! A connection to a remote agent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use a2a_jsonrpc::{Id, Limits};
use a2a_types::reading::{self, Mode, Read, Repair, Violation};
use a2a_types::{Dialect, ErrorKind, Event, Request as A2aRequest, Response as A2aResponse, v0_2};
use bytes::Bytes;
use futures_util::stream;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use http::{Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::body::collect;
use crate::binding::jsonrpc::{EventReader, read_reply, write_call};
use crate::sse::{Bounds, Decoder, ServerSentEvent};
use crate::{BoxFuture, Call, Envelope, Error, Phase, Reply, Transport, Update};

/// How long to wait for what. There is no limit on a whole stream.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For the connection; 10 s by default.
    pub connect: Duration,
    /// For the head of the answer: a blocking agent answers when its task has ended. 5 minutes by
    /// default.
    pub first_byte: Duration,
    /// For more of the answer, comments of a stream included; 2 minutes by default.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(120),
        }
    }
}

/// A pool of connections, with bounds and timeouts. It follows no redirects and reads no proxy
/// settings.
#[derive(Clone, Debug)]
pub struct HttpClient {
    pool: Client<HttpConnector, Full<Bytes>>,
    timeouts: Timeouts,
    limit: usize,
}

impl Default for HttpClient {
    fn default() -> Self {
        Self::new(Timeouts::default())
    }
}

/// A document as fetched.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The HTTP status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl HttpClient {
    /// A client that waits so long.
    pub fn new(timeouts: Timeouts) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(timeouts.connect));
        let pool = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .build(connector);
        Self {
            pool,
            timeouts,
            limit: 32 << 20,
        }
    }

    /// Fetches a JSON document, and checks that it is one within the limits of a message.
    pub async fn get(&self, url: &str, headers: &HeaderMap) -> Result<Fetched, Error> {
        let mut request = Request::get(address(url)?)
            .body(Full::default())
            .map_err(|error| bad_address(url, error))?;
        request.headers_mut().extend(headers.clone());
        let (head, body) = self.send(request).await?.into_parts();
        let body = self.collect(body).await?;
        if head.status.is_success()
            && let Err(fault) = a2a_jsonrpc::check(&body, &Limits::default())
        {
            return Err(Error::Malformed(Violation {
                path: fault.path.clone(),
                problem: fault.to_string(),
            }));
        }
        Ok(Fetched {
            status: head.status,
            headers: head.headers,
            body,
        })
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Error> {
        let limit = self.timeouts.first_byte;
        let timeout = |phase, limit| Error::Timeout { phase, limit };
        match tokio::time::timeout(limit, self.pool.request(request)).await {
            Err(_) => Err(timeout(Phase::FirstByte, limit)),
            Ok(Err(error)) if error.is_connect() && timed_out(&error) => {
                Err(timeout(Phase::Connect, self.timeouts.connect))
            }
            Ok(Err(error)) => Err(Error::Connection(error.into())),
            Ok(Ok(response)) => Ok(response),
        }
    }

    async fn collect(&self, body: Incoming) -> Result<Bytes, Error> {
        let (limit, idle) = (self.limit, self.timeouts.idle);
        collect(body, limit, idle)
            .await
            .map_err(|incomplete| incomplete.into_error(limit, idle))
    }
}

fn timed_out(error: &(dyn std::error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source())
        .filter_map(|error| error.downcast_ref::<std::io::Error>())
        .any(|error| error.kind() == std::io::ErrorKind::TimedOut)
}

/// A [`Transport`] to the agent at a URL, which speaks one generation of JSON-RPC.
#[derive(Clone, Debug)]
pub struct HttpTransport {
    shared: Arc<Shared>,
}

#[derive(Clone, Debug)]
struct Shared {
    http: HttpClient,
    url: Uri,
    dialect: Dialect,
    mode: Mode,
    headers: HeaderMap,
    bounds: Bounds,
    next_id: Arc<AtomicU64>,
}

impl HttpTransport {
    /// A transport to `url`, reading leniently.
    pub fn new(url: &str, dialect: Dialect) -> Result<Self, Error> {
        Ok(Self {
            shared: Arc::new(Shared {
                http: HttpClient::default(),
                url: address(url)?,
                dialect,
                mode: Mode::Lenient,
                headers: HeaderMap::new(),
                bounds: Bounds::default(),
                next_id: Arc::new(AtomicU64::new(1)),
            }),
        })
    }

    /// Shares a pool of connections, with its timeouts.
    pub fn http(self, http: HttpClient) -> Self {
        self.with(|shared| shared.http = http)
    }

    /// Reads answers leniently or strictly.
    pub fn mode(self, mode: Mode) -> Self {
        self.with(|shared| shared.mode = mode)
    }

    /// Sends a header with every request.
    pub fn header(self, name: HeaderName, value: HeaderValue) -> Self {
        self.with(|shared| {
            shared.headers.insert(name, value);
        })
    }

    /// The bounds of a stream's lines and events.
    pub fn bounds(self, bounds: Bounds) -> Self {
        self.with(|shared| shared.bounds = bounds)
    }

    fn with(mut self, change: impl FnOnce(&mut Shared)) -> Self {
        change(Arc::make_mut(&mut self.shared));
        self
    }
}

impl Transport for HttpTransport {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply, Error>> {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move { shared.ask(call).await })
    }
}

impl Shared {
    async fn ask(self: Arc<Self>, call: Call) -> Result<Reply, Error> {
        if self.dialect == Dialect::V0_2
            && matches!(call.request, A2aRequest::GetExtendedAgentCard(_))
        {
            return self.extended_card().await;
        }
        let id = Id::number(self.next_id.fetch_add(1, Ordering::Relaxed));
        let streams = call.request.operation().is_stream();
        let (body, envelope) = write_call(call.request, self.dialect, &id)?;
        let response = self
            .http
            .send(self.request(body, streams, call.context.last_event_id)?)
            .await?;
        let (head, body) = response.into_parts();

        refused(head.status, &head.headers)?;
        if streams && head.status == StatusCode::OK && is_event_stream(&head.headers) {
            return Ok(self.follow(body, envelope));
        }

        let body = self.http.collect(body).await?;
        if streams {
            // An error before the stream began, or a peer that does not stream: one event.
            let mut reader = EventReader::new(envelope, self.mode, self.limits());
            let read = explain(reader.read(&body), head.status, &body)?;
            let update = Update {
                event: trace(read).event,
                generation: None,
            };
            return Ok(Reply::stream(tokio_stream::once(Ok(update))));
        }
        let read = read_reply(&envelope, &body, self.mode, &self.limits());
        Ok(Reply::once(trace(explain(read, head.status, &body)?)))
    }

    /// 0.2 fetches the extended card by a plain GET, from beside the endpoint (0.2 §7.8); some
    /// servers have it below.
    async fn extended_card(&self) -> Result<Reply, Error> {
        const PATH: &str = Dialect::EXTENDED_CARD_PATH;
        let endpoint = self.url.to_string();
        let below = endpoint.trim_end_matches('/');
        let root = below.find("://").map_or(0, |scheme| scheme + 3);
        let beside = below
            .rfind('/')
            .filter(|slash| *slash > root)
            .map_or(below, |slash| &below[..slash]);
        let mut fetched = self
            .http
            .get(&format!("{beside}{PATH}"), &self.headers)
            .await?;
        if fetched.status == StatusCode::NOT_FOUND && below != beside {
            fetched = self
                .http
                .get(&format!("{below}{PATH}"), &self.headers)
                .await?;
        }
        refused(fetched.status, &fetched.headers)?;
        if fetched.status == StatusCode::NOT_FOUND {
            return Err(ErrorKind::ExtendedAgentCardNotConfigured.into());
        }
        let text = std::str::from_utf8(&fetched.body).unwrap_or_default();
        let read = reading::read::<v0_2::AgentCard>(text, self.mode, &reading::Hints::at("$"));
        let read = explain(
            read.map_err(Error::Malformed),
            fetched.status,
            &fetched.body,
        )?;
        Ok(Reply::once(A2aResponse::GetExtendedAgentCard(
            trace(read).into(),
        )))
    }

    fn request(
        &self,
        body: Vec<u8>,
        streams: bool,
        last_event_id: Option<u64>,
    ) -> Result<Request<Full<Bytes>>, Error> {
        let mut request = Request::post(self.url.clone())
            .body(Full::from(body))
            .map_err(|error| bad_address(&self.url.to_string(), error))?;
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let accept = if streams {
            "text/event-stream"
        } else {
            "application/json"
        };
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        if self.dialect == Dialect::V1_0 {
            headers.insert("a2a-version", HeaderValue::from_static("1.0"));
        }
        if let Some(id) = last_event_id {
            headers.insert("last-event-id", HeaderValue::from(id));
        }
        headers.extend(self.headers.clone());
        Ok(request)
    }

    fn limits(&self) -> Limits {
        Limits {
            bytes: self.http.limit,
            heap: 4 * self.http.limit,
            ..Limits::default()
        }
    }

    /// The events of a body, until the peer says that it was the last, or ends the stream.
    fn follow(&self, body: Incoming, envelope: Envelope) -> Reply {
        let events = Following {
            body,
            decoder: Decoder::new(self.bounds),
            ready: Vec::new().into_iter(),
            reader: EventReader::new(envelope, self.mode, self.limits()),
            idle: self.http.timeouts.idle,
            ended: false,
            finished: false,
        };
        Reply::stream(stream::unfold(events, |mut events| async move {
            let item = events.next().await?;
            Some((item, events))
        }))
    }
}

/// A stream of events on its way in.
struct Following {
    body: Incoming,
    decoder: Decoder,
    ready: std::vec::IntoIter<ServerSentEvent>,
    reader: EventReader,
    idle: Duration,
    /// Nothing more is read.
    ended: bool,
    /// Something came after which nothing more was to be expected.
    finished: bool,
}

impl Following {
    async fn next(&mut self) -> Option<Result<Update, Error>> {
        loop {
            if let Some(event) = self.ready.next() {
                return Some(self.read(event));
            }
            if self.ended {
                let cut = !std::mem::replace(&mut self.finished, true);
                return cut.then_some(Err(Error::Unfinished));
            }
            match self.more().await {
                Ok(events) => self.ready = events.into_iter(),
                Err(error) => {
                    (self.ended, self.finished) = (true, true);
                    return Some(Err(error));
                }
            }
        }
    }

    async fn more(&mut self) -> Result<Vec<ServerSentEvent>, Error> {
        let idle = Error::Timeout {
            phase: Phase::Idle,
            limit: self.idle,
        };
        match tokio::time::timeout(self.idle, self.body.frame()).await {
            Err(_) => Err(idle),
            Ok(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => self.decoder.push(&data),
                Err(_) => Ok(Vec::new()),
            },
            Ok(Some(Err(error))) => Err(Error::Connection(error.into())),
            Ok(None) => {
                self.ended = true;
                Ok(self.decoder.finish()?.into_iter().collect())
            }
        }
    }

    fn read(&mut self, event: ServerSentEvent) -> Result<Update, Error> {
        let generation = event.id.as_deref().and_then(|id| id.parse().ok());
        let read = self.reader.read(&event.data);
        let stop = read.as_ref().map_or(true, |read| read.value.last);
        if stop {
            // Some peers keep the connection open after the last event.
            self.ended = true;
            self.ready = Vec::new().into_iter();
        }
        self.finished |= stop
            || read
                .as_ref()
                .is_ok_and(|read| is_last_word(&read.value.event));
        let event = trace(read?).event;
        Ok(Update { event, generation })
    }
}

/// Whether an agent need say no more after this.
fn is_last_word(event: &Event) -> bool {
    let settled = event
        .status()
        .is_some_and(|status| status.state.is_terminal() || status.state.is_interrupted());
    settled || matches!(event, Event::Message(_))
}

/// Tells what had to be mended, and goes on.
fn trace<T>(read: Read<T>) -> T {
    for Repair { quirk, path } in &read.repairs {
        tracing::debug!(quirk = quirk.code(), path, "mended an answer");
    }
    read.value
}

/// Whether the agent wants other credentials, or denies access.
fn refused(status: StatusCode, headers: &HeaderMap) -> Result<(), Error> {
    if ![StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status) {
        return Ok(());
    }
    let challenge = headers
        .get(WWW_AUTHENTICATE)
        .and_then(|value| value.to_str().ok());
    Err(Error::Refused {
        status: status.as_u16(),
        challenge: challenge.map(str::to_owned),
    })
}

/// An answer that is not even JSON-RPC is explained by its HTTP status.
fn explain<T>(read: Result<T, Error>, status: StatusCode, body: &[u8]) -> Result<T, Error> {
    match read {
        Err(Error::Malformed(Violation { path, problem }))
            if !status.is_success() || body.is_empty() =>
        {
            let problem = match body.is_empty() {
                true => "no body".to_owned(),
                false => format!("{path}: {problem}"),
            };
            Err(Error::NotA2a {
                status: status.as_u16(),
                problem,
            })
        }
        read => read,
    }
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    content_type.is_some_and(|text| {
        text.trim_start()
            .to_ascii_lowercase()
            .starts_with("text/event-stream")
    })
}

fn address(url: &str) -> Result<Uri, Error> {
    let uri: Uri = url.parse().map_err(|error| bad_address(url, error))?;
    match uri.scheme_str() {
        Some("http") if uri.host().is_some() => Ok(uri),
        Some("https") => Err(bad_address(url, "https is not supported yet")),
        _ => Err(bad_address(url, "expected `http://host[:port][/path]`")),
    }
}

fn bad_address(url: &str, problem: impl ToString) -> Error {
    Error::Address {
        url: url.to_owned(),
        problem: problem.to_string(),
    }
}
