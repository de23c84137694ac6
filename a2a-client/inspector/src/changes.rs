//! Changes, sent to pages as Server-Sent Events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::get;
use serde::Serialize;
use tokio::sync::broadcast;
use tokio_stream::wrappers::BroadcastStream;
use tokio_stream::{Stream, StreamExt};

/// Broadcast of changes to all open pages. A page that is too slow misses some, gets `lagged`, and reloads.
#[derive(Clone)]
pub(crate) struct Changes(broadcast::Sender<Change>);

#[derive(Clone)]
struct Change {
    name: &'static str,
    json: Arc<str>,
}

impl Changes {
    /// Returns the changes from now on, for one page.
    fn follow(&self) -> impl Stream<Item = Change> + use<> {
        let changes = BroadcastStream::new(self.0.subscribe());
        changes.map(|change| change.unwrap_or_else(|_| Change::lagged()))
    }

    /// Sends an event to all pages: its name, and its data as JSON. Never waits. Data above
    /// [`MAX_CHANGE_BYTES`] is replaced by `lagged`, so that pages read it where it is.
    pub(crate) fn send(&self, name: &'static str, data: &impl Serialize) {
        // Without pages nothing is written.
        if self.0.receiver_count() == 0 {
            return;
        }
        let change = match serde_json::to_string(data) {
            Ok(json) if json.len() <= MAX_CHANGE_BYTES => Change {
                name,
                json: json.into(),
            },
            Ok(_) | Err(_) => Change::lagged(),
        };
        // It fails only if the last page was closed meanwhile.
        let _ = self.0.send(change);
    }
}

impl Default for Changes {
    fn default() -> Self {
        Self(broadcast::channel(MAX_WAITING).0)
    }
}

impl Change {
    fn lagged() -> Self {
        Self {
            name: "lagged",
            json: "{}".into(),
        }
    }
}

pub(crate) fn routes(changes: Changes) -> Router {
    Router::new()
        .route("/api/changes", get(follow))
        .with_state(changes)
}

async fn follow(State(changes): State<Changes>) -> impl IntoResponse {
    let events = changes.follow().map(|change| {
        let event = Event::default().event(change.name).data(&*change.json);
        Ok::<_, Infallible>(event)
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}

/// Changes that wait for a page.
const MAX_WAITING: usize = 1024;
/// Bytes of one change.
const MAX_CHANGE_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    async fn names(
        changes: &mut (impl Stream<Item = Change> + Unpin),
        count: usize,
    ) -> Vec<&'static str> {
        changes
            .take(count)
            .map(|change| change.name)
            .collect()
            .await
    }

    #[tokio::test]
    async fn a_slow_page_lags_and_goes_on() {
        let changes = Changes::default();
        let mut page = Box::pin(changes.follow());
        for number in 0..=MAX_WAITING {
            changes.send("exchange", &number);
        }
        assert_eq!(names(&mut page, 2).await, ["lagged", "exchange"]);
    }

    #[tokio::test]
    async fn a_large_change_is_read_elsewhere() {
        let changes = Changes::default();
        let mut page = Box::pin(changes.follow());
        changes.send("run", &"x".repeat(MAX_CHANGE_BYTES));
        changes.send("run", &"x");
        assert_eq!(names(&mut page, 2).await, ["lagged", "run"]);
    }

    #[test]
    fn without_pages_nothing_waits() {
        let changes = Changes::default();
        changes.send("run", &1);
        assert_eq!(changes.0.len(), 0);
    }
}
