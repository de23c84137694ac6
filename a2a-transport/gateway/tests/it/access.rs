//! Credentials, refusals and memory of a gateway before an agent over HTTP.

use std::sync::Arc;
use std::time::Duration;

use a2a_gateway::Gateway;
use a2a_transport::http::{
    AuthChallenge, AuthError, Authenticator, CredentialPlaces, HttpClient, HttpService,
    HttpTransport, ServeOptions, serve,
};
use a2a_transport::{
    Binding, BoxFuture, CallRequest, CallResponse, Error, Principal, ResponseBody, Transport,
};
use a2a_types::{
    AgentCard, ApiKeySecurityScheme, ErrorKind, GetTaskRequest, ProtocolVersion, Request, Response,
    SecurityScheme, SubscribeToTaskRequest, Task,
};
use bytes::Bytes;
use futures_util::StreamExt;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// An agent with one task.
struct OneTask;

impl Transport for OneTask {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        let reply = match call.request {
            Request::GetTask(get) => Ok(CallResponse::once(Response::GetTask(Task::submitted(
                get.id,
                "c".into(),
            )))),
            _ => Err(ErrorKind::UnsupportedOperation.into()),
        };
        Box::pin(std::future::ready(reply))
    }
}

/// Admits the key `right`, and refuses others in the way that they name.
struct Keys;

impl Authenticator for Keys {
    async fn authenticate(&self, head: &http::request::Parts) -> Result<Principal, AuthError> {
        let key = head.headers.get("x-api-key");
        match key.and_then(|key| key.to_str().ok()) {
            Some("right") => Ok(Principal::named("alice")),
            Some("forbidden") => Err(AuthError::insufficient_scope(&["read"])),
            Some("hasty") => Err(AuthError::RateLimited {
                retry_after: Duration::from_secs(7),
            }),
            _ => Err(AuthError::unauthenticated(
                AuthChallenge::new("ApiKey").with("realm", "agents"),
            )),
        }
    }
}

async fn serve_agent() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let service = HttpService::new(OneTask).authenticator(Keys);
    let options = ServeOptions::default();
    tokio::spawn(serve(listener, service, options, std::future::pending()));
    url
}

fn card() -> AgentCard {
    let mut card = AgentCard::new("a", "b");
    let scheme = ApiKeySecurityScheme {
        location: "header".to_owned(),
        name: "X-Api-Key".to_owned(),
        ..ApiKeySecurityScheme::default()
    };
    let scheme = SecurityScheme::ApiKeySecurityScheme(scheme);
    card.security_schemes.insert("key".to_owned(), scheme);
    card
}

/// Asks a gateway for a task with a key; returns status, headers and body.
async fn ask(
    gateway: &HttpService<Gateway<HttpTransport>>,
    (caller, binding): (ProtocolVersion, Binding),
    key: &str,
) -> (u16, http::HeaderMap, Value) {
    let mut request = match binding {
        Binding::HttpJson => http::Request::get(match caller {
            ProtocolVersion::V1_0 => "/tasks/t",
            _ => "/v1/tasks/t",
        })
        .body(Full::default())
        .unwrap(),
        _ => {
            let call = json!({
                "jsonrpc": "2.0", "id": 1,
                "method": caller.method(a2a_types::Operation::GetTask), "params": {"id": "t"},
            });
            http::Request::post("/")
                .header("content-type", "application/json")
                .body(Full::from(call.to_string()))
                .unwrap()
        }
    };
    if !key.is_empty() {
        let headers = request.headers_mut();
        headers.insert("x-api-key", key.parse().unwrap());
    }
    let (head, body) = gateway.handle(request).await.into_parts();
    let body: Bytes = body.collect().await.unwrap().to_bytes();
    (
        head.status.as_u16(),
        head.headers,
        serde_json::from_slice(&body).unwrap(),
    )
}

const CALLERS: [(ProtocolVersion, Binding); 5] = [
    (ProtocolVersion::V0_1, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::HttpJson),
    (ProtocolVersion::V1_0, Binding::JsonRpc),
    (ProtocolVersion::V1_0, Binding::HttpJson),
];

#[tokio::test]
async fn credentials_and_refusals_are_passed_on() {
    let url = serve_agent().await;
    for agent in [ProtocolVersion::V0_2, ProtocolVersion::V1_0] {
        let transport = HttpTransport::new(&url, agent).unwrap();
        let gateway = Gateway::new(transport, agent).share_tasks();
        let gateway = HttpService::new(gateway).pass_credentials(CredentialPlaces::of(&card()));
        for caller in CALLERS {
            let (status, _, body) = ask(&gateway, caller, "right").await;
            assert_eq!(status, 200, "{caller:?}: {body}");
            assert!(body.get("error").is_none(), "{caller:?}: {body}");

            for key in ["", "wrong"] {
                let (status, headers, body) = ask(&gateway, caller, key).await;
                assert_eq!(status, 401, "{caller:?}: {body}");
                assert_eq!(headers["www-authenticate"], "ApiKey realm=\"agents\"");
                let has_error = ["error", "code"].iter().any(|it| body.get(it).is_some());
                assert!(has_error, "{caller:?}: {body}");
            }
            let (status, headers, body) = ask(&gateway, caller, "forbidden").await;
            assert_eq!(status, 403, "{caller:?}: {body}");
            let challenge = headers["www-authenticate"].to_str().unwrap();
            assert!(challenge.contains("insufficient_scope"), "{challenge}");

            let (status, headers, body) = ask(&gateway, caller, "hasty").await;
            assert_eq!(status, 429, "{caller:?}: {body}");
            assert_eq!(headers["retry-after"], "7", "{caller:?}");
        }
    }
}

/// The caller cannot do anything about the gateway's own credentials, and must not be asked for them.
#[tokio::test]
async fn a_refusal_of_the_gateways_own_credentials_is_internal() {
    let url = serve_agent().await;
    let transport = HttpTransport::new(&url, ProtocolVersion::V1_0).unwrap();
    let transport = transport.header("x-api-key".parse().unwrap(), "wrong".parse().unwrap());
    let gateway = Gateway::new(transport, ProtocolVersion::V1_0).share_tasks();
    let gateway = HttpService::new(gateway);
    let caller = (ProtocolVersion::V1_0, Binding::HttpJson);
    let (status, headers, body) = ask(&gateway, caller, "right").await;
    assert_eq!(status, 500, "{body}");
    assert!(!headers.contains_key("www-authenticate"), "{headers:?}");
}

/// Answers a request for the task `endless` with a body that begins and does not end, by events if
/// `streams`, and others with a task of about `size` bytes.
async fn answer(mut stream: TcpStream, streams: bool, size: usize) {
    let mut request = Vec::new();
    while !request.ends_with(b"}}") {
        if stream.read_buf(&mut request).await.unwrap() == 0 {
            return;
        }
    }
    let text = String::from_utf8(request).unwrap();
    if text.contains("endless") {
        let (media_type, start) = match streams {
            true => ("text/event-stream", "data: "),
            false => ("application/json", ""),
        };
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\n\r\n{start}");
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&vec![b' '; 700 << 10]).await.unwrap();
        // Until the gateway leaves.
        let _ = stream.read(&mut [0]).await;
        return;
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "result": {
        "id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"},
        "artifacts": [{"artifactId": "a", "parts": [{"text": "x".repeat(size)}]}],
    }});
    let id = text.split("\"id\":").nth(1).unwrap();
    let id: String = id.chars().take_while(char::is_ascii_digit).collect();
    let body = body
        .to_string()
        .replacen("\"id\":1", &format!("\"id\":{id}"), 1);
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let _ = stream.write_all(body.as_bytes()).await;
}

/// A gateway with 1 MiB for all answers, to an agent whose tasks have this size.
async fn narrow_gateway(streams: bool, size: usize) -> Arc<Gateway<HttpTransport>> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(answer(stream, streams, size));
        }
    });
    let http = HttpClient::builder().receive_budget(1 << 20).build();
    let agent = HttpTransport::new(&url, ProtocolVersion::V1_0)
        .unwrap()
        .http(http);
    Arc::new(Gateway::new(agent, ProtocolVersion::V1_0).share_tasks())
}

async fn read(gateway: &Gateway<HttpTransport>, id: &str) -> Result<CallResponse, Error> {
    let request = GetTaskRequest {
        id: id.into(),
        ..GetTaskRequest::default()
    };
    gateway.call(CallRequest::new(request)).await
}

/// Endless answers of the agent, one of each kind, fail while another answer has its share of the budget.
#[tokio::test]
async fn endless_answers_of_the_agent_are_within_the_budget() {
    for streams in [false, true] {
        let gateway = narrow_gateway(streams, 400 << 10).await;
        let held = read(&gateway, "t").await.unwrap();
        let endless = match streams {
            false => read(&gateway, "endless").await.map(drop),
            true => first_update(&gateway, "endless").await,
        };
        let crowded = endless.unwrap_err();
        let is_crowded = matches!(crowded, Error::Crowded { limit: 1_048_576 });
        assert!(is_crowded, "streams: {streams}, {crowded}");
        assert_eq!(crowded.into_answer().kind, ErrorKind::Unavailable);
        drop(held);
        assert!(read(&gateway, "t").await.is_ok(), "streams: {streams}");
    }
}

/// Subscribes to a task and returns the outcome of its first update.
async fn first_update(gateway: &Gateway<HttpTransport>, id: &str) -> Result<(), Error> {
    let request = SubscribeToTaskRequest {
        id: id.into(),
        ..SubscribeToTaskRequest::default()
    };
    let call = CallRequest::new(Request::SubscribeToTask(request));
    match gateway.call(call).await?.answer {
        ResponseBody::Stream(mut updates) => updates.next().await.expect("an update").map(drop),
        ResponseBody::Once(_) => panic!("expected a stream"),
    }
}

/// A part of the budget is kept for small answers, and an answer has its share until it is written.
#[tokio::test]
async fn an_answer_has_its_share_until_it_is_dropped() {
    let gateway = narrow_gateway(false, 400 << 10).await;
    let first = read(&gateway, "t").await.unwrap();
    let crowded = read(&gateway, "t").await.unwrap_err();
    assert!(matches!(crowded, Error::Crowded { .. }), "{crowded}");
    drop(first);
    assert!(read(&gateway, "t").await.is_ok());
}
