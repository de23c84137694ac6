//! Relay between a correct server and the webhooks; it injects bugs into the deliveries.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a_transport::http::{ServeOptions, serve};
use a2a_types::{Request, Response, TaskPushNotificationConfig, TaskState};
use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderMap, LOCATION};
use http::{StatusCode, Uri};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::service::service_fn;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::bug::Bug;
use super::memory::lock;

/// The server calls the relay, and the relay the webhooks.
#[derive(Debug)]
pub(super) struct Relay {
    bug: Bug,
    local: SocketAddr,
    hooks: Mutex<HashMap<String, RegisteredWebhook>>,
    next: AtomicUsize,
    /// Bodies passed on.
    bodies: Mutex<HashSet<Vec<u8>>>,
}

/// A webhook as its owner registered it.
#[derive(Clone, Debug)]
struct RegisteredWebhook {
    url: String,
    token: Option<String>,
}

impl Relay {
    /// A relay that listens until the task that opened it ends.
    pub(super) async fn open(bug: Bug) -> io::Result<(Arc<Self>, tokio::task::JoinHandle<()>)> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let relay = Arc::new(Self {
            bug,
            local: listener.local_addr()?,
            hooks: Mutex::default(),
            next: AtomicUsize::new(1),
            bodies: Mutex::default(),
        });
        let passing = Arc::clone(&relay);
        let service = service_fn(move |request: http::Request<Incoming>| {
            let relay = Arc::clone(&passing);
            async move {
                let mut answer = http::Response::new(Empty::<Bytes>::new());
                *answer.status_mut() = relay.pass(request).await;
                Ok::<_, Infallible>(answer)
            }
        });
        let serving = serve(
            listener,
            service,
            ServeOptions::default(),
            std::future::pending(),
        );
        Ok((relay, tokio::spawn(serving)))
    }

    /// Has the server call the relay.
    pub(super) fn outbound(&self, request: &mut Request) {
        match request {
            Request::CreateTaskPushNotificationConfig(config) => self.hide(config),
            Request::SendMessage(params) | Request::SendStreamingMessage(params) => {
                let configuration = params.configuration.as_mut();
                let config = configuration.and_then(|configuration| {
                    configuration.task_push_notification_config.as_deref_mut()
                });
                if let Some(config) = config {
                    self.hide(config);
                }
            }
            _ => {}
        }
    }

    fn hide(&self, config: &mut TaskPushNotificationConfig) {
        // The server's address check must see addresses other than ours.
        let unchecked = self.bug == Bug::CallsPrivateWebhooks && config.url.starts_with("http");
        if !unchecked && !config.url.starts_with("http://127.0.0.1:") {
            return;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let place = format!("http://{}/{number}", self.local);
        let hook = RegisteredWebhook {
            url: std::mem::replace(&mut config.url, place.clone()),
            token: config.token.clone(),
        };
        if self.bug == Bug::TokenMakesHeaders {
            // The server would refuse it.
            config.token = config
                .token
                .take()
                .map(|token| token.replace(['\r', '\n', ' ', ':'], "-"));
        }
        lock(&self.hooks).insert(place, hook);
    }

    /// Shows owners what they registered.
    pub(super) fn inbound(&self, response: &mut Response) {
        match response {
            Response::CreateTaskPushNotificationConfig(config)
            | Response::GetTaskPushNotificationConfig(config) => self.show(config),
            Response::ListTaskPushNotificationConfigs(list) => {
                list.configs.iter_mut().for_each(|config| self.show(config));
            }
            _ => {}
        }
    }

    fn show(&self, config: &mut TaskPushNotificationConfig) {
        if let Some(hook) = lock(&self.hooks).get(&config.url) {
            config.url.clone_from(&hook.url);
            config.token.clone_from(&hook.token);
        }
    }

    async fn pass(&self, request: http::Request<Incoming>) -> StatusCode {
        let (head, body) = request.into_parts();
        let place = format!("http://{}{}", self.local, head.uri.path());
        let hook = lock(&self.hooks).get(&place).cloned();
        let (Some(hook), Ok(body)) = (hook, body.collect().await) else {
            return StatusCode::NOT_FOUND;
        };
        let mut body = body.to_bytes().to_vec();
        if self.bug == Bug::RetryHasOtherBody && !lock(&self.bodies).insert(body.clone()) {
            let end = body.iter().rposition(|byte| *byte == b'}').unwrap_or(0);
            body.splice(end..end, br#","deliveryAttempt":2"#.iter().copied());
        }
        if self.bug == Bug::WebhooksSpellOldStates {
            body = in_other_letters(&body);
        }
        let headers = self.headers(&head.headers, &hook);
        let delivery = deliver(&hook.url, &headers, &body);
        let response = match self.bug {
            Bug::ImpatientWebhooks => timeout(HASTY_TIMEOUT, delivery)
                .await
                .unwrap_or_else(|late| Err(late.into())),
            _ => delivery.await,
        };
        match self.bug {
            Bug::NoDeliveryRetry => StatusCode::OK,
            Bug::FollowsWebhookRedirects => match response {
                Ok(WebhookResponse {
                    location: Some(elsewhere),
                    ..
                }) => {
                    let followed = deliver(&elsewhere, &headers, &body).await;
                    followed.map_or(StatusCode::BAD_GATEWAY, |response| response.status)
                }
                response => response.map_or(StatusCode::BAD_GATEWAY, |response| response.status),
            },
            _ => response.map_or(StatusCode::BAD_GATEWAY, |response| response.status),
        }
    }

    /// The head of a request, line by line.
    fn headers(&self, headers: &HeaderMap, hook: &RegisteredWebhook) -> String {
        let mut lines = String::new();
        for (name, value) in headers {
            let is_token = name.as_str().ends_with("a2a-notification-token");
            if name == http::header::HOST
                || self.bug == Bug::WebhooksWithoutCredentials
                    && (is_token || name == AUTHORIZATION)
            {
                continue;
            }
            let value = match (&hook.token, is_token) {
                (Some(token), true) => token.clone(),
                _ => String::from_utf8_lossy(value.as_bytes()).into_owned(),
            };
            lines.push_str(&format!("{name}: {value}\r\n"));
        }
        lines
    }
}

/// A notification with its states as another version spells them.
fn in_other_letters(body: &[u8]) -> Vec<u8> {
    let body = String::from_utf8_lossy(body);
    let spellings = [
        TaskState::Working,
        TaskState::InputRequired,
        TaskState::Completed,
        TaskState::Failed,
    ];
    let spellings = spellings.map(|state| {
        let newest = state.as_str();
        let before = newest.trim_start_matches("TASK_STATE_").to_lowercase();
        [newest.to_owned(), before.replace('_', "-")].map(|state| format!("\"{state}\""))
    });
    let changed = spellings
        .iter()
        .fold(body.into_owned(), |body, [newest, before]| {
            match body.contains(newest.as_str()) {
                true => body.replace(newest, before),
                false => body.replace(before, newest),
            }
        });
    changed.into_bytes()
}

/// Response of a webhook.
struct WebhookResponse {
    status: StatusCode,
    location: Option<String>,
}

/// Delivers to a webhook, without any of the care that this takes.
async fn deliver(url: &str, headers: &str, body: &[u8]) -> io::Result<WebhookResponse> {
    ask("POST", url, headers, body).await
}

/// Fetches a URL in the same way, and drops the response.
pub(super) async fn fetch(url: &str) -> io::Result<()> {
    ask("GET", url, "", b"").await.map(drop)
}

async fn ask(method: &str, url: &str, headers: &str, body: &[u8]) -> io::Result<WebhookResponse> {
    let bad = |_| io::Error::from(io::ErrorKind::InvalidInput);
    let uri: Uri = url.parse().map_err(bad)?;
    let authority = uri.authority().ok_or(io::ErrorKind::InvalidInput)?;
    let address = (
        authority.host().trim_matches(['[', ']']),
        authority.port_u16().unwrap_or(80),
    );
    let mut stream = TcpStream::connect(address).await?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    // The headers have the length of the body as the server wrote it.
    let lines = headers
        .split_inclusive("\r\n")
        .filter(|line| !line.starts_with("content-length"));
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {authority}\r\n{}Content-Length: {}\r\nConnection: close\r\n\r\n",
        lines.collect::<String>(),
        body.len(),
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    let mut answer = Vec::new();
    stream.take(MAX_ANSWER).read_to_end(&mut answer).await?;
    let answer = String::from_utf8_lossy(&answer);
    let status = answer
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let location = answer.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let value = value.trim();
        let absolute = match value.starts_with('/') {
            true => format!("http://{authority}{value}"),
            false => value.to_owned(),
        };
        name.eq_ignore_ascii_case(LOCATION.as_str())
            .then_some(absolute)
    });
    Ok(WebhookResponse {
        status: status.unwrap_or(StatusCode::BAD_GATEWAY),
        location,
    })
}

/// Time for which a hasty sender waits for an answer.
const HASTY_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum number of bytes read of an answer.
const MAX_ANSWER: u64 = 64 << 10;
