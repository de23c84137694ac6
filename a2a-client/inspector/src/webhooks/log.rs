//! Log of notifications, bounded.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a_jsonrpc::Limits;
use a2a_transport::webhook::read_notice;
use a2a_types::{Event, TaskId};
use bytes::Bytes;
use http::HeaderMap;
use jiff::Timestamp;
use serde::Serialize;

use super::verdict::Verdict;
use crate::changes::Changes;
use crate::wire::shown_headers;

/// A notification as received.
#[derive(Clone, Debug)]
pub(super) struct Notification {
    pub(super) number: u64,
    /// Id of the receiver.
    pub(super) receiver: String,
    pub(super) at: Timestamp,
    /// Id of the delivery.
    pub(super) delivery: Option<String>,
    /// The HTTP status of the answer.
    pub(super) status: u16,
    pub(super) verdicts: Vec<Verdict>,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// The latest notifications of all receivers. Of more than [`MAX_NOTIFICATIONS`], or [`MAX_BYTES`] together, the
/// oldest are evicted. Clones share it.
#[derive(Clone)]
pub(super) struct NotificationLog {
    entries: Arc<Mutex<Notifications>>,
    changes: Changes,
}

#[derive(Default)]
struct Notifications {
    kept: VecDeque<Notification>,
    last: u64,
    bytes: usize,
    evicted: u64,
}

/// A notification as the page gets it.
#[derive(Debug, Serialize)]
pub(super) struct NotificationView {
    number: u64,
    receiver: String,
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<Event>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery: Option<String>,
    status: u16,
    verdicts: Vec<Verdict>,
    request: RequestView,
}

#[derive(Debug, Serialize)]
struct RequestView {
    headers: Vec<(String, String)>,
    body: String,
}

/// A part of the log.
#[derive(Debug, Serialize)]
pub(super) struct NotificationPage {
    notifications: Vec<NotificationView>,
    /// Number of notifications that were evicted.
    dropped: u64,
}

/// Notifications that are kept.
pub(super) const MAX_NOTIFICATIONS: usize = 1000;
/// Bytes of all notifications that are kept.
const MAX_BYTES: usize = 64 << 20;
/// Notifications in one answer.
const PAGE: usize = 200;

impl NotificationLog {
    pub(super) fn new(changes: Changes) -> Self {
        Self {
            entries: Arc::default(),
            changes,
        }
    }

    /// Adds the notification that `make` makes of its number.
    pub(super) fn add(&self, make: impl FnOnce(u64) -> Notification) {
        let mut entries = self.entries();
        entries.last += 1;
        let notification = make(entries.last);
        entries.bytes += notification.weight();
        entries.kept.push_back(notification.clone());
        while entries.kept.len() > MAX_NOTIFICATIONS || entries.bytes > MAX_BYTES {
            let Some(oldest) = entries.kept.pop_front() else {
                break;
            };
            entries.bytes -= oldest.weight();
            entries.evicted += 1;
        }
        drop(entries);
        self.changes.send("notification", &notification.view());
    }

    /// Returns the notifications after a number, the oldest first.
    pub(super) fn page(&self, after: u64) -> NotificationPage {
        let entries = self.entries();
        let later = entries.kept.iter().filter(|kept| kept.number > after);
        let later: Vec<_> = later.take(PAGE).cloned().collect();
        let dropped = entries.evicted;
        drop(entries);
        NotificationPage {
            notifications: later.iter().map(Notification::view).collect(),
            dropped,
        }
    }

    /// Locks the entries. No code under this lock panics half-way, so poisoning is ignored.
    fn entries(&self) -> MutexGuard<'_, Notifications> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Notification {
    /// Returns the bytes that it counts against the bound of the log.
    fn weight(&self) -> usize {
        let headers = self.headers.iter();
        let headers = headers.map(|(name, value)| name.as_str().len() + value.len() + 64);
        size_of::<Self>() + self.body.len() + headers.sum::<usize>()
    }

    fn view(&self) -> NotificationView {
        let notice = read_notice(&self.body, &Limits::default()).ok();
        NotificationView {
            number: self.number,
            receiver: self.receiver.clone(),
            at: self.at.to_string(),
            task: notice.as_ref().and_then(|notice| notice.task.clone()),
            version: notice
                .as_ref()
                .map(|notice| notice.protocol_version.version()),
            event: notice.and_then(|notice| notice.event),
            delivery: self.delivery.clone(),
            status: self.status,
            verdicts: self.verdicts.clone(),
            request: RequestView {
                headers: shown_headers(&self.headers),
                body: String::from_utf8_lossy(&self.body).into_owned(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::receiver::MAX_BODY_BYTES;
    use super::*;

    #[test]
    fn all_bytes_are_bounded() {
        let log = NotificationLog::new(Changes::default());
        let body = Bytes::from(vec![b' '; MAX_BODY_BYTES]);
        let count = (MAX_BYTES / MAX_BODY_BYTES) as u64 + 1;
        for _ in 0..count {
            log.add(|number| Notification {
                number,
                receiver: "r1".to_owned(),
                at: Timestamp::now(),
                delivery: None,
                status: 200,
                verdicts: Vec::new(),
                headers: HeaderMap::new(),
                body: body.clone(),
            });
        }
        let entries = log.entries();
        assert!(entries.bytes <= MAX_BYTES, "{}", entries.bytes);
        assert!((1..=2).contains(&entries.evicted), "{}", entries.evicted);
        let weights = entries.kept.iter().map(Notification::weight);
        assert_eq!(weights.sum::<usize>(), entries.bytes);
    }
}
