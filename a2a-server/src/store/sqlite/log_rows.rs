//! Format of a task's log in its table.
//!
//! An append is one row, or several of up to 16 events: an event a line, the key of a row the sequence number of
//! its last. The log of a task begins with the task itself, sequence number 1.

use std::slice;

use a2a_transport::{SharedEvent, TraceContext};
use a2a_types::{Event, IllegalEvent, Task, TaskState, TaskStatus};
use serde::Serialize;

use super::super::{Append, NewTask, Owner, StoreError, limits};
use super::columns::write;
use super::schema::owner_text;

/// The content of one write about a task, made ready by its caller: the writer has enough to do. The writer
/// only looks at it, so that the caller drops it.
pub(super) struct LogRows {
    pub(super) of: String,
    pub(super) rows: Rows,
    pub(super) events: Vec<SharedEvent>,
    pub(super) growth: limits::Growth,
    /// Sequence numbers of the events that webhooks are notified of.
    pub(super) notified: Vec<u64>,
    pub(super) trace: Option<TraceContext>,
    pub(super) release: bool,
    pub(super) config: Option<Vec<u8>>,
    pub(super) checkpoint: Option<Vec<u8>>,
}

/// Events as they are written: each row, and how many events it holds.
type Rows = Vec<(u64, Vec<u8>)>;

impl LogRows {
    /// Prepares the write of a new task; takes its events.
    pub(super) fn of_new(owner: &Owner, new: &mut NewTask) -> Result<Self, StoreError> {
        let rows = begun(&new.task, &new.events)?;
        let config = new.config.as_ref().map(write).transpose()?;
        let mut first = new
            .split()
            .unwrap_or_else(|| Append::held(1, 1, Vec::new()));
        Ok(Self {
            config,
            ..Self::of(owner, limits::Growth::of(&first), &mut first, rows)?
        })
    }

    /// Prepares the write of an append; takes the events.
    pub(super) fn of_append(owner: &Owner, append: &mut Append) -> Result<Self, StoreError> {
        let growth = limits::Growth::of(append);
        // Events that fit into no log are refused before they are written as JSON.
        growth.admit(0, 0)?;
        let rows = appended(&append.events)?;
        Self::of(owner, growth, append, rows)
    }

    fn of(
        owner: &Owner,
        growth: limits::Growth,
        append: &mut Append,
        rows: Rows,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            of: owner_text(owner),
            rows,
            growth,
            notified: append.notified(),
            trace: append.trace.take(),
            release: append.release,
            config: None,
            checkpoint: append.checkpoint.as_ref().map(write).transpose()?,
            events: append.events.drain(..).map(SharedEvent::from).collect(),
        })
    }

    /// The last status that the events bring.
    pub(super) fn status(&self) -> Option<&TaskStatus> {
        self.events.iter().rev().find_map(|event| event.status())
    }

    /// The state that the events leave the task in.
    pub(super) fn state(&self, task: &Task, from: TaskState) -> Result<TaskState, IllegalEvent> {
        let after = |state, event: &SharedEvent| task.state_after(state, slice::from_ref(event));
        self.events.iter().try_fold(from, after)
    }
}

/// The log of a new task to which this has happened already.
fn begun(task: &Task, events: &[Event]) -> Result<Rows, StoreError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    enum First<'t> {
        Task(&'t Task),
    }
    let mut rows = Vec::new();
    add(&mut rows, &First::Task(task))?;
    events.iter().try_for_each(|event| add(&mut rows, event))?;
    Ok(rows)
}

fn appended(events: &[Event]) -> Result<Rows, StoreError> {
    let mut rows = Vec::new();
    events.iter().try_for_each(|event| add(&mut rows, event))?;
    Ok(rows)
}

/// Adds a line.
fn add(rows: &mut Rows, event: &impl Serialize) -> Result<(), StoreError> {
    if let Some((count, row)) = rows.last_mut().filter(|(count, _)| *count < MAX_ROW_EVENTS) {
        *count += 1;
        row.push(b'\n');
        return serde_json::to_writer(row, event).map_err(StoreError::failed);
    }
    let mut row = Vec::with_capacity(INITIAL_CAPACITY);
    serde_json::to_writer(&mut row, event).map_err(StoreError::failed)?;
    rows.push((1, row));
    Ok(())
}

/// Returns the events of a row: JSON has no line feed in it unless its writer puts one between tokens.
pub(super) fn lines(row: &[u8]) -> impl Iterator<Item = &[u8]> {
    row.split(|byte| *byte == b'\n')
}

/// Returns the number of events of a row.
pub(super) fn count(row: &[u8]) -> u64 {
    lines(row).count() as u64
}

/// Maximum number of events in a row: a reader that begins in the middle passes over the others.
const MAX_ROW_EVENTS: u64 = 16;
/// Initial capacity of a row in bytes; most need no more.
const INITIAL_CAPACITY: usize = 768;
