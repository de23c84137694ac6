//! A receiver at a socket, and requests byte for byte.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use a2a_client::webhook::{BoxError, Notification, Receiver, ReceiverBuilder, Secret};
use a2a_transport::http::{ServeOptions, serve};
use a2a_transport::webhook::{Claims, SigningKey};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub(crate) const NOW: u64 = 1_800_000_000;
pub(crate) const TASK: &str =
    r#"{"kind":"task","id":"T","contextId":"C","status":{"state":"completed"}}"#;

/// A receiver at a socket, its notifications, and its clock.
pub(crate) struct Hook {
    pub(crate) address: String,
    notifications: Arc<Mutex<Vec<Notification>>>,
    pub(crate) now: Arc<AtomicU64>,
}

impl Hook {
    pub(crate) async fn new(configure: impl FnOnce(ReceiverBuilder) -> ReceiverBuilder) -> Self {
        let notifications = Arc::<Mutex<Vec<Notification>>>::default();
        let received = Arc::clone(&notifications);
        let handler = move |notification: Notification| {
            received.lock().unwrap().push(notification);
            std::future::ready(Ok::<_, BoxError>(()))
        };
        let now = Arc::new(AtomicU64::new(NOW));
        let builder = configure(Receiver::builder(handler)).clock(clock(&now));
        let address = serving(builder.build().unwrap()).await;
        Self {
            address,
            notifications,
            now,
        }
    }

    pub(crate) async fn post(&self, request: &Post) -> u16 {
        post(&self.address, request).await.0
    }

    pub(crate) fn count(&self) -> usize {
        self.notifications.lock().unwrap().len()
    }

    #[track_caller]
    pub(crate) fn last(&self) -> Notification {
        self.notifications.lock().unwrap().last().unwrap().clone()
    }
}

fn clock(now: &Arc<AtomicU64>) -> impl Fn() -> SystemTime + Send + Sync + 'static {
    let now = Arc::clone(now);
    move || SystemTime::UNIX_EPOCH + Duration::from_secs(now.load(Ordering::Relaxed))
}

pub(crate) async fn serving(receiver: Receiver) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let options = ServeOptions::default();
    tokio::spawn(serve(listener, receiver, options, std::future::pending()));
    address
}

/// A request as its bytes will be.
#[derive(Clone, Debug)]
pub(crate) struct Post {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Post {
    pub(crate) fn new(body: impl AsRef<[u8]>) -> Self {
        Self {
            line: "POST /hook?task=T".to_owned(),
            headers: Vec::new(),
            body: body.as_ref().to_vec(),
        }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Signs the request as Standard Webhooks does.
    pub(crate) fn signed(self, secrets: &[&Secret], id: &str, timestamp: u64) -> Self {
        let signatures: Vec<_> = secrets
            .iter()
            .map(|secret| secret.sign(id, timestamp, &self.body).unwrap())
            .collect();
        self.with("webhook-id", id)
            .with("webhook-timestamp", timestamp.to_string())
            .with("webhook-signature", signatures.join(" "))
    }

    pub(crate) fn with_token(self, key: &SigningKey, claims: &Claims) -> Self {
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

/// Sends a request. Returns the status, and the rest of the answer.
pub(crate) async fn post(address: &str, post: &Post) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(&post.bytes()).await.unwrap();
    let mut answer = Vec::new();
    // The peer may refuse a body that is on its way, and reset the connection.
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8(answer).unwrap();
    let status = answer.split(' ').nth(1).expect("an answer");
    (status.parse().unwrap(), answer.to_ascii_lowercase())
}

pub(crate) fn claims(body: &str, id: &str) -> Claims {
    Claims::of(body.as_bytes(), id, "https://me/hook", NOW)
}
