//! Hints between servers about logs that have grown. A hint may be lost: the poll of all followed tasks replaces it.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use a2a_server::Owner;
use a2a_types::TaskId;
use tokio::sync::Notify;
use uuid::Uuid;

use crate::lock::lock;
use crate::names::Key;

/// Hints that are not sent yet, and the tasks that are followed in this process.
pub(crate) struct Hints {
    /// Random name of this server on the channel.
    pub(crate) name: u32,
    pub(crate) channel: String,
    /// `true` if servers send each other hints.
    is_on: bool,
    pub(crate) pending: Mutex<Pending>,
    pub(crate) added: Notify,
    followed: Mutex<Followed>,
    /// Notified when another server has posted a command.
    pub(crate) command: Notify,
}

#[derive(Default)]
pub(crate) struct Pending {
    pub(crate) heads: HashMap<Uuid, u64>,
    pub(crate) command: bool,
    /// Time of the first append.
    pub(crate) since: Option<SystemTime>,
}

/// Followed tasks by key: `now` has the tasks of the last poll and since, `before` the tasks of the poll before.
#[derive(Default)]
struct Followed {
    now: HashMap<Uuid, Key>,
    before: HashMap<Uuid, Key>,
}

impl Hints {
    pub(crate) fn new(schema: &str, is_on: bool) -> Self {
        Self {
            name: fastrand::u32(..),
            channel: format!("a2a {schema}"),
            is_on,
            pending: Mutex::default(),
            added: Notify::new(),
            followed: Mutex::default(),
            command: Notify::new(),
        }
    }

    /// Queues the new length of a log.
    pub(crate) fn add(&self, task: Uuid, sequence: u64) {
        if !self.is_on {
            return;
        }
        let mut pending = lock(&self.pending);
        let head = pending.heads.entry(task).or_default();
        *head = sequence.max(*head);
        pending.since.get_or_insert_with(SystemTime::now);
        drop(pending);
        self.added.notify_one();
    }

    /// Queues a hint that a command was posted.
    pub(crate) fn add_command(&self) {
        if !self.is_on {
            return;
        }
        lock(&self.pending).command = true;
        self.added.notify_one();
    }

    /// Replaces the followed tasks. The former ones are kept until the next poll: the new list may miss the latest.
    pub(crate) fn replace_followed(&self, now: HashMap<Uuid, Key>) {
        let mut followed = lock(&self.followed);
        followed.before = std::mem::replace(&mut followed.now, now);
    }

    /// Returns the followed task with this key.
    pub(crate) fn followed(&self, key: &Uuid) -> Option<Key> {
        let followed = lock(&self.followed);
        let found = followed.now.get(key).or_else(|| followed.before.get(key));
        found.cloned()
    }

    /// Adds a followed task.
    pub(crate) fn follow(&self, key: Uuid, owner: &Owner, task: &TaskId) {
        lock(&self.followed)
            .now
            .insert(key, (owner.clone(), task.clone()));
    }
}

/// Interval between polls of a server that listens for hints, and of one that does not.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(500);
pub(crate) const LOOK_EVERY_UNHEARD: Duration = Duration::from_millis(250);
