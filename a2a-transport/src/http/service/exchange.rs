//! One request and its answer, in any binding.

use std::future::ready;
use std::pin::Pin;

use a2a_edge::budget::Exhausted;
use a2a_jsonrpc::Id;
use a2a_types::extension::trpc::is_client;
use a2a_types::{
    Error as A2aError, ErrorKind, Operation, ProtocolVersion, Response as A2aResponse,
};
use bytes::Bytes;
use futures_util::future::Either;
use http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use tokio::sync::OwnedSemaphorePermit;
use tokio::task::yield_now;
#[cfg(feature = "grpc")]
use tokio::time::Instant;
use tokio::time::timeout_at;

use super::auth::{AuthError, DynAuthorizer};
use super::denial::{DenialFormat, whole_seconds};
use super::error_format::ErrorFormat;
use super::extension_methods::FoundMethod;
#[cfg(feature = "grpc")]
use super::grpc::GrpcCall;
use super::http_service::HttpService;
use super::peer_slots::LARGE_BODY_BYTES;
use super::request_headers::RequestHeaders;
use super::routing::{find_route, unrouted};
use crate::binding::{
    CallRefusal, EventWriter, IncomingCall, OutgoingReply, jsonrpc, rest, write_refusal,
    write_reply,
};
use crate::http::message::answer::{AnswerFormat, JSON, for_caller_only, retry_later, status};
use crate::http::message::body::{Body, EventFormat, crowded, late};
use crate::http::message::extensions;
#[cfg(feature = "grpc")]
use crate::http::message::grpc::read_timeout;
use crate::http::message::media;
use crate::http::message::receive::{BodyError, collect};
use crate::http::message::server_span::{Outcome, ServerSpan};
use crate::{
    Binding, BoxFuture, CallRequest, CallResponse, Context, Error, Principal, ResponseBody,
    ResponseContext, Transport,
};

impl<T: Transport> HttpService<T> {
    /// Answers a request by JSON-RPC.
    pub(super) fn json_rpc<'a, B>(
        &'a self,
        head: &'a Parts,
        body: Pin<&'a mut B>,
        server_span: ServerSpan,
    ) -> impl Future<Output = Response<Body>> + 'a
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (headers, reading) = (RequestHeaders::read(head), self.settings.reading());
        let unnamed = reading.offer.unnamed(Binding::JsonRpc);
        let error_format = ErrorFormat {
            binding: Binding::JsonRpc,
            protocol_version: match reading
                .offer
                .requested(Binding::JsonRpc, headers.version().as_deref())
            {
                Ok(Some(named)) => named,
                _ => reading.prefer.unwrap_or(unnamed),
            },
            answer: AnswerFormat::Json(JSON),
            deadline: None,
            server_span,
        };
        let read = move |body: &[u8], headers: &RequestHeaders<'_>| {
            jsonrpc::read_call(body, headers.version().as_deref(), &reading)
        };
        self.exchange(head, headers, body, error_format, read)
    }

    /// Answers a request by HTTP+JSON, at a path below ours.
    pub(super) fn http_json<'a, B>(
        &'a self,
        head: &'a Parts,
        path: &'a str,
        body: Pin<&'a mut B>,
        server_span: ServerSpan,
    ) -> impl Future<Output = Response<Body>> + 'a
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (headers, reading) = (RequestHeaders::read(head), self.settings.reading());
        let mut error_format = ErrorFormat {
            binding: Binding::HttpJson,
            protocol_version: unrouted(reading.offer),
            answer: AnswerFormat::Json(media::of_answer(&head.headers)),
            deadline: None,
            server_span,
        };
        let tenants = &self.settings.tenants;
        match find_route(head, path, &headers, &reading, tenants, &mut error_format) {
            Ok(route) => {
                let read = move |body: &[u8], _: &RequestHeaders<'_>| {
                    rest::read_call(route, head.uri.query(), body, &reading)
                };
                Either::Left(self.exchange(head, headers, body, error_format, read))
            }
            Err(refusal) => Either::Right(ready(refusal)),
        }
    }

    /// Answers a request for a method of A2A's services by gRPC or gRPC-Web.
    #[cfg(feature = "grpc")]
    pub(super) fn grpc<'a, B>(
        &'a self,
        head: &'a Parts,
        body: Pin<&'a mut B>,
        mut server_span: ServerSpan,
    ) -> impl Future<Output = Response<Body>> + 'a
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (headers, reading) = (RequestHeaders::read(head), self.settings.reading());
        let call = match GrpcCall::of(head) {
            Ok(call) => call,
            Err(refusal) => {
                server_span.refused(ProtocolVersion::LATEST, ErrorKind::MethodNotFound);
                return Either::Right(ready(refusal));
            }
        };
        let mut error_format = ErrorFormat {
            binding: Binding::Grpc,
            protocol_version: call.protocol_version,
            answer: AnswerFormat::Grpc(call.format(&reading)),
            deadline: read_timeout(&head.headers).map(|timeout| Instant::now() + timeout),
            server_span,
        };
        if let Err(error) = call.check_version(&headers, &reading) {
            return Either::Right(ready(error_format.refuse(None, error)));
        }
        let read = move |body: &[u8], _: &RequestHeaders<'_>| call.read(body, &reading);
        Either::Left(self.exchange(head, headers, body, error_format, read))
    }

    /// Authenticates the caller, reads and authorizes its call, makes it, and writes the answer.
    #[expect(
        clippy::manual_async_fn,
        reason = "the future of an `async fn` has room for its arguments twice, and every connection keeps room for it"
    )]
    fn exchange<'a, B>(
        &'a self,
        head: &'a Parts,
        headers: RequestHeaders<'a>,
        body: Pin<&'a mut B>,
        mut error_format: ErrorFormat,
        read: impl FnOnce(&[u8], &RequestHeaders<'_>) -> Result<IncomingCall, CallRefusal> + 'a,
    ) -> impl Future<Output = Response<Body>> + 'a
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        async move {
            // Boxed, because the future needs this memory only to read the request.
            let admitted = self.admit(head, headers, body, &mut error_format, read);
            let (answering, slot, envelope, options) = match Box::pin(admitted).await {
                Ok(admitted) => admitted,
                Err(refusal) => return refusal,
            };
            let reply = match error_format.deadline {
                None => answering.await,
                Some(deadline) => match timeout_at(deadline, answering).await {
                    Ok(reply) => reply,
                    Err(_) => {
                        return error_format.refuse(Some(StatusCode::GATEWAY_TIMEOUT), late());
                    }
                },
            };
            if slot.is_some() && reply.as_ref().is_ok_and(|reply| reply.held.is_some()) {
                // After a large answer, lets other peers go first, while further reads of this peer find no
                // slot.
                yield_now().await;
            }
            let reply = self.introduce(head, self.or_public_card(&envelope, reply));
            let mut response = self.respond(reply, envelope, options, error_format);
            if self.settings.passed_credentials.is_none() {
                self.settings.challenge_unauthenticated(&mut response, head);
            }
            response
        }
    }

    /// Authenticates the caller, reads and authorizes its call, and begins to make it. The slot of a read is held until
    /// the answer is written.
    async fn admit<'a, B>(
        &'a self,
        head: &Parts,
        headers: RequestHeaders<'_>,
        body: Pin<&mut B>,
        error_format: &mut ErrorFormat,
        read: impl FnOnce(&[u8], &RequestHeaders<'_>) -> Result<IncomingCall, CallRefusal>,
    ) -> Result<Admitted<'a>, Response<Body>>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let read = self.read(head, &headers, body, error_format, read);
        let (principal, call) = read.await?;
        let (call, envelope, options) = self.prepare(head, headers, principal, call, error_format);
        let call = match &self.settings.authorizer {
            None => call,
            Some(authorizer) => match authorized(authorizer, call).await {
                Ok(call) => call,
                Err(denied) => {
                    error_format.protocol_version = envelope.protocol_version;
                    let id = envelope.id.unwrap_or(Id::Null);
                    return Err(self.deny(&denied, head, id, error_format));
                }
            },
        };
        let slot = match call.request.operation() {
            Operation::GetTask | Operation::ListTasks | Operation::SubscribeToTask => {
                self.settings.reads.enter(head).await
            }
            _ => None,
        };
        Ok((self.transport.call(call), slot, envelope, options))
    }

    /// Replaces the error of an agent without an extended card by the public card, in 0.3 by gRPC: its `.proto` file has
    /// one method for the card, be it extended or not, while the other bindings have one for the extended card.
    fn or_public_card(
        &self,
        envelope: &ResponseContext,
        reply: Result<CallResponse, Error>,
    ) -> Result<CallResponse, Error> {
        let is_get_agent_card = envelope.binding == Binding::Grpc
            && envelope.protocol_version == ProtocolVersion::V0_3
            && envelope.operation == Operation::GetExtendedAgentCard;
        match (reply, self.settings.card.as_ref()) {
            (Err(Error::Agent(error)), Some(card))
                if is_get_agent_card && error.kind == ErrorKind::UnsupportedOperation =>
            {
                let card = A2aResponse::GetExtendedAgentCard(card.unsigned());
                Ok(CallResponse::once(card))
            }
            (reply, _) => reply,
        }
    }

    /// Adds the public card's interfaces to an extended card that names no interface.
    pub(super) fn introduce(
        &self,
        head: &Parts,
        mut reply: Result<CallResponse, Error>,
    ) -> Result<CallResponse, Error> {
        if let Ok(reply) = &mut reply
            && let ResponseBody::Once(A2aResponse::GetExtendedAgentCard(card)) = &mut reply.answer
            && card.supported_interfaces.is_empty()
        {
            card.supported_interfaces = self.settings.interfaces(head);
        }
        reply
    }

    /// Authenticates the caller, and reads its request.
    async fn read<B>(
        &self,
        head: &Parts,
        headers: &RequestHeaders<'_>,
        body: Pin<&mut B>,
        error_format: &mut ErrorFormat,
        read: impl FnOnce(&[u8], &RequestHeaders<'_>) -> Result<IncomingCall, CallRefusal>,
    ) -> Result<(Principal, IncomingCall), Response<Body>>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let refuse = |error_format: &mut ErrorFormat, status, text: &str| {
            error_format.refuse(Some(status), A2aError::new(ErrorKind::InvalidRequest, text))
        };
        let is_json = error_format.binding != Binding::Grpc;
        if is_json && head.method == Method::POST && !headers.brings_json() {
            let text = "expected `Content-Type: application/json`";
            return Err(refuse(
                error_format,
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                text,
            ));
        }
        let admitted = self.settings.authenticator.authenticate(head).await;
        let principal =
            admitted.map_err(|denied| self.deny(&denied, head, Id::Null, error_format))?;
        let limit = self.settings.reading().limits.bytes;
        // Given back when the call is read, after the body.
        let mut share = self.settings.receiving.share();
        let room = match is_json {
            true => limit,
            // The head of the frame, and Base64.
            false => limit / 3 * 4 + FRAME_ROOM,
        };
        let body = collect(body, room, self.settings.rate, &mut share).await;
        let body = body.map_err(|incomplete| match incomplete {
            BodyError::TooLarge => {
                let text = format!("the body is larger than {limit} bytes");
                refuse(error_format, StatusCode::PAYLOAD_TOO_LARGE, &text)
            }
            BodyError::Stalled => {
                let text = "the body came too slowly";
                refuse(error_format, StatusCode::REQUEST_TIMEOUT, text)
            }
            BodyError::Crowded => {
                let text = "too many request bodies are being received: ask again later";
                let error = A2aError::new(ErrorKind::Unavailable, text);
                retry_later(error_format.refuse(Some(StatusCode::SERVICE_UNAVAILABLE), error))
            }
            BodyError::Broken(_) => {
                refuse(error_format, StatusCode::BAD_REQUEST, "the body broke off")
            }
        })?;
        let slot = match body.len() > LARGE_BODY_BYTES {
            true => self.settings.large_bodies.enter(head).await,
            false => None,
        };
        let call = match read(&body, headers) {
            Ok(call) => call,
            Err(refused) => {
                let limits = self.settings.reading().limits;
                let methods = &self.settings.extension_methods;
                return Err(match methods.find(&refused, &body, &limits) {
                    Some(method) => {
                        let context = Context {
                            claims: headers.claims(),
                            extensions: headers.extensions.clone(),
                            trace: error_format.server_span.trace(),
                            ..Context::new(error_format.protocol_version).principal(principal)
                        };
                        self.call_extension(method, context, error_format).await
                    }
                    None => self.refuse_call(refused, error_format),
                });
            }
        };
        if slot.is_some() {
            // A large message takes long to parse, so other requests go first.
            yield_now().await;
        }
        Ok((principal, call))
    }

    /// Calls a method of an extension, and writes its answer.
    async fn call_extension(
        &self,
        method: FoundMethod,
        context: Context,
        error_format: &mut ErrorFormat,
    ) -> Response<Body> {
        let (wants_answer, protocol_version) = (method.id.is_some(), context.protocol_version);
        let active: Vec<_> = self.offered(&context.extensions).cloned().collect();
        let mut response = match method.call(context).await {
            Ok(body) => {
                error_format.server_span.settled(protocol_version);
                error_format.server_span.ended(Outcome::Answered);
                let status = StatusCode::OK;
                self.admit_answer(OutgoingReply { status, body }, error_format)
            }
            Err(refused) => self.refuse_call(refused, error_format),
        };
        if !wants_answer {
            return status(StatusCode::NO_CONTENT);
        }
        extensions::echo(&active, protocol_version, &mut response);
        response
    }

    /// Refuses a call that was not understood.
    fn refuse_call(&self, refused: CallRefusal, error_format: &mut ErrorFormat) -> Response<Body> {
        tracing::debug!(error = %refused.error, "refused a request");
        error_format
            .server_span
            .refused(refused.protocol_version, refused.error.kind);
        // It may repeat names that the request has.
        self.admit_answer(write_refusal(refused), error_format)
    }

    /// Returns an answer, if the budget of all answers has room for it.
    fn admit_answer(&self, reply: OutgoingReply, error_format: &ErrorFormat) -> Response<Body> {
        let admitted = self.admit_packed(error_format.answer, reply);
        admitted.unwrap_or_else(|Exhausted| retry_later(status(StatusCode::SERVICE_UNAVAILABLE)))
    }

    /// Packs an answer, and charges it to the budget of all answers.
    fn admit_packed(
        &self,
        format: AnswerFormat,
        reply: OutgoingReply,
    ) -> Result<Response<Body>, Exhausted> {
        let mut packed = match format.pack(reply) {
            Ok(packed) => packed,
            Err(response) => return Ok(response),
        };
        let admitted = self
            .settings
            .answers
            .admit(std::mem::take(&mut packed.body))?;
        Ok(format.response(packed, Body::admitted(admitted)))
    }

    /// Returns the extensions that the card offers.
    fn offered<'e>(&self, extensions: &'e [String]) -> impl Iterator<Item = &'e String> {
        let card = &self.settings.extensions;
        extensions.iter().filter(move |uri| card.contains(uri))
    }

    /// Refuses a request that is not admitted.
    fn deny(
        &self,
        denied: &AuthError,
        head: &Parts,
        id: Id,
        error_format: &mut ErrorFormat,
    ) -> Response<Body> {
        let (binding, protocol_version) = (error_format.binding, error_format.protocol_version);
        error_format
            .server_span
            .refused(protocol_version, denied.kind());
        let format = DenialFormat {
            binding,
            protocol_version,
            id,
            answer: error_format.answer,
        };
        self.settings.deny(denied, head, format)
    }

    /// Makes a call of a request, and what its answer depends on.
    fn prepare(
        &self,
        head: &Parts,
        headers: RequestHeaders<'_>,
        principal: Principal,
        call: IncomingCall,
        error_format: &mut ErrorFormat,
    ) -> (CallRequest, ResponseContext, StreamOptions) {
        let IncomingCall {
            request,
            envelope,
            repairs,
        } = call;
        error_format.server_span.understood(&envelope);
        for repair in &repairs {
            let (quirk, path) = (repair.quirk.code(), &repair.path);
            tracing::debug!(quirk, path, "repaired a request");
        }
        let options = StreamOptions {
            active: self.offered(&headers.extensions).cloned().collect(),
            named: headers.user_agent().is_some_and(is_client),
            numbered: headers.last_event_id().is_some(),
        };
        let context = Context {
            principal,
            tenant: None,
            protocol_version: envelope.protocol_version,
            claims: headers.claims(),
            last_event_id: headers.last_event_id(),
            extensions: headers.extensions,
            trace: error_format.server_span.trace(),
            credentials: {
                let places = self.settings.passed_credentials.as_ref();
                places.and_then(|places| places.read(head))
            },
            repairs,
        };
        (CallRequest { request, context }, envelope, options)
    }

    /// Writes an answer as an HTTP response.
    fn respond(
        &self,
        reply: Result<CallResponse, Error>,
        mut envelope: ResponseContext,
        options: StreamOptions,
        mut error_format: ErrorFormat,
    ) -> Response<Body> {
        let mut held = None;
        let mut refusal = RefusalHeaders::default();
        let outcome = match reply {
            Ok(reply) => {
                held = reply.held;
                let offer = self.settings.reading().offer;
                let is_offered = |protocol_version: &ProtocolVersion| {
                    offer.has(envelope.binding, *protocol_version)
                };
                envelope.settle(reply.created_in.filter(is_offered));
                Ok(reply.answer)
            }
            Err(error) => {
                if !matches!(error, Error::Agent(_)) {
                    tracing::warn!(error = &error as &dyn std::error::Error, "a call failed");
                }
                let passes = self.settings.passed_credentials.is_some();
                refusal = RefusalHeaders::of(&error, passes);
                Err(match error {
                    // The caller's credentials are not the ones that were refused.
                    Error::Refused { status: 401, .. } if !passes => ErrorKind::Internal.into(),
                    error => error.into_answer(),
                })
            }
        };
        error_format.server_span.settled(envelope.protocol_version);
        error_format.server_span.answered(&outcome);
        if !envelope.wants_answer() {
            return status(StatusCode::NO_CONTENT);
        }
        let mut response = match outcome {
            Ok(ResponseBody::Stream(updates)) => {
                let writer = EventWriter::new(&envelope);
                let format = match error_format.answer {
                    AnswerFormat::Json(_) => EventFormat::Sse {
                        named: options.named,
                        keep_alive: self.settings.keep_alive,
                    },
                    AnswerFormat::Grpc(format) => EventFormat::Grpc {
                        format,
                        deadline: error_format.deadline,
                        numbered: options.numbered,
                    },
                };
                let answers = self.settings.answers.clone();
                let body = Body::events(updates, writer, format, answers, error_format.server_span);
                error_format.answer.stream(body)
            }
            Ok(ResponseBody::Once(response)) => {
                let is_card = matches!(response, A2aResponse::GetExtendedAgentCard(_));
                let answer = self.write(&envelope, response, &mut error_format);
                match is_card {
                    true => for_caller_only(answer),
                    false => answer,
                }
            }
            Err(error) if matches!(error.kind, ErrorKind::Unavailable | ErrorKind::RateLimited) => {
                let reply = write_reply(&envelope, Err(error));
                retry_later(error_format.answer.written(reply))
            }
            Err(error) => error_format
                .answer
                .written(write_reply(&envelope, Err(error))),
        };
        refusal.write(&mut response);
        drop(held);
        extensions::echo(&options.active, envelope.protocol_version, &mut response);
        response
    }

    /// Writes an answer, if the budget of all answers has room for it.
    fn write(
        &self,
        envelope: &ResponseContext,
        response: A2aResponse,
        error_format: &mut ErrorFormat,
    ) -> Response<Body> {
        let reply = write_reply(envelope, Ok(response));
        match self.admit_packed(error_format.answer, reply) {
            Ok(response) => response,
            Err(Exhausted) => {
                error_format
                    .server_span
                    .ended(Outcome::Failed(ErrorKind::Unavailable));
                let mut reply = write_reply(envelope, Err(crowded()));
                reply.status = StatusCode::SERVICE_UNAVAILABLE;
                retry_later(error_format.answer.written(reply))
            }
        }
    }
}

/// Bytes of a body by gRPC beside its message.
const FRAME_ROOM: usize = 64;

/// Headers of an agent's refusal that are passed on to the caller.
#[derive(Default)]
struct RefusalHeaders {
    challenge: Option<HeaderValue>,
    retry_after: Option<HeaderValue>,
}

impl RefusalHeaders {
    fn of(error: &Error, passes_credentials: bool) -> Self {
        match error {
            Error::Refused { challenge, .. } if passes_credentials => Self {
                challenge: challenge.as_deref().and_then(|text| text.parse().ok()),
                retry_after: None,
            },
            Error::Busy {
                after: Some(after), ..
            } => Self {
                challenge: None,
                retry_after: Some(HeaderValue::from(whole_seconds(*after))),
            },
            _ => Self::default(),
        }
    }

    fn write(self, response: &mut Response<Body>) {
        let headers = response.headers_mut();
        if let Some(challenge) = self.challenge {
            headers.insert(WWW_AUTHENTICATE, challenge);
        }
        if let Some(retry_after) = self.retry_after {
            headers.insert(RETRY_AFTER, retry_after);
        }
    }
}

/// A call that is being answered, the slot that it has among the reads of its peer, and what its answer depends on.
type Admitted<'a> = (
    BoxFuture<'a, Result<CallResponse, Error>>,
    Option<OwnedSemaphorePermit>,
    ResponseContext,
    StreamOptions,
);

/// Options of the answer.
struct StreamOptions {
    /// The extensions that are active.
    active: Vec<String>,
    /// `true` if the events of a stream have names.
    named: bool,
    /// `true` if the events of a stream by gRPC have ids.
    numbered: bool,
}

/// Authorizes a call, and gives it back. Boxed, because few servers have an authorizer and it would enlarge
/// the future of every request by a call.
fn authorized(
    authorizer: &DynAuthorizer,
    call: CallRequest,
) -> BoxFuture<'_, Result<CallRequest, AuthError>> {
    Box::pin(async move { authorizer.authorize(&call).await.map(|()| call) })
}
