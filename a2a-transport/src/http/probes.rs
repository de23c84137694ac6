//! Whether a service lives and is ready: for what starts it, watches it, and sends callers to it.

use http::header::{CACHE_CONTROL, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::answer::{not_allowed, plain};
use super::body::Body;
use crate::BoxFuture;

/// Where a service tells whether it lives, and whether it is ready.
///
/// Whoever reaches it may ask, by GET or HEAD, as whatever host and without showing who it is: probes
/// come from machines that know an address and nothing else. They learn two words, and nothing about
/// the agent, its callers or its tasks.
///
/// The probes are made with [`Default`] or [`none`](Self::none), and their fields are set.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Probes {
    /// Where it answers 200 and `alive` for as long as it can answer at all; `/healthz` by default.
    pub alive: Option<String>,
    /// Where it answers 200 and `ready`, or 503 and why it is not, as its [`Readiness`] says;
    /// `/readyz` by default.
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
    /// Nowhere.
    pub fn none() -> Self {
        Self {
            alive: None,
            ready: None,
        }
    }

    /// What is asked at a path.
    pub(super) fn at(&self, path: &str) -> Option<Probe> {
        let is = |place: &Option<String>| place.as_deref() == Some(path);
        match path {
            _ if is(&self.alive) => Some(Probe::Alive),
            _ if is(&self.ready) => Some(Probe::Ready),
            _ => None,
        }
    }
}

/// Whether requests will be answered that are sent now.
pub trait Readiness: Send + Sync + 'static {
    /// Nothing, or in two words why not: anyone may read them.
    fn ready(&self) -> BoxFuture<'_, Result<(), &'static str>>;
}

/// Is ready for as long as it lives.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlwaysReady;

impl Readiness for AlwaysReady {
    fn ready(&self) -> BoxFuture<'_, Result<(), &'static str>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// What is asked.
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
