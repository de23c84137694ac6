//! Requests with secrets that are refused, in every way.

use a2a_server::{Challenge, Server};
use http_body_util::BodyExt;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::agent::{Scheme, as_others, as_owner, builder, messages, rpc, serve};
use crate::log::{check, log};
use crate::secrets::{
    ANSWER, API_KEY, AUTHORIZATION, BASIC, BEARER, CONTENT, COOKIE, TOKEN, URL_KEY, found,
};
use crate::stores::new_file;
use crate::webhook_registration::check_owner;
use crate::wire::{CLOSED, RawAnswer, RawRequest, TAKEN, hook};

/// An error repeats nothing, not even to the caller that sent it: callers write errors into their logs.
#[track_caller]
fn check_error(answer: &RawAnswer) {
    assert!(answer.text.contains("error"), "{}", answer.text);
    check(&answer.text);
}

async fn refused(server: &Server, asks: impl IntoIterator<Item = RawRequest>) {
    log();
    let address = serve(server).await;
    for ask in asks {
        check_error(&as_owner(address, &ask).await);
        for other in as_others(address, &ask).await {
            check_error(&other);
        }
    }
    log().check();
}

fn server() -> Server {
    builder().build().unwrap()
}

/// Messages with a webhook in which this value replaces a member.
fn with(member: &str, value: &Value) -> Vec<RawRequest> {
    let mut asks = Vec::new();
    for (method, mut params) in messages("echo", "http://127.0.0.1/", Scheme::Bearer) {
        let config = [
            "/pushNotification",
            "/configuration/pushNotificationConfig",
            "/configuration/taskPushNotificationConfig",
        ]
        .into_iter()
        .find(|path| params.pointer(path).is_some());
        let config = params.pointer_mut(config.unwrap()).unwrap();
        *config.pointer_mut(member).unwrap() = value.clone();
        asks.push(rpc(method, &params));
    }
    asks
}

#[tokio::test]
async fn forbidden_urls_are_refused_without_a_leak() {
    for url in [
        format!("http://example.com/?key={URL_KEY}"),
        format!("https://10.0.0.1/?key={URL_KEY}"),
        format!("https://agent:{URL_KEY}@example.com/"),
        format!("https://{URL_KEY}.local/"),
        format!("https://{URL_KEY}./"),
        format!("https://exa mple.com/?key={URL_KEY}"),
        format!("https:/{URL_KEY}"),
        format!("{URL_KEY}://example.com/"),
        format!("https://example.com:{URL_KEY}/"),
        format!("https://example.com:99/{URL_KEY}"),
        format!("https://example.com/{URL_KEY}{}", "x".repeat(4096)),
        URL_KEY.to_owned(),
    ] {
        refused(&server(), with("/url", &json!(url))).await;
    }
}

#[tokio::test]
async fn invalid_header_values_are_refused_without_a_leak() {
    for after in ["\r\nx: y", " ", "\u{e4}", "\0", &"x".repeat(5000)] {
        refused(&server(), with("/token", &json!(format!("{TOKEN}{after}")))).await;
        let credentials = json!(format!("{BEARER}{after}"));
        refused(&server(), with("/authentication/credentials", &credentials)).await;
    }
    for scheme in [
        format!("Basic {BASIC}"),
        format!("{BEARER}:"),
        format!("{BEARER}\n"),
    ] {
        let authentication = json!({
            "scheme": scheme, "schemes": [scheme], "credentials": BEARER,
        });
        refused(&server(), with("/authentication", &authentication)).await;
    }
}

#[tokio::test]
async fn webhooks_that_fail_the_challenge_are_refused_without_a_leak() {
    log();
    let server = builder()
        .challenge_webhooks(Challenge::Always)
        .build()
        .unwrap();
    let mut hooks = vec![CLOSED];
    for answer in [
        format!("HTTP/1.1 500 {ANSWER}\r\n\r\n{ANSWER}"),
        ANSWER.to_owned(),
        TAKEN.to_owned(),
    ] {
        hooks.push(hook(answer).await.0);
    }
    for hook in hooks {
        let url = json!(format!("http://{hook}/?key={URL_KEY}"));
        refused(&server, with("/url", &url)).await;
    }
}

/// Every prefix of a request, and every request with something in it that is not JSON.
#[tokio::test]
async fn broken_json_is_refused_without_a_leak() {
    log();
    let server = server();
    let address = serve(&server).await;
    for (method, params) in messages("echo", "http://127.0.0.1/", Scheme::Bearer) {
        let whole = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let whole = whole.to_string();
        for end in 0..whole.len() {
            check_error(&as_owner(address, &RawRequest::post("/", &whole[..end])).await);
        }
        for canary in [TOKEN, BEARER, URL_KEY, CONTENT] {
            let (before, after) = whole.split_at(whole.find(canary).unwrap());
            for bad in ["\"", "\\x", "\n", "\\ud800", "\",\"token\":1,\"token\":\""] {
                let broken = format!("{before}{bad}{after}");
                check_error(&as_owner(address, &RawRequest::post("/", broken)).await);
            }
        }
    }
    log().check();
}

/// Every value in a request, in place of which there is another with a secret in it.
#[tokio::test]
async fn invalid_params_leak_no_secret() {
    log();
    let server = server();
    let address = serve(&server).await;
    let mut refused = 0;
    for (method, params) in messages("ask", "http://127.0.0.1:1/", Scheme::Bearer) {
        for path in paths(&params) {
            for value in [
                json!(CONTENT),
                json!([CONTENT]),
                json!({"member": CONTENT}),
                json!([{"text": [BEARER]}]),
                json!({"credentials": [BEARER], "token": {"a": TOKEN}}),
                json!({"scheme": BEARER, "schemes": BEARER}),
                json!(17),
            ] {
                let mut params = params.clone();
                *params.pointer_mut(&path).unwrap() = value;
                let answer = as_owner(address, &rpc(method, &params)).await;
                match answer.json().get("error") {
                    Some(_) => check_error(&answer),
                    None => check_owner(&answer),
                }
                refused += usize::from(answer.json().get("error").is_some());
            }
        }
    }
    assert!(refused > 100, "{refused}");
    log().check();
}

/// Returns the paths of all values except ids, which are not secrets.
fn paths(value: &Value) -> Vec<String> {
    let below = |name: &str, value| {
        let name = format!("/{name}");
        let paths = paths(value).into_iter();
        let paths = paths.map(|path| format!("{name}{path}"));
        std::iter::once(name.clone())
            .chain(paths.collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    match value {
        Value::Object(members) => {
            let members = members
                .iter()
                .filter(|(name, _)| !["id", "messageId"].contains(&name.as_str()));
            members
                .flat_map(|(name, value)| below(name, value))
                .collect()
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items
                .flat_map(|(index, value)| below(&index.to_string(), value))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Requests that HTTP itself refuses.
#[tokio::test]
async fn invalid_http_requests_leak_no_secret() {
    log();
    let server = server();
    let address = serve(&server).await;
    let [(method, params), ..] = messages("echo", "http://127.0.0.1/", Scheme::Bearer);
    let good = rpc(method, &params);
    let large = format!("{{\"{CONTENT}\":\"{}\"}}", BEARER.repeat(1000));
    let rest = format!("/tasks/x/pushNotificationConfigs?token={TOKEN}");
    for (ask, status) in [
        (
            good.clone()
                .with("authorization", format!("Bearer {AUTHORIZATION}\0")),
            400,
        ),
        (
            good.clone()
                .with("x-api-key", format!("{API_KEY}\r\n: {API_KEY}")),
            400,
        ),
        (good.clone().with("x-api-key", API_KEY.repeat(20_000)), 431),
        (good.clone().method("PUT"), 405),
        (RawRequest::post("/", large), 413),
        (
            RawRequest::post(&rest, "{}").with("a2a-version", "1.0"),
            400,
        ),
        (
            RawRequest::get(&format!("/message:send?token={TOKEN}")),
            405,
        ),
    ] {
        let answer = as_owner(address, &ask).await;
        assert_eq!(answer.status, status, "{}", answer.text);
        check(&answer.text);
        for other in as_others(address, &ask).await {
            check(&other.text);
        }
    }
    let [known, forbidden, unknown, _] = as_others(address, &good).await.try_into().ok().unwrap();
    assert_eq!(
        [known.status, forbidden.status, unknown.status],
        [200, 403, 401]
    );
    log().check();
}

/// The same by HTTP/2, whose crate logs much.
#[tokio::test]
async fn large_http_2_headers_leak_no_secret() {
    log();
    let address = serve(&server()).await;
    let [(method, params), ..] = messages("echo", "http://127.0.0.1:1/", Scheme::Bearer);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    for (repeated, status) in [(1, 200), (2000, 431)] {
        let stream = TokioIo::new(TcpStream::connect(address).await.unwrap());
        let handshake = http2::handshake(TokioExecutor::new(), stream).await;
        let (mut sender, connection) = handshake.unwrap();
        tokio::spawn(connection);
        let mut request = http::Request::post(format!("http://localhost/?key={API_KEY}"));
        for (name, value) in [
            ("authorization", format!("Bearer {AUTHORIZATION}")),
            ("x-api-key", API_KEY.repeat(repeated)),
            ("cookie", format!("session={COOKIE}")),
            ("content-type", "application/json".to_owned()),
        ] {
            request = request.header(name, value);
        }
        let request = request.body(body.to_string()).unwrap();
        let answer = sender.send_request(request).await.unwrap();
        assert_eq!(answer.status(), status);
        let answer = answer.into_body().collect().await.unwrap().to_bytes();
        let answer = String::from_utf8(answer.to_vec()).unwrap();
        assert!(found(&answer).is_subset(&[CONTENT].into()), "{answer}");
    }
    assert!(
        log().has_logged("h2::"),
        "logs of other crates are recorded"
    );
    log().check();
}

/// A database that another program has written into.
#[tokio::test]
async fn damaged_webhook_rows_leak_no_secret() {
    log();
    let file = new_file();
    let store = a2a_server::SqliteStore::open(&file).unwrap();
    let server = builder().store(store).build().unwrap();
    let address = serve(&server).await;
    let [(method, params), ..] = messages("ask", "http://127.0.0.1:1/", Scheme::Bearer);
    let sent = as_owner(address, &rpc(method, &params)).await;
    let task = crate::agent::task_of(&sent);
    let database = rusqlite::Connection::open(&file).unwrap();
    for body in [
        json!({"url": "", "authentication": BEARER}).to_string(),
        json!({"url": "", "token": [TOKEN]}).to_string(),
        json!({"url": {"a": URL_KEY}}).to_string(),
        format!("{{\"url\": \"{URL_KEY}\", \"token\": \"{TOKEN}"),
        json!(TOKEN).to_string(),
    ] {
        let change = "update push_config set body = ?1";
        assert_eq!(database.execute(change, [body.into_bytes()]).unwrap(), 1);
        let get = rpc("tasks/pushNotification/get", &json!({"id": task}));
        check_error(&as_owner(address, &get).await);
    }
    log().until(&["the store failed"]).await;
    log().check();
}
