//! One request and its answer, by JSON-RPC or by HTTP+JSON.

use std::pin::Pin;

use a2a_jsonrpc::Id;
use a2a_types::extension::trpc::is_client;
use a2a_types::reading::Mode;
use a2a_types::{Dialect, Error as A2aError, ErrorKind, Response as A2aResponse};
use bytes::Bytes;
use http::header::{ALLOW, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::answer::{JSON, event_stream, for_caller_only, retry_later, status, typed, written};
use super::auth::AuthError;
use super::body::{Body, crowded};
use super::budget::Exhausted;
use super::denial::DenialFormat;
use super::receive::{BodyError, collect};
use super::request_headers::RequestHeaders;
use super::server_span::{Outcome, ServerSpan};
use super::service::HttpService;
use super::{extensions, media};
use crate::binding::rest::{self, NoRoute, Route};
use crate::binding::{
    CallRefusal, EventWriter, IncomingCall, Offer, ReadOptions, jsonrpc, write_refusal, write_reply,
};
use crate::error::clip;
use crate::{
    Answer, Binding, BoxFuture, Call, Context, Envelope, Error, Principal, Reply, Transport,
};

impl<T: Transport> HttpService<T> {
    /// Answers a request by JSON-RPC.
    pub(super) async fn json_rpc<B>(
        &self,
        head: &Parts,
        body: Pin<&mut B>,
        server_span: ServerSpan,
    ) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (headers, reading) = (RequestHeaders::read(head), self.settings.reading());
        let unnamed = reading.offer.unnamed(Binding::JsonRpc);
        let mut error_format = ErrorFormat {
            binding: Binding::JsonRpc,
            dialect: match reading
                .offer
                .requested(Binding::JsonRpc, headers.version().as_deref())
            {
                Ok(Some(named)) => named,
                _ => reading.prefer.unwrap_or(unnamed),
            },
            media_type: JSON,
            server_span,
        };
        let read = |body: &[u8]| jsonrpc::read_call(body, headers.version().as_deref(), &reading);
        let pending = match self
            .read(head, &headers, body, &mut error_format, read)
            .await
        {
            Ok((principal, call)) => {
                let pending = self.ask(head, headers, principal, call, &mut error_format);
                match pending.await {
                    Ok(pending) => pending,
                    Err(refusal) => return refusal,
                }
            }
            Err(refusal) => return refusal,
        };
        let reply = self.introduce(head, pending.reply.await);
        let mut response = self.respond(reply, pending.envelope, pending.options, error_format);
        let settings = &self.settings;
        settings.challenge_unauthenticated(&mut response, head);
        response
    }

    /// Answers a request by HTTP+JSON, at a path below ours.
    pub(super) async fn http_json<B>(
        &self,
        head: &Parts,
        path: &str,
        body: Pin<&mut B>,
        server_span: ServerSpan,
    ) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (headers, reading) = (RequestHeaders::read(head), self.settings.reading());
        let has_1_0 = reading.offer.has(Binding::HttpJson, Dialect::V1_0);
        let mut error_format = ErrorFormat {
            binding: Binding::HttpJson,
            dialect: match has_1_0 {
                true => Dialect::V1_0,
                false => Dialect::V0_3,
            },
            media_type: media::of_answer(&head.headers),
            server_span,
        };
        let requested = match asked_for(&headers, reading.offer) {
            Ok(requested) => requested,
            Err(error) => {
                // It names a version, so it is of 1.0.
                error_format.dialect = Dialect::V1_0;
                return error_format.refuse(None, error);
            }
        };
        let route = match self.route(head, path, requested, &reading) {
            Ok(route) => route,
            Err(RoutingError::Version(error)) => return error_format.refuse(None, error),
            Err(RoutingError::Route(NoRoute::Path)) => {
                let text = format!("there is no operation at `{}`", clip(path));
                return error_format.refuse(None, A2aError::new(ErrorKind::MethodNotFound, text));
            }
            Err(RoutingError::Route(NoRoute::Method(allowed))) => {
                let text = format!("expected {allowed} here");
                let error = A2aError::new(ErrorKind::InvalidRequest, text);
                let mut response = error_format.refuse(Some(StatusCode::METHOD_NOT_ALLOWED), error);
                if let Ok(allowed) = HeaderValue::from_str(&allowed) {
                    response.headers_mut().insert(ALLOW, allowed);
                }
                return response;
            }
        };
        error_format.dialect = route.dialect;
        if route.dialect != Dialect::V1_0 {
            error_format.media_type = JSON;
        }
        if !media::takes_answers(&head.headers) {
            let text = "expected `Accept` to name `application/json` or `text/event-stream`";
            let error = A2aError::new(ErrorKind::InvalidRequest, text);
            return error_format.refuse(Some(StatusCode::NOT_ACCEPTABLE), error);
        }
        let read = |body: &[u8]| rest::read_call(route, head.uri.query(), body, &reading);
        let pending = match self
            .read(head, &headers, body, &mut error_format, read)
            .await
        {
            Ok((principal, call)) => {
                let pending = self.ask(head, headers, principal, call, &mut error_format);
                match pending.await {
                    Ok(pending) => pending,
                    Err(refusal) => return refusal,
                }
            }
            Err(refusal) => return refusal,
        };
        let reply = self.introduce(head, pending.reply.await);
        let mut response = self.respond(reply, pending.envelope, pending.options, error_format);
        let settings = &self.settings;
        settings.challenge_unauthenticated(&mut response, head);
        response
    }

    /// Gives an extended card that names no interface those of the public card.
    pub(super) fn introduce(
        &self,
        head: &Parts,
        mut reply: Result<Reply, Error>,
    ) -> Result<Reply, Error> {
        if let Ok(reply) = &mut reply
            && let Answer::Once(A2aResponse::GetExtendedAgentCard(card)) = &mut reply.answer
            && card.supported_interfaces.is_empty()
        {
            card.supported_interfaces = self.settings.interfaces(head);
        }
        reply
    }

    /// Finds the place of a request, in a version that is offered and of a tenant that is served.
    fn route(
        &self,
        head: &Parts,
        path: &str,
        requested: Option<Dialect>,
        reading: &ReadOptions,
    ) -> Result<Route, RoutingError> {
        let offers = |dialect| reading.offer.has(Binding::HttpJson, dialect);
        let find = |requested| {
            let route = Route::find(&head.method, path, requested, reading.mode)?;
            match &route.tenant {
                Some(tenant) if !self.settings.tenants.has(tenant) => Err(NoRoute::Path),
                _ => Ok(route),
            }
        };
        // Without a version it is a request of 0.3 (1.0 §3.6.2); a lenient reader believes the path.
        let not_offered = || {
            let version = Dialect::V0_3.version();
            RoutingError::Version(reading.offer.refusal(Binding::HttpJson, version))
        };
        match requested {
            None if !offers(Dialect::V1_0) => Ok(find(Some(Dialect::V0_3))?),
            None if !offers(Dialect::V0_3) && reading.mode == Mode::Strict => Err(not_offered()),
            None if !offers(Dialect::V0_3) => match find(None) {
                // A path that looks like one of 0.3 may begin with a tenant.
                Ok(route) if route.dialect == Dialect::V0_3 => {
                    find(Some(Dialect::V1_0)).map_err(|_| not_offered())
                }
                found => Ok(found?),
            },
            requested => Ok(find(requested)?),
        }
    }

    /// Authenticates the caller, and reads its request.
    async fn read<B>(
        &self,
        head: &Parts,
        headers: &RequestHeaders<'_>,
        body: Pin<&mut B>,
        error_format: &mut ErrorFormat,
        read: impl FnOnce(&[u8]) -> Result<IncomingCall, CallRefusal>,
    ) -> Result<(Principal, IncomingCall), Response<Body>>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let refuse = |error_format: &mut ErrorFormat, status, text: &str| {
            error_format.refuse(Some(status), A2aError::new(ErrorKind::InvalidRequest, text))
        };
        if head.method == Method::POST && !headers.brings_json() {
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
        let body = collect(body, limit, self.settings.rate, &mut share).await;
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
        let call = read(&body).map_err(|refused| {
            tracing::debug!(error = %refused.error, "refused a request");
            error_format
                .server_span
                .refused(refused.dialect, refused.error.kind);
            let refusal = write_refusal(refused);
            // It may repeat names that the request has.
            match self.settings.answers.admit(refusal.body) {
                Ok(body) => typed(
                    refusal.status,
                    error_format.media_type,
                    Body::admitted(body),
                ),
                Err(Exhausted) => retry_later(status(StatusCode::SERVICE_UNAVAILABLE)),
            }
        })?;
        Ok((principal, call))
    }

    /// Refuses a request that is not admitted.
    fn deny(
        &self,
        denied: &AuthError,
        head: &Parts,
        id: Id,
        error_format: &mut ErrorFormat,
    ) -> Response<Body> {
        let (binding, dialect) = (error_format.binding, error_format.dialect);
        error_format.server_span.refused(dialect, denied.kind());
        let format = DenialFormat {
            binding,
            dialect,
            id,
            media_type: error_format.media_type,
        };
        self.settings.deny(denied, head, format)
    }

    /// Authorizes a call, and makes it.
    async fn ask(
        &self,
        head: &Parts,
        headers: RequestHeaders<'_>,
        principal: Principal,
        call: IncomingCall,
        error_format: &mut ErrorFormat,
    ) -> Result<PendingReply<'_>, Response<Body>> {
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
        let offered = |uri: &&String| self.settings.extensions.contains(uri);
        let options = StreamOptions {
            active: headers.extensions.iter().filter(offered).cloned().collect(),
            named: headers.user_agent().is_some_and(is_client),
        };
        let context = Context {
            principal,
            tenant: None,
            dialect: envelope.dialect,
            claims: headers.claims(),
            last_event_id: headers.last_event_id(),
            extensions: headers.extensions,
            trace: error_format.server_span.trace(),
            credentials: None,
            repairs,
        };
        let call = Call { request, context };
        if let Some(authorizer) = &self.settings.authorizer
            && let Err(denied) = authorizer.authorize(&call).await
        {
            error_format.dialect = envelope.dialect;
            let id = envelope.id.unwrap_or(Id::Null);
            return Err(self.deny(&denied, head, id, error_format));
        }
        Ok(PendingReply {
            reply: self.transport.call(call),
            envelope,
            options,
        })
    }

    /// Writes an answer as an HTTP response.
    fn respond(
        &self,
        reply: Result<Reply, Error>,
        mut envelope: Envelope,
        options: StreamOptions,
        mut error_format: ErrorFormat,
    ) -> Response<Body> {
        let mut held = None;
        let outcome = match reply {
            Ok(reply) => {
                held = reply.held;
                let offer = self.settings.reading().offer;
                let is_offered = |dialect: &Dialect| offer.has(envelope.binding, *dialect);
                envelope.settle(reply.created_in.filter(is_offered));
                Ok(reply.answer)
            }
            Err(error) => {
                if !matches!(error, Error::Agent(_)) {
                    tracing::warn!(error = &error as &dyn std::error::Error, "a call failed");
                }
                Err(error.into_answer())
            }
        };
        error_format.server_span.settled(envelope.dialect);
        error_format.server_span.answered(&outcome);
        if !envelope.wants_answer() {
            return status(StatusCode::NO_CONTENT);
        }
        let mut response = match outcome {
            Ok(Answer::Stream(updates)) => {
                let writer = EventWriter::new(&envelope);
                event_stream(Body::events(
                    updates,
                    writer,
                    options.named,
                    self.settings.keep_alive,
                    self.settings.answers.clone(),
                    error_format.server_span,
                ))
            }
            Ok(Answer::Once(response)) => {
                let is_card = matches!(response, A2aResponse::GetExtendedAgentCard(_));
                let answer = self.write(&envelope, response, &mut error_format);
                match is_card {
                    true => for_caller_only(answer),
                    false => answer,
                }
            }
            Err(error) if matches!(error.kind, ErrorKind::Unavailable | ErrorKind::RateLimited) => {
                let reply = write_reply(&envelope, Err(error));
                retry_later(written(reply, error_format.media_type))
            }
            Err(error) => written(write_reply(&envelope, Err(error)), error_format.media_type),
        };
        drop(held);
        extensions::echo(&options.active, envelope.dialect, &mut response);
        response
    }

    /// Writes an answer, if the budget of all answers has room for it.
    fn write(
        &self,
        envelope: &Envelope,
        response: A2aResponse,
        error_format: &mut ErrorFormat,
    ) -> Response<Body> {
        let reply = write_reply(envelope, Ok(response));
        match self.settings.answers.admit(reply.body) {
            Ok(admitted) => typed(
                reply.status,
                error_format.media_type,
                Body::admitted(admitted),
            ),
            Err(Exhausted) => {
                error_format
                    .server_span
                    .ended(Outcome::Failed(ErrorKind::Unavailable));
                let mut reply = write_reply(envelope, Err(crowded()));
                reply.status = StatusCode::SERVICE_UNAVAILABLE;
                retry_later(written(reply, error_format.media_type))
            }
        }
    }
}

/// A request under way: its envelope and options while the transport finds the answer.
struct PendingReply<'a> {
    reply: BoxFuture<'a, Result<Reply, Error>>,
    envelope: Envelope,
    options: StreamOptions,
}

/// Options of the answer.
struct StreamOptions {
    /// The extensions that are active.
    active: Vec<String>,
    /// `true` if the events of a stream have names.
    named: bool,
}

/// Reason for which a request has no route.
enum RoutingError {
    /// Its version is not offered.
    Version(A2aError),
    Route(NoRoute),
}

impl From<NoRoute> for RoutingError {
    fn from(no_route: NoRoute) -> Self {
        Self::Route(no_route)
    }
}

/// Format of errors before the request is understood.
struct ErrorFormat {
    binding: Binding,
    dialect: Dialect,
    media_type: &'static str,
    server_span: ServerSpan,
}

impl ErrorFormat {
    fn refuse(&mut self, status: Option<StatusCode>, error: A2aError) -> Response<Body> {
        tracing::debug!(%error, "refused a request");
        self.server_span.refused(self.dialect, error.kind);
        let refused = CallRefusal {
            binding: self.binding,
            id: Id::Null,
            dialect: self.dialect,
            error,
            status,
        };
        written(write_refusal(refused), self.media_type)
    }
}

/// Returns the version that the caller names. Errors: HTTP+JSON is not offered in it. A draft of 0.3 was in
/// 0.2.
fn asked_for(headers: &RequestHeaders<'_>, offer: Offer) -> Result<Option<Dialect>, A2aError> {
    let requested = offer.requested(Binding::HttpJson, headers.version().as_deref())?;
    Ok(requested.map(|dialect| dialect.max(Dialect::V0_3)))
}
