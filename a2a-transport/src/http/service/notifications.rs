//! Notifications that an agent sends to a gateway.

use std::pin::Pin;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::settings::Settings;
use crate::TraceContext;
use crate::http::message::answer::{not_allowed, retry_later, status, typed};
use crate::http::message::body::Body;
use crate::http::message::receive::{BodyError, collect};
use crate::webhook::{CHALLENGE, NotificationReceiver};

/// Answers a request to a URL with this secret.
pub(super) async fn answer<B>(
    settings: &Settings,
    receiver: &dyn NotificationReceiver,
    secret: &str,
    head: &Parts,
    body: Pin<&mut B>,
) -> Response<Body>
where
    B: http_body::Body<Data = Bytes> + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if !receiver.has(secret) {
        return status(StatusCode::GONE);
    }
    if head.method == Method::GET
        && let Some(token) = challenge(head)
    {
        let body = Body::full(token);
        return typed(StatusCode::OK, "text/plain; charset=utf-8", body);
    }
    if head.method != Method::POST {
        return not_allowed("POST");
    }
    let trace = TraceContext::read(&head.headers);
    let limit = settings.reading().limits.bytes;
    let mut share = settings.notified.share();
    let code = match collect(body, limit, settings.rate, &mut share).await {
        Ok(body) => receiver.receive(secret, Some(&body), trace).await,
        // The task is read instead.
        Err(BodyError::TooLarge) => receiver.receive(secret, None, trace).await,
        Err(BodyError::Stalled) => StatusCode::REQUEST_TIMEOUT,
        Err(BodyError::Crowded) => StatusCode::SERVICE_UNAVAILABLE,
        Err(BodyError::Broken(_)) => StatusCode::BAD_REQUEST,
    };
    match code {
        StatusCode::SERVICE_UNAVAILABLE => retry_later(status(code)),
        _ => status(code),
    }
}

/// Returns the text that the receiver has to repeat, by which a 0.1 agent checks a URL.
fn challenge(head: &Parts) -> Option<String> {
    let query = head.uri.query()?;
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    let (_, token) = parameters.find(|(name, _)| name == CHALLENGE)?;
    let is_token = token.len() <= MAX_TOKEN && token.bytes().all(|byte| byte.is_ascii_graphic());
    is_token.then(|| token.into_owned())
}

/// Bytes of the text that is repeated.
const MAX_TOKEN: usize = 1024;
