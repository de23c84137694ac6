//! A receiver: requests of agents, judged and kept.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use a2a_client::HttpClient;
use a2a_client::webhook::Receiver as ChallengeReceiver;
use a2a_jsonrpc::Limits;
use a2a_transport::http::Body;
use a2a_transport::webhook::{Jwks, Secret, WEBHOOK_ID, digest, read_notice};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use jiff::Timestamp;
use lru::LruCache;
use tokio::time::timeout;

use super::log::{Notification, NotificationLog};
use super::verdict::{self, Progress, Verdict};

/// A receiver of push notifications.
pub(super) struct Receiver {
    pub(super) id: String,
    pub(super) address: SocketAddr,
    /// The URL for configurations.
    pub(super) url: String,
    pub(super) token: Option<String>,
    pub(super) secret: Option<Secret>,
    pub(super) jwks_url: Option<String>,
    log: NotificationLog,
    history: Mutex<History>,
    keys: tokio::sync::Mutex<Option<(Jwks, Instant)>>,
}

/// Earlier notifications, by digest.
struct History {
    /// Notifications by delivery, and whether they were accepted: a sender repeats one that was not.
    deliveries: LruCache<[u8; 32], (u64, bool)>,
    /// Tasks by id.
    tasks: LruCache<[u8; 32], Progress>,
}

/// Bytes of a notification.
pub(super) const MAX_BODY_BYTES: usize = 4 << 20;
/// Time in which a notification must come.
const BODY_TIME: Duration = Duration::from_secs(10);
/// Deliveries, and tasks, that are remembered.
const MAX_REMEMBERED: NonZeroUsize = NonZeroUsize::new(10_000).expect("it is not 0");
/// Time for which the keys of an agent are kept, unless a token names another.
const KEYS_TERM: Duration = Duration::from_secs(60);
/// Shortest time between two fetches of the keys.
const MIN_KEYS_PAUSE: Duration = Duration::from_secs(1);

impl Receiver {
    pub(super) fn new(
        id: String,
        address: SocketAddr,
        url: String,
        (token, secret, jwks_url): (Option<String>, Option<Secret>, Option<String>),
        log: NotificationLog,
    ) -> Self {
        Self {
            id,
            address,
            url,
            token,
            secret,
            jwks_url,
            log,
            history: Mutex::new(History {
                deliveries: LruCache::new(MAX_REMEMBERED),
                tasks: LruCache::new(MAX_REMEMBERED),
            }),
            keys: tokio::sync::Mutex::default(),
        }
    }

    /// Answers a request as a strict receiver does.
    pub(super) async fn handle(&self, request: Request<Incoming>) -> Response<Body> {
        if request.method() != Method::POST {
            // The challenge of 0.1.
            let receiver = ChallengeReceiver::builder(|_| async { Ok::<_, Infallible>(()) });
            return match receiver.challenge().build() {
                Ok(receiver) => receiver.handle(request).await,
                Err(error) => answer(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
            };
        }
        let (head, body) = request.into_parts();
        match timeout(BODY_TIME, Limited::new(body, MAX_BODY_BYTES).collect()).await {
            Ok(Ok(body)) => self.receive(head.headers, body.to_bytes()).await,
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
                answer(StatusCode::PAYLOAD_TOO_LARGE, "too large")
            }
            _ => answer(StatusCode::REQUEST_TIMEOUT, "too slow"),
        }
    }

    async fn receive(&self, headers: HeaderMap, body: Bytes) -> Response<Body> {
        let at = Timestamp::now();
        let now = at.as_second().try_into().unwrap_or(0);
        let mut verdicts = Vec::new();
        if let Some(token) = &self.token {
            verdicts.push(verdict::token(token, &headers));
        }
        if let Some(secret) = &self.secret {
            verdicts.push(verdict::signature(secret, &headers, &body, now));
        }
        let mut named = None;
        if let Some(url) = &self.jwks_url {
            let keys = self.keys(url, &headers).await;
            let (verdict, id) = verdict::json_web_token(keys, &headers, &body, now);
            verdicts.push(verdict);
            named = id;
        }
        let notice = read_notice(&body, &Limits::default());
        let notice = notice.map_err(|violation| violation.to_string());
        verdicts.push(verdict::body(&notice));
        let refusal = verdicts.iter().find_map(Verdict::refuses);
        let delivery = verdict::only(&headers, &WEBHOOK_ID).ok();
        let delivery = delivery.map(str::to_owned).or(named);
        let status = match refusal {
            None => StatusCode::OK,
            Some("body") => StatusCode::BAD_REQUEST,
            Some(_) => StatusCode::UNAUTHORIZED,
        };
        let history = &mut *self.history.lock().unwrap_or_else(PoisonError::into_inner);
        self.log.add(|number| {
            // Deliveries without an id are the same if their bodies are.
            let key = match &delivery {
                Some(id) => digest(format!("id {id}").as_bytes()),
                None => digest(&body),
            };
            let before = history.deliveries.put(key, (number, refusal.is_none()));
            let (is_new, verdict) = duplicate(before, delivery.is_some());
            verdicts.push(verdict);
            let event = notice
                .as_ref()
                .ok()
                .and_then(|notice| notice.event.as_ref());
            let task = notice.as_ref().ok().and_then(|notice| notice.task.as_ref());
            if let (Some(task), Some(event)) = (task, event)
                && is_new
                && refusal.is_none()
            {
                let next = Progress::of(number, event);
                match history.tasks.get_mut(&digest(task.as_str().as_bytes())) {
                    Some(before) => {
                        verdicts.push(next.follows(before));
                        before.advance(&next);
                    }
                    None => {
                        history.tasks.put(digest(task.as_str().as_bytes()), next);
                        let first = "the first of its task".to_owned();
                        verdicts.push(Verdict::new("order", Ok(first)));
                    }
                }
            }
            Notification {
                number,
                receiver: self.id.clone(),
                at,
                delivery,
                status: status.as_u16(),
                verdicts,
                headers,
                body,
            }
        });
        match refusal {
            None => answer(status, ""),
            Some(check) => answer(status, format!("refused by its {check}")),
        }
    }

    /// Returns the agent's keys: from memory, while they have the one that the token names.
    async fn keys(&self, url: &str, headers: &HeaderMap) -> Result<Jwks, String> {
        let kid = verdict::bearer(headers).and_then(|token| {
            let kid = a2a_transport::webhook::key_id(token);
            kid.ok().flatten()
        });
        let mut kept = self.keys.lock().await;
        if let Some((keys, fetched)) = &*kept {
            let is_known = keys.find(kid.as_deref()).is_some();
            let term = if is_known { KEYS_TERM } else { MIN_KEYS_PAUSE };
            if fetched.elapsed() < term {
                return Ok(keys.clone());
            }
        }
        let problem = |problem: &dyn std::fmt::Display| {
            format!("the agent's keys cannot be fetched: {problem}")
        };
        let fetched = HttpClient::default().get(url, &HeaderMap::new()).await;
        let fetched = fetched.map_err(|error| problem(&error))?;
        if fetched.status != StatusCode::OK {
            return Err(problem(&fetched.status));
        }
        let keys = Jwks::read(&fetched.body).map_err(|error| problem(&error))?;
        *kept = Some((keys.clone(), Instant::now()));
        Ok(keys)
    }
}

/// Returns whether a notification is new, and the verdict on it.
fn duplicate(before: Option<(u64, bool)>, has_id: bool) -> (bool, Verdict) {
    let result = match (before, has_id) {
        (None, _) => Ok("new".to_owned()),
        (Some((number, false)), _) => Ok(format!("notification {number} again, which was refused")),
        (Some((number, true)), true) => Err(format!("notification {number} again, by its id")),
        (Some((number, true)), false) => Err(format!(
            "the same body as notification {number}, without an id"
        )),
    };
    (result.is_ok(), Verdict::new("duplicate", result))
}

fn answer(status: StatusCode, text: impl Into<String>) -> Response<Body> {
    let mut response = Response::new(Body::full(text.into()));
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}
