//! Format of a task's log in its table.
//!
//! An append is one row, or several of up to 16 events: an event a line, the key of a row the sequence number of
//! its last. The log of a task begins with the task itself, sequence number 1.

use std::slice;

use a2a_server::{Append, NewTask, StoreError, limits};
use a2a_transport::{SharedEvent, TraceContext};
use a2a_types::{Event, IllegalEvent, Task, TaskState, TaskStatus};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The content of one write about a task.
pub(crate) struct LogRows {
    /// The rows that it adds to the log.
    pub(crate) rows: Rows,
    pub(crate) events: Vec<SharedEvent>,
    pub(crate) growth: limits::Growth,
    told: Vec<u64>,
    pub(crate) trace: Option<TraceContext>,
    pub(crate) release: bool,
    pub(crate) config: Option<Vec<u8>>,
    pub(crate) checkpoint: Option<Vec<u8>>,
}

/// Rows of the log: the number of events and the body of each.
type Rows = Vec<(u64, Vec<u8>)>;

impl LogRows {
    /// Prepares the write of a new task; takes its events.
    pub(crate) fn of_new(new: &mut NewTask) -> Result<Self, StoreError> {
        let rows = begun(&new.task, &new.events)?;
        let config = new.config.as_ref().map(write).transpose()?;
        let mut first = new
            .split()
            .unwrap_or_else(|| Append::held(1, 1, Vec::new()));
        Ok(Self {
            config,
            ..Self::of(limits::Growth::of(&first), &mut first, rows)?
        })
    }

    /// Prepares the write of an append; takes the events.
    pub(crate) fn of_append(append: &mut Append) -> Result<Self, StoreError> {
        let growth = limits::Growth::of(append);
        // Events that fit into no log are refused before they are written as JSON.
        growth.admit(0, 0)?;
        let rows = appended(&append.events)?;
        Self::of(growth, append, rows)
    }

    fn of(growth: limits::Growth, append: &mut Append, rows: Rows) -> Result<Self, StoreError> {
        Ok(Self {
            rows,
            growth,
            told: append.notified(),
            trace: append.trace.take(),
            release: append.release,
            config: None,
            checkpoint: append.checkpoint.as_ref().map(write).transpose()?,
            events: append.events.drain(..).map(SharedEvent::from).collect(),
        })
    }

    /// Returns the sequence number of the last event of each row, if the first follows `after`.
    pub(crate) fn sequences(&self, after: u64) -> Vec<i64> {
        let mut last = after;
        let places = self.rows.iter().map(|(count, _)| {
            last += count;
            last as i64
        });
        places.collect()
    }

    /// Returns the bodies of the rows.
    pub(crate) fn bodies(&self) -> Vec<&[u8]> {
        self.rows.iter().map(|(_, body)| &body[..]).collect()
    }

    /// Returns the sequence numbers of the events that webhooks are notified of.
    pub(crate) fn notified(&self) -> Vec<i64> {
        self.told.iter().map(|sequence| *sequence as i64).collect()
    }

    /// Returns the last status among the events.
    pub(crate) fn status(&self) -> Option<&TaskStatus> {
        self.events.iter().rev().find_map(|event| event.status())
    }

    /// Returns the state of the task after the events.
    pub(crate) fn state(&self, task: &Task, from: TaskState) -> Result<TaskState, IllegalEvent> {
        let after = |state, event: &SharedEvent| task.state_after(state, slice::from_ref(event));
        self.events.iter().try_fold(from, after)
    }
}

/// Returns the log of a new task with its first events.
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

/// Adds an event as a line, to the last row or a new one.
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

/// Splits a row into its events. Compact JSON contains no line feed.
pub(crate) fn lines(row: &[u8]) -> impl Iterator<Item = &[u8]> {
    row.split(|byte| *byte == b'\n')
}

/// Returns the number of events of a row.
pub(crate) fn count(row: &[u8]) -> u64 {
    lines(row).count() as u64
}

/// Writes a task, an event or a webhook as JSON of the canonical model.
pub(crate) fn write(value: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(value).map_err(StoreError::failed)
}

/// Parses stored JSON. Errors contain nothing of its content.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(body).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        StoreError::failed(format!("a stored body cannot be read at {line}:{column}"))
    })
}

/// Maximum number of events in a row: a reader that starts inside a row skips the events before.
const MAX_ROW_EVENTS: u64 = 16;
/// Initial capacity of a row in bytes; most need no more.
const INITIAL_CAPACITY: usize = 768;
