//! A pool of connections.

use std::time::Duration;

use a2a_jsonrpc::Limits;
use a2a_types::reading::Violation;
use bytes::Bytes;
use http::header::HeaderMap;
use http::{Request, Response, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::body::{Pace, collect};
use crate::{Error, Phase};

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
    pub(super) timeouts: Timeouts,
    pub(super) limit: usize,
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

    pub(super) async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Error> {
        let limit = self.timeouts.first_byte;
        let timeout = |phase, limit| Error::Timeout { phase, limit };
        match tokio::time::timeout(limit, self.pool.request(request)).await {
            Err(_) => Err(timeout(Phase::FirstByte, limit)),
            Ok(Err(error)) if error.is_connect() && timed_out(&error) => {
                Err(timeout(Phase::Connect, self.timeouts.connect))
            }
            Ok(Err(error)) if error.is_connect() => Err(Error::Unreachable(error.into())),
            Ok(Err(error)) => Err(Error::Connection(error.into())),
            Ok(Ok(response)) => Ok(response),
        }
    }

    pub(super) async fn collect(&self, body: Incoming) -> Result<Bytes, Error> {
        let (limit, idle) = (self.limit, self.timeouts.idle);
        // Any byte shows that the agent is at work.
        let pace = Pace {
            bytes: 1,
            within: idle,
        };
        collect(body, limit, pace)
            .await
            .map_err(|incomplete| incomplete.into_error(limit, idle))
    }
}

fn timed_out(error: &(dyn std::error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source())
        .filter_map(|error| error.downcast_ref::<std::io::Error>())
        .any(|error| error.kind() == std::io::ErrorKind::TimedOut)
}

pub(super) fn address(url: &str) -> Result<Uri, Error> {
    let uri: Uri = url.parse().map_err(|error| bad_address(url, error))?;
    match uri.scheme_str() {
        Some("http") if uri.host().is_some() => Ok(uri),
        Some("https") => Err(bad_address(url, "https is not supported yet")),
        _ => Err(bad_address(url, "expected `http://host[:port][/path]`")),
    }
}

pub(super) fn bad_address(url: &str, problem: impl ToString) -> Error {
    Error::Address {
        url: url.to_owned(),
        problem: problem.to_string(),
    }
}
