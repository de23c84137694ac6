//! The statements of every message: prepared once, and not looked up each time.

use rusqlite::{Connection, Statement};

/// Statements that the writer runs all the time.
pub(super) struct Statements<'c> {
    pub(super) begin: Statement<'c>,
    pub(super) commit: Statement<'c>,
    /// A new task.
    pub(super) task: Statement<'c>,
    /// A row of appended events.
    pub(super) events: Statement<'c>,
    /// A log is longer, and nothing else of its task's row has changed.
    pub(super) grown: Statement<'c>,
    /// A task has another status, or another lease.
    pub(super) changed: Statement<'c>,
    /// A message was received.
    pub(super) receipt: Statement<'c>,
}

impl<'c> Statements<'c> {
    pub(super) fn prepare(connection: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            begin: connection.prepare("begin immediate")?,
            commit: connection.prepare("commit")?,
            task: connection.prepare(TASK)?,
            events: connection
                .prepare("insert into task_event(task, generation, body) values(?1, ?2, ?3)")?,
            grown: connection.prepare(
                "update task set generation = ?2, messages = ?3, bytes = ?4, turn = ?5 where seq = ?1",
            )?,
            changed: connection.prepare(CHANGED)?,
            receipt: connection.prepare(
                "insert into send_dedupe(seq, owner, message_id, digest, task_id, answer, expires)
                 values(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?,
        })
    }
}

const TASK: &str = "
insert into task(owner, id, context_id, protocol_version, generation, state, status_time, active, ended, waits,
  messages, bytes, lease_owner, lease_epoch, lease_until, turn)
values(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 1, ?14, 1) on conflict do nothing";

const CHANGED: &str = "
update task set generation = ?2, messages = ?3, bytes = ?4, state = ?5,
  status_time = coalesce(?6, status_time), active = ?7,
  ended = case when ?8 then coalesce(ended, ?10) end,
  waits = case when ?9 then coalesce(waits, ?10) end,
  lease_epoch = ?11, lease_owner = coalesce(?12, lease_owner), lease_until = coalesce(?13, lease_until),
  turn = ?14
where seq = ?1";
