//! Liveness and readiness probes.

use http::header::{CACHE_CONTROL, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::answer::{not_allowed, plain};
use super::body::Body;
use crate::BoxFuture;

/// Paths of the liveness and readiness probes.
///
/// Any peer may send a GET or HEAD, with any `Host` and without credentials: probes come from machines that
/// know an address and nothing else. The answers are single words, and reveal nothing about the agent, its
/// callers or its tasks.
///
/// The probes are made with [`Default`] or [`none`](Self::none), and their fields are set.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Probes {
    /// Path that answers 200 and `alive` for as long as it can answer at all; `/healthz` by default.
    pub alive: Option<String>,
    /// Path that answers 200 and `ready`, or 503 and the reason of its [`Readiness`]; `/readyz` by default.
    pub ready: Option<String>,
}

impl Default for Probes {
    fn default() -> Self {
        Self {
            alive: Some("/healthz".to_owned()),
            ready: Some("/readyz".to_owned()),
        }
    }
}

impl Probes {
    /// Returns probes without paths.
    pub fn none() -> Self {
        Self {
            alive: None,
            ready: None,
        }
    }

    /// Returns the probe at a path.
    pub(super) fn at(&self, path: &str) -> Option<Probe> {
        let is = |place: &Option<String>| place.as_deref() == Some(path);
        match path {
            _ if is(&self.alive) => Some(Probe::Alive),
            _ if is(&self.ready) => Some(Probe::Ready),
            _ => None,
        }
    }
}

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

/// Kind of probe.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Probe {
    Alive,
    Ready,
}

impl Probe {
    pub(super) async fn answer(self, head: &Parts, readiness: &dyn Readiness) -> Response<Body> {
        let mut response = match (self, &head.method) {
            (_, method) if method != Method::GET && method != Method::HEAD => {
                not_allowed("GET, HEAD")
            }
            (Self::Alive, _) => plain(StatusCode::OK, "alive"),
            (Self::Ready, _) => match readiness.ready().await {
                Ok(()) => plain(StatusCode::OK, "ready"),
                Err(reason) => plain(StatusCode::SERVICE_UNAVAILABLE, reason),
            },
        };
        let cached = HeaderValue::from_static("no-store");
        response.headers_mut().insert(CACHE_CONTROL, cached);
        response
    }
}
