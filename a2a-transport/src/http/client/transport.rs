//! A connection to a remote agent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use a2a_edge::budget::Exhausted;
use a2a_jsonrpc::{Id, Limits};
use a2a_types::reading::{self, Deviation, Mode, Quirk};
use a2a_types::size::size_of_task;
use a2a_types::{
    AgentInterface, ErrorKind, ProtocolVersion, Request as A2aRequest, Response as A2aResponse,
    v0_2,
};
use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderMap, HeaderName,
    HeaderValue,
};
use http::uri::Authority;
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::Full;
use tracing::{Instrument, Span};

use super::busy_error::busy_error;
use super::client_span::ClientSpan;
use super::deviation_observer::{DeviationObserver, tell};
use super::event_stream::{EventDecoder, EventStream};
use super::foreign_body::{is_html, shown};
use super::http_client::{HttpClient, challenges};
use super::wire_observer::ObservedBody;
use crate::binding::{EventReader, OutgoingCall, read_reply, write_call};
use crate::http::message::address::{address, bad_address};
use crate::http::message::answer::{A2A_JSON, JSON};
use crate::http::message::extensions;
use crate::spans::{self, HTTP_STATUS};
use crate::sse::{Bounds, Decoder, ServerSentEvent};
use crate::{
    Binding, BoxFuture, CallRequest, CallResponse, Context, Credentials, Error, Transport, Update,
};

/// A [`Transport`] to the agent at a URL, in one protocol version and one binding.
#[derive(Clone, Debug)]
pub struct HttpTransport {
    shared: Arc<Shared>,
}

#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) http: HttpClient,
    pub(super) url: Uri,
    pub(super) protocol_version: ProtocolVersion,
    binding: Binding,
    tenant: Option<String>,
    pub(super) mode: Mode,
    headers: HeaderMap,
    credentials: Option<Arc<dyn Credentials>>,
    /// Set if calls may bring credentials of their own.
    call_credentials: bool,
    pub(super) bounds: Bounds,
    /// Told of deviations in answers.
    pub(super) deviations: Option<DeviationObserver>,
    next_id: Arc<AtomicU64>,
    /// The agent refuses the media type of 1.0.1.
    plain_json: Arc<AtomicBool>,
}

impl HttpTransport {
    /// Creates a transport to `url` by JSON-RPC, reading tolerantly.
    pub fn new(url: &str, protocol_version: ProtocolVersion) -> Result<Self, Error> {
        Ok(Self {
            shared: Arc::new(Shared {
                http: HttpClient::default(),
                url: address(url)?,
                protocol_version,
                binding: Binding::JsonRpc,
                tenant: None,
                mode: Mode::Tolerant,
                deviations: None,
                headers: HeaderMap::new(),
                credentials: None,
                call_credentials: true,
                bounds: Bounds::default(),
                next_id: Arc::new(AtomicU64::new(1)),
                plain_json: Arc::default(),
            }),
        })
    }

    /// Makes a transport to an interface on a card; `None` if we do not speak its binding or protocol
    /// version. Calls that bring credentials of their own are refused until
    /// [`call_credentials`](Self::call_credentials) allows them: a card may name any origin.
    pub fn to(interface: &AgentInterface) -> Option<Result<Self, Error>> {
        let (binding, protocol_version) = (Binding::of(interface)?, interface.protocol_version()?);
        let tenant = interface.tenant.clone().unwrap_or_default();
        let transport = Self::new(&interface.http_url(None), protocol_version);
        let adapted = |transport: Self| transport.binding(binding).tenant(tenant);
        Some(transport.map(|transport| adapted(transport).call_credentials(false)))
    }

    /// Returns the protocol version that is spoken.
    pub fn protocol_version(&self) -> ProtocolVersion {
        self.shared.protocol_version
    }

    /// Returns how answers are read.
    pub fn reading_mode(&self) -> Mode {
        self.shared.mode
    }

    /// Sets another protocol version.
    pub fn speaking(self, protocol_version: ProtocolVersion) -> Self {
        self.with(|shared| shared.protocol_version = protocol_version)
    }

    /// Sets another binding.
    pub fn binding(self, binding: Binding) -> Self {
        self.with(|shared| shared.binding = binding)
    }

    /// Names the tenant of the interface in every request that names none. Specification 1.0 §8.3.2; older
    /// versions have no tenants.
    pub fn tenant(self, tenant: impl Into<String>) -> Self {
        let tenant = Some(tenant.into()).filter(|tenant| !tenant.is_empty());
        self.with(|shared| shared.tenant = tenant)
    }

    /// Shares a pool of connections, with its timeouts.
    pub fn http(self, http: HttpClient) -> Self {
        self.with(|shared| shared.http = http)
    }

    /// Reads answers in a mode; by default [`Mode::Tolerant`]: everything that can be read is kept.
    pub fn mode(self, mode: Mode) -> Self {
        self.with(|shared| shared.mode = mode)
    }

    /// Reports every deviation from the specification in answers to an observer.
    pub fn deviations(self, observer: DeviationObserver) -> Self {
        self.with(|shared| shared.deviations = Some(observer))
    }

    /// Sends a header with every request. Its value is treated as a secret, and never printed.
    pub fn header(self, name: HeaderName, mut value: HeaderValue) -> Self {
        value.set_sensitive(true);
        self.with(|shared| {
            shared.headers.insert(name, value);
        })
    }

    /// Sends these credentials with every request.
    pub fn credentials(self, credentials: Arc<dyn Credentials>) -> Self {
        self.with(|shared| shared.credentials = Some(credentials))
    }

    /// Allows calls to bring [credentials of their own](Context::credentials), which are sent in place of
    /// the transport's credentials and its headers `Authorization` and `Cookie`; the caller must make sure
    /// that they are meant for the agent at this URL. If not allowed, such calls fail as
    /// [`Error::Credentials`], and nothing is sent.
    pub fn call_credentials(self, allowed: bool) -> Self {
        self.with(|shared| shared.call_credentials = allowed)
    }

    /// Sets the bounds of a stream's lines and events.
    pub fn bounds(self, bounds: Bounds) -> Self {
        self.with(|shared| shared.bounds = bounds)
    }

    fn with(mut self, change: impl FnOnce(&mut Shared)) -> Self {
        change(Arc::make_mut(&mut self.shared));
        self
    }
}

impl Transport for HttpTransport {
    fn call(&self, mut call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let operation = call.request.operation();
            let calling = ClientSpan::begin(
                operation,
                shared.protocol_version,
                shared.binding,
                &shared.url,
            );
            let span = calling.span().clone();
            call.context.trace = spans::join(&span, call.context.trace);
            let reply = shared.ask(call, &span).instrument(span.clone()).await;
            calling.answered(reply)
        })
    }
}

impl Shared {
    async fn ask(self: Arc<Self>, call: CallRequest, span: &Span) -> Result<CallResponse, Error> {
        let CallRequest {
            mut request,
            context,
        } = call;
        if context.credentials.is_some() && !self.call_credentials {
            return Err(Error::Credentials(format!(
                "the credentials of the call are not for {}: trust that origin, or send the call without \
                 them",
                self.url.authority().map_or("this agent", Authority::as_str)
            )));
        }
        if self.protocol_version == ProtocolVersion::V0_2
            && matches!(request, A2aRequest::GetExtendedAgentCard(_))
        {
            return self.extended_card(&context).await;
        }
        if request.tenant().is_none_or(str::is_empty) {
            request.set_tenant(self.tenant.clone());
        }
        let id = Id::number(self.next_id.fetch_add(1, Ordering::Relaxed));
        #[cfg(feature = "grpc")]
        if self.binding == Binding::Grpc {
            return self.ask_by_grpc(request, &context, span).await;
        }
        let streams = request.operation().is_stream();
        let forgets = self.cannot_say(&request);
        let mut asking = write_call(request, self.protocol_version, self.binding, &id)?;
        // Shared by all attempts, because it may be large.
        let said = asking.body.take().map(Bytes::from);
        let response = self.send(&asking, said.as_ref(), &context).await?;
        let (head, body) = response.into_parts();
        span.record(HTTP_STATUS, head.status.as_u16());
        let envelope = asking.envelope;

        refused(head.status, &head.headers)?;
        if streams && head.status == StatusCode::OK && is_event_stream(&head.headers) {
            let limits = self.limits(self.bounds.event);
            let reader = EventReader::new(envelope, self.mode, limits);
            let idle = self.http.timeouts.idle;
            let budget = self.http.receiving.clone();
            let (reader, observer) = ((reader, self.mode), self.deviations.clone());
            let decoder = EventDecoder::Sse(Decoder::new(self.bounds));
            let updates = EventStream::updates(body, reader, observer, decoder, idle, budget);
            return Ok(CallResponse::stream(updates));
        }

        let (body, mut share) = self.http.collect(body).await?;
        let mut limits = self.limits(self.http.limit);
        // The value is charged to the budget of all answers only once its size is known.
        limits.heap = limits.heap.min(body.len().saturating_mul(4).max(MIN_HEAP));
        if streams && (head.status.is_success() || self.binding == Binding::JsonRpc) {
            // An error before the stream began, or a peer that does not stream: one event.
            let mut reader = EventReader::new(envelope, self.mode, limits);
            if self.mode == Mode::Tolerant && head.status.is_success() && begins_as_stream(&body) {
                let updates = self.read_unmarked_stream(&body, reader)?;
                return Ok(CallResponse::stream(tokio_stream::iter(updates)));
            }
            let read = explain(reader.read(&body), head.status, &head.headers, &body)
                .map_err(|error| busy_error(error, &head))?;
            let update = Update::new(tell(self.deviations.as_ref(), read).event, None);
            return Ok(CallResponse::stream(tokio_stream::once(Ok(update))));
        }
        let read = read_reply(&envelope, head.status, &body, self.mode, &limits);
        let read = explain(read, head.status, &head.headers, &body)
            .map_err(|error| busy_error(error, &head))?;
        let mut response = tell(self.deviations.as_ref(), read);
        if forgets {
            response.tasks_mut().for_each(|task| task.history.clear());
        }
        drop(body);
        let bytes = response.tasks_mut().map(|task| size_of_task(task)).sum();
        share.resize(bytes).map_err(|Exhausted| Error::Crowded {
            limit: self.http.receiving.limit(),
        })?;
        Ok(CallResponse::once(response).holding(Some(Arc::new(share))))
    }

    /// Reads a stream that has another media type than streams have.
    fn read_unmarked_stream(
        &self,
        body: &[u8],
        mut reader: EventReader,
    ) -> Result<Vec<Result<Update, Error>>, Error> {
        if let Some(observer) = &self.deviations {
            observer.observe(&Deviation {
                found: "another media type".to_owned(),
                read_as: "text/event-stream".to_owned(),
                ..Deviation::new(Quirk::OtherMediaType, "Content-Type")
            });
        }
        let mut decoder = Decoder::new(self.bounds);
        let mut events = decoder.push(body)?;
        events.extend(decoder.finish()?);
        let read = |event: ServerSentEvent| {
            let sequence = event.id.as_deref().and_then(|id| id.parse().ok());
            let item = tell(self.deviations.as_ref(), reader.read(&event.data)?);
            Ok(Update::new(item.event, sequence))
        };
        Ok(events.into_iter().map(read).collect())
    }

    /// Returns whether the request cannot be expressed: the proto of 0.3 cannot distinguish a history length of 0
    /// from an absent one, which means all.
    pub(super) fn cannot_say(&self, request: &A2aRequest) -> bool {
        self.protocol_version == ProtocolVersion::V0_3
            && self.binding != Binding::JsonRpc
            && request.history_length() == Some(0)
    }

    /// Sends a request, in another way if the agent only takes that.
    async fn send(
        &self,
        asking: &OutgoingCall,
        body: Option<&Bytes>,
        context: &Context,
    ) -> Result<Response<ObservedBody>, Error> {
        let response = self.ask_by(&asking.method, asking, body, context).await?;
        if self.binding == Binding::JsonRpc {
            return Ok(response);
        }
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE
            && self.media_type() == A2A_JSON
            && body.is_some()
        {
            self.plain_json.store(true, Ordering::Relaxed);
            return self.ask_by(&asking.method, asking, body, context).await;
        }
        // The text of the specification subscribes by POST, its proto by GET; servers have one.
        if response.status() == StatusCode::METHOD_NOT_ALLOWED
            && asking.envelope.operation == a2a_types::Operation::SubscribeToTask
        {
            return self.ask_by(&Method::GET, asking, None, context).await;
        }
        Ok(response)
    }

    async fn ask_by(
        &self,
        method: &Method,
        asking: &OutgoingCall,
        body: Option<&Bytes>,
        context: &Context,
    ) -> Result<Response<ObservedBody>, Error> {
        let request = || self.request(asking, method, body, context);
        let sent = self.http.send_as(self.credentials(context), request).await;
        let target = match &sent {
            Err(Error::Redirected {
                status: 307 | 308,
                location: Some(location),
            }) => self.within_origin(location),
            _ => None,
        };
        let Some(target) = target else { return sent };
        let request = || {
            let mut request = request()?;
            *request.uri_mut() = target.clone();
            Ok(request)
        };
        self.http.send_as(self.credentials(context), request).await
    }

    /// Returns the target of a redirect if it is at the same origin: the same party has the request already. Many
    /// frameworks redirect to the path with a slash at its end.
    fn within_origin(&self, location: &str) -> Option<Uri> {
        let url = &self.url;
        let target: Uri = match location.starts_with('/') && !location.starts_with("//") {
            true => format!("{}://{}{location}", url.scheme()?, url.authority()?).parse(),
            false => location.parse(),
        }
        .ok()?;
        (target.scheme() == url.scheme() && target.authority() == url.authority()).then_some(target)
    }

    fn request(
        &self,
        asking: &OutgoingCall,
        method: &Method,
        body: Option<&Bytes>,
        context: &Context,
    ) -> Result<Request<Full<Bytes>>, Error> {
        let streams = asking.envelope.operation.is_stream();
        let has_body = body.is_some();
        let mut request = Request::builder()
            .method(method)
            .uri(self.target(&asking.target)?)
            .body(Full::from(body.cloned().unwrap_or_default()))
            .map_err(|error| bad_address(&self.url.to_string(), error))?;
        let headers = request.headers_mut();
        if has_body {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.media_type()));
        }
        let accept = match (streams, self.binding, self.protocol_version) {
            (true, ..) => "text/event-stream",
            (false, Binding::HttpJson, ProtocolVersion::V1_0) => {
                "application/a2a+json, application/json"
            }
            _ => JSON,
        };
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        // Compressed answers are not read, because their size cannot be foreseen.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if self.protocol_version == ProtocolVersion::V1_0 {
            headers.insert("a2a-version", HeaderValue::from_static("1.0"));
        }
        self.write_context(context, headers);
        Ok(request)
    }

    /// Writes the headers that a request has in every binding.
    pub(super) fn write_context(&self, context: &Context, headers: &mut HeaderMap) {
        extensions::ask(&context.extensions, self.protocol_version, headers);
        // A value that cannot be a header is left out.
        if let Some(user) = &context.claims.user_id
            && let Ok(user) = HeaderValue::from_str(user)
        {
            headers.insert("x-user-id", user);
        }
        if let Some(id) = context.last_event_id {
            headers.insert("last-event-id", HeaderValue::from(id));
        }
        if let Some(trace) = &context.trace {
            trace.write(headers);
        }
        headers.extend(self.own_headers(context));
    }

    /// Returns the media type: 1.0.1 §11.1 wants its own on HTTP+JSON; everything else is plain JSON.
    fn media_type(&self) -> &'static str {
        let own =
            self.binding == Binding::HttpJson && self.protocol_version == ProtocolVersion::V1_0;
        match own && !self.plain_json.load(Ordering::Relaxed) {
            true => A2A_JSON,
            false => JSON,
        }
    }

    /// Returns the URL with what follows it; a query that the URL has already is kept.
    fn target(&self, target: &str) -> Result<Uri, Error> {
        if target.is_empty() {
            return Ok(self.url.clone());
        }
        let url = self.url.to_string();
        let (base, own_query) = url.split_once('?').unwrap_or((&url, ""));
        let mut whole = format!("{}{target}", base.trim_end_matches('/'));
        if !own_query.is_empty() {
            whole.push(if target.contains('?') { '&' } else { '?' });
            whole.push_str(own_query);
        }
        whole.parse().map_err(|error| bad_address(&whole, error))
    }

    /// Fetches the extended card of 0.2 by a plain GET, at a sibling path of the endpoint (0.2 §7.8), or
    /// below the endpoint, where some servers have it.
    async fn extended_card(&self, context: &Context) -> Result<CallResponse, Error> {
        const PATH: &str = ProtocolVersion::EXTENDED_CARD_PATH;
        let endpoint = self.url.to_string();
        let below = endpoint.trim_end_matches('/');
        let root = below.find("://").map_or(0, |scheme| scheme + 3);
        let beside = below
            .rfind('/')
            .filter(|slash| *slash > root)
            .map_or(below, |slash| &below[..slash]);
        let credentials = self.credentials(context);
        let mut headers = HeaderMap::new();
        if let Some(trace) = &context.trace {
            trace.write(&mut headers);
        }
        headers.extend(self.own_headers(context));
        let mut fetched = self
            .http
            .get_as(credentials, &format!("{beside}{PATH}"), &headers)
            .await?;
        if fetched.status == StatusCode::NOT_FOUND && below != beside {
            fetched = self
                .http
                .get_as(credentials, &format!("{below}{PATH}"), &headers)
                .await?;
        }
        refused(fetched.status, &fetched.headers)?;
        if fetched.status == StatusCode::NOT_FOUND {
            return Err(ErrorKind::ExtendedAgentCardNotConfigured.into());
        }
        let text = std::str::from_utf8(&fetched.body).unwrap_or_default();
        let read = reading::read::<v0_2::AgentCard>(text, self.mode, &reading::Hints::at("$"));
        let read = explain(
            read.map_err(Error::Malformed),
            fetched.status,
            &fetched.headers,
            &fetched.body,
        )?;
        Ok(CallResponse::once(A2aResponse::GetExtendedAgentCard(
            tell(self.deviations.as_ref(), read).into(),
        )))
    }

    /// Returns the credentials to send: the call's own, or else the credentials for all calls.
    pub(super) fn credentials<'a>(&'a self, context: &'a Context) -> Option<&'a dyn Credentials> {
        context
            .credentials
            .as_deref()
            .or(self.credentials.as_deref())
    }

    /// Returns the headers to send with every request, without the headers that would authenticate another
    /// caller than the credentials of the call do.
    pub(super) fn own_headers(&self, context: &Context) -> HeaderMap {
        let mut headers = self.headers.clone();
        if context.credentials.is_some() {
            headers.remove(AUTHORIZATION);
            headers.remove(COOKIE);
        }
        headers
    }

    /// Returns the limits for a JSON document of at most `bytes` bytes.
    pub(super) fn limits(&self, bytes: usize) -> Limits {
        let mut limits = Limits::default();
        limits.bytes = bytes;
        limits.heap = self.http.limit.max(bytes).saturating_mul(4);
        limits
    }
}

/// Heap that any answer may take as a tree of values, however short it is.
pub(super) const MIN_HEAP: usize = 128 << 20;

/// Returns an error if the agent wants other credentials, or denies access.
fn refused(status: StatusCode, headers: &HeaderMap) -> Result<(), Error> {
    if ![StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status) {
        return Ok(());
    }
    Err(Error::Refused {
        status: status.as_u16(),
        challenge: challenges(headers),
    })
}

/// Checks the HTTP status of an answer, too: with a status of failure there is no result, and the error of a
/// body that is not of this protocol quotes its beginning.
fn explain<T>(
    read: Result<T, Error>,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<T, Error> {
    let problem = match read {
        Err(Error::Malformed(_)) if is_html(headers) => shown(headers, body),
        _ if status.is_success() && !body.is_empty() => return read,
        Err(Error::Malformed(_) | Error::NotA2a { .. }) => shown(headers, body),
        Ok(_) if !status.is_success() => shown(headers, body),
        read => return read,
    };
    Err(Error::NotA2a {
        status: status.as_u16(),
        problem,
    })
}

/// Returns whether a body begins like a stream of events and not like JSON.
fn begins_as_stream(body: &[u8]) -> bool {
    [&b"data:"[..], b"event:", b"id:", b"retry:", b": "]
        .iter()
        .any(|begin| body.starts_with(begin))
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    content_type.is_some_and(|text| {
        text.trim_start()
            .to_ascii_lowercase()
            .starts_with("text/event-stream")
    })
}
