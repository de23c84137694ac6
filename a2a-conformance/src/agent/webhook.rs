//! The suite's webhooks, to which the agent sends push notifications.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use a2a_transport::webhook::hex_digest;
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::wire::exchange::headers_as_json;
use crate::wire::server::serve;

/// Server that records push notifications. Every case has a webhook of its own, at the path `/KEY`; what
/// follows the key says how it answers:
///
/// | path | answer |
/// |---|---|
/// | `/KEY…` | 200 |
/// | `/KEY…/fail-N…` | 500 to the first N requests, 200 from then on |
/// | `/KEY…/fail-end…` | 500 to the first with a task at rest (before 1.0), 200 otherwise |
/// | `/KEY…/slow…` | 200 to the first after two seconds, 200 at once from then on |
/// | `/KEY…/redirect…` | 302 to `/KEY/redirected` |
/// | `/KEY…/deny…` | 200; another text to a GET with `validationToken` |
///
/// Any other GET with `validationToken` is answered by that token, and is not a notification.
pub(super) struct Webhooks {
    base: String,
    deliveries: Arc<Deliveries>,
    _listening: JoinSet<()>,
}

struct Deliveries {
    /// Deliveries by the key of the case.
    by_key: Mutex<BTreeMap<String, Vec<Value>>>,
    changed: watch::Sender<()>,
}

impl Webhooks {
    /// Listens, for agents that reach this machine as `host`.
    pub(super) async fn listen(host: &str) -> std::io::Result<Self> {
        let local = matches!(host, "127.0.0.1" | "localhost");
        // Agents must not call 127.0.0.2: the listener is there, too, so that a call is seen.
        let listener = match TcpListener::bind("0.0.0.0:0").await {
            Ok(listener) => listener,
            Err(_) if local => TcpListener::bind("127.0.0.1:0").await?,
            Err(error) => return Err(error),
        };
        let port = listener.local_addr()?.port();
        let received = Arc::new(Deliveries {
            by_key: Mutex::default(),
            changed: watch::Sender::new(()),
        });
        let deliveries = Arc::clone(&received);
        let answer = move |request| answer(Arc::clone(&received), request);
        Ok(Self {
            base: format!("http://{host}:{port}"),
            deliveries,
            _listening: serve(listener, answer),
        })
    }

    /// Returns the URL of a webhook.
    pub(super) fn url(&self, key: &str) -> String {
        format!("{}/{key}", self.base)
    }

    /// Returns the port at which it listens.
    pub(super) fn port(&self) -> &str {
        self.base.rsplit_once(':').map_or("", |(_, port)| port)
    }

    /// Returns the deliveries to a webhook so far, in order.
    pub(super) fn deliveries(&self, key: &str) -> Vec<Value> {
        let deliveries = self.deliveries.by_key.lock();
        let deliveries = deliveries.unwrap_or_else(PoisonError::into_inner);
        deliveries.get(key).cloned().unwrap_or_default()
    }

    /// Waits until the deliveries to a webhook are enough, at most for `limit`. `judge` receives all
    /// deliveries so far whenever there are more; it returns a result, and whether they are enough.
    /// Returns its last result.
    ///
    /// Errors: an error of `judge`, which ends the wait.
    pub(super) async fn wait<T, E>(
        &self,
        key: &str,
        limit: Duration,
        mut judge: impl FnMut(Vec<Value>) -> Result<(T, bool), E>,
    ) -> Result<T, E> {
        let mut changes = self.deliveries.changed.subscribe();
        let deadline = Instant::now() + limit;
        loop {
            changes.mark_unchanged();
            let is_late = Instant::now() >= deadline;
            let (result, is_enough) = judge(self.deliveries(key))?;
            if is_enough || is_late {
                return Ok(result);
            }
            // The time is over, or there is more.
            let _ = timeout_at(deadline, changes.changed()).await;
        }
    }
}

impl Deliveries {
    /// Marks a delivery as accepted.
    fn mark_accepted(&self, key: &str, number: usize) {
        let deliveries = self.by_key.lock();
        let mut deliveries = deliveries.unwrap_or_else(PoisonError::into_inner);
        let delivery = deliveries.get_mut(key).and_then(|all| all.get_mut(number));
        if let Some(delivery) = delivery {
            delivery["taken"] = true.into();
        }
        drop(deliveries);
        self.changed.send_replace(());
    }
}

async fn answer(received: Arc<Deliveries>, request: Request<Bytes>) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let path = head.uri.path().trim_start_matches('/');
    let (key, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
    let segment = |name: &str| {
        rest.split('/')
            .find_map(|segment| segment.strip_prefix(name))
    };
    // A verification of the webhook (0.1 to 0.3) does not count as a notification; a request after a redirect does, and one
    // for a file.
    let is_check = matches!(head.method, Method::GET | Method::HEAD | Method::OPTIONS);
    if is_check && !["/redirected", "/file"].contains(&rest) {
        let header = ["validationtoken", "validation-token", "x-validation-token"];
        let header = header
            .iter()
            .find_map(|name| head.headers.get(*name)?.to_str().ok());
        let token = validation_token(head.uri.query().unwrap_or_default()).or(header);
        let token = token.unwrap_or_default();
        let text = match segment("deny") {
            Some(_) => "no".to_owned(),
            None => token.to_owned(),
        };
        return Response::new(Full::from(text));
    }
    let mut delivery = json!({
        "path": rest,
        "method": head.method.as_str(),
        "headers": headers_as_json(&head.headers),
        "body": serde_json::from_slice::<Value>(&body).unwrap_or_default(),
        "sha256": hex_digest(&body),
    });
    let (fails, slow) = {
        let mut deliveries = received
            .by_key
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let deliveries = deliveries.entry(key.to_owned()).or_default();
        let mut before = deliveries.iter().filter(|earlier| earlier["path"] == rest);
        let fails = match segment("fail-") {
            Some("end") => rests(&delivery) && !before.any(rests),
            Some(number) => before.count() < number.parse().unwrap_or(0),
            None => false,
        };
        let is_first = deliveries.iter().all(|earlier| earlier["path"] != rest);
        let slow = (segment("slow").is_some() && is_first).then_some(deliveries.len());
        delivery["taken"] = (!fails && slow.is_none()).into();
        if deliveries.len() < MAX_NOTIFICATIONS {
            deliveries.push(delivery);
        }
        (fails, slow)
    };
    received.changed.send_replace(());
    if let Some(number) = slow {
        // A sender that closes the connection meanwhile ends this.
        tokio::time::sleep(SLOW).await;
        received.mark_accepted(key, number);
    }
    let mut response = Response::new(Full::default());
    if fails {
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    } else if segment("redirect") == Some("") {
        *response.status_mut() = StatusCode::FOUND;
        if let Ok(place) = format!("/{key}/redirected").parse() {
            response.headers_mut().insert("location", place);
        }
    }
    response
}

/// Returns whether a notification before 1.0 has a task that does not continue by itself.
fn rests(delivery: &Value) -> bool {
    let state = delivery["body"]["status"]["state"].as_str();
    state.is_some_and(|state| !matches!(state, "submitted" | "working"))
}

/// Returns the token that a webhook repeats when it is verified (0.1, push notifications).
fn validation_token(query: &str) -> Option<&str> {
    let mut pairs = query.split('&');
    pairs.find_map(|pair| pair.strip_prefix("validationToken="))
}

/// Delay of a slow webhook: shorter than senders must wait, longer than hasty senders do.
const SLOW: Duration = Duration::from_secs(2);
/// Number of notifications of a case that are kept.
const MAX_NOTIFICATIONS: usize = 1000;

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    const KEY: &str = "case";
    const LIMIT: Duration = Duration::from_secs(5);

    fn webhooks() -> Webhooks {
        Webhooks {
            base: "http://127.0.0.1:1".to_owned(),
            deliveries: Arc::new(Deliveries {
                by_key: Mutex::default(),
                changed: watch::Sender::new(()),
            }),
            _listening: JoinSet::new(),
        }
    }

    fn deliver(received: &Deliveries, number: usize) {
        let mut deliveries = received.by_key.lock().unwrap();
        deliveries
            .entry(KEY.to_owned())
            .or_default()
            .push(json!(number));
        drop(deliveries);
        received.changed.send_replace(());
    }

    /// Waits for a number of deliveries, of which one comes every second; returns the number that came,
    /// and the seconds that passed on the paused clock.
    async fn waited(wanted: usize, every_second: bool) -> (usize, u64) {
        let webhooks = webhooks();
        let received = Arc::clone(&webhooks.deliveries);
        let delivering = tokio::spawn(async move {
            for number in 0.. {
                tokio::time::sleep(Duration::from_secs(1)).await;
                deliver(&received, number);
            }
        });
        if !every_second {
            delivering.abort();
        }
        let began = Instant::now();
        let judge = |all: Vec<Value>| Ok::<_, Infallible>((all.len(), all.len() >= wanted));
        let Ok(count) = webhooks.wait(KEY, LIMIT, judge).await;
        delivering.abort();
        (count, began.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn wait_without_delivery_ends_at_the_limit() {
        assert_eq!(waited(1, false).await, (0, 5));
    }

    #[tokio::test(start_paused = true)]
    async fn deliveries_that_are_not_enough_do_not_prolong_the_wait() {
        let (count, seconds) = waited(100, true).await;
        assert_eq!(seconds, 5);
        assert!((4..=5).contains(&count), "{count}");
    }

    #[tokio::test(start_paused = true)]
    async fn wait_ends_with_the_delivery_that_is_enough() {
        assert_eq!(waited(2, true).await, (2, 2));
    }
}
