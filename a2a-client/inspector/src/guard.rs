//! The guard: who may call the API, and the headers of every answer.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::launch_token::LaunchToken;
use crate::problem::Problem;

/// The address that is listened on, and the token of the launch.
pub(crate) struct Guard {
    hosts: [String; 3],
    token: Arc<LaunchToken>,
}

impl Guard {
    /// Creates the guard of a listener.
    ///
    /// Errors: it can be reached from other machines.
    pub(crate) fn new(address: SocketAddr, token: Arc<LaunchToken>) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("cannot listen on {address}: expected a loopback address, like 127.0.0.1"),
            ));
        }
        let port = address.port();
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}"));
        Ok(Self { hosts, token })
    }

    /// Returns the reason to refuse a request.
    fn refusal(&self, request: &Request) -> Option<Problem> {
        let headers = request.headers();
        // Names that DNS resolves to this machine are not its own.
        let host = only(headers, &HOST).filter(|host| self.has(host));
        let Some(host) = host else {
            return Some(Problem::new(
                StatusCode::MISDIRECTED_REQUEST,
                "the host is not this inspector: open it by its address",
            ));
        };
        let own = format!("http://{host}");
        let is_foreign = headers.contains_key(ORIGIN)
            && only(headers, &ORIGIN).is_none_or(|origin| origin != own);
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        let is_api = is_api(request);
        // A link of another site may open the page, which holds no secret.
        let is_cross = matches!(site, Some(b"cross-site" | b"same-site"));
        if is_foreign || is_cross && is_api {
            return Some(Problem::new(
                StatusCode::FORBIDDEN,
                "pages of other origins cannot call the inspector",
            ));
        }
        let given = only(headers, &AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        if is_api && !given.is_some_and(|given| self.token.is(given.as_bytes())) {
            let hint = "open the URL that `a2a inspect` has printed: its token is of this launch";
            let problem = Problem::new(
                StatusCode::UNAUTHORIZED,
                "the token of the launch is missing or wrong",
            );
            return Some(problem.hint(hint));
        }
        None
    }

    fn has(&self, host: &str) -> bool {
        self.hosts.iter().any(|own| own == host)
    }
}

/// Refuses requests of anyone but the page.
pub(crate) async fn admit(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    match guard.refusal(&request) {
        Some(problem) => problem.into_response(),
        None => next.run(request).await,
    }
}

/// Sets the headers that protect the page, on every answer.
pub(crate) async fn protect(request: Request, next: Next) -> Response {
    let is_api = is_api(&request);
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in PROTECTION {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if is_api {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// Returns whether a request is for the API, and not for a file of the page.
fn is_api(request: &Request) -> bool {
    let path = request.uri().path();
    path == "/api" || path.starts_with("/api/")
}

const PROTECTION: [(HeaderName, &str); 6] = [
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
         font-src 'self'; media-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Returns the value of a header that is there once, as text.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}
