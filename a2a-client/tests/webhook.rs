//! Receiving push notifications, through real sockets.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use a2a_client::Client;
use a2a_client::webhook::{
    BoxError, Contradiction, Jwks, Keys, Notification, Receiver, ReceiverBuilder, Secret, Tokens,
};
use a2a_transport::http::{Body, ServeOptions, serve};
use a2a_transport::webhook::{Algorithm, Claims, SigningKey};
use a2a_transport::{BoxFuture, Call, Error, Reply, Transport};
use a2a_types::{Base64, Dialect, Event, Request, Response, Task, TaskState};
use hyper::body::Incoming;
use hyper::service::service_fn;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

const NOW: u64 = 1_800_000_000;
const TASK: &str = r#"{"kind":"task","id":"T","contextId":"C","status":{"state":"completed"}}"#;

/// A receiver at a socket: what it was told, and its clock.
struct Hook {
    address: String,
    told: Arc<Mutex<Vec<Notification>>>,
    now: Arc<AtomicU64>,
}

impl Hook {
    async fn new(configure: impl FnOnce(ReceiverBuilder) -> ReceiverBuilder) -> Self {
        let told = Arc::<Mutex<Vec<Notification>>>::default();
        let kept = Arc::clone(&told);
        let handler = move |notification: Notification| {
            kept.lock().unwrap().push(notification);
            std::future::ready(Ok::<_, BoxError>(()))
        };
        let now = Arc::new(AtomicU64::new(NOW));
        let builder = configure(Receiver::builder(handler)).clock(clock(&now));
        let address = serving(builder.build().unwrap()).await;
        Self { address, told, now }
    }

    async fn post(&self, request: &Post) -> u16 {
        post(&self.address, request).await.0
    }

    fn told(&self) -> usize {
        self.told.lock().unwrap().len()
    }

    #[track_caller]
    fn last(&self) -> Notification {
        self.told.lock().unwrap().last().unwrap().clone()
    }
}

fn clock(now: &Arc<AtomicU64>) -> impl Fn() -> SystemTime + Send + Sync + 'static {
    let now = Arc::clone(now);
    move || SystemTime::UNIX_EPOCH + Duration::from_secs(now.load(Ordering::Relaxed))
}

async fn serving(receiver: Receiver) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let options = ServeOptions::default();
    tokio::spawn(serve(listener, receiver, options, std::future::pending()));
    address
}

/// A request as its bytes will be.
#[derive(Clone, Debug)]
struct Post {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Post {
    fn new(body: impl AsRef<[u8]>) -> Self {
        Self {
            line: "POST /hook?task=T".to_owned(),
            headers: Vec::new(),
            body: body.as_ref().to_vec(),
        }
    }

    fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// As Standard Webhooks has it.
    fn signed(self, secrets: &[&Secret], id: &str, timestamp: u64) -> Self {
        let signatures: Vec<_> = secrets
            .iter()
            .map(|secret| secret.sign(id, timestamp, &self.body).unwrap())
            .collect();
        self.with("webhook-id", id)
            .with("webhook-timestamp", timestamp.to_string())
            .with("webhook-signature", signatures.join(" "))
    }

    fn with_token(self, key: &SigningKey, claims: &Claims) -> Self {
        let token = key.sign(claims).unwrap();
        self.with("authorization", format!("Bearer {token}"))
    }

    fn bytes(&self) -> Vec<u8> {
        let length = self.body.len();
        let mut text = format!(
            "{} HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: {length}\r\n",
            self.line
        );
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        [text.as_bytes(), &self.body].concat()
    }
}

/// The status, and the rest of the answer.
async fn post(address: &str, post: &Post) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(&post.bytes()).await.unwrap();
    let mut answer = Vec::new();
    // The peer may refuse a body that is on its way, and reset the connection.
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8(answer).unwrap();
    let status = answer.split(' ').nth(1).expect("an answer");
    (status.parse().unwrap(), answer.to_ascii_lowercase())
}

fn claims(body: &str, id: &str) -> Claims {
    Claims::of(body.as_bytes(), id, "https://me/hook", NOW)
}

#[tokio::test]
async fn bodies_of_every_generation() {
    let hook = Hook::new(|builder| builder).await;
    let proto = r#"{"statusUpdate":{"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_COMPLETED"}}}"#;
    let bodies = [
        (
            Dialect::V0_1,
            r#"{"id":"T","sessionId":"C","status":{"state":"completed"}}"#,
            "application/json",
        ),
        (Dialect::V0_3, TASK, "application/json; charset=utf-8"),
        (
            Dialect::V0_3,
            &proto.replace("}}}", r#"},"final":true}}"#),
            "text/plain",
        ),
        (Dialect::V1_0, proto, "application/a2a+json"),
        (Dialect::V1_0, proto, "application/json"),
    ];
    for (dialect, body, content_type) in bodies {
        let post = Post::new(body).with("content-type", content_type);
        assert_eq!(hook.post(&post).await, 200);
        let told = hook.last();
        assert_eq!((told.dialect, told.task), (dialect, Some("T".into())));
        let status = told.event.as_ref().and_then(Event::status).unwrap();
        assert_eq!(status.state, TaskState::Completed);
        assert_eq!(told.uri.query(), Some("task=T"));
        assert_eq!(told.delivery, None);
    }
    for bad in ["", "[]", "{", "task"] {
        assert_eq!(hook.post(&Post::new(bad)).await, 400);
    }
    assert_eq!(hook.told(), 5);
}

/// As the documentation of 0.2 prints it.
#[tokio::test]
async fn the_documented_exchange() {
    let hook = Hook::new(|builder| builder.token("secure-client-token-for-task-aaa")).await;
    let body = r#"{
      "id": "43667960-d455-4453-b0cf-1bae4955270d",
      "contextId": "c295ea44-7543-4f78-b524-7a38915ad6e4",
      "status": { "state": "completed", "timestamp": "2024-03-15T18:30:00Z" },
      "kind": "task"
    }"#;
    let post = Post::new(body)
        .with("Authorization", "Bearer server_jwt_for_webhook_audience")
        .with("Content-Type", "application/json");
    assert_eq!(hook.post(&post).await, 401);
    let post = post.with(
        "X-A2A-Notification-Token",
        "secure-client-token-for-task-aaa",
    );
    assert_eq!(hook.post(&post).await, 200);
    let told = hook.last();
    let task = told.whole().unwrap();
    assert_eq!(task.id.as_str(), "43667960-d455-4453-b0cf-1bae4955270d");
    assert_eq!(task.status.state, TaskState::Completed);
    assert!(task.status.timestamp.is_some());
}

#[tokio::test]
async fn what_is_too_large_or_no_post_is_refused() {
    let hook = Hook::new(|builder| builder.limit(100)).await;
    let large = format!("{{\"id\":\"{}\"}}", "x".repeat(100));
    assert_eq!(hook.post(&Post::new(large)).await, 413);
    let mut get = Post::new("");
    get.line = "GET /hook?validationToken=abc".to_owned();
    assert_eq!(hook.post(&get).await, 405);
    assert_eq!(hook.told(), 0);
}

#[tokio::test]
async fn the_challenge_of_0_1() {
    let hook = Hook::new(ReceiverBuilder::challenge).await;
    let check = async |query: &str, status: u16, word: &str| {
        let mut get = Post::new("");
        get.line = format!("GET /hook?{query}");
        let (found, answer) = post(&hook.address, &get).await;
        assert_eq!(found, status, "{query}");
        if status == 200 {
            assert!(answer.contains("content-type: text/plain\r\n"));
            assert!(answer.ends_with(&format!("\r\n\r\n{word}")), "{answer}");
        }
    };
    check("a=b&validationToken=abc-1%7E", 200, "abc-1~").await;
    let long = format!("validationToken={}", "x".repeat(257));
    let bad = [
        "",
        "validationToken=",
        "validationToken=a%0Ab",
        "validationToken=a+b",
        "validationToken=%C3%A9",
        "validationToken=a&validationToken=b",
        &long,
    ];
    for query in bad {
        check(query, 400, "").await;
    }
}

#[tokio::test]
async fn a_token_in_either_header() {
    let hook = Hook::new(|builder| builder.token("old").token("secret")).await;
    let check = async |headers: &[(&str, &str)], status: u16| {
        let post = Post::new(TASK);
        let post = headers
            .iter()
            .fold(post, |post, (name, value)| post.with(name, *value));
        assert_eq!(hook.post(&post).await, status, "{headers:?}");
    };
    const X: &str = "X-A2A-Notification-Token";
    const A2A: &str = "A2A-Notification-Token";
    check(&[(X, "secret")], 200).await;
    check(&[(A2A, "secret")], 200).await;
    check(&[(X, "secret"), (A2A, "secret")], 200).await;
    check(&[(X, "old")], 200).await;
    check(&[], 401).await;
    check(&[(X, "")], 401).await;
    check(&[(X, "secret"), (A2A, "other")], 401).await;
    check(&[("authorization", "secret")], 401).await;
    for index in 0.."secret".len() {
        let mut token = "secret".to_owned().into_bytes();
        token[index] ^= 1;
        check(&[(X, std::str::from_utf8(&token).unwrap())], 401).await;
        check(&[(X, &"secret"[..index])], 401).await;
    }
    assert_eq!(hook.told(), 4);
}

#[tokio::test]
async fn a_fixed_authorization() {
    let hook = Hook::new(|builder| builder.authorization("Bearer abc")).await;
    let values = [
        ("Bearer abc", 200),
        ("bearer  abc", 200),
        ("Bearer Abc", 401),
        ("Basic abc", 401),
        ("Bearer", 401),
        ("abc", 401),
    ];
    for (value, status) in values {
        let post = Post::new(TASK).with("authorization", value);
        assert_eq!(hook.post(&post).await, status, "{value}");
    }
    assert_eq!(hook.post(&Post::new(TASK)).await, 401);
}

/// Everything is configured; then every byte of every part of a good request is changed.
#[tokio::test]
async fn nothing_that_was_changed_is_accepted() {
    let key = SigningKey::generate(Algorithm::Es256).unwrap();
    let secret = Secret::shared().unwrap();
    let (jwks, shared) = (Jwks::of([&key]), secret.clone());
    let hook = Hook::new(|builder| {
        builder
            .token("token")
            .tokens(Tokens::of(Keys::from(jwks)).audience("https://me/hook"))
            .secret(shared)
    })
    .await;
    let good = Post::new(TASK)
        .with("x-a2a-notification-token", "token")
        .with_token(&key, &claims(TASK, "msg_1"))
        .signed(&[&secret], "msg_1", NOW);

    let mut tried = 0;
    for header in 0..good.headers.len() {
        let value = &good.headers[header].1;
        // `Bearer` itself may be spelled otherwise.
        let from = if value.starts_with("Bearer ") { 7 } else { 0 };
        for index in from..value.len() {
            let mut bytes = value.clone().into_bytes();
            bytes[index] = if bytes[index] == b'7' { b'8' } else { b'7' };
            let mut changed = good.clone();
            changed.headers[header].1 = String::from_utf8(bytes).unwrap();
            assert_eq!(hook.post(&changed).await, 401, "{changed:?}");
            tried += 1;
        }
        let mut without = good.clone();
        without.headers.remove(header);
        assert_eq!(hook.post(&without).await, 401, "{without:?}");
        let mut twice = good.clone();
        twice
            .headers
            .push((good.headers[header].0.clone(), "other".to_owned()));
        assert_eq!(hook.post(&twice).await, 401, "{twice:?}");
    }
    for index in 0..good.body.len() {
        let mut changed = good.clone();
        changed.body[index] ^= 1;
        assert_eq!(hook.post(&changed).await, 401, "{index}");
        tried += 1;
    }
    assert!(tried > 400, "{tried}");
    assert_eq!(hook.told(), 0);
    assert_eq!(hook.post(&good).await, 200);
    assert_eq!(hook.last().delivery.as_deref(), Some("msg_1"));
}

#[tokio::test]
async fn replays() {
    let secret = Secret::private().unwrap();
    let public = secret.public().unwrap();
    let hook = Hook::new(|builder| builder.secret(public)).await;
    let send = |id: &str, timestamp| Post::new(TASK).signed(&[&secret], id, timestamp);
    let first = send("msg_1", NOW);
    assert_eq!(hook.post(&first).await, 200);
    for later in [0, 1, 300] {
        hook.now.store(NOW + later, Ordering::Relaxed);
        assert_eq!(hook.post(&first).await, 200, "handled already");
    }
    for later in [301, 302, 86_400] {
        hook.now.store(NOW + later, Ordering::Relaxed);
        assert_eq!(hook.post(&first).await, 401);
        assert_eq!(hook.post(&send("msg_2", NOW)).await, 401);
    }
    hook.now.store(NOW - 301, Ordering::Relaxed);
    assert_eq!(hook.post(&send("msg_2", NOW)).await, 401);
    hook.now.store(NOW + 301, Ordering::Relaxed);
    // Sent again, as a sender does that has not seen the answer: signed anew, the same id.
    assert_eq!(hook.post(&send("msg_1", NOW + 301)).await, 200);
    assert_eq!(hook.told(), 1);
    assert_eq!(hook.post(&send("msg_2", NOW + 301)).await, 200);
    assert_eq!(hook.told(), 2);
}

#[tokio::test]
async fn a_token_is_good_for_one_delivery() {
    let key = SigningKey::generate(Algorithm::EdDsa).unwrap();
    let tokens = Tokens::of(Keys::from(Jwks::of([&key]))).audience("https://me/hook");
    let hook = Hook::new(|builder| builder.tokens(tokens)).await;
    // A token that does not name the delivery, replayed under other names.
    let unnamed = Claims {
        jti: None,
        ..claims(TASK, "")
    };
    let first = Post::new(TASK).with_token(&key, &unnamed);
    assert_eq!(hook.post(&first).await, 200);
    assert_eq!(
        hook.post(&first.clone().with("webhook-id", "other")).await,
        200
    );
    assert_eq!(hook.told(), 1);
    hook.now.store(NOW + 301, Ordering::Relaxed);
    assert_eq!(hook.post(&first).await, 401);
    hook.now.store(NOW, Ordering::Relaxed);

    let elsewhere = Claims {
        aud: vec!["https://other/hook".to_owned()],
        ..claims(TASK, "m")
    };
    let endless = Claims {
        exp: None,
        ..claims(TASK, "m")
    };
    let loose = Claims {
        request_body_sha256: None,
        ..claims(TASK, "m")
    };
    let other_body = claims("{}", "m");
    for claims in [&elsewhere, &endless, &loose, &other_body] {
        assert_eq!(
            hook.post(&Post::new(TASK).with_token(&key, claims)).await,
            401
        );
    }
    let stranger = SigningKey::generate(Algorithm::EdDsa).unwrap();
    let forged = Post::new(TASK).with_token(&stranger, &claims(TASK, "m"));
    assert_eq!(hook.post(&forged).await, 401);
    assert_eq!(hook.told(), 1);

    let lenient = Tokens::of(Keys::from(Jwks::of([&key]))).without_expiry();
    let hook = Hook::new(|builder| builder.tokens(lenient)).await;
    assert_eq!(
        hook.post(&Post::new(TASK).with_token(&key, &endless)).await,
        200
    );
    assert_eq!(hook.last().delivery.as_deref(), Some("m"));
}

/// To each signature of ECDSA there is another that holds as well, which anybody can make.
#[tokio::test]
async fn the_other_signature_is_no_other_delivery() {
    let key = SigningKey::generate(Algorithm::Es256).unwrap();
    let tokens = Tokens::of(Keys::from(Jwks::of([&key])));
    let hook = Hook::new(|builder| builder.tokens(tokens)).await;
    let unnamed = Claims {
        jti: None,
        ..claims(TASK, "")
    };
    let token = key.sign(&unnamed).unwrap();
    let (said, signature) = token.rsplit_once('.').unwrap();
    let mut signature = Base64::from_text(signature).decode().unwrap();
    let order = [
        &[0xff; 4][..],
        &[0; 4],
        &[0xff; 8],
        &0xbce6_faad_a717_9e84_u64.to_be_bytes(),
        &0xf3b9_cac2_fc63_2551_u64.to_be_bytes(),
    ];
    let mut borrow = false;
    for (byte, order) in signature[32..].iter_mut().zip(order.concat()).rev() {
        let (difference, first) = order.overflowing_sub(*byte);
        let (difference, second) = difference.overflowing_sub(u8::from(borrow));
        (*byte, borrow) = (difference, first || second);
    }
    let signature = Base64::encode(signature);
    let signature = signature.as_text().trim_end_matches('=');
    let other = format!("{said}.{}", signature.replace('+', "-").replace('/', "_"));
    assert_ne!(other, token);
    for (token, told) in [(&token, 1), (&other, 1)] {
        let post = Post::new(TASK).with("authorization", format!("Bearer {token}"));
        assert_eq!(hook.post(&post).await, 200, "it holds");
        assert_eq!(hook.told(), told, "and is the same delivery");
    }
}

/// An agent that publishes its keys over HTTP; counts how often they are fetched.
async fn publishing(keys: Arc<Mutex<Jwks>>) -> (String, Arc<AtomicU64>) {
    let fetches = Arc::<AtomicU64>::default();
    let counted = Arc::clone(&fetches);
    let service = service_fn(move |_: http::Request<Incoming>| {
        counted.fetch_add(1, Ordering::Relaxed);
        let body = Body::full(keys.lock().unwrap().to_json());
        std::future::ready(Ok::<_, std::convert::Infallible>(http::Response::new(body)))
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!(
        "http://{}/.well-known/jwks.json",
        listener.local_addr().unwrap()
    );
    let options = ServeOptions::default();
    tokio::spawn(serve(listener, service, options, std::future::pending()));
    (url, fetches)
}

#[tokio::test]
async fn keys_rotate() {
    let [old, new, made_up] = [Algorithm::Es256, Algorithm::EdDsa, Algorithm::EdDsa]
        .map(|algorithm| SigningKey::generate(algorithm).unwrap());
    let published = Arc::new(Mutex::new(Jwks::of([&old])));
    let (url, fetches) = publishing(Arc::clone(&published)).await;
    let hook = Hook::new(|builder| builder.tokens(Tokens::of(Keys::at(url)))).await;
    let send = |key: &SigningKey, id: &str| Post::new(TASK).with_token(key, &claims(TASK, id));

    assert_eq!(hook.post(&send(&old, "1")).await, 200);
    *published.lock().unwrap() = Jwks::of([&old, &new]);
    assert_eq!(hook.post(&send(&new, "2")).await, 200);
    assert_eq!(hook.post(&send(&old, "3")).await, 200);
    assert_eq!(fetches.load(Ordering::Relaxed), 2);
    for id in 0..50 {
        assert_eq!(hook.post(&send(&made_up, &id.to_string())).await, 401);
    }
    assert_eq!(fetches.load(Ordering::Relaxed), 2);
    assert_eq!(hook.told(), 3);
}

#[tokio::test]
async fn secrets_rotate() {
    let [old, new, other] = std::array::from_fn(|_| Secret::shared().unwrap());
    let (first, second) = (old.clone(), new.clone());
    let hook = Hook::new(|builder| builder.secret(first).secret(second)).await;
    let check = async |secrets: &[&Secret], id: &str, status: u16| {
        let post = Post::new(TASK).signed(secrets, id, NOW);
        assert_eq!(hook.post(&post).await, status, "{id}");
    };
    check(&[&old], "1", 200).await;
    check(&[&new], "2", 200).await;
    check(&[&other, &new], "3", 200).await;
    check(&[&old, &new], "4", 200).await;
    check(&[&other], "5", 401).await;
    assert_eq!(hook.told(), 4);
}

#[tokio::test]
async fn the_sender_tries_again_until_the_function_succeeds() {
    let tries = Arc::new(Mutex::new(HashMap::<String, usize>::new()));
    let counted = Arc::clone(&tries);
    let handler = move |notification: Notification| {
        let delivery = notification.delivery.unwrap();
        let mut tries = counted.lock().unwrap();
        let tries = tries.entry(delivery).or_default();
        *tries += 1;
        let result = match *tries {
            1 | 2 => Err("the database is away, its password is hunter2"),
            _ => Ok(()),
        };
        std::future::ready(result)
    };
    let address = serving(Receiver::builder(handler).build().unwrap()).await;
    let request = Post::new(TASK).with("webhook-id", "msg_1");
    for expected in [503, 503, 200, 200] {
        let (status, answer) = post(&address, &request).await;
        assert_eq!(status, expected);
        assert!(!answer.contains("hunter2"));
        assert_eq!(answer.contains("retry-after"), status == 503);
    }
    assert_eq!(tries.lock().unwrap()["msg_1"], 3);
}

#[tokio::test]
async fn a_delivery_that_is_being_handled_is_not_handled_twice() {
    let (begun, go) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let (begins, waits) = (Arc::clone(&begun), Arc::clone(&go));
    let handler = move |_: Notification| {
        let (begun, go) = (Arc::clone(&begins), Arc::clone(&waits));
        async move {
            begun.add_permits(1);
            go.acquire().await.map(|permit| permit.forget())
        }
    };
    let address = serving(Receiver::builder(handler).build().unwrap()).await;
    let request = Post::new(TASK).with("webhook-id", "msg_1");
    let first = tokio::spawn({
        let (address, request) = (address.clone(), request.clone());
        async move { post(&address, &request).await.0 }
    });
    begun.acquire().await.unwrap().forget();
    assert_eq!(post(&address, &request).await.0, 503);
    go.add_permits(1);
    assert_eq!(first.await.unwrap(), 200);
    assert_eq!(post(&address, &request).await.0, 200);
    assert_eq!(begun.available_permits(), 0, "handled once");
}

/// Time is paused, so it passes whenever nothing else can happen.
#[tokio::test(start_paused = true)]
async fn nobody_is_waited_for_for_ever() {
    let begun = tokio::time::Instant::now();
    let never = || Receiver::builder(|_| std::future::pending::<Result<(), BoxError>>());
    let receiver = never().build().unwrap();
    let request = |body| http::Request::post("/").body(body).unwrap();
    let answer = receiver.handle(request(Body::full(TASK))).await;
    assert_eq!(answer.status(), 503);
    assert_eq!(begun.elapsed(), Duration::from_secs(10));

    let silent = tokio_stream::pending::<Result<hyper::body::Frame<bytes::Bytes>, BoxError>>();
    let silent = http::Request::post("/").body(http_body_util::StreamBody::new(silent));
    assert_eq!(receiver.handle(silent.unwrap()).await.status(), 408);
    assert_eq!(begun.elapsed(), Duration::from_secs(20));
}

/// Knows one task.
struct Agent;

impl Transport for Agent {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply, Error>> {
        let Request::GetTask(params) = call.request else {
            panic!("only asked for tasks")
        };
        let task = Task {
            id: params.id,
            context_id: Some("told by the agent".into()),
            ..Task::default()
        };
        let reply = Reply::once(Response::GetTask(task));
        Box::pin(std::future::ready(Ok(reply)))
    }
}

#[tokio::test]
async fn what_a_body_does_not_tell_the_agent_does() {
    let hook = Hook::new(|builder| builder).await;
    let client = Client::new(Agent);
    let told = async |body: &str| {
        assert_eq!(hook.post(&Post::new(body)).await, 200);
        let task = hook.last().refresh(&client).await.ok();
        task.map(|task| String::from(task.context_id.unwrap()))
    };
    let agent = Some("told by the agent".to_owned());
    assert_eq!(told(TASK).await.as_deref(), Some("C"));
    assert_eq!(told(r#"{"taskId":"T","event":"done"}"#).await, agent);
    assert_eq!(
        told(r#"{"id":"T","status":{"state":"completed"}}"#).await,
        agent
    );
    assert_eq!(told("{}").await, None);
}

#[test]
fn contradictions() {
    let receiver = || Receiver::builder(|_| std::future::ready(Ok::<_, BoxError>(())));
    let tokens = Tokens::of(Keys::from(Jwks::default()));
    let check = |builder: ReceiverBuilder, expected| {
        assert_eq!(builder.build().err(), expected);
    };
    check(receiver(), None);
    check(receiver().token(""), Some(Contradiction::Empty));
    check(receiver().authorization(" "), Some(Contradiction::Empty));
    check(
        receiver().authorization("Bearer a").tokens(tokens),
        Some(Contradiction::TwoAuthorizations),
    );
}
