//! Cache of the tasks that this process wrote or read last.

use std::sync::Mutex;
use std::time::SystemTime;

use a2a_server::fold::Fold;
use a2a_server::{LogPage, limits};
use a2a_transport::SharedEvent;
use lru::LruCache;

use crate::lock::lock;
use crate::names::Key;

/// A task as the fold of its log.
pub(crate) type Folded = Fold<TaskRow>;

/// Columns of a task's row: equal for two states of the same task on the same server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TaskRow {
    /// Number of the task's row. A later task with the same id has another one.
    pub(crate) seq: i64,
    /// Database server that has stored it, by the time of its start. After a failover to another server, whose log may
    /// be another one, or back to a backup, this is another time.
    pub(crate) server: SystemTime,
}

/// Tasks as they were when this process last wrote or read them. Another server may have appended since: the database
/// then refuses a write, and a reader asks it for the rest.
pub(crate) struct Recent {
    tasks: Mutex<Tasks>,
    max_bytes: usize,
}

struct Tasks {
    tasks: LruCache<Key, Folded>,
    bytes: usize,
    /// The database server that answered last: see [`TaskRow::server`].
    server: Option<SystemTime>,
}

impl Recent {
    pub(crate) fn new(max_bytes: usize) -> Self {
        let tasks = LruCache::unbounded();
        Self {
            tasks: Mutex::new(Tasks {
                tasks,
                bytes: 0,
                server: None,
            }),
            max_bytes,
        }
    }

    /// Returns the part of a task that a writer needs.
    pub(crate) fn draft(&self, key: &Key) -> Option<Folded> {
        Some(lock(&self.tasks).tasks.get(key)?.draft())
    }

    /// Returns the events after a sequence number, if they are cached.
    pub(crate) fn after(&self, key: &Key, sequence: u64) -> Option<LogPage> {
        let mut tasks = lock(&self.tasks);
        let server = tasks.server;
        let task = tasks.tasks.get(key)?;
        // Another server may have appended to the end of the log.
        let is_known = 0 < sequence && sequence < task.sequence && server == Some(task.row.server);
        task.after(sequence).filter(|_| is_known)
    }

    /// Notes the database server: tasks of another one are not read without asking the database.
    pub(crate) fn note_server(&self, server: SystemTime) {
        lock(&self.tasks).server = Some(server);
    }

    /// Caches a task that was read, unless a later state of it is cached.
    pub(crate) fn keep(&self, key: &Key, read: &Folded) {
        let mut tasks = lock(&self.tasks);
        let known = tasks.tasks.peek(key);
        if known.is_none_or(|known| known.row != read.row || known.sequence <= read.sequence) {
            tasks.put(key.clone(), read.clone());
            tasks.make_room(self.max_bytes);
        }
    }

    /// Adds an append that was stored after sequence number `after`. A cached task that misses earlier events is
    /// replaced.
    pub(crate) fn publish(&self, key: &Key, after: u64, added: &[SharedEvent], later: &Folded) {
        let mut tasks = lock(&self.tasks);
        let Some(mut known) = tasks.take(key) else {
            tasks.put(key.clone(), later.clone());
            return tasks.make_room(self.max_bytes);
        };
        if known.row != later.row || known.sequence < after {
            known = later.clone();
        } else if known.sequence == after {
            known.extend(added.iter().cloned());
            (known.messages, known.bytes) = (later.messages, later.bytes);
            known.turn = later.turn;
            if later.written > known.written {
                known.fold();
                known.written = later.written;
            }
        }
        tasks.put(key.clone(), known);
        tasks.make_room(self.max_bytes);
    }

    /// Drops a task that was removed, or that has an in-doubt write.
    pub(crate) fn forget(&self, key: &Key) {
        lock(&self.tasks).take(key);
    }
}

impl Tasks {
    fn take(&mut self, key: &Key) -> Option<Folded> {
        let taken = self.tasks.pop(key)?;
        self.bytes -= size(key, &taken);
        Some(taken)
    }

    fn put(&mut self, key: Key, task: Folded) {
        self.take(&key);
        self.bytes += size(&key, &task);
        self.server = Some(task.row.server);
        self.tasks.put(key, task);
    }

    fn make_room(&mut self, max_bytes: usize) {
        while self.bytes > max_bytes || self.tasks.len() > MAX_TASKS {
            match self.tasks.pop_lru() {
                Some((key, oldest)) => self.bytes -= size(&key, &oldest),
                None => break,
            }
        }
    }
}

/// Returns the bytes of a cached task.
fn size((owner, _): &Key, task: &Folded) -> usize {
    ENTRY + limits::size_of_owner(owner) + task.held()
}

/// Bytes of a cached task in addition to its content.
const ENTRY: usize = 128;
/// Maximum number of tasks kept.
const MAX_TASKS: usize = 10_000;
