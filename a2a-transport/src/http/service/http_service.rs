//! HTTP service: maps requests to calls of the transport, and replies to responses.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use a2a_edge::Probes;
use a2a_edge::budget::Budget;
use a2a_jsonrpc::Id;
use a2a_types::reading::Mode;
use a2a_types::{
    AgentCard, ErrorKind, GetExtendedAgentCardRequest, ProtocolVersion, Response as A2aResponse,
    v0_2,
};
use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};

use super::auth::{AuthError, DynAuthenticator, DynAuthorizer};
use super::catalog;
use super::cors::{self, AllowedOrigins};
use super::denial::DenialFormat;
use super::extension_methods::ExtensionMethods;
#[cfg(feature = "grpc")]
use super::health;
use super::hosts::Hosts;
#[cfg(feature = "webhooks")]
use super::notifications;
use super::passed_credentials::CredentialPlaces;
use super::peer_slots::PeerSlots;
#[cfg(feature = "grpc")]
use super::reflection;
use super::settings::{Resource, Settings};
use super::tenants::Tenants;
use crate::binding::{ReadOptions, SupportedVersions};
use crate::http::documents::public_card::PublicCard;
use crate::http::documents::readiness::{Readiness, answer_probe};
use crate::http::message::answer::{
    AnswerFormat, JSON, for_caller_only, json, not_allowed, plain, retry_later,
};
use crate::http::message::body::Body;
use crate::http::message::challenge::AuthChallenge;
use crate::http::message::receive::TrackedBody;
use crate::http::message::response_budget::ResponseBudget;
use crate::http::message::server_span::ServerSpan;
#[cfg(feature = "webhooks")]
use crate::webhook::NotificationReceiver;
use crate::{Binding, BoxFuture, CallRequest, Context, ResponseBody, TraceContext, Transport};

/// Serves a [`Transport`] over HTTP: a service for hyper and for tower.
///
/// ```text
/// POST {path}                                   JSON-RPC, any version
/// POST /lf.a2a.v1.A2AService/…                  gRPC and gRPC-Web, 1.0, with the feature `grpc`
/// POST /a2a.v1.A2AService/…                     the same, 0.3
/// POST /grpc.health.v1.Health/Check             the readiness probe by gRPC
/// POST /grpc.reflection.v1.ServerReflection/…   descriptors of these services
/// *    {path}/rest/…, {path}/…                  HTTP+JSON, 1.0 and (below v1) 0.3
/// GET  /.well-known/jwks.json                   the keys of push notifications, also below {path}
/// GET  /.well-known/agent.json, agent-card.json the public card (and /agent-card)
/// GET  /.well-known/ai-catalog.json             AI Catalog with the public card
/// GET  /.well-known/oauth-protected-resource    authorization servers, above and below {path}
/// GET  {path}/agent/authenticatedExtendedCard   the extended card of 0.2, also at a sibling of {path}
/// GET  /healthz, /readyz                        whether it lives, whether it is ready: [`Probes`]
/// ```
pub struct HttpService<T> {
    pub(super) transport: Arc<T>,
    pub(super) settings: Arc<Settings>,
}

impl<T: Transport> HttpService<T> {
    /// Serves `transport` at `/`, to anyone, reading leniently.
    pub fn new(transport: T) -> Self {
        Self {
            transport: Arc::new(transport),
            settings: Arc::default(),
        }
    }

    /// Sets the public card; without one there is none. Its extensions are active for callers that request
    /// them, and are named in the answer.
    ///
    /// Only the interfaces that it names are answered: requests by another binding find nothing, and
    /// requests in another version are refused. A card that names none offers all, at the host that
    /// the caller used.
    pub fn card(self, card: &AgentCard) -> Self {
        let extensions = card
            .capabilities
            .extensions
            .iter()
            .map(|extension| extension.uri.clone());
        let extensions = extensions.collect();
        self.with(|settings| {
            settings.card = Some(PublicCard::new(card));
            settings.offer = SupportedVersions::of(card);
            settings.extensions = extensions;
        })
    }

    /// Sets the source of the public keys that verify cards and push notifications, as JSON: called for every GET of
    /// `/.well-known/jwks.json`.
    pub fn keys(self, keys: impl Fn() -> Vec<u8> + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.keys = Some(Arc::new(keys)))
    }

    /// Sets the path of JSON-RPC requests; `/` by default.
    pub fn path(self, path: impl Into<String>) -> Self {
        let path = path.into();
        self.with(|settings| settings.path = format!("/{}", path.trim_matches('/')))
    }

    /// Answers by every binding and in every version, even if the card does not name them.
    pub fn ignore_card_interfaces(self) -> Self {
        self.with(|settings| settings.ignore_card_interfaces = true)
    }

    /// Sets the tenants whose paths exist by HTTP+JSON; any by default.
    pub fn tenants(self, tenants: Tenants) -> Self {
        self.with(|settings| settings.tenants = tenants)
    }

    /// Sets the hosts it answers as, and whose pages may call it; any by default. A service that listens at
    /// a loopback address should have a list: [`Hosts::of`].
    pub fn hosts(self, hosts: Hosts) -> Self {
        self.with(|settings| settings.hosts = hosts)
    }

    /// Sets the origins whose pages may call it from a browser (CORS); none by default.
    pub fn allow_origins(self, origins: AllowedOrigins) -> Self {
        self.with(|settings| settings.origins = origins)
    }

    /// Sets the paths of the liveness and readiness probes. Its endpoint takes precedence at the same path.
    pub fn probes(self, probes: Probes) -> Self {
        self.with(|settings| settings.probes = probes)
    }

    /// Sets the readiness check; always ready by default.
    pub fn readiness(self, readiness: impl Readiness) -> Self {
        self.with(|settings| settings.readiness = Arc::new(readiness))
    }

    /// Sets the options and limits for reading requests.
    pub fn reading(self, reading: ReadOptions) -> Self {
        self.with(|settings| settings.reading = reading)
    }

    /// Reads leniently or strictly.
    pub fn mode(self, mode: Mode) -> Self {
        self.with(|settings| settings.reading.mode = mode)
    }

    /// Sets the time for each KiB of a request's body, and for the rest at its end; 10 s by default.
    pub fn body_timeout(self, limit: Duration) -> Self {
        self.with(|settings| settings.rate.within = limit)
    }

    /// Sets the bytes that request bodies may have together while they are received, of this service and its
    /// clones; 128 MiB by default. Further ones get 503 and `Retry-After`; the last quarter is kept for
    /// bodies up to 64 KiB.
    pub fn receive_budget(self, bytes: usize) -> Self {
        self.with(|settings| settings.receiving = Budget::new(bytes))
    }

    /// Sets the bytes that answers may have together until their callers take them, of this service and its
    /// clones; 256 MiB by default. Further ones are replaced by 503 and `Retry-After`, and a stream ends with
    /// that error; the last quarter is kept for answers up to 64 KiB. When a large one does not fit, the
    /// slowest reader is cut off that has taken fewer than 64 KiB a second for more than ten seconds.
    pub fn answer_budget(self, bytes: usize) -> Self {
        self.with(|settings| settings.answers = ResponseBudget::new(bytes))
    }

    /// Sets how many reads of tasks (get, list, subscribe) of one address are worked on at once, until their answers
    /// are made; 16 by default. Further ones wait, so that one caller's large reads
    /// do not keep others waiting. Raise it where all callers come from the address of a proxy.
    pub fn reads_per_address(self, reads: usize) -> Self {
        self.with(|settings| settings.reads = PeerSlots::new(reads.max(1)))
    }

    /// Sets the authenticator; every request is admitted by default.
    pub fn authenticator(self, authenticator: impl Into<DynAuthenticator>) -> Self {
        let authenticator = authenticator.into();
        self.with(|settings| {
            settings.security = authenticator.security();
            settings.authenticator = authenticator;
        })
    }

    /// Sets the authorizer; every call of an admitted principal is permitted by default.
    pub fn authorizer(self, authorizer: impl Into<DynAuthorizer>) -> Self {
        let authorizer = authorizer.into();
        self.with(|settings| settings.authorizer = Some(authorizer))
    }

    /// Gives every call the credentials of its request, for the agent behind the transport, and answers with
    /// the challenge of an agent that refuses them. By default a caller's credentials go no further, and an
    /// agent that asks the transport for others is an internal error.
    pub fn pass_credentials(self, places: CredentialPlaces) -> Self {
        self.with(|settings| settings.passed_credentials = Some(places))
    }

    /// Receives the notifications that an agent sends to `path` below the path of JSON-RPC, followed by the secret
    /// of a webhook. Any peer that knows the secret may send them.
    #[cfg(feature = "webhooks")]
    pub fn notifications(
        self,
        path: &'static str,
        receiver: Arc<dyn NotificationReceiver>,
    ) -> Self {
        self.with(|settings| settings.notifications = Some((path, receiver)))
    }

    /// Answers methods of extensions, too: by JSON-RPC, for callers that the authenticator lets in.
    pub fn extension_methods(self, methods: ExtensionMethods) -> Self {
        self.with(|settings| settings.extension_methods = methods)
    }

    /// Sets the silence after which a stream gets a comment; 15 s by default.
    pub fn keep_alive(self, period: Duration) -> Self {
        self.with(|settings| {
            settings.keep_alive = period.clamp(Duration::from_millis(1), MAX_DURATION)
        })
    }

    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self
    }

    /// Answers one request.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (head, body) = request.into_parts();
        self.answer(&head, pin!(TrackedBody::new(body))).await
    }
}

impl<T: Transport> HttpService<T> {
    /// Answers a request. A small body is read first even if the answer does not need it.
    pub(super) async fn answer<B>(
        &self,
        head: &Parts,
        mut body: Pin<&mut TrackedBody<B>>,
    ) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let origin = self.settings.origins.of(head);
        let preflight = origin.as_ref().and_then(|_| cors::preflight(head));
        let mut answer = match preflight {
            Some(answer) => answer,
            None => self.dispatch(head, body.as_mut(), origin.is_some()).await,
        };
        body.discard_unread(&head.headers).await;
        if let Some(origin) = origin {
            cors::expose(origin, &mut answer);
        }
        answer
    }

    /// Returns whether a path is that of the reflection service of gRPC.
    #[cfg(feature = "grpc")]
    pub(super) fn is_reflection(&self, path: &str) -> bool {
        reflection::is_asked(path) && self.settings.reading().offer.has_any(Binding::Grpc)
    }

    /// Answers a request for the reflection service.
    #[cfg(feature = "grpc")]
    pub(super) fn reflect<B>(&self, head: &Parts, body: B) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        match self.settings.hosts.check(head, false) {
            Ok(()) => reflection::answer(head, body),
            Err(refusal) => refusal,
        }
    }

    /// Answers a request at its path; the origin of its page may be allowed, whatever the hosts are.
    async fn dispatch<B>(
        &self,
        head: &Parts,
        body: Pin<&mut B>,
        allows_origin: bool,
    ) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (settings, path) = (&*self.settings, head.uri.path());
        if let Some(probe) = settings.probe(path) {
            return answer_probe(probe, head, &*settings.readiness).await;
        }
        if let Err(refusal) = settings.hosts.check(head, allows_origin) {
            return refusal;
        }
        #[cfg(feature = "webhooks")]
        if let Some((receiver, secret)) = settings.notification(path) {
            return Box::pin(notifications::answer(
                settings,
                &**receiver,
                secret,
                head,
                body,
            ))
            .await;
        }
        match settings.place(path) {
            Resource::Endpoint if head.method == Method::POST => {
                let answering = |server_span| self.json_rpc(head, body, server_span);
                ServerSpan::over(Binding::JsonRpc, &head.headers, answering).await
            }
            Resource::Endpoint => not_allowed("POST"),
            #[cfg(feature = "grpc")]
            Resource::Grpc => {
                let answering = |server_span| self.grpc(head, body, server_span);
                ServerSpan::over(Binding::Grpc, &head.headers, answering).await
            }
            #[cfg(feature = "grpc")]
            Resource::Health => Box::pin(health::answer(settings, head, body)).await,
            Resource::Below(path) => {
                let answering = |server_span| self.http_json(head, path, body, server_span);
                ServerSpan::over(Binding::HttpJson, &head.headers, answering).await
            }
            Resource::Card
            | Resource::ExtendedCard
            | Resource::Keys
            | Resource::AuthorizationServers
            | Resource::Catalog
                if head.method != Method::GET && head.method != Method::HEAD =>
            {
                not_allowed("GET, HEAD")
            }
            Resource::Card => settings.public_card(head),
            Resource::Keys => settings.public_keys(),
            Resource::AuthorizationServers => settings.protected_resource(head),
            Resource::Catalog => catalog::of(std::iter::once(settings), head),
            // Boxed, so that it does not enlarge the future of every request.
            Resource::ExtendedCard => Box::pin(self.extended_card(head)).await,
            Resource::Elsewhere => plain(StatusCode::NOT_FOUND, "there is nothing here"),
        }
    }
}

impl<T: Transport> HttpService<T> {
    /// Answers the plain GET by which 0.2 requests the extended card (0.2 §7.8).
    async fn extended_card(&self, head: &Parts) -> Response<Body> {
        let deny = |denied| {
            let format = DenialFormat {
                binding: Binding::JsonRpc,
                protocol_version: ProtocolVersion::V0_2,
                id: Id::Null,
                answer: AnswerFormat::Json(JSON),
            };
            self.settings.deny(&denied, head, format)
        };
        let principal = match self.settings.authenticator.authenticate(head).await {
            Ok(principal) => principal,
            Err(denied) => return deny(denied),
        };
        let call = CallRequest {
            request: GetExtendedAgentCardRequest::default().into(),
            context: Context {
                principal,
                protocol_version: ProtocolVersion::V0_2,
                trace: TraceContext::read(&head.headers),
                ..Context::default()
            },
        };
        if let Some(authorizer) = &self.settings.authorizer
            && let Err(denied) = authorizer.authorize(&call).await
        {
            return deny(denied);
        }
        let reply = self.introduce(head, self.transport.call(call).await);
        match reply.map(|reply| reply.answer) {
            Ok(ResponseBody::Once(A2aResponse::GetExtendedAgentCard(card))) => {
                let card =
                    serde_json::to_vec(&v0_2::AgentCard::from(card).of_0_2()).unwrap_or_default();
                for_caller_only(json(StatusCode::OK, card))
            }
            Ok(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "internal error"),
            Err(error) => match error.into_answer().kind {
                ErrorKind::Unauthenticated => {
                    let challenges = match &self.settings.security {
                        Some(security) => security.challenges.clone(),
                        None => vec![AuthChallenge::new("Bearer")],
                    };
                    deny(AuthError::Unauthenticated { challenges })
                }
                ErrorKind::PermissionDenied => deny(AuthError::forbidden()),
                ErrorKind::RateLimited => deny(AuthError::RateLimited {
                    retry_after: Duration::from_secs(1),
                }),
                ErrorKind::Unavailable => {
                    let text = "temporarily unavailable";
                    retry_later(plain(StatusCode::SERVICE_UNAVAILABLE, text))
                }
                _ => plain(StatusCode::NOT_FOUND, "this agent has no extended card"),
            },
        }
    }
}

/// Practically unlimited, and small enough to be added to the current time.
const MAX_DURATION: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

impl<T> Clone for HttpService<T> {
    fn clone(&self) -> Self {
        Self {
            transport: Arc::clone(&self.transport),
            settings: Arc::clone(&self.settings),
        }
    }
}

impl<T, B> hyper::service::Service<Request<B>> for HttpService<T>
where
    T: Transport,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn call(&self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        let (head, body) = request.into_parts();
        #[cfg(feature = "grpc")]
        if self.is_reflection(head.uri.path()) {
            let answer = self.reflect(&head, body);
            return Box::pin(std::future::ready(Ok(answer)));
        }
        Box::pin(async move {
            let body = pin!(TrackedBody::new(body));
            Ok(service.answer(&head, body).await)
        })
    }
}

impl<T, B> tower_service::Service<Request<B>> for HttpService<T>
where
    T: Transport,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(
        &mut self,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Infallible>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        hyper::service::Service::call(self, request)
    }
}
