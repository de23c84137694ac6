//! Answers to the liveness and readiness probes.

use a2a_edge::Probe;
use http::header::{CACHE_CONTROL, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use crate::BoxFuture;
use crate::http::message::answer::{not_allowed, plain};
use crate::http::message::body::Body;

/// Check whether the service can answer requests now.
pub trait Readiness: Send + Sync + 'static {
    /// Returns nothing, or the reason in a few words, which anyone may read.
    fn ready(&self) -> BoxFuture<'_, Result<(), &'static str>>;
}

/// Readiness of a service that is always ready.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlwaysReady;

impl Readiness for AlwaysReady {
    fn ready(&self) -> BoxFuture<'_, Result<(), &'static str>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Answers a probe.
pub(crate) async fn answer_probe(
    probe: Probe,
    head: &Parts,
    readiness: &dyn Readiness,
) -> Response<Body> {
    let mut response = match (probe, &head.method) {
        (_, method) if method != Method::GET && method != Method::HEAD => not_allowed("GET, HEAD"),
        (Probe::Alive, _) => plain(StatusCode::OK, "alive"),
        (Probe::Ready, _) => match readiness.ready().await {
            Ok(()) => plain(StatusCode::OK, "ready"),
            Err(reason) => plain(StatusCode::SERVICE_UNAVAILABLE, reason),
        },
    };
    let cached = HeaderValue::from_static("no-store");
    response.headers_mut().insert(CACHE_CONTROL, cached);
    response
}
