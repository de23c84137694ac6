//! Record of acknowledged webhooks, and of the notifications received.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use a2a_types::{Dialect, Event, MessageId, TaskId, TaskState, Timestamp};
use bytes::Bytes;

/// Record written by callers and receivers.
#[derive(Default)]
pub(crate) struct Book {
    pages: Mutex<Pages>,
}

/// The contents of a book.
#[derive(Default)]
pub(crate) struct Pages {
    /// The webhooks that a server has acknowledged, by their paths.
    pub(crate) promises: HashMap<String, Promise>,
    /// Notifications by the path of their webhook, each the first time that it came.
    pub(crate) told: HashMap<String, Vec<Told>>,
    /// Number of requests received.
    pub(crate) requests: usize,
    /// Number of requests that failed on purpose.
    pub(crate) faults: usize,
    /// Number of duplicate notifications.
    pub(crate) repeats: usize,
    /// Faults of requests.
    pub(crate) strange: Vec<String>,
    /// Milliseconds from the end of a task to its notification, for each end.
    pub(crate) delays: Vec<f64>,
    ids: HashSet<String>,
}

/// A webhook that a server has acknowledged.
pub(crate) struct Promise {
    pub(crate) task: TaskId,
    pub(crate) dialect: Dialect,
    pub(crate) since: Since,
}

/// Events that a webhook must at least receive.
#[derive(Clone, Debug)]
pub(crate) enum Since {
    /// All events: it came with the task.
    Beginning,
    /// Events after a message.
    Message(MessageId),
    /// Events after a step of the agent: the last that a caller saw once the webhook was
    /// registered.
    Step(u64),
}

/// A notification.
pub(crate) struct Told {
    pub(crate) id: String,
    pub(crate) event: Event,
    pub(crate) body: Bytes,
    /// The receiver acknowledged it.
    pub(crate) taken: bool,
    /// It came before the receiver had acknowledged an earlier one of the same webhook.
    pub(crate) early: bool,
}

impl Book {
    pub(crate) fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    /// Records that a server has acknowledged a webhook.
    pub(crate) fn promise(&mut self, path: &str, task: &TaskId, dialect: Dialect, since: Since) {
        let promise = Promise {
            task: task.clone(),
            dialect,
            since,
        };
        self.promises.insert(path.to_owned(), promise);
    }

    /// Records a notification that its receiver could read.
    pub(crate) fn came(&mut self, path: &str, id: &str, event: Event, body: &Bytes) {
        let told = self.told.entry(path.to_owned()).or_default();
        if let Some(before) = told.iter().find(|before| before.id == id) {
            self.repeats += 1;
            // 1.0 sends the event, and earlier versions the current task.
            if before.body != body && !matches!(event, Event::Task(_)) {
                let text = format!("{path} was told {id} in two ways");
                self.strange.push(text);
            }
            return;
        }
        let early = told.iter().any(|before| !before.taken);
        self.delays.extend(delay(&event));
        told.push(Told {
            id: id.to_owned(),
            event,
            body: body.clone(),
            taken: false,
            early,
        });
        if !self.ids.insert(id.to_owned()) {
            self.strange.push(format!("{id} names two notifications"));
        }
    }

    /// Records that the receiver acknowledges a notification.
    pub(crate) fn takes(&mut self, path: &str, id: &str) {
        let told = self.told.get_mut(path).into_iter().flatten();
        for told in told.filter(|told| told.id == id) {
            told.taken = true;
        }
    }
}

/// Returns the milliseconds since the task completed, or `None` if the event does not say so.
fn delay(event: &Event) -> Option<f64> {
    let status = event.status()?;
    let ended = status
        .timestamp
        .filter(|_| status.state == TaskState::Completed)?;
    Some((Timestamp::now().as_millis() - ended.as_millis()) as f64)
}
