//! Keys are rotated while deliveries go on.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use a2a_client::webhook::{BoxError, Jwks, JwksSource, JwksUrl, JwtVerifier, KeySource};
use a2a_client::{Client, HttpClient};
use a2a_server::{Algorithm, Failure, Server, SigningKey, Turn, WebhookKeys, WebhookPolicy};
use a2a_transport::BoxFuture;
use a2a_transport::webhook::Claims;
use a2a_types::{
    AgentCard, Event, Message, ProtocolVersion, SendMessageConfiguration, SendMessageRequest,
    TaskPushNotificationConfig, TaskState,
};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http_body_util::Full;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::signatures::receiver::ReceiverServer;

/// Number of callers. Each has a task with a webhook, and begins another task after the last notification.
const CALLERS: usize = 4;
/// Step of time: less than an attempt may take, so that one in flight lives on.
const STEP: Duration = Duration::from_secs(5);
/// Minimum number of successful deliveries in each step.
const PER_STEP: usize = 2 * CALLERS;

/// Times of the next keys, in seconds. The second and third are so close that a receiver may not ask again
/// for the third: it must have seen it before it signs.
const ROTATIONS: [u64; 3] = [60, 80, 500];
/// The first key signs no more, and is published: until ten minutes after its successor signs.
const STILL_PUBLISHED: u64 = 900;
/// The first two keys are published no more, and receivers have forgotten them five minutes later.
const FORGOTTEN: u64 = 80 + 300 + 600 + 300;

/// The clock of sender and receiver: the one that timers have.
fn clock() -> impl Fn() -> SystemTime + Clone + Send + Sync + 'static {
    let (begun, began) = (Instant::now(), SystemTime::now());
    move || began + begun.elapsed()
}

/// Advances the clock of all timers by this time; otherwise time passes as usual.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// The keys that an agent publishes; counts how often they are fetched.
struct CountingKeySource(JwksUrl, Arc<AtomicUsize>);

impl KeySource for CountingKeySource {
    fn fetch(&self) -> BoxFuture<'_, Result<Jwks, BoxError>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.fetch()
    }
}

fn key() -> SigningKey {
    SigningKey::generate(Algorithm::Es256).unwrap()
}

/// Sends messages, and waits each time until the webhook got the last event.
async fn call(agent: String, url: String, mut events: mpsc::UnboundedReceiver<Event>) {
    let client = Client::at(&agent, ProtocolVersion::V1_0).unwrap();
    loop {
        let config = TaskPushNotificationConfig {
            url: url.clone(),
            ..TaskPushNotificationConfig::default()
        };
        let request = SendMessageRequest {
            message: Message::user("hello"),
            configuration: Some(SendMessageConfiguration {
                task_push_notification_config: Some(config.into()),
                ..SendMessageConfiguration::default()
            }),
            ..SendMessageRequest::default()
        };
        client.send(request).await.unwrap();
        loop {
            // The test has seen enough.
            let Some(event) = events.recv().await else {
                return;
            };
            let status = event.status();
            if status.is_some_and(|status| status.state == TaskState::Completed) {
                break;
            }
        }
    }
}

/// Sends a notification that this key has signed just now; the status that it is answered with.
async fn post(url: &str, key: &SigningKey, id: &str, now: SystemTime) -> u16 {
    let body = r#"{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}"#;
    let now = now
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let token = key
        .sign(&Claims::of(body.as_bytes(), id, url, now))
        .unwrap();
    let host = url.strip_prefix("http://").unwrap();
    let stream = TokioIo::new(TcpStream::connect(host).await.unwrap());
    let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let request = http::Request::post("/")
        .header("host", host)
        .header(CONTENT_TYPE, "application/a2a+json")
        .header(AUTHORIZATION, format!("Bearer {token}"))
        .body(Full::new(bytes::Bytes::from(body)))
        .unwrap();
    sender
        .send_request(request)
        .await
        .unwrap()
        .status()
        .as_u16()
}

#[tokio::test]
async fn no_delivery_fails_while_keys_rotate() {
    let (clock, begun) = (clock(), Instant::now());
    let all: [SigningKey; 1 + ROTATIONS.len()] = std::array::from_fn(|_| key());
    let [first, second, .., last] = &all;
    let keys = WebhookKeys::new(first.clone()).clock(clock.clone());

    let agent = |turn: Turn| async move {
        turn.artifact("echo").text(turn.text()).finish().await?;
        Ok::<(), Failure>(())
    };
    let mut card = AgentCard::new("Echo", "Says it back");
    card.capabilities.push_notifications = Some(true);
    let server = Server::builder(card, agent)
        .webhooks(WebhookPolicy::default().allow_hosts(["127.0.0.1"]))
        .sign_webhooks(keys.clone())
        .build()
        .unwrap();
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let agent = bound.url();
    tokio::spawn(bound.run(std::future::pending()));

    let fetches = Arc::<AtomicUsize>::default();
    let jwks = JwksUrl::new(
        format!("{agent}.well-known/jwks.json"),
        HttpClient::default(),
    );
    let jwks = JwksSource::from(CountingKeySource(jwks, Arc::clone(&fetches)));
    let time = clock.clone();
    let mut receiver =
        ReceiverServer::new(|_, builder| builder.tokens(JwtVerifier::of(jwks)).clock(time)).await;

    let mut callers = Vec::new();
    for number in 0..CALLERS {
        let (sender, events) = mpsc::unbounded_channel();
        tokio::spawn(call(
            agent.clone(),
            format!("{}/{number}", receiver.url),
            events,
        ));
        callers.push(sender);
    }

    let mut rotations = ROTATIONS.iter().zip(&all[1..]).peekable();
    let mut probed = false;
    let passed = || begun.elapsed().as_secs();
    while passed() <= FORGOTTEN {
        for _ in 0..PER_STEP {
            let received =
                tokio::time::timeout(Duration::from_secs(60), receiver.notifications.recv());
            let notification = received.await.expect("another delivery").unwrap();
            if let Ok(number) = notification.uri.path()[1..].parse::<usize>() {
                // Fails only after all callers have ended.
                let _ = callers[number].send(notification.event.unwrap());
            }
        }
        if let Some((_, key)) = rotations.next_if(|(at, _)| **at <= passed()) {
            keys.rotate(key.clone());
        }
        if !probed && passed() >= STILL_PUBLISHED {
            assert_eq!(post(&receiver.url, first, "still", clock()).await, 200);
            probed = true;
        }
        pass(STEP).await;
    }
    let requests = receiver.requests();
    drop(callers);

    let failed: Vec<_> = requests.iter().filter(|got| got.status != 200).collect();
    assert!(
        failed.is_empty(),
        "{} failed: {:?}",
        failed.len(),
        failed.first()
    );
    let sent: Vec<_> = requests.iter().filter(|got| got.target != "/").collect();
    let ids: BTreeSet<_> = sent.iter().map(|got| got.header("webhook-id")).collect();
    assert_eq!(ids.len(), sent.len(), "each is sent once");
    assert!(sent.len() > 1000, "{}", sent.len());
    for key in &all {
        let by = sent.iter().filter(|got| got.key() == key.id()).count();
        assert!(by >= PER_STEP, "{by} by {key:?}");
    }
    let fetched = fetches.load(Ordering::Relaxed);
    assert!((4..=10).contains(&fetched), "fetched {fetched} times");

    // A holder of an old key can do nothing with it any more.
    for (key, id) in [(first, "first"), (second, "second"), (&key(), "unknown")] {
        assert_eq!(post(&receiver.url, key, id, clock()).await, 401, "{id}");
    }
    assert_eq!(post(&receiver.url, last, "last", clock()).await, 200);
}
