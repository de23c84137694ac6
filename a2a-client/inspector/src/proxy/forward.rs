//! One request on its way through a proxy.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use a2a_client::credentials::shown_text;
use a2a_client::{HttpClient, ResponseObserver, causes};
use a2a_types::{Operation, ProtocolVersion};
use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, HeaderMap, HeaderName,
    HeaderValue, LOCATION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, RETRY_AFTER, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use http::uri::Authority;
use http::{Request, Response, StatusCode, Version, request};
use http_body::Body;
use http_body_util::{BodyExt, Either, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use tokio::time::{sleep, timeout};

use super::Proxy;
use super::body::ProxiedBody;
use super::fault::FaultKind;
use super::secret_names::SecretNames;
use crate::wire::{self, Recording, Source, is_event_stream};

/// Bytes of a request's body.
const MAX_REQUEST_BYTES: usize = 16 << 20;
/// Time in which the body of a request must come.
const REQUEST_TIME: Duration = Duration::from_secs(60);
/// Bytes of a card that is rewritten.
const MAX_CARD_BYTES: usize = 4 << 20;
/// Unit in which the bodies of requests take their share of [`MAX_PENDING_KIB`].
const KIB: u64 = 1 << 10;
/// KiB of the bodies of all requests that wait for their answers.
pub(super) const MAX_PENDING_KIB: usize = 128 << 10;

/// Answers one request of a caller with the agent's answer, or with a fault. Requests for another host, and from
/// pages of other hosts, are refused and not recorded: they would evict the caller's.
pub(super) async fn forward(
    proxy: Arc<Proxy>,
    request: Request<Incoming>,
) -> Response<Either<ProxiedBody, Full<Bytes>>> {
    let (head, body) = request.into_parts();
    if let Some(refusal) = proxy.hosts.refusal(&head) {
        let mut response = Response::new(Either::Right(Full::from(WRONG_HOST)));
        *response.status_mut() = refusal.status();
        let text = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(CONTENT_TYPE, text);
        return response;
    }
    proxy.requests.fetch_add(1, Ordering::Relaxed);
    answer(proxy, head, body).await.map(Either::Left)
}

const WRONG_HOST: &str = "this proxy answers as 127.0.0.1, localhost and [::1] only, and no pages of other hosts: \
    call it by the address at which it listens\n";

async fn answer(proxy: Arc<Proxy>, head: request::Parts, body: Incoming) -> Response<ProxiedBody> {
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let destination = proxy.upstream.destination(path);
    let size = body.size_hint().exact().unwrap_or(MAX_REQUEST_BYTES as u64);
    let share = size.clamp(1, MAX_REQUEST_BYTES as u64).div_ceil(KIB);
    // The room is never closed.
    let _share = proxy.pending.acquire_many(share as u32).await;
    let body = receive(body).await;
    let url = destination.as_deref().unwrap_or(path);
    let mut recording = begin(&proxy, &head, url, body.as_deref().unwrap_or_default());
    let is_public_card = recording.operation() == Some("GetAgentCard");
    let answered = async {
        let (body, destination) = (body?, destination.ok_or_else(Refusal::no_origin)?);
        if !is_public_card {
            proxy.inject_fault().await?;
        }
        let http = proxy.client_for(head.version, &destination);
        let response = http.fetch(outgoing(&head, &destination, body)?).await;
        response.map_err(|error| {
            let problem = format!("the agent does not answer: {}", causes(&error));
            Refusal::new(StatusCode::BAD_GATEWAY, problem)
        })
    };
    let (mut answer, body) = match answered.await {
        Ok(response) => response.into_parts(),
        Err(refusal) => return refusal.into_response(proxy.clone(), recording),
    };
    remove_hop_headers(&mut answer.headers);
    proxy.keep_redirect(&mut answer.headers, &head);
    let is_stream = is_event_stream(&answer.headers);
    if is_stream {
        // A fault may change it.
        answer.headers.remove(CONTENT_LENGTH);
    }
    let is_card = is_public_card
        || recording.operation() == Some(Operation::GetExtendedAgentCard.name())
        || head
            .uri
            .path()
            .ends_with(ProtocolVersion::EXTENDED_CARD_PATH);
    if !is_card || is_stream || !answer.status.is_success() {
        recording.head(&answer);
        let body = ProxiedBody::new(body.boxed_unsync(), proxy.clone(), recording, is_stream);
        return Response::from_parts(answer, body);
    }
    let card = match Limited::new(body, MAX_CARD_BYTES).collect().await {
        Ok(card) => proxy.rewritten(card.to_bytes(), &head),
        Err(error) => {
            let problem = format!("the card cannot be read: {error}");
            let refusal = Refusal::new(StatusCode::BAD_GATEWAY, problem);
            return refusal.into_response(proxy.clone(), recording);
        }
    };
    answer.headers.insert(CONTENT_LENGTH, card.len().into());
    recording.head(&answer);
    Response::from_parts(answer, full(card, proxy.clone(), recording))
}

/// Collects the body of a request.
async fn receive(body: Incoming) -> Result<Bytes, Refusal> {
    let body = Limited::new(body, MAX_REQUEST_BYTES).collect();
    let (status, problem) = match timeout(REQUEST_TIME, body).await {
        Ok(Ok(body)) => return Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let problem = format!("the request has more than {MAX_REQUEST_BYTES} bytes");
            (StatusCode::PAYLOAD_TOO_LARGE, problem)
        }
        Ok(Err(error)) => {
            let problem = format!("the request cannot be read: {error}");
            (StatusCode::BAD_REQUEST, problem)
        }
        Err(_) => {
            let problem = "the request did not come in time".to_owned();
            (StatusCode::REQUEST_TIMEOUT, problem)
        }
    };
    Err(Refusal::new(status, problem))
}

fn begin(proxy: &Proxy, head: &request::Parts, url: &str, body: &[u8]) -> Recording {
    let mut request = wire::Request {
        method: head.method.clone(),
        shown_url: shown_text(url).into_owned(),
        url: url.to_owned(),
        http_version: Some(head.version),
        headers: head.headers.clone(),
        body: wire::Body::of(body),
    };
    request.mark(&proxy.secret_names());
    Recording::begin(&proxy.log, Source::Proxy(proxy.id.clone()), request)
}

impl Proxy {
    /// Holds a request back, or refuses it, if a fault of that kind is set.
    async fn inject_fault(&self) -> Result<(), Refusal> {
        let is_delay = |kind| matches!(kind, FaultKind::Delay { .. });
        if let Some(FaultKind::Delay { ms }) = self.take_fault(is_delay) {
            sleep(Duration::from_millis(ms)).await;
        }
        let is_status = |kind| matches!(kind, FaultKind::Status { .. });
        let Some(FaultKind::Status {
            status,
            retry_after,
        }) = self.take_fault(is_status)
        else {
            return Ok(());
        };
        Err(Refusal {
            // It was checked when it was set.
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE),
            problem: format!("fault of the proxy: status {status}"),
            retry_after,
        })
    }

    /// Returns the client for a request: cleartext HTTP/2 for callers that speak it.
    fn client_for(&self, version: Version, url: &str) -> &HttpClient {
        match version == Version::HTTP_2 && url.starts_with("http:") {
            true => &self.http2,
            false => &self.http,
        }
    }

    /// Leads a redirect within the agent's origin to the proxy.
    fn keep_redirect(&self, headers: &mut HeaderMap, head: &request::Parts) {
        let location = headers.get(LOCATION).and_then(|url| url.to_str().ok());
        let redirect = location.and_then(|url| self.upstream.redirect(url, &self.authority(head)));
        if let Some(Ok(redirect)) = redirect.map(HeaderValue::try_from) {
            headers.insert(LOCATION, redirect);
        }
    }

    /// Returns a card whose URLs lead to the proxy. A body that is not JSON is returned as it is.
    fn rewritten(&self, card: Bytes, head: &request::Parts) -> Bytes {
        match serde_json::from_slice(&card) {
            Ok(mut document) => {
                let authority = self.authority(head);
                let named = self.upstream.named().len();
                self.upstream.rewrite_card(&mut document, &authority);
                if self.upstream.named().len() > named {
                    self.changes.send("proxy", &self.view());
                }
                if self.secret_names().learn(&document) {
                    // Callers may know the card from before.
                    let source = Source::Proxy(self.id.clone());
                    self.log.mark(&source, &self.secret_names());
                }
                document.to_string().into()
            }
            Err(_) => card,
        }
    }

    /// Locks the names. No code under this lock panics half-way, so poisoning is ignored.
    fn secret_names(&self) -> MutexGuard<'_, SecretNames> {
        self.secret_names
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the host and port by which the caller has found the proxy.
    fn authority(&self, head: &request::Parts) -> String {
        let host = head.headers.get(HOST).and_then(|host| host.to_str().ok());
        let authority = head.uri.authority().map(Authority::as_str).or(host);
        authority.map_or_else(|| self.address.to_string(), str::to_owned)
    }
}

/// Answer of the proxy in place of the agent.
struct Refusal {
    status: StatusCode,
    problem: String,
    /// Seconds.
    retry_after: Option<u64>,
}

impl Refusal {
    fn new(status: StatusCode, problem: String) -> Self {
        Self {
            status,
            problem,
            retry_after: None,
        }
    }

    fn no_origin() -> Self {
        let problem = "nothing is at this path: requests are passed on to the agent's origin, and to others that the user confirms".to_owned();
        Self::new(StatusCode::NOT_FOUND, problem)
    }

    fn into_response(self, proxy: Arc<Proxy>, mut recording: Recording) -> Response<ProxiedBody> {
        let mut response = Response::new(());
        *response.status_mut() = self.status;
        let text = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(CONTENT_TYPE, text);
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        let (head, ()) = response.into_parts();
        let text = Bytes::from(self.problem.clone());
        recording.head(&head);
        recording.data(&text);
        recording.finish(Some(self.problem));
        Response::from_parts(head, full(text, proxy, recording))
    }
}

fn full(body: Bytes, proxy: Arc<Proxy>, recording: Recording) -> ProxiedBody {
    let body = Full::new(body).map_err(|never| match never {});
    ProxiedBody::new(body.boxed_unsync(), proxy, recording, false)
}

/// Returns the request to the agent.
fn outgoing(
    head: &request::Parts,
    url: &str,
    body: Bytes,
) -> Result<Request<Full<Bytes>>, Refusal> {
    let mut headers = head.headers.clone();
    remove_hop_headers(&mut headers);
    // A compressed answer could be neither recorded nor cut.
    for name in [ACCEPT_ENCODING, CONTENT_LENGTH, EXPECT, HOST] {
        headers.remove(name);
    }
    let request = Request::builder()
        .method(head.method.clone())
        .uri(url)
        .body(Full::from(body));
    let mut request = request.map_err(|error| {
        let problem = format!("the request cannot be passed on: {error}");
        Refusal::new(StatusCode::BAD_REQUEST, problem)
    })?;
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
