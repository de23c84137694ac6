//! What webhooks were promised, and what they have been told.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use a2a_types::{Dialect, Event, MessageId, TaskId, TaskState, Timestamp};
use bytes::Bytes;

/// What callers and receivers write down.
#[derive(Default)]
pub(crate) struct Book {
    pages: Mutex<Pages>,
}

/// The contents of a book.
#[derive(Default)]
pub(crate) struct Pages {
    /// The webhooks that a server has acknowledged, by their paths.
    pub(crate) promises: HashMap<String, Promise>,
    /// What webhooks were told, by their paths, each the first time that it came.
    pub(crate) told: HashMap<String, Vec<Told>>,
    /// How many requests have come.
    pub(crate) requests: usize,
    /// How many of them were not answered well, on purpose.
    pub(crate) faults: usize,
    /// How many told what had been told before.
    pub(crate) repeats: usize,
    /// What was wrong with requests.
    pub(crate) strange: Vec<String>,
    /// How long it took until a webhook was told of an end, in milliseconds.
    pub(crate) delays: Vec<f64>,
    ids: HashSet<String>,
}

/// A webhook that a server has acknowledged.
pub(crate) struct Promise {
    pub(crate) task: TaskId,
    pub(crate) dialect: Dialect,
    pub(crate) since: Since,
}

/// What a webhook has to be told at least.
#[derive(Clone, Debug)]
pub(crate) enum Since {
    /// Everything: it came with the task.
    Beginning,
    /// What came after a message.
    Message(MessageId),
    /// What came after a step of the agent, the last that was seen when the webhook was there.
    Step(u64),
}

/// A notification.
pub(crate) struct Told {
    pub(crate) id: String,
    pub(crate) event: Event,
    pub(crate) body: Bytes,
    /// Its sender was answered that it was received.
    pub(crate) taken: bool,
    /// It came before an earlier one of the same webhook was taken.
    pub(crate) early: bool,
}

impl Book {
    pub(crate) fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    /// A webhook is acknowledged.
    pub(crate) fn promise(&mut self, path: &str, task: &TaskId, dialect: Dialect, since: Since) {
        let promise = Promise {
            task: task.clone(),
            dialect,
            since,
        };
        self.promises.insert(path.to_owned(), promise);
    }

    /// Something has come that its receiver could make sense of.
    pub(crate) fn came(&mut self, path: &str, id: &str, event: Event, body: &Bytes) {
        let told = self.told.entry(path.to_owned()).or_default();
        if let Some(before) = told.iter().find(|before| before.id == id) {
            self.repeats += 1;
            // 1.0 tells what happened, and the others the task as it stands.
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

    /// Its sender is answered that it was received.
    pub(crate) fn takes(&mut self, path: &str, id: &str) {
        let told = self.told.get_mut(path).into_iter().flatten();
        for told in told.filter(|told| told.id == id) {
            told.taken = true;
        }
    }
}

/// How many milliseconds ago a task has ended.
fn delay(event: &Event) -> Option<f64> {
    let status = event.status()?;
    let ended = status
        .timestamp
        .filter(|_| status.state == TaskState::Completed)?;
    Some((Timestamp::now().as_millis() - ended.as_millis()) as f64)
}
