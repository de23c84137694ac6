//! How the log of a task stands in its table.
//!
//! What was appended at once is one row: an event a line, its key the generation of the last. The log of
//! a task begins with the task itself, generation 1.

use a2a_types::{Event, Task};
use serde::Serialize;

use super::super::{Append, NewTask, Owner, StoreError};
use super::schema::owner_text;
use super::tables::write;

/// What is to be written about a task at once, put into words by whoever asks for it: the writer has
/// enough to do.
pub(super) struct Sheet {
    pub(super) of: String,
    pub(super) rows: Rows,
    pub(super) config: Option<Vec<u8>>,
    pub(super) checkpoint: Option<Vec<u8>>,
}

/// Events as they are written: each row, and how many events it holds.
type Rows = Vec<(u64, Vec<u8>)>;

impl Sheet {
    pub(super) fn of_new(owner: &Owner, new: &NewTask) -> Result<Self, StoreError> {
        Ok(Self {
            of: owner_text(owner),
            rows: begun(&new.task, &new.events)?,
            config: new.config.as_ref().map(write).transpose()?,
            checkpoint: None,
        })
    }

    pub(super) fn of_append(owner: &Owner, append: &Append) -> Result<Self, StoreError> {
        Ok(Self {
            of: owner_text(owner),
            rows: rows(Vec::new(), &append.events)?,
            config: None,
            checkpoint: append.checkpoint.as_ref().map(write).transpose()?,
        })
    }
}

/// The log of a new task to which this has happened already.
fn begun(task: &Task, events: &[Event]) -> Result<Rows, StoreError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    enum First<'t> {
        Task(&'t Task),
    }
    rows(vec![write(&First::Task(task))?], events)
}

fn rows(mut lines: Vec<Vec<u8>>, events: &[Event]) -> Result<Rows, StoreError> {
    for event in events {
        lines.push(write(event)?);
    }
    let row = |lines: &[Vec<u8>]| (lines.len() as u64, lines.join(&b'\n'));
    Ok(lines.chunks(MOST).map(row).collect())
}

/// The events of a row: JSON has no line feed in it unless somebody puts one between its words.
pub(super) fn lines(row: &[u8]) -> impl Iterator<Item = &[u8]> {
    row.split(|byte| *byte == b'\n')
}

/// How many events a row holds.
pub(super) fn count(row: &[u8]) -> u64 {
    lines(row).count() as u64
}

/// How many events stand in one row at most: whoever reads from the middle passes over the others.
const MOST: usize = 16;
