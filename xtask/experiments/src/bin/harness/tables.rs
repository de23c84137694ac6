//! The tables of a server, as it has left them.

use std::collections::BTreeMap;
use std::path::Path;

use a2a_types::{Event, MessageId, Object, ProtocolVersion, Role, Task, TaskId};
use rusqlite::{Connection, OpenFlags, Params, Row};

use crate::Failure;

/// The tables of a server, which may be dead.
pub(crate) struct TaskTables {
    connection: Connection,
}

/// A task as it stands in the tables.
pub(crate) struct StoredTask {
    pub(crate) protocol_version: ProtocolVersion,
    pub(crate) sequence: u64,
    /// `true` if an agent still has to work on the task.
    pub(crate) active: bool,
    /// The last step that the agent has written down.
    pub(crate) step: u64,
    /// The fold of its log.
    pub(crate) task: Task,
    pub(crate) events: BTreeMap<u64, Event>,
    /// Fault of its log.
    pub(crate) fault: Option<String>,
}

impl TaskTables {
    pub(crate) fn open(db: &Path) -> Result<Self, Failure> {
        let connection = Connection::open_with_flags(db, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        Ok(Self { connection })
    }

    /// Returns the number of the newest task (`seq`), or 0.
    pub(crate) fn last(&self) -> Result<i64, Failure> {
        let last = "select coalesce(max(seq), 0) from task";
        Ok(self.connection.query_row(last, [], |row| row.get(0))?)
    }

    /// Returns the tasks after this number, and the unfinished tasks.
    pub(crate) fn later_than(&self, seq: i64) -> Result<Vec<StoredTask>, Failure> {
        self.tasks("where seq > ?1 or active = 1", [seq])
    }

    /// One task.
    pub(crate) fn task(&self, task: &TaskId) -> Result<Option<StoredTask>, Failure> {
        let one = "where owner = '[null,null]' and id = ?1";
        Ok(self.tasks(one, [task.as_str()])?.pop())
    }

    /// Returns the number of notifications in the outbox that are still to be delivered, and of the
    /// notifications that were given up.
    pub(crate) fn outbox(&self) -> Result<(i64, i64), Failure> {
        let counts = "select count(*) filter (where dead is null), count(dead) from push_outbox";
        let count = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        Ok(self.connection.query_row(counts, [], count)?)
    }

    /// Returns the number of unfinished tasks.
    pub(crate) fn unfinished(&self) -> Result<i64, Failure> {
        let count = "select count(*) from task where active = 1";
        Ok(self.connection.query_row(count, [], |row| row.get(0))?)
    }

    fn tasks(&self, wanted: &str, values: impl Params) -> Result<Vec<StoredTask>, Failure> {
        let sql = format!(
            "select seq, protocol_version, task.generation, state, active, task_doc.generation, task_doc.body,
               task_checkpoint.body
             from task left join task_doc on task_doc.task = seq
               left join task_checkpoint on task_checkpoint.task = seq {wanted}"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(values)?;
        let mut tasks = Vec::new();
        while let Some(row) = rows.next()? {
            tasks.push(self.read(row)?);
        }
        Ok(tasks)
    }

    fn read(&self, row: &Row<'_>) -> Result<StoredTask, Failure> {
        let version: String = row.get(1)?;
        let checkpoint: Option<Vec<u8>> = row.get(7)?;
        let checkpoint: Option<Object> = checkpoint
            .map(|body| serde_json::from_slice(&body))
            .transpose()?;
        let mut stored = StoredTask {
            protocol_version: ProtocolVersion::from_version(&version)
                .ok_or("an unknown protocol version")?,
            sequence: row.get::<_, i64>(2)?.try_into()?,
            active: row.get(4)?,
            step: checkpoint
                .and_then(|stored| stored.get("step")?.as_u64())
                .unwrap_or(0),
            task: Task::default(),
            events: self.events(row.get(0)?)?,
            fault: None,
        };
        // A log begins with the task; next to a long log there is a document with the task as it was later.
        let first = stored.events.remove(&1);
        let document: Option<Vec<u8>> = row.get(6)?;
        let written = match (document, first) {
            (Some(document), _) => {
                stored.task = serde_json::from_slice(&document)?;
                row.get::<_, i64>(5)?.try_into()?
            }
            (None, Some(Event::Task(task))) => {
                stored.task = task;
                1
            }
            (None, _) => return Err("a task has neither a document nor a log".into()),
        };
        stored.fault = stored.fold(written, &row.get::<_, String>(3)?);
        Ok(stored)
    }

    fn events(&self, seq: i64) -> Result<BTreeMap<u64, Event>, Failure> {
        let sql = "select generation, body from task_event where task = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([seq])?;
        let mut events = BTreeMap::new();
        while let Some(row) = rows.next()? {
            // Events appended at once: a line each, the last with this sequence number.
            let (last, lines): (i64, Vec<u8>) = (row.get(0)?, row.get(1)?);
            let lines = lines.split(|byte| *byte == b'\n').rev();
            for (sequence, line) in (0..=last).rev().zip(lines) {
                events.insert(sequence.try_into()?, serde_json::from_slice(line)?);
            }
        }
        Ok(events)
    }
}

impl StoredTask {
    /// Applies the events after the one at which the task was stored; returns the fault of the log,
    /// if any.
    fn fold(&mut self, written: u64, state: &str) -> Option<String> {
        if !self.events.keys().copied().eq(2..=self.sequence) {
            let there: Vec<_> = self.events.keys().collect();
            return Some(format!("of 2 to {} there are {there:?}", self.sequence));
        }
        if written > self.sequence {
            return Some(format!(
                "written down at {written}, after {}",
                self.sequence
            ));
        }
        for event in self.events.range(written + 1..).map(|(_, event)| event) {
            if let Err(illegal) = self.task.apply(event) {
                return Some(illegal.to_string());
            }
        }
        let folded = self.task.status.state.as_str();
        (folded != state).then(|| format!("the log ends as {folded}, the row is {state}"))
    }

    /// The messages of its caller.
    pub(crate) fn user_message_ids(&self) -> impl Iterator<Item = &MessageId> {
        let history = self.task.history.iter();
        let sent = history.filter(|message| message.role == Role::User);
        sent.map(|message| &message.message_id)
    }
}
