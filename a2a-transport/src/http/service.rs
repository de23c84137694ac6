//! From an HTTP request to the transport, and back.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use a2a_jsonrpc::Id;
use a2a_types::reading::Mode;
use a2a_types::{
    AgentCard, Dialect, Error as A2aError, ErrorKind, GetExtendedAgentCardRequest,
    Response as A2aResponse, v0_2,
};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};

use super::answer::{deny, event_stream, json, not_allowed, plain, status};
use super::auth::{Anyone, Authenticator, Denied};
use super::body::{Body, Incomplete, collect};
use super::discovery::PublicCard;
use super::extensions;
use crate::binding::jsonrpc::{self, EventWriter, Question, Reading, Refused};
use crate::{Answer, BoxFuture, Call, Context, Error, Principal, Transport};

/// Serves a [`Transport`] over HTTP: a service for hyper and for tower.
///
/// ```text
/// POST {path}                                   JSON-RPC, any generation
/// GET  /.well-known/agent.json, agent-card.json the public card (and /agent-card)
/// GET  {path}/agent/authenticatedExtendedCard   the extended card of 0.2, also beside {path}
/// ```
pub struct HttpService<T> {
    transport: Arc<T>,
    settings: Arc<Settings>,
}

#[derive(Clone)]
struct Settings {
    card: Option<PublicCard>,
    extensions: Vec<String>,
    path: String,
    reading: Reading,
    authenticator: Arc<dyn Authenticator>,
    keep_alive: Duration,
    body_idle: Duration,
}

impl<T: Transport> HttpService<T> {
    /// Serves `transport` at `/`, to anyone, reading leniently.
    pub fn new(transport: T) -> Self {
        Self {
            transport: Arc::new(transport),
            settings: Arc::new(Settings {
                card: None,
                extensions: Vec::new(),
                path: "/".to_owned(),
                reading: Reading::default(),
                authenticator: Arc::new(Anyone),
                keep_alive: Duration::from_secs(15),
                body_idle: Duration::from_secs(10),
            }),
        }
    }

    /// The public card; without one there is none. The extensions that it offers are active for
    /// callers who want them, who are told so.
    pub fn card(self, card: &AgentCard) -> Self {
        let extensions = card
            .capabilities
            .extensions
            .iter()
            .map(|extension| extension.uri.clone());
        let (extensions, card) = (extensions.collect(), PublicCard::new(card));
        self.with(|settings| {
            settings.card = Some(card);
            settings.extensions = extensions;
        })
    }

    /// Where requests are POSTed to; `/` by default.
    pub fn path(self, path: impl Into<String>) -> Self {
        let path = path.into();
        self.with(|settings| settings.path = format!("/{}", path.trim_matches('/')))
    }

    /// How requests are read, and what one may cost.
    pub fn reading(self, reading: Reading) -> Self {
        self.with(|settings| settings.reading = reading)
    }

    /// Reads leniently or strictly.
    pub fn mode(self, mode: Mode) -> Self {
        self.with(|settings| settings.reading.mode = mode)
    }

    /// Who is let in.
    pub fn authenticator(self, authenticator: impl Authenticator) -> Self {
        self.shared_authenticator(Arc::new(authenticator))
    }

    /// Who is let in, shared with others.
    pub fn shared_authenticator(self, authenticator: Arc<dyn Authenticator>) -> Self {
        self.with(|settings| settings.authenticator = authenticator)
    }

    /// After how much silence a stream gets a comment; 15 s by default.
    pub fn keep_alive(self, period: Duration) -> Self {
        self.with(|settings| settings.keep_alive = period.max(Duration::from_millis(1)))
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
        match self.settings.route(head.uri.path()) {
            Route::Endpoint if head.method == Method::POST => self.rpc(&head, body).await,
            Route::Endpoint => not_allowed("POST"),
            Route::Card | Route::ExtendedCard
                if head.method != Method::GET && head.method != Method::HEAD =>
            {
                not_allowed("GET, HEAD")
            }
            Route::Card => self.settings.public_card(&head),
            Route::ExtendedCard => self.extended_card(&head).await,
            Route::Unknown => plain(StatusCode::NOT_FOUND, "there is nothing here"),
        }
    }
}

enum Route {
    Endpoint,
    Card,
    ExtendedCard,
    Unknown,
}

impl<T: Transport> HttpService<T> {
    /// 0.2 asks for the extended card by a plain GET (0.2 §7.8).
    async fn extended_card(&self, head: &Parts) -> Response<Body> {
        let principal = match self.settings.authenticator.authenticate(head).await {
            Ok(principal) => principal,
            Err(denied) => return deny(&denied),
        };
        let call = Call {
            request: GetExtendedAgentCardRequest::default().into(),
            context: Context {
                principal,
                dialect: Dialect::V0_2,
                ..Context::default()
            },
        };
        match self.transport.call(call).await.map(|reply| reply.answer) {
            Ok(Answer::Once(A2aResponse::GetExtendedAgentCard(card))) => {
                let card = serde_json::to_vec(&v0_2::AgentCard::from(card).of_0_2()).unwrap_or_default();
                json(StatusCode::OK, card)
            }
            Ok(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "internal error"),
            Err(error) => match error.into_answer().kind {
                ErrorKind::Unauthenticated => deny(&Denied::Unauthenticated {
                    challenge: "Bearer".to_owned(),
                }),
                ErrorKind::PermissionDenied => deny(&Denied::Forbidden),
                _ => plain(StatusCode::NOT_FOUND, "this agent has no extended card"),
            },
        }
    }

    async fn rpc<B>(&self, head: &Parts, body: B) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if !is_json(&head.headers) {
            let text = "expected `Content-Type: application/json`";
            return self.settings.refuse(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                ErrorKind::InvalidRequest,
                text,
            );
        }
        let principal = match self.settings.authenticator.authenticate(head).await {
            Ok(principal) => principal,
            Err(denied) => return deny(&denied),
        };
        let limit = self.settings.reading.limits.bytes;
        let body = match collect(body, limit, self.settings.body_idle).await {
            Ok(body) => body,
            Err(Incomplete::TooLarge) => {
                let text = format!("the body is larger than {limit} bytes");
                return self.settings.refuse(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    ErrorKind::InvalidRequest,
                    &text,
                );
            }
            Err(Incomplete::Stalled) => {
                let text = "the body stopped coming";
                return self.settings.refuse(
                    StatusCode::REQUEST_TIMEOUT,
                    ErrorKind::InvalidRequest,
                    text,
                );
            }
            Err(Incomplete::Broken(_)) => {
                return self.settings.refuse(
                    StatusCode::BAD_REQUEST,
                    ErrorKind::InvalidRequest,
                    "the body broke off",
                );
            }
        };
        let version = header(&head.headers, "a2a-version");
        let question = match jsonrpc::read_call(&body, version, &self.settings.reading) {
            Ok(question) => question,
            Err(refused) => {
                tracing::debug!(error = %refused.error, "refused a request");
                return json(StatusCode::OK, jsonrpc::write_refusal(refused));
            }
        };
        self.answer(head, principal, question).await
    }

    async fn answer(
        &self,
        head: &Parts,
        principal: Principal,
        question: Question,
    ) -> Response<Body> {
        let Question {
            request,
            mut envelope,
            repairs,
        } = question;
        for repair in &repairs {
            tracing::debug!(
                quirk = repair.quirk.code(),
                path = repair.path,
                "mended a request"
            );
        }
        let wanted = extensions::wanted(&head.headers);
        let active: Vec<_> = wanted
            .iter()
            .filter(|uri| self.settings.extensions.contains(uri))
            .cloned()
            .collect();
        let call = Call {
            request,
            context: Context {
                principal,
                dialect: envelope.dialect,
                extensions: wanted,
                last_event_id: header(&head.headers, "last-event-id")
                    .and_then(|id| id.trim().parse().ok()),
                repairs,
            },
        };
        let reply = self.transport.call(call).await;
        if envelope.id.is_none() {
            return status(StatusCode::NO_CONTENT);
        }
        let mut response = match reply {
            Ok(reply) => {
                envelope.settle(reply.created_in);
                match reply.answer {
                    Answer::Once(response) => json(
                        StatusCode::OK,
                        jsonrpc::write_reply(&envelope, Ok(response)),
                    ),
                    Answer::Stream(updates) => {
                        let named = header(&head.headers, USER_AGENT.as_str())
                            .is_some_and(|agent| agent.starts_with("trpc-a2a-go-client/"));
                        let writer = EventWriter::new(&envelope);
                        event_stream(Body::events(
                            updates,
                            writer,
                            named,
                            self.settings.keep_alive,
                        ))
                    }
                }
            }
            Err(error) => {
                if !matches!(error, Error::Agent(_)) {
                    tracing::warn!(error = &error as &dyn std::error::Error, "a call failed");
                }
                json(
                    StatusCode::OK,
                    jsonrpc::write_reply(&envelope, Err(error.into_answer())),
                )
            }
        };
        extensions::echo(&active, envelope.dialect, &mut response);
        response
    }
}

impl Settings {
    fn route(&self, path: &str) -> Route {
        let path = match path {
            "/" => path,
            _ => path.trim_end_matches('/'),
        };
        if path == self.path {
            return Route::Endpoint;
        }
        let base = self.path.trim_end_matches('/');
        let parent = base.rsplit_once('/').map_or("", |(parent, _)| parent);
        let at = |base: &str, place: &str| path.strip_prefix(base) == Some(place);
        // Cards are looked for below the origin, and below the endpoint.
        if CARD_PLACES
            .iter()
            .any(|place| at("", place) || at(base, place))
        {
            return Route::Card;
        }
        match at(base, Dialect::EXTENDED_CARD_PATH) || at(parent, Dialect::EXTENDED_CARD_PATH) {
            true => Route::ExtendedCard,
            false => Route::Unknown,
        }
    }

    fn public_card(&self, head: &Parts) -> Response<Body> {
        match &self.card {
            Some(card) => card.answer(&head.headers),
            None => plain(StatusCode::NOT_FOUND, "this agent has no public card"),
        }
    }

    fn refuse(&self, status: StatusCode, kind: ErrorKind, text: &str) -> Response<Body> {
        let refused = Refused {
            id: Id::Null,
            dialect: self.reading.prefer.unwrap_or(Dialect::V0_3),
            error: A2aError::new(kind, text),
        };
        json(status, jsonrpc::write_refusal(refused))
    }
}

/// Where callers look for the public card; Google's JavaScript client of 0.1 at the last.
const CARD_PLACES: [&str; 3] = [
    "/.well-known/agent.json",
    "/.well-known/agent-card.json",
    "/agent-card",
];

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Whether the body claims to be JSON of some kind; a request that claims nothing may be.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(content_type) = headers.get(CONTENT_TYPE) else {
        return true;
    };
    let essence = content_type
        .to_str()
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    essence == "application/json"
        || (essence.starts_with("application/") && essence.ends_with("+json"))
}

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
        Box::pin(async move { Ok(service.handle(request).await) })
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
