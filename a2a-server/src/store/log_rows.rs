//! Format of a task's log in a table, for stores that keep logs in tables.
//!
//! An append is one row, or several of up to 16 events: each line is an event, and the key of a row is the
//! sequence number of its last event. The log of a task begins with the task itself, sequence number 1.

use a2a_transport::{SharedEvent, TraceContext};
use a2a_types::reading::without_values;
use a2a_types::{Event, Task, TaskStatus};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Append, LogEntry, NewTask, StoreError, limits};

/// Content of one write about a task, prepared by the caller to relieve the writer thread.
#[derive(Debug)]
pub struct LogRows {
    /// Rows that it adds to the log: the number of events and the body of each.
    rows: Rows,
    /// The events.
    pub events: Vec<SharedEvent>,
    /// Growth of the task by the events.
    pub growth: limits::LogUsage,
    /// Sequence numbers of the events that webhooks are notified of.
    pub notified: Vec<u64>,
    /// Trace that the events belong to.
    pub trace: Option<TraceContext>,
    /// `true` if the lease is given back.
    pub release: bool,
    /// The webhook of a new task, as JSON.
    pub config: Option<Vec<u8>>,
    /// The agent's checkpoint, as JSON.
    pub checkpoint: Option<Vec<u8>>,
}

type Rows = Vec<(u64, Vec<u8>)>;

impl LogRows {
    /// Prepares the write of a new task; takes its events.
    pub fn of_new(new: &mut NewTask) -> Result<Self, StoreError> {
        let rows = begun(&new.task, &new.events)?;
        let config = new.config.as_ref().map(write).transpose()?;
        let mut first = new
            .split()
            .unwrap_or_else(|| Append::held(1, 1, Vec::new()));
        Ok(Self {
            config,
            ..Self::of(limits::LogUsage::of(&first), &mut first, rows)?
        })
    }

    /// Prepares the write of an append; takes the events.
    pub fn of_append(append: &mut Append) -> Result<Self, StoreError> {
        let growth = limits::LogUsage::of(append);
        // Events that fit into no log are refused before they are written as JSON.
        growth.admit(0, 0)?;
        let mut rows = Vec::new();
        let mut events = append.events.iter();
        events.try_for_each(|event| add(&mut rows, event))?;
        Self::of(growth, append, rows)
    }

    fn of(growth: limits::LogUsage, append: &mut Append, rows: Rows) -> Result<Self, StoreError> {
        Ok(Self {
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

    /// Returns the bodies of the rows, each with the sequence number of its last event, if the first follows
    /// `after`.
    pub fn numbered(&self, after: u64) -> impl Iterator<Item = (u64, &[u8])> {
        let mut last = after;
        self.rows.iter().map(move |(count, body)| {
            last += count;
            (last, &body[..])
        })
    }

    /// Returns the last status among the events.
    pub fn status(&self) -> Option<&TaskStatus> {
        self.events.iter().rev().find_map(|event| event.status())
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

/// Reads the events of a row after a sequence number; `last` is the key of the row.
pub fn events(
    last: u64,
    row: &[u8],
    after: u64,
) -> Result<impl Iterator<Item = Result<LogEntry, StoreError>>, StoreError> {
    let more_than_all = || StoreError::failed("a log has more events than its task");
    let before = last.checked_sub(lines(row).count() as u64);
    let numbered = (before.ok_or_else(more_than_all)? + 1..).zip(lines(row));
    let later = numbered.skip_while(move |(sequence, _)| *sequence <= after);
    Ok(later.map(|(sequence, line)| Ok(LogEntry::new(sequence, parse::<Event>(line)?))))
}

/// Splits a row into its events: JSON has no line feed in it unless its writer puts one between tokens.
pub fn lines(row: &[u8]) -> impl Iterator<Item = &[u8]> {
    row.split(|byte| *byte == b'\n')
}

/// Writes a task, an event or a webhook as JSON of the canonical model.
pub fn write(value: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(value).map_err(StoreError::failed)
}

/// Reads stored JSON. Errors contain none of its values.
pub fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(body).map_err(|error| StoreError::failed(without_values(&error)))
}

/// Maximum number of events in a row: a reader that begins in the middle passes over the others.
const MAX_ROW_EVENTS: u64 = 16;
/// Initial capacity of a row in bytes; most need no more.
const INITIAL_CAPACITY: usize = 768;
