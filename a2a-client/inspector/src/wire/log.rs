//! Log of exchanges, bounded.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::exchange::{Exchange, Source};
use super::summary::Summary;
use crate::changes::Changes;
use crate::proxy::SecretNames;

/// The log of exchanges. Of more than [`MAX_EXCHANGES`], or [`MAX_LOG_BYTES`] together, the oldest are evicted.
/// Clones share it.
#[derive(Clone)]
pub(crate) struct ExchangeLog(Arc<Shared>);

struct Shared {
    changes: Changes,
    resends: Arc<Semaphore>,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    by_number: BTreeMap<u64, Entry>,
    last: u64,
    bytes: usize,
    evicted: u64,
    /// Numbers of the exchanges whose change the pages do not know.
    changed: BTreeSet<u64>,
    /// A task is about to send the changes.
    is_sending: bool,
}

struct Entry {
    exchange: Exchange,
    /// Bytes that it counts.
    weight: usize,
}

/// A part of the log.
#[derive(Debug, Serialize)]
pub(crate) struct ExchangePage {
    pub(crate) exchanges: Vec<Summary>,
    /// Number of exchanges that were evicted.
    pub(crate) dropped: u64,
    /// Bytes of all that is kept.
    pub(crate) bytes: usize,
}

/// Exchanges that are kept.
pub(crate) const MAX_EXCHANGES: usize = 10_000;
/// Bytes of all exchanges that are kept.
pub(crate) const MAX_LOG_BYTES: usize = 256 << 20;
/// Requests of the page that may be open at once.
pub(crate) const MAX_RESENDS: usize = 32;
/// Time within which the changes of an exchange are sent as one.
const CHANGE_INTERVAL: Duration = Duration::from_millis(50);

impl ExchangeLog {
    pub(crate) fn new(changes: Changes) -> Self {
        Self(Arc::new(Shared {
            changes,
            resends: Arc::new(Semaphore::new(MAX_RESENDS)),
            entries: Mutex::default(),
        }))
    }

    /// Adds an exchange, and returns its number.
    pub(super) fn add(&self, mut exchange: Exchange) -> u64 {
        let mut entries = self.entries();
        entries.last += 1;
        let number = entries.last;
        exchange.number = number;
        let weight = exchange.weight();
        entries.bytes += weight;
        entries.by_number.insert(number, Entry { exchange, weight });
        entries.evict();
        self.changed(&mut entries, number);
        number
    }

    /// Returns an exchange, unless it was evicted.
    pub(crate) fn get(&self, number: u64) -> Option<Exchange> {
        let entries = self.entries();
        let entry = entries.by_number.get(&number)?;
        Some(entry.exchange.clone())
    }

    /// Returns the latest exchange of an agent's client.
    #[cfg(feature = "conformance")]
    pub(crate) fn latest_of(&self, agent: &str) -> Option<Exchange> {
        let entries = self.entries();
        let mut latest = entries
            .by_number
            .values()
            .rev()
            .map(|entry| &entry.exchange);
        let is_of = |exchange: &&Exchange| exchange.source == Source::Client(agent.to_owned());
        latest.find(is_of).cloned()
    }

    /// Returns the numbers of all exchanges, the oldest first.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.entries().by_number.keys().copied().collect()
    }

    /// Returns the exchanges after a number, the oldest first.
    pub(crate) fn page(&self, after: u64, limit: usize) -> ExchangePage {
        let entries = self.entries();
        let later = entries.by_number.range(after.saturating_add(1)..);
        let later = later.take(limit);
        ExchangePage {
            exchanges: later
                .map(|(_, entry)| Summary::of(&entry.exchange))
                .collect(),
            dropped: entries.evicted,
            bytes: entries.bytes,
        }
    }

    /// Removes all exchanges. Later events of exchanges that are open are not logged.
    pub(crate) fn clear(&self) {
        let mut entries = self.entries();
        let last = entries.last;
        let is_sending = entries.is_sending;
        *entries = Entries {
            last,
            is_sending,
            ..Entries::default()
        };
        drop(entries);
        self.0.changes.send("lagged", &serde_json::json!({}));
    }

    /// Marks headers and parameters of these names as secret in all requests of a source.
    pub(crate) fn mark(&self, source: &Source, names: &SecretNames) {
        let mut entries = self.entries();
        let Entries {
            by_number, bytes, ..
        } = &mut *entries;
        for entry in by_number.values_mut() {
            if entry.exchange.source == *source {
                entry.exchange.request.mark(names);
                *bytes -= entry.weight;
                entry.weight = entry.exchange.weight();
                *bytes += entry.weight;
            }
        }
        drop(entries);
        self.0.changes.send("lagged", &serde_json::json!({}));
    }

    /// Returns the permit to send a request of the page, unless too many are open.
    pub(crate) fn resend_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0.resends).try_acquire_owned().ok()
    }

    /// Changes an exchange, unless it was evicted. `change` returns the bytes that it adds.
    pub(super) fn update(&self, number: u64, change: impl FnOnce(&mut Exchange) -> usize) {
        let mut entries = self.entries();
        let Some(entry) = entries.by_number.get_mut(&number) else {
            return;
        };
        let added = change(&mut entry.exchange);
        entry.weight += added;
        entries.bytes += added;
        entries.evict();
        self.changed(&mut entries, number);
    }

    /// Sends the change of an exchange soon: a stream changes with every event.
    fn changed(&self, entries: &mut Entries, number: u64) {
        entries.changed.insert(number);
        if std::mem::replace(&mut entries.is_sending, true) {
            return;
        }
        let log = self.clone();
        let sending = async move {
            tokio::time::sleep(CHANGE_INTERVAL).await;
            log.send_changes();
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(sending)),
            // Without a runtime no page is open, so no change is sent.
            Err(_) => entries.is_sending = false,
        }
    }

    fn send_changes(&self) {
        let mut entries = self.entries();
        entries.is_sending = false;
        let changed = std::mem::take(&mut entries.changed);
        let known = changed
            .iter()
            .filter_map(|number| entries.by_number.get(number));
        let summaries: Vec<_> = known.map(|entry| Summary::of(&entry.exchange)).collect();
        drop(entries);
        for summary in &summaries {
            self.0.changes.send("exchange", summary);
        }
    }

    /// Locks the entries. No code under this lock panics half-way, so poisoning is ignored.
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0
            .entries
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn evict(&mut self) {
        while self.by_number.len() > MAX_EXCHANGES || self.bytes > MAX_LOG_BYTES {
            let Some((number, entry)) = self.by_number.pop_first() else {
                return;
            };
            self.changed.remove(&number);
            self.bytes -= entry.weight;
            self.evicted += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use a2a_client::ResponseObserver;
    use bytes::Bytes;
    use http::{HeaderMap, Method, response};

    use super::super::exchange::{Body, MAX_BODY_BYTES, Request, State};
    use super::super::recording::Recording;
    use super::*;

    fn request(body: &[u8]) -> Request {
        Request {
            method: Method::POST,
            url: "http://h/".to_owned(),
            shown_url: "http://h/".to_owned(),
            http_version: None,
            headers: HeaderMap::new(),
            body: Body::of(body),
        }
    }

    fn head(media_type: &str) -> response::Parts {
        let response = http::Response::builder().header("content-type", media_type);
        response.body(()).unwrap().into_parts().0
    }

    /// Returns the sum of the weights of all that is kept, as the log should count it.
    fn weight(log: &ExchangeLog) -> usize {
        let entries = log.entries();
        let weights = entries
            .by_number
            .values()
            .map(|entry| entry.exchange.weight());
        weights.sum()
    }

    #[test]
    fn the_oldest_exchanges_are_evicted() {
        let log = ExchangeLog::new(Changes::default());
        let mut recordings = Vec::new();
        for _ in 0..=MAX_EXCHANGES {
            recordings.push(Recording::begin(&log, Source::Resend(None), request(b"{}")));
        }
        let page = log.page(0, usize::MAX);
        assert_eq!((page.exchanges.len(), page.dropped), (MAX_EXCHANGES, 1));
        assert!(log.get(1).is_none() && log.get(2).is_some());
        // An exchange that was evicted goes on without being logged.
        recordings[0].head(&head("text/plain"));
        recordings[0].data(&Bytes::from("late"));
        recordings[0].finish(None);
        assert!(log.get(1).is_none());
        assert_eq!(log.page(0, 0).bytes, weight(&log));
    }

    #[test]
    fn all_bytes_are_bounded() {
        let log = ExchangeLog::new(Changes::default());
        let body = vec![b' '; MAX_BODY_BYTES + 1];
        let count = MAX_LOG_BYTES / MAX_BODY_BYTES + 1;
        for _ in 0..count {
            Recording::begin(&log, Source::Resend(None), request(&body));
        }
        let page = log.page(0, usize::MAX);
        assert!(page.bytes <= MAX_LOG_BYTES, "{}", page.bytes);
        assert!((1..=2).contains(&page.dropped), "{}", page.dropped);
        assert_eq!(page.bytes, weight(&log));
        let last = log.get(count as u64).unwrap();
        assert_eq!(last.request.body.omitted(), 1);
        log.clear();
        assert_eq!((log.page(0, 1).bytes, log.numbers()), (0, Vec::new()));
    }

    #[test]
    fn a_stream_is_counted_and_bounded_in_pieces_and_bytes() {
        let log = ExchangeLog::new(Changes::default());
        let mut recording = Recording::begin(&log, Source::Resend(None), request(b""));
        recording.head(&head("text/event-stream"));
        let event = Bytes::from(format!("id: 1\ndata: {}\n\n", "x".repeat(1 << 20)));
        for _ in 0..5 {
            // Sent in two pieces; an event counts where it ends.
            recording.data(&event.slice(..100));
            recording.data(&event.slice(100..));
        }
        let exchange = log.get(1).unwrap();
        let response = exchange.response.as_ref().unwrap();
        assert_eq!(response.frames, 5);
        assert_eq!(response.body.bytes.len(), MAX_BODY_BYTES);
        assert_eq!(
            response.body.omitted(),
            5 * event.len() as u64 - MAX_BODY_BYTES as u64
        );
        let frames = response.frames();
        assert_eq!(frames.len(), 3, "the frames that are kept whole");
        assert_eq!(
            (frames[2].id.as_deref(), frames[2].data.len()),
            (Some("1"), 1 << 20)
        );
        recording.finish(Some("broke off".to_owned()));
        assert_eq!(log.page(0, 0).bytes, weight(&log));
        assert_eq!(log.get(1).unwrap().state, State::Failed);
    }
}
