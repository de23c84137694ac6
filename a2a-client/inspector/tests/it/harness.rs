//! Fixtures: an inspector that listens, a page that calls it, agents.

use std::future::pending;
use std::net::SocketAddr;

use a2a_client::HttpClient;
use a2a_inspector::{Inspector, InspectorBuilder};
use a2a_server::demo::{Joker, Reference};
use a2a_server::{Agent, Server, ServerBuilder};
use a2a_transport::sse::Decoder;
use a2a_types::AgentCard;
use axum::Json;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap};
use http::{Method, Request, StatusCode, request};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A page of an inspector: its address and its token.
pub(crate) struct Page {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    pub(crate) inspector: Inspector,
    http: HttpClient,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Page {
    /// Opens the page of a new inspector.
    pub(crate) async fn open() -> Self {
        Self::of(Inspector::builder()).await
    }

    /// Opens the page of the inspector that is built.
    pub(crate) async fn of(builder: InspectorBuilder) -> Self {
        let inspector = builder.build().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let url = inspector.url(address);
        let (_, token) = url.split_once("/#token=").unwrap();
        let page = Self {
            address,
            token: token.to_owned(),
            inspector: inspector.clone(),
            http: HttpClient::default(),
        };
        tokio::spawn(inspector.serve(listener, pending()));
        page
    }

    /// Returns a request without the token.
    pub(crate) fn anonymous(&self, method: &str, path: &str) -> request::Builder {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address))
    }

    /// Returns a request with the token.
    pub(crate) fn request(&self, method: &str, path: &str) -> request::Builder {
        self.anonymous(method, path)
            .header(AUTHORIZATION, format!("Bearer {}", self.token))
    }

    /// Sends a request without a body.
    pub(crate) async fn send(&self, request: request::Builder) -> Answer {
        self.exchange(request.body(Full::default()).unwrap()).await
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Answer {
        let (head, body) = self.http.fetch(request).await.unwrap().into_parts();
        Answer {
            status: head.status,
            headers: head.headers,
            body: body.collect().await.unwrap().to_bytes(),
        }
    }

    /// Calls the API as the page does.
    pub(crate) async fn call(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        self.exchange(self.with_body(method, path, body)).await
    }

    fn with_body(&self, method: &str, path: &str, body: Option<Value>) -> Request<Full<Bytes>> {
        let request = self.request(method, path);
        let request = match body {
            Some(body) => request
                .header(CONTENT_TYPE, "application/json")
                .body(Full::from(body.to_string())),
            None => request.body(Full::default()),
        };
        request.unwrap()
    }

    /// Gets a path that must exist.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> impl Future<Output = Value> {
        let path = path.to_owned();
        async move { self.call("GET", &path, None).await.ok() }
    }

    /// Posts a body that must be accepted.
    pub(crate) async fn post(&self, path: &str, body: Value) -> Value {
        self.call("POST", path, Some(body)).await.ok()
    }

    /// Connects to an agent with these settings besides its URL, and returns it.
    pub(crate) async fn connect(&self, url: &str, mut settings: Value) -> Value {
        settings["url"] = json!(url);
        self.post("/api/agents", settings).await
    }

    /// Connects to an agent and returns the path of its API.
    pub(crate) async fn path_of(&self, url: &str) -> String {
        let agent = self.connect(url, json!({})).await;
        format!("/api/agents/{}", agent["id"].as_str().unwrap())
    }

    /// Begins to read a stream of events.
    pub(crate) async fn events(&self, method: &str, path: &str, body: Option<Value>) -> Events {
        let request = self.with_body(method, path, body);
        let answer = self.http.fetch(request).await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        assert_eq!(answer.headers()[CONTENT_TYPE], "text/event-stream");
        Events {
            body: answer
                .into_body()
                .map_err(|error| error.to_string())
                .boxed_unsync(),
            decoder: Decoder::default(),
            queue: Vec::new(),
        }
    }

    /// Sends a message, and returns all events until the answer ends.
    pub(crate) async fn message(&self, agent: &str, body: Value) -> Vec<(String, Value)> {
        let path = format!("{agent}/messages");
        self.events("POST", &path, Some(body)).await.all().await
    }
}

impl Answer {
    /// Returns the JSON of a successful answer; `null` if it has no body.
    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        assert!(self.status.is_success(), "{} {:?}", self.status, self.body);
        match self.body.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&self.body).unwrap(),
        }
    }

    /// Returns the error in an answer.
    #[track_caller]
    pub(crate) fn problem(&self) -> Value {
        assert!(!self.status.is_success(), "{} {:?}", self.status, self.body);
        let body: Value = serde_json::from_slice(&self.body).unwrap();
        assert!(body["error"]["message"].is_string(), "{body}");
        body["error"].clone()
    }
}

/// A stream of events. Dropping it closes the connection.
pub(crate) struct Events {
    body: http_body_util::combinators::UnsyncBoxBody<Bytes, String>,
    decoder: Decoder,
    queue: Vec<(String, Value)>,
}

impl Events {
    /// Waits for the next event: its name and data; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<(String, Value)> {
        while self.queue.is_empty() {
            let frame = self.body.frame().await?.unwrap();
            let events = self.decoder.push(frame.data_ref().unwrap()).unwrap();
            let events = events.into_iter().map(|event| {
                let data = serde_json::from_slice(&event.data).unwrap();
                (event.name.unwrap(), data)
            });
            self.queue.extend(events);
        }
        Some(self.queue.remove(0))
    }

    /// Waits for the next event of this name.
    pub(crate) async fn named(&mut self, name: &str) -> Value {
        loop {
            let (event, data) = self.next().await.expect(name);
            if event == name {
                return data;
            }
        }
    }

    /// Waits for the end, and returns all events.
    pub(crate) async fn all(mut self) -> Vec<(String, Value)> {
        let mut all = Vec::new();
        while let Some(event) = self.next().await {
            all.push(event);
        }
        all
    }
}

/// Returns the message of a user, as the page sends it.
pub(crate) fn message(text: &str) -> Value {
    json!({"messageId": text, "role": "ROLE_USER", "parts": [{"text": text}]})
}

/// Returns the last state of the task in the events of an answer.
pub(crate) fn state(events: &[(String, Value)]) -> &str {
    let states = events.iter().rev().find_map(|(_, data)| {
        let event = &data["event"];
        let statuses =
            [&event["statusUpdate"], &event["task"]].map(|it| it["status"]["state"].as_str());
        statuses.into_iter().flatten().next()
    });
    states.expect("an event with a status")
}

/// Returns the id of the task in the events of an answer.
pub(crate) fn task_of(events: &[(String, Value)]) -> String {
    let task = events
        .iter()
        .find_map(|(_, data)| data["event"]["task"]["id"].as_str());
    task.expect("an event with the task").to_owned()
}

/// Starts the agent that obeys the first word of a message, and returns its URL.
pub(crate) async fn reference() -> String {
    started(builder(Reference::card(), Reference)).await
}

/// Starts the agent that asks what its joke is to be about, and returns its URL.
pub(crate) async fn joker() -> String {
    started(builder(Joker::card(), Joker)).await
}

/// Returns the builder of an agent's server.
pub(crate) fn builder(card: AgentCard, agent: impl Agent) -> ServerBuilder {
    Server::builder(card, agent)
}

/// Starts a server on a free port, and returns its URL.
pub(crate) async fn started(builder: ServerBuilder) -> String {
    let server = builder.build().unwrap().bind("127.0.0.1:0").await.unwrap();
    let url = server.url();
    tokio::spawn(server.run(pending()));
    url
}

/// Starts an agent whose card and answers are read despite their slips, and returns its URL.
pub(crate) async fn agent_with_slips() -> String {
    router(|url| {
        let card = json!({
            "name": "Slips",
            "description": "Nearly speaks A2A",
            "version": "1",
            "supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
            "capabilities": ["streaming"],
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [],
        });
        let answer = async |Json(call): Json<Value>| {
            let status = json!({"state": "completed", "timestamp": "2026-01-01T00:00:00"});
            let task = json!({"id": 7, "contextId": "c", "status": status, "artifacts": [{"parts": [{"text": "done"}]}]});
            Json(json!({"jsonrpc": "2.0", "id": call["id"], "result": {"task": task}}))
        };
        axum::Router::new()
            .route("/", axum::routing::post(answer))
            .fallback(async move || card.to_string())
    })
    .await
}

/// Serves one document at every path, with the URL in place of `{url}`, and returns the URL.
pub(crate) async fn document(text: impl Into<String>) -> String {
    let text = text.into();
    router(|url| {
        let text = text.replace("{url}", url);
        axum::Router::new().fallback(async move || text)
    })
    .await
}

/// Serves the routes that are made for the URL, and returns the URL.
pub(crate) async fn router(routes: impl FnOnce(&str) -> axum::Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let routes = routes(&url);
    tokio::spawn(async { axum::serve(listener, routes).await });
    url
}
