//! One request on its way through a proxy.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use a2a_client::{HttpClient, ResponseObserver};
use a2a_types::{Dialect, Operation};
use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, HeaderMap, HeaderName,
    HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, RETRY_AFTER, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{Request, Response, StatusCode, Version};
use http_body::Body;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use tokio::time::{sleep, timeout};

use super::Proxy;
use super::body::ProxiedBody;
use super::fault::FaultKind;
use super::upstream::Destination;
use crate::wire::{self, Recording, Source, is_credential, is_event_stream};

/// Bytes of a request's body.
const MAX_REQUEST_BYTES: usize = 16 << 20;
/// Time in which the body of a request must come.
const REQUEST_TIME: Duration = Duration::from_secs(60);
/// Bytes of a card that is rewritten.
const MAX_CARD_BYTES: usize = 4 << 20;
/// Unit in which the bodies of requests take their share of [`MAX_PENDING_KIB`].
const KIB: usize = 1 << 10;
/// KiB of the bodies of all requests that wait for their answers.
pub(super) const MAX_PENDING_KIB: usize = 128 << 10;

/// Answers one request of a caller with the agent's answer, or with a fault.
pub(super) async fn forward(
    proxy: Arc<Proxy>,
    request: Request<Incoming>,
) -> Response<ProxiedBody> {
    let (head, body) = request.into_parts();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let destination = proxy.upstream.destination(path);
    let url = match &destination {
        Some(destination) => destination.url.clone(),
        None => path.to_owned(),
    };
    let declared = body
        .size_hint()
        .exact()
        .and_then(|size| usize::try_from(size).ok());
    let share = declared
        .unwrap_or(MAX_REQUEST_BYTES)
        .min(MAX_REQUEST_BYTES)
        .div_ceil(KIB);
    // There is always a share of this size, sooner or later.
    let _share = proxy.pending.acquire_many(share.max(1) as u32).await;
    let collected = timeout(
        REQUEST_TIME,
        Limited::new(body, MAX_REQUEST_BYTES).collect(),
    )
    .await;
    let begin = |body: &[u8]| {
        let request = wire::Request {
            method: head.method.clone(),
            shown_url: url.clone(),
            url: url.clone(),
            http_version: Some(head.version),
            headers: head.headers.clone(),
            body: wire::Body::of(body),
        };
        proxy.log.begin(Source::Proxy(proxy.id.clone()), request)
    };
    let body = match collected {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) => {
            let status = match error.is::<http_body_util::LengthLimitError>() {
                true => StatusCode::PAYLOAD_TOO_LARGE,
                false => StatusCode::BAD_REQUEST,
            };
            let problem = format!("the request cannot be read: {error}");
            return own_answer(&proxy, begin(&[]), status, problem);
        }
        Err(_) => {
            let problem = "the request did not come in time";
            return own_answer(&proxy, begin(&[]), StatusCode::REQUEST_TIMEOUT, problem);
        }
    };
    let mut recording = begin(&body);
    let Some(destination) = destination else {
        let problem = "no card has named such an origin";
        return own_answer(&proxy, recording, StatusCode::NOT_FOUND, problem);
    };
    let is_public_card = recording.operation() == Some("GetAgentCard");
    if !is_public_card {
        let is_delay = |kind| matches!(kind, FaultKind::Delay { .. });
        if let Some(FaultKind::Delay { ms }) = proxy.take_fault(is_delay) {
            sleep(Duration::from_millis(ms)).await;
        }
        let is_status = |kind| matches!(kind, FaultKind::Status { .. });
        if let Some(FaultKind::Status {
            status,
            retry_after,
        }) = proxy.take_fault(is_status)
        {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
            let problem = format!("fault of the proxy: status {}", status.as_u16());
            let after = retry_after.map(|seconds| (RETRY_AFTER, seconds.into()));
            return own_answer_with(after, &proxy, recording, status, problem);
        }
    }
    let is_extended_card = recording.operation() == Some(Operation::GetExtendedAgentCard.name())
        || head.uri.path().ends_with(Dialect::EXTENDED_CARD_PATH);
    let authority = head
        .uri
        .authority()
        .map(|authority| authority.as_str().to_owned());
    let host = head.headers.get(HOST).and_then(|host| host.to_str().ok());
    let authority = authority
        .or(host.map(str::to_owned))
        .unwrap_or_else(|| proxy.address.to_string());

    let outgoing = outgoing(&head, &destination, body);
    let outgoing = match outgoing {
        Ok(outgoing) => outgoing,
        Err(error) => {
            let problem = format!("the request cannot be passed on: {error}");
            return own_answer(&proxy, recording, StatusCode::BAD_REQUEST, problem);
        }
    };
    let http = proxy.client_for(head.version, &destination);
    let response = match http.fetch(outgoing).await {
        Ok(response) => response,
        Err(error) => {
            let problem = format!(
                "the agent does not answer: {}",
                crate::problem::causes(&error)
            );
            return own_answer(&proxy, recording, StatusCode::BAD_GATEWAY, problem);
        }
    };
    let (mut head, body) = response.into_parts();
    remove_hop_headers(&mut head.headers);
    let is_stream = is_event_stream(&head.headers);
    if is_stream {
        // A fault may change it.
        head.headers.remove(CONTENT_LENGTH);
    }
    let is_card = (is_public_card || is_extended_card) && head.status.is_success() && !is_stream;
    if !is_card {
        recording.head(&head);
        let body = ProxiedBody::new(
            body.boxed_unsync(),
            Arc::clone(&proxy),
            recording,
            is_stream,
        );
        return Response::from_parts(head, body);
    }
    let card = match Limited::new(body, MAX_CARD_BYTES).collect().await {
        Ok(card) => card.to_bytes(),
        Err(error) => {
            let problem = format!("the card cannot be read: {error}");
            return own_answer(&proxy, recording, StatusCode::BAD_GATEWAY, problem);
        }
    };
    let card = match serde_json::from_slice(&card) {
        Ok(mut document) => {
            proxy.upstream.rewrite_card(&mut document, &authority);
            Bytes::from(document.to_string())
        }
        // It is no JSON, and the caller shall see that.
        Err(_) => card,
    };
    head.headers.insert(CONTENT_LENGTH, card.len().into());
    recording.head(&head);
    Response::from_parts(head, full(card, Arc::clone(&proxy), recording))
}

/// Returns the request to the agent. Credentials go to no origin but the agent's, which the caller has chosen.
fn outgoing(
    head: &http::request::Parts,
    destination: &Destination,
    body: Bytes,
) -> http::Result<Request<Full<Bytes>>> {
    let mut headers = head.headers.clone();
    remove_hop_headers(&mut headers);
    // A compressed answer could be neither recorded nor cut.
    for name in [ACCEPT_ENCODING, CONTENT_LENGTH, EXPECT, HOST] {
        headers.remove(name);
    }
    if destination.is_foreign {
        let credentials: Vec<_> = headers
            .keys()
            .filter(|name| is_credential(name))
            .cloned()
            .collect();
        for name in credentials {
            headers.remove(name);
        }
    }
    let mut request = Request::builder()
        .method(head.method.clone())
        .uri(&destination.url)
        .body(Full::from(body))?;
    *request.headers_mut() = headers;
    Ok(request)
}

/// Removes the headers that are of one connection only (RFC 9110 §7.6.1).
fn remove_hop_headers(headers: &mut HeaderMap) {
    let named = headers.get_all(CONNECTION).iter();
    let named = named.filter_map(|value| value.to_str().ok());
    let named = named.flat_map(|list| list.split(','));
    let named: Vec<HeaderName> = named.filter_map(|name| name.trim().parse().ok()).collect();
    for name in HOP_HEADERS.into_iter().chain(named) {
        headers.remove(&name);
    }
}

const HOP_HEADERS: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    HeaderName::from_static("proxy-connection"),
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Answers in place of the agent.
fn own_answer(
    proxy: &Arc<Proxy>,
    recording: Recording,
    status: StatusCode,
    problem: impl Display,
) -> Response<ProxiedBody> {
    own_answer_with(None, proxy, recording, status, problem)
}

/// Answers in place of the agent, with another header.
fn own_answer_with(
    header: Option<(HeaderName, HeaderValue)>,
    proxy: &Arc<Proxy>,
    mut recording: Recording,
    status: StatusCode,
    problem: impl Display,
) -> Response<ProxiedBody> {
    let problem = problem.to_string();
    let mut response = Response::new(());
    *response.status_mut() = status;
    let text = HeaderValue::from_static("text/plain; charset=utf-8");
    let headers = [(CONTENT_TYPE, text)].into_iter().chain(header);
    response.headers_mut().extend(headers);
    let (head, ()) = response.into_parts();
    recording.head(&head);
    recording.data(&Bytes::from(problem.clone()));
    recording.finish(Some(problem.clone()));
    Response::from_parts(head, full(problem.into(), Arc::clone(proxy), recording))
}

fn full(body: Bytes, proxy: Arc<Proxy>, recording: Recording) -> ProxiedBody {
    let body = Full::new(body).map_err(|never| match never {});
    ProxiedBody::new(body.boxed_unsync(), proxy, recording, false)
}

impl Proxy {
    /// Returns the client for a request: cleartext HTTP/2 for callers that speak it.
    fn client_for(&self, version: Version, destination: &Destination) -> &HttpClient {
        match version == Version::HTTP_2 && destination.url.starts_with("http:") {
            true => &self.http2,
            false => &self.http,
        }
    }
}
