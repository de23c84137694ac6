//! An agent behind an authenticator, and requests to it in every version and binding.

use std::sync::Arc;

use a2a_server::{Agent, Authenticator, Failure, Principal, Server, ServerBuilder, Turn};
use a2a_transport::Binding;
use a2a_transport::binding::write_call;
use a2a_transport::http::HttpService;
use a2a_types::{
    AgentCard, GetExtendedAgentCardRequest, GetTaskRequest, Message, Operation, ProtocolVersion,
    Request as A2aRequest, SendMessageRequest, TaskId, TaskPushNotificationConfig,
};
use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::Value;

/// Asks a question, so that its tasks do not end.
pub(crate) struct Asker;

impl Agent for Asker {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        turn.ask("what then?").await?;
        Ok(())
    }
}

/// Returns a card with everything that callers can ask for.
pub(crate) fn card() -> AgentCard {
    let mut card = AgentCard::new("Asker", "Asks");
    card.capabilities.push_notifications = Some(true);
    card.capabilities.extended_agent_card = Some(true);
    card
}

/// Returns a server with an extended card that names its reader.
pub(crate) fn builder(authenticator: impl Authenticator) -> ServerBuilder {
    let extended = |principal: &Principal| {
        let name = principal.name().unwrap_or_default();
        AgentCard::new(format!("Asker of {name}"), "Asks")
    };
    Server::builder(card(), Asker)
        .authenticator(authenticator)
        .extended_card_for(extended)
}

/// A service in this process.
#[derive(Clone)]
pub(crate) struct Service(Arc<HttpService<Server>>);

/// An answer.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// Returns the challenges, each from a header of its own.
    pub(crate) fn challenges(&self) -> Vec<&str> {
        let values = self.headers.get_all("www-authenticate").iter();
        values.map(|value| value.to_str().unwrap()).collect()
    }
}

/// Version and binding of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Form(pub(crate) Binding, pub(crate) ProtocolVersion);

impl Form {
    pub(crate) const ALL: [Self; 6] = [
        Self(Binding::JsonRpc, ProtocolVersion::V0_1),
        Self(Binding::JsonRpc, ProtocolVersion::V0_2),
        Self(Binding::JsonRpc, ProtocolVersion::V0_3),
        Self(Binding::JsonRpc, ProtocolVersion::V1_0),
        Self(Binding::HttpJson, ProtocolVersion::V0_3),
        Self(Binding::HttpJson, ProtocolVersion::V1_0),
    ];
    pub(crate) const LATEST: Self = Self(Binding::JsonRpc, ProtocolVersion::V1_0);

    /// Writes a request. `None` if the version cannot say it.
    pub(crate) fn write(self, request: A2aRequest) -> Option<Request<Full<Bytes>>> {
        let Self(binding, protocol_version) = self;
        if protocol_version == ProtocolVersion::V0_2
            && request.operation() == Operation::GetExtendedAgentCard
        {
            let request = Request::get("/agent/authenticatedExtendedCard");
            return request
                .header("host", "agent.example")
                .body(Full::default())
                .ok();
        }
        let call = write_call(request, protocol_version, binding, &a2a_id()).ok()?;
        let path = match binding {
            Binding::HttpJson => format!("/rest{}", call.target),
            _ => "/".to_owned(),
        };
        let mut request = Request::builder().method(call.method).uri(path);
        request = request.header("host", "agent.example");
        if protocol_version == ProtocolVersion::V1_0 {
            request = request.header("a2a-version", "1.0");
        }
        if call.body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let body = Full::from(call.body.unwrap_or_default());
        request.body(body).ok()
    }
}

fn a2a_id() -> a2a_jsonrpc::Id {
    a2a_jsonrpc::Id::number(7)
}

impl Service {
    pub(crate) fn new(builder: ServerBuilder) -> Self {
        let server = builder.build().unwrap();
        Self(Arc::new(server.http().service()))
    }

    /// Returns a service without an authorizer.
    pub(crate) fn of(authenticator: impl Authenticator) -> Self {
        Self::new(builder(authenticator))
    }

    pub(crate) async fn handle(&self, request: Request<Full<Bytes>>) -> Response {
        let (head, body) = self.0.handle(request).await.into_parts();
        Response {
            status: head.status,
            headers: head.headers,
            body: body.collect().await.unwrap().to_bytes(),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        let request = Request::get(path).header("host", "agent.example");
        self.handle(request.body(Full::default()).unwrap()).await
    }

    /// Sends a message by the latest version with these credentials.
    pub(crate) async fn send(&self, credentials: &Credentials) -> Response {
        let request = Form::LATEST.write(send()).unwrap();
        self.handle(credentials.attach(request)).await
    }
}

/// Credentials of a request, in headers and perhaps in the query.
#[derive(Clone, Debug, Default)]
pub(crate) struct Credentials {
    headers: Vec<(&'static str, String)>,
    query: Option<String>,
}

impl Credentials {
    pub(crate) fn none() -> Self {
        Self::default()
    }

    pub(crate) fn header(name: &'static str, value: impl Into<String>) -> Self {
        Self {
            headers: vec![(name, value.into())],
            query: None,
        }
    }

    pub(crate) fn query(query: impl Into<String>) -> Self {
        Self {
            headers: Vec::new(),
            query: Some(query.into()),
        }
    }

    pub(crate) fn bearer(token: &str) -> Self {
        Self::header("authorization", format!("Bearer {token}"))
    }

    pub(crate) fn basic(name: &str, password: &str) -> Self {
        use base64::Engine;
        let pair = format!("{name}:{password}");
        let encoded = base64::engine::general_purpose::STANDARD.encode(pair);
        Self::header("authorization", format!("Basic {encoded}"))
    }

    pub(crate) fn and(mut self, other: &Self) -> Self {
        self.headers.extend(other.headers.iter().cloned());
        self.query = self.query.or_else(|| other.query.clone());
        self
    }

    pub(crate) fn attach<B>(&self, mut request: Request<B>) -> Request<B> {
        for (name, value) in &self.headers {
            request.headers_mut().append(*name, value.parse().unwrap());
        }
        if let Some(query) = &self.query {
            let uri = request.uri().to_string();
            let separator = if uri.contains('?') { '&' } else { '?' };
            *request.uri_mut() = format!("{uri}{separator}{query}").parse().unwrap();
        }
        request
    }

    pub(crate) fn head(&self) -> http::request::Parts {
        self.attach(Request::new(())).into_parts().0
    }
}

/// Returns the request that sends a message.
pub(crate) fn send() -> A2aRequest {
    A2aRequest::SendMessage(SendMessageRequest {
        message: Message::user("hello"),
        ..SendMessageRequest::default()
    })
}

/// Returns the request that streams the answer to a message.
pub(crate) fn stream() -> A2aRequest {
    A2aRequest::SendStreamingMessage(SendMessageRequest {
        message: Message::user("hello"),
        ..SendMessageRequest::default()
    })
}

/// Returns the request that reads a task.
pub(crate) fn get(task: &TaskId) -> A2aRequest {
    let id = task.clone();
    A2aRequest::GetTask(GetTaskRequest {
        id,
        ..GetTaskRequest::default()
    })
}

/// Returns the request that reads the extended card.
pub(crate) fn extended_card() -> A2aRequest {
    GetExtendedAgentCardRequest::default().into()
}

/// Returns the request that registers a webhook.
pub(crate) fn push_config(task: &TaskId) -> A2aRequest {
    A2aRequest::CreateTaskPushNotificationConfig(TaskPushNotificationConfig {
        task_id: task.clone(),
        url: "https://1.1.1.1/hook".to_owned(),
        ..TaskPushNotificationConfig::default()
    })
}
