//! Credentials are sent to the requested agent only, not to where a card or a redirect points.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use a2a_client::{Cards, Client, ClientBuilder, Credentials, Error, ProtocolVersion};
use a2a_transport::BoxFuture;
use a2a_types::AgentInterface;
use http::header::{AUTHORIZATION, COOKIE, HeaderValue};
use http::request::Parts;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const TOKEN: &str = "t0ken-of-ada";
const SESSION: &str = "s3ssion-of-ada";

/// All text that a listener received.
type RequestLog = Arc<Mutex<String>>;

/// Starts a listener that answers every request with the result of `answer` for its first line.
async fn listen(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> (String, RequestLog) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let received = RequestLog::default();
    let log = Arc::clone(&received);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = String::new();
            while !is_whole(&request) {
                let mut bytes = vec![0; 4096];
                let count = stream.read(&mut bytes).await.unwrap();
                request.push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
            log.lock().unwrap().push_str(&request);
            let _ = stream.write_all(answer(&request).as_bytes()).await;
        }
    });
    (url, received)
}

/// Returns whether a request is complete.
fn is_whole(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().filter_map(|line| line.split_once(": "));
    let mut length = length.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = length.next().map_or(0, |(_, value)| value.parse().unwrap());
    body.len() >= length
}

fn says(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
    )
}

/// Returns an answer to every request: a message.
fn answer() -> String {
    let message = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "hi"}]});
    let result = json!({"jsonrpc": "2.0", "id": 1, "result": {"message": message}});
    says(
        "200 OK",
        "content-type: application/json\r\n",
        &result.to_string(),
    )
}

/// Starts a server at another origin, which answers every request.
async fn stranger() -> (String, RequestLog) {
    listen(|_| answer()).await
}

#[derive(Debug)]
struct Token;

impl Credentials for Token {
    fn attach<'a>(&'a self, head: &'a mut Parts) -> BoxFuture<'a, Result<(), Error>> {
        let value = HeaderValue::from_str(&format!("Bearer {TOKEN}")).unwrap();
        head.headers.insert(AUTHORIZATION, value);
        Box::pin(std::future::ready(Ok(())))
    }
}

fn ada(url: &str) -> ClientBuilder {
    let session = HeaderValue::from_str(SESSION).unwrap();
    let builder = Client::builder(url).header(COOKIE, session);
    builder.credentials(Arc::new(Token))
}

/// Returns how often a listener received a secret.
fn secrets(received: &RequestLog) -> usize {
    let received = received.lock().unwrap();
    [TOKEN, SESSION]
        .iter()
        .map(|secret| received.matches(secret).count())
        .sum()
}

/// Starts an agent with this card.
async fn agent(card: Value) -> (String, RequestLog) {
    listen(move |request| match request.starts_with("GET") {
        true => says(
            "200 OK",
            "content-type: application/json\r\n",
            &card.to_string(),
        ),
        false => answer(),
    })
    .await
}

fn card(members: Value) -> Value {
    let mut card = json!({
        "name": "n", "description": "d", "version": "1", "skills": [], "capabilities": {},
        "defaultInputModes": ["text"], "defaultOutputModes": ["text"],
    });
    let all = card.as_object_mut().unwrap();
    all.extend(members.as_object().unwrap().clone());
    card
}

#[tokio::test]
async fn credentials_are_sent_to_the_origin_of_the_card() {
    let home = Arc::new(Mutex::new(String::new()));
    let own = Arc::clone(&home);
    let (url, received) = listen(move |request| match request.starts_with("GET") {
        true => {
            let interface = AgentInterface::json_rpc(&*own.lock().unwrap(), ProtocolVersion::V1_0);
            let card = card(json!({"supportedInterfaces": [interface]}));
            says(
                "200 OK",
                "content-type: application/json\r\n",
                &card.to_string(),
            )
        }
        false => answer(),
    })
    .await;
    *home.lock().unwrap() = url.clone();
    let client = ada(&url).connect().await.unwrap();
    client.send("hi").await.unwrap();
    assert_eq!(secrets(&received), 4, "with the card and with the message");
}

#[tokio::test]
async fn other_origins_get_no_credentials_unless_trusted() {
    let (elsewhere, foreign) = stranger().await;
    let signature = json!({"protected": "eyJhbGciOiJFUzI1NiJ9", "signature": "AA",
        "header": {"jku": format!("{elsewhere}/keys")}});
    for members in [
        json!({"url": elsewhere, "protocolVersion": "0.3.0", "preferredTransport": "JSONRPC"}),
        json!({"url": "http://127.0.0.1:1/", "protocolVersion": "0.3.0",
            "additionalInterfaces": [{"url": elsewhere, "transport": "JSONRPC"}]}),
        json!({"supportedInterfaces": [AgentInterface::json_rpc(&elsewhere, ProtocolVersion::V1_0)],
            "signatures": [signature]}),
        json!({"supportedInterfaces": [AgentInterface::http_json(&elsewhere, ProtocolVersion::V1_0)]}),
    ] {
        let (url, received) = agent(card(members.clone())).await;
        let client = ada(&url).connect().await.unwrap();
        // The answer is of no version of the card, but the request was sent.
        let _ = client.send("hi").await;
        assert!(secrets(&received) >= 2, "the card was asked for by ada");
        let request = std::mem::take(&mut *foreign.lock().unwrap());
        assert!(request.starts_with("POST"), "{members}: {request}");
        assert!(
            !request.contains(TOKEN) && !request.contains(SESSION),
            "{request}"
        );
        assert!(!request.contains("/keys"), "{request}");

        let client = ada(&url).trust_origin(&elsewhere).connect().await.unwrap();
        let _ = client.send("hi").await;
        assert_eq!(secrets(&foreign), 2, "{members}");
        foreign.lock().unwrap().clear();
    }
}

#[tokio::test]
async fn credentials_of_a_call_go_to_trusted_origins_only() {
    let (elsewhere, foreign) = stranger().await;
    let interface = AgentInterface::json_rpc(&elsewhere, ProtocolVersion::V1_0);
    let (url, _) = agent(card(json!({"supportedInterfaces": [interface]}))).await;
    let found = |client: Client| async move {
        let sent = client.send("hi").credentials(Arc::new(Token)).await;
        let viewed = client
            .with_credentials(Arc::new(Token))
            .get_task("t", None)
            .await;
        [sent.err(), viewed.err()]
    };
    let cards = Cards::default().connect(&url).await.unwrap();
    for client in [Client::connect(&url).await.unwrap(), cards] {
        for refused in found(client).await {
            let refused = refused.unwrap();
            assert!(matches!(refused, Error::Credentials(_)), "{refused:?}");
            assert!(
                refused.to_string().contains(&elsewhere["http://".len()..]),
                "{refused}"
            );
        }
        assert_eq!(*foreign.lock().unwrap(), "");
    }
    let trusting = Client::builder(&url).trust_origin(&elsewhere);
    let [sent, _] = found(trusting.connect().await.unwrap()).await;
    assert!(sent.is_none(), "{sent:?}");
    assert_eq!(secrets(&foreign), 2);
}

#[tokio::test]
async fn redirects_are_reported_and_not_followed() {
    let (elsewhere, foreign) = stranger().await;
    for status in ["301 X", "302 X", "303 X", "307 X", "308 X"] {
        let mut location = String::new();
        write!(location, "location: {elsewhere}/there\r\n").unwrap();
        let (url, _) = listen(move |_| says(status, &location, "")).await;
        let found = ada(&url).connect().await.err().unwrap();
        let called = ada(&url)
            .connect_at(ProtocolVersion::V0_3)
            .unwrap()
            .send("hi")
            .await;
        for refused in [found, called.unwrap_err()] {
            let Error::Redirected { location, .. } = refused else {
                panic!("{status}: {refused:?}");
            };
            assert_eq!(location, Some(format!("{elsewhere}/there")));
        }
    }
    assert_eq!(*foreign.lock().unwrap(), "", "no request was sent there");
}

/// Starts an agent of 0.1 whose card looks like one of 0.2, because it has no `authentication`.
async fn old_agent(unknown: fn(&Value) -> String) -> (Client, RequestLog) {
    let home = Arc::new(Mutex::new(String::new()));
    let own = Arc::clone(&home);
    let (url, received) = listen(move |request| {
        if request.starts_with("GET") {
            let card = card(json!({"url": *own.lock().unwrap()}));
            return says("200 OK", JSON, &card.to_string());
        }
        let (_, body) = request.split_once("\r\n\r\n").unwrap();
        let call: Value = serde_json::from_str(body).unwrap();
        let mut answer = match call["method"].as_str().unwrap() {
            "tasks/send" | "tasks/get" | "tasks/cancel" => {
                json!({"result": {"id": "t", "sessionId": "s", "status": {"state": "completed"}}})
            }
            _ => return unknown(&call["id"]),
        };
        answer["jsonrpc"] = "2.0".into();
        answer["id"] = call["id"].clone();
        says("200 OK", JSON, &answer.to_string())
    })
    .await;
    home.lock().unwrap().clone_from(&url);
    (Client::builder(&url).connect().await.unwrap(), received)
}

const JSON: &str = "content-type: application/json\r\n";

/// Answers an unknown method as most agents do.
fn not_found(id: &Value) -> String {
    let error = json!({"code": -32601, "message": "Method not found"});
    let answer = json!({"jsonrpc": "2.0", "id": id, "error": error});
    says("200 OK", JSON, &answer.to_string())
}

/// Answers an unknown method as Google's server in Python does.
fn invalid(_: &Value) -> String {
    let error = json!({"code": -32600, "message": "Request payload validation error"});
    let answer = json!({"jsonrpc": "2.0", "error": error});
    says("400 Bad Request", JSON, &answer.to_string())
}

fn methods(received: &RequestLog) -> Vec<String> {
    let received = received.lock().unwrap();
    let names = received.split("\"method\":\"").skip(1);
    let names = names.filter_map(|rest| rest.split('"').next());
    names.map(str::to_owned).collect()
}

#[tokio::test]
async fn the_version_is_probed_if_the_card_is_ambiguous() {
    for unknown in [not_found, invalid] {
        let (client, received) = old_agent(unknown).await;
        for _ in 0..2 {
            client.send("hi").await.unwrap();
        }
        client.get_task("t", None).await.unwrap();
        assert_eq!(
            methods(&received),
            ["message/send", "tasks/send", "tasks/send", "tasks/get"]
        );
    }
}

#[tokio::test]
async fn methods_that_both_versions_have_do_not_settle_the_version() {
    let (client, received) = old_agent(not_found).await;
    let task = client.get_task("t", None).await.unwrap();
    assert_eq!(task.context_id, Some("s".into()));
    assert_eq!(client.cancel_task("t").await.unwrap(), task);
    client.send("hi").await.unwrap();
    client.get_task("t", None).await.unwrap();
    let methods = methods(&received);
    assert!(
        methods.ends_with(&["message/send", "tasks/send", "tasks/get"].map(str::to_owned)),
        "{methods:?}"
    );
}
