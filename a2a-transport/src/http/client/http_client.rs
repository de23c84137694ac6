//! A pool of connections.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use a2a_edge::budget::{Budget, Share};
use a2a_jsonrpc::Limits;
use a2a_types::reading::Violation;
use bytes::{Buf, Bytes};
#[cfg(feature = "grpc")]
use http::Version;
use http::header::{
    CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, WWW_AUTHENTICATE,
};
use http::{Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioTimer};

#[cfg(feature = "tls")]
use super::certificate_request::CertificateRequest;
use super::connector::{Connector, Route, connector};
use super::foreign_body::{is_html, shown};
use super::proxy::Proxy;
#[cfg(feature = "tls")]
use super::tls::Tls;
use super::wire_observer::{ObservedBody, WireObserver};
use crate::http::message::address::{address, bad_address};
use crate::http::message::receive::{MinimumRate, collect};
use crate::sse::DEFAULT_MAX_EVENT;
use crate::{Credentials, Error, Phase};

/// Timeouts of a client, made with [`Default`]; then their fields are set. A whole stream has no limit.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Timeouts {
    /// Timeout of connecting; 10 s by default.
    pub connect: Duration,
    /// Timeout of the head of the answer, which a blocking agent sends when its task has ended; 5
    /// minutes by default.
    pub first_byte: Duration,
    /// Timeout of the next bytes of the answer, comments of a stream included; 2 minutes by
    /// default.
    pub idle: Duration,
    /// Timeout of the whole body of an answer that is not a stream, so that an agent cannot prolong it
    /// byte by byte; 5 minutes by default.
    pub body: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(120),
            body: Duration::from_secs(300),
        }
    }
}

/// A pool of connections, with bounds and timeouts. It follows no redirects, decodes no compressed
/// bodies, and reads no settings of proxies from the environment, unless it [is told to](HttpClientBuilder::proxy_from_env).
/// Clones share it.
#[derive(Clone, Debug)]
pub struct HttpClient {
    pool: Client<Connector, Full<Bytes>>,
    /// Connections that speak HTTP/2 from the start, for gRPC.
    #[cfg(feature = "grpc")]
    http2: Client<Connector, Full<Bytes>>,
    #[cfg(feature = "tls")]
    certificate_request: CertificateRequest,
    pub(super) timeouts: Timeouts,
    pub(super) limit: usize,
    /// Budget of all answers that are being received.
    pub(super) receiving: Budget,
    observers: Vec<Arc<dyn WireObserver>>,
}

impl Default for HttpClient {
    fn default() -> Self {
        Self::builder().build()
    }
}

/// Settings of a pool of connections.
#[derive(Clone, Debug)]
pub struct HttpClientBuilder {
    timeouts: Timeouts,
    limit: usize,
    receive_budget: usize,
    proxy: Option<Proxy>,
    environment: Option<Arc<Matcher>>,
    #[cfg(feature = "tls")]
    tls: Tls,
    http2_only: bool,
    observers: Vec<Arc<dyn WireObserver>>,
}

impl HttpClientBuilder {
    /// Sets the timeouts.
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets the maximum body of an answer in bytes; [`DEFAULT_MAX_EVENT`] by default, as it may be a whole
    /// task. A stream may have more, by events of a [limited](crate::sse::Bounds) size.
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Sets the bytes that answers may have together while they are received and read, of this client and its
    /// clones; 256 MiB by default. Further ones fail as [`Error::Crowded`]; the last quarter is kept for
    /// answers up to 64 KiB.
    pub fn receive_budget(mut self, bytes: usize) -> Self {
        self.receive_budget = bytes;
        self
    }

    /// Connects through a proxy.
    pub fn proxy(mut self, proxy: Proxy) -> Self {
        self.proxy = Some(proxy);
        self
    }

    /// Connects through the proxies that the variables `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` name,
    /// unless a [`proxy`](Self::proxy) is set. Hosts of this machine are called directly.
    pub fn proxy_from_env(mut self) -> Self {
        self.environment = Some(Arc::new(Matcher::from_env()));
        self
    }

    /// Sets the trust anchors for agents at `https://` and the client's identity.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = tls;
        self
    }

    /// Speaks only HTTP/2, even where TLS does not negotiate it. By default, HTTP/2 is used where TLS
    /// negotiates it, and HTTP/1.1 otherwise.
    pub fn http2_only(mut self) -> Self {
        self.http2_only = true;
        self
    }

    /// Adds an observer of all requests and answers.
    pub fn wire_observer(mut self, observer: Arc<dyn WireObserver>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Removes all observers: for exchanges that are secret as a whole.
    pub fn without_observers(mut self) -> Self {
        self.observers.clear();
        self
    }

    /// Removes the client certificate for TLS.
    #[cfg(feature = "tls")]
    pub fn without_identity(mut self) -> Self {
        self.tls = self.tls.without_identity();
        self
    }

    /// Builds the pool.
    pub fn build(self) -> HttpClient {
        let within = self.timeouts.connect;
        #[cfg(feature = "tls")]
        let certificate_request = CertificateRequest::default();
        let reach = Connector {
            route: match (&self.proxy, &self.environment) {
                (Some(proxy), _) => Route::through(proxy, connector(within)),
                (None, Some(environment)) => {
                    Route::OfEnvironment(Arc::clone(environment), connector(within))
                }
                (None, None) => Route::Direct(connector(within)),
            },
            #[cfg(feature = "tls")]
            tls: self.tls,
            #[cfg(feature = "tls")]
            certificate_request: certificate_request.clone(),
            within,
        };
        let mut pool = Client::builder(TokioExecutor::new());
        pool.pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .http1_max_buf_size(MAX_HEAD)
            .http2_max_header_list_size(MAX_HEAD as u32)
            .http2_keep_alive_interval(Some(self.timeouts.idle / 4))
            .http2_keep_alive_timeout(self.timeouts.idle / 4);
        HttpClient {
            #[cfg(feature = "grpc")]
            http2: pool.clone().http2_only(true).build(reach.clone()),
            pool: pool.http2_only(self.http2_only).build(reach),
            #[cfg(feature = "tls")]
            certificate_request,
            timeouts: self.timeouts,
            limit: self.limit,
            receiving: Budget::new(self.receive_budget),
            observers: self.observers,
        }
    }
}

/// Bytes of all answers that are being received, by default.
const DEFAULT_RECEIVE_BUDGET: usize = 256 << 20;

/// Maximum head of an answer in bytes; it may have 100 headers.
const MAX_HEAD: usize = 64 << 10;

/// A document as fetched.
#[derive(Clone, Debug)]
pub struct FetchResponse {
    /// The HTTP status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl HttpClient {
    /// Returns a builder with the defaults.
    pub fn builder() -> HttpClientBuilder {
        HttpClientBuilder {
            timeouts: Timeouts::default(),
            limit: DEFAULT_MAX_EVENT,
            receive_budget: DEFAULT_RECEIVE_BUDGET,
            proxy: None,
            environment: None,
            #[cfg(feature = "tls")]
            tls: Tls::default(),
            http2_only: false,
            observers: Vec::new(),
        }
    }

    /// Makes a client with these timeouts.
    pub fn new(timeouts: Timeouts) -> Self {
        Self::builder().timeouts(timeouts).build()
    }

    /// Fetches a JSON document, and checks that it is one within the limits of a message.
    pub async fn get(&self, url: &str, headers: &HeaderMap) -> Result<FetchResponse, Error> {
        self.get_as(None, url, headers).await
    }

    /// Fetches a JSON document with these credentials, like [`get`](Self::get).
    pub async fn get_as(
        &self,
        credentials: Option<&dyn Credentials>,
        url: &str,
        headers: &HeaderMap,
    ) -> Result<FetchResponse, Error> {
        let uri = address(url)?;
        let request = || {
            let mut request = Request::new(Full::default());
            *request.uri_mut() = uri.clone();
            *request.headers_mut() = headers.clone();
            Ok(request)
        };
        let (head, body) = self.send_as(credentials, request).await?.into_parts();
        let limits = Limits::default();
        let (mut body, _) = self.collect_at_most(limits.bytes, body).await?;
        if body.starts_with(BYTE_ORDER_MARK) {
            // RFC 8259 §8.1 forbids it, and lets readers ignore it.
            body.advance(BYTE_ORDER_MARK.len());
        }
        if head.status.is_success()
            && !body.is_empty()
            && let Err(fault) = a2a_jsonrpc::check(&body, &limits)
        {
            if is_html(&head.headers) {
                return Err(Error::NotA2a {
                    status: head.status.as_u16(),
                    problem: shown(&head.headers, &body),
                });
            }
            return Err(Error::Malformed(Violation {
                path: fault.path.clone(),
                problem: fault.to_string(),
            }));
        }
        Ok(FetchResponse {
            status: head.status,
            headers: head.headers,
            body,
        })
    }

    /// Sends a request as it is, and returns the answer as it is: for programs that test peers.
    pub async fn fetch(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<impl Body<Data = Bytes, Error = hyper::Error> + Send + Unpin + use<>>, Error>
    {
        self.answer(request).await
    }

    /// Sends a form to an OAuth endpoint, and returns the answer, of any status.
    pub async fn post_form(
        &self,
        url: &str,
        headers: &HeaderMap,
        form: &[(&str, &str)],
    ) -> Result<FetchResponse, Error> {
        let form: String = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish();
        let mut request = Request::post(address(url)?)
            .body(Full::from(form))
            .map_err(|error| bad_address(url, error))?;
        *request.headers_mut() = headers.clone();
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        request.headers_mut().insert(CONTENT_TYPE, form);
        let (head, body) = self.send(request).await?.into_parts();
        Ok(FetchResponse {
            status: head.status,
            headers: head.headers,
            body: self.collect(body).await?.0,
        })
    }

    /// Sends a request with credentials, and once more with others if the first are refused.
    pub(super) async fn send_as(
        &self,
        credentials: Option<&dyn Credentials>,
        request: impl Fn() -> Result<Request<Full<Bytes>>, Error>,
    ) -> Result<Response<ObservedBody>, Error> {
        let Some(credentials) = credentials else {
            return self.send(request()?).await;
        };
        let mut is_first = true;
        loop {
            let (mut head, body) = request()?.into_parts();
            credentials.attach(&mut head).await?;
            let sent = head.headers.clone();
            let response = self.send(Request::from_parts(head, body)).await?;
            let is_refused = response.status() == StatusCode::UNAUTHORIZED
                || response
                    .headers()
                    .get("grpc-status")
                    .is_some_and(|code| code == "16");
            if !is_refused || !is_first {
                return Ok(response);
            }
            let challenge = challenges(response.headers());
            if !credentials.refused(&sent, challenge.as_deref()).await {
                return Ok(response);
            }
            is_first = false;
        }
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<ObservedBody>, Error> {
        if self.observers.is_empty() {
            let response = self.answer(request).await?;
            return readable(response.map(ObservedBody::unobserved));
        }
        let (head, body) = request.into_parts();
        let bytes = body.clone().collect().await.unwrap_or_default().to_bytes();
        let response_observers = self
            .observers
            .iter()
            .map(|observer| observer.request(&head, &bytes));
        let mut response_observers: Vec<_> = response_observers.collect();
        match self.answer(Request::from_parts(head, body)).await {
            Ok(response) => {
                let (head, body) = response.into_parts();
                response_observers
                    .iter_mut()
                    .for_each(|hearer| hearer.head(&head));
                let body = ObservedBody::new(body, response_observers);
                readable(Response::from_parts(head, body))
            }
            Err(error) => {
                response_observers
                    .iter_mut()
                    .for_each(|hearer| hearer.end(Some(&error)));
                Err(error)
            }
        }
    }

    async fn answer(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Error> {
        let limit = self.timeouts.first_byte;
        let origin = origin(request.uri());
        let timeout = |phase, limit| Error::Timeout { phase, limit };
        #[cfg(feature = "grpc")]
        let pool = match request.version() {
            Version::HTTP_2 => &self.http2,
            _ => &self.pool,
        };
        #[cfg(not(feature = "grpc"))]
        let pool = &self.pool;
        match tokio::time::timeout(limit, pool.request(request)).await {
            Err(_) => Err(timeout(Phase::FirstByte, limit)),
            Ok(Err(error)) if error.is_connect() && timed_out(&error) => {
                Err(timeout(Phase::Connect, self.timeouts.connect))
            }
            #[cfg(feature = "tls")]
            Ok(Err(_)) if self.certificate_request.is_unanswered() => Err(Error::Credentials(
                format!("{origin} requests a client certificate, and this client has none"),
            )),
            Ok(Err(error)) if error.is_connect() => Err(Error::Unreachable(
                format!("{origin}: {}", last_cause(&error)).into(),
            )),
            Ok(Err(error)) if is_too_large(&error) => Err(Error::TooLarge {
                what: "head",
                limit: MAX_HEAD,
            }),
            Ok(Err(error)) => Err(Error::Connection(error.into())),
            Ok(Ok(response)) => {
                #[cfg(feature = "tls")]
                self.certificate_request.answered();
                Ok(response)
            }
        }
    }

    /// Collects a body; its bytes are charged to the share.
    pub(super) async fn collect(&self, body: ObservedBody) -> Result<(Bytes, Share), Error> {
        self.collect_at_most(self.limit, body).await
    }

    async fn collect_at_most(
        &self,
        bytes: usize,
        body: ObservedBody,
    ) -> Result<(Bytes, Share), Error> {
        let (limit, idle) = (self.limit.min(bytes), self.timeouts.idle);
        // Any byte shows that the agent is alive.
        let rate = MinimumRate {
            bytes: 1,
            within: idle,
        };
        let mut body = pin!(body);
        let mut share = self.receiving.share();
        let collected = collect(body.as_mut(), limit, rate, &mut share);
        match tokio::time::timeout(self.timeouts.body, collected).await {
            Ok(body) => {
                let budget = self.receiving.limit();
                let body = body.map_err(|it| it.into_error(limit, budget, idle))?;
                Ok((body, share))
            }
            Err(_) => Err(Error::Timeout {
                phase: Phase::Body,
                limit: self.timeouts.body,
            }),
        }
    }
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Returns all challenges of an answer as one list, if there are any: each may have a header of its own.
pub(super) fn challenges(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all(WWW_AUTHENTICATE).iter();
    let values: Vec<_> = values.filter_map(|value| value.to_str().ok()).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// Returns the answer if it can be read. Errors: it is a redirect, or compressed, which was not requested.
fn readable(response: Response<ObservedBody>) -> Result<Response<ObservedBody>, Error> {
    let (status, headers) = (response.status(), response.headers());
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if status.is_redirection() && status != StatusCode::NOT_MODIFIED {
        return Err(Error::Redirected {
            status: status.as_u16(),
            location: text(LOCATION).map(str::to_owned),
        });
    }
    match text(CONTENT_ENCODING).map(str::trim) {
        None | Some("") => Ok(response),
        Some(coding) if coding.eq_ignore_ascii_case("identity") => Ok(response),
        Some(_) => Err(Error::NotA2a {
            status: status.as_u16(),
            problem: "the answer is compressed, which was not asked for".to_owned(),
        }),
    }
}

/// Returns the origin of a URL, which has no secrets.
fn origin(url: &http::Uri) -> String {
    let scheme = url.scheme_str().unwrap_or("http");
    format!(
        "{scheme}://{}",
        url.authority().map_or("", |authority| authority.as_str())
    )
}

/// Returns the text of the last cause of an error: the ones before it only name a step of the library.
fn last_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.last().map(ToString::to_string).unwrap_or_default()
}

fn timed_out(error: &(dyn std::error::Error + 'static)) -> bool {
    causes(error).any(|error: &std::io::Error| error.kind() == std::io::ErrorKind::TimedOut)
}

/// Returns whether the head of an answer has more bytes, or more headers, than we take.
fn is_too_large(error: &(dyn std::error::Error + 'static)) -> bool {
    causes(error).any(hyper::Error::is_parse_too_large)
}

/// Returns the errors of one type in a chain of causes.
fn causes<'a, E: std::error::Error + 'static>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a E> {
    std::iter::successors(Some(error), |error| error.source())
        .filter_map(|error| error.downcast_ref())
}
