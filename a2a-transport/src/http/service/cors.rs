//! Cross-origin resource sharing (CORS): web pages of other origins that may call an agent.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderValue, ORIGIN, VARY,
};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use crate::http::message::answer::status;
use crate::http::message::body::Body;

/// Origins whose pages may call an agent from a browser, and read its answers; none by default.
///
/// A page shows its caller's credentials in headers of its own: cookies are not allowed.
#[derive(Clone, Debug, Default)]
pub struct AllowedOrigins {
    origins: Vec<String>,
    is_any: bool,
}

impl AllowedOrigins {
    /// Returns these origins, as browsers write them: `https://app.example`, `http://localhost:3000`. `*` is any.
    pub fn new(origins: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let origins = origins.into_iter().map(Into::into);
        let origins: Vec<String> = origins
            .map(|origin: String| origin.trim_end_matches('/').to_ascii_lowercase())
            .collect();
        Self {
            is_any: origins.iter().any(|origin| origin == "*"),
            origins,
        }
    }

    /// Returns the value of `Access-Control-Allow-Origin` for a request, if it is from a page that may call.
    pub(super) fn of(&self, head: &Parts) -> Option<HeaderValue> {
        if !self.is_any && self.origins.is_empty() {
            return None;
        }
        let origin = head.headers.get(ORIGIN)?;
        if self.is_any {
            return Some(HeaderValue::from_static("*"));
        }
        let is_origin = |it: &String| it.as_bytes().eq_ignore_ascii_case(origin.as_bytes());
        self.origins.iter().any(is_origin).then(|| origin.clone())
    }
}

/// Returns the answer to a preflight request: the question of a browser whether a page may send a request.
pub(super) fn preflight(head: &Parts) -> Option<Response<Body>> {
    let asks = head.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    if head.method != Method::OPTIONS || !asks {
        return None;
    }
    let mut answer = status(StatusCode::NO_CONTENT);
    let headers = answer.headers_mut();
    let methods = HeaderValue::from_static("GET, POST, PUT, DELETE");
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
    // Whatever the page sends is read, or ignored, as from any other caller.
    if let Some(requested) = head.headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, requested.clone());
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("3600"));
    Some(answer)
}

/// Lets the page of an origin read an answer.
pub(super) fn expose(origin: HeaderValue, answer: &mut Response<Body>) {
    let headers = answer.headers_mut();
    if origin != "*" {
        headers.append(VARY, HeaderValue::from_static("Origin"));
    }
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    let exposed = HeaderValue::from_static(
        "A2A-Version, A2A-Extensions, Retry-After, WWW-Authenticate, grpc-status, grpc-message, grpc-status-details-bin",
    );
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
}
