//! The notifications that are not delivered yet.

use std::collections::BTreeMap;
use std::time::Duration;

use a2a_transport::TraceContext;
use a2a_types::{ConfigId, TaskId};
use tokio::time::Instant;

use super::super::{Owner, Settlement};

/// The notifications that are not delivered yet, those of one webhook side by side and in order.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    rows: BTreeMap<Place, Row>,
}

/// A webhook and the generation that it is to be told of.
pub(super) type Place = (Owner, TaskId, ConfigId, u64);

#[derive(Debug)]
struct Row {
    attempt: u32,
    trace: Option<TraceContext>,
    due: Instant,
    /// Since when it is a dead letter.
    dead: Option<Instant>,
}

/// A notification as it lies here.
pub(super) struct Letter {
    pub(super) place: Place,
    /// How often it was tried.
    pub(super) attempt: u32,
    pub(super) trace: Option<TraceContext>,
}

impl Row {
    fn letter(&self, place: &Place) -> Letter {
        Letter {
            place: place.clone(),
            attempt: self.attempt,
            trace: self.trace.clone(),
        }
    }
}

impl Outbox {
    pub(super) fn put(&mut self, place: Place, trace: Option<TraceContext>) {
        let due = Instant::now();
        let row = Row {
            attempt: 0,
            trace,
            due,
            dead: None,
        };
        self.rows.insert(place, row);
    }

    /// Takes what is due, and keeps it from others for `term`.
    pub(super) fn take(&mut self, limit: usize, term: Duration) -> Vec<Letter> {
        let now = Instant::now();
        let mut taken = Vec::new();
        let mut before: Option<&Place> = None;
        let waiting = self.rows.iter_mut().filter(|(_, row)| row.dead.is_none());
        for (place, row) in waiting {
            let first = before.is_none_or(|before| !same_webhook(before, place));
            before = Some(place);
            if first && row.due <= now && taken.len() < limit {
                row.due = now + term;
                taken.push(row.letter(place));
                row.attempt += 1;
            }
        }
        taken
    }

    pub(super) fn settle(&mut self, place: &Place, settlement: Settlement) {
        match settlement {
            Settlement::Delivered => drop(self.rows.remove(place)),
            Settlement::Later(pause) | Settlement::Untried(pause) => {
                if let Some(row) = self.rows.get_mut(place) {
                    row.due = Instant::now() + pause;
                    row.dead = None;
                    let untried = matches!(settlement, Settlement::Untried(_));
                    row.attempt = row.attempt.saturating_sub(u32::from(untried));
                }
            }
            Settlement::GivenUp => {
                if let Some(row) = self.rows.get_mut(place) {
                    row.dead = Some(Instant::now());
                }
            }
        }
    }

    /// What was given up, the first first.
    pub(super) fn dead(&self, limit: usize) -> Vec<Letter> {
        let dead = self.rows.iter().filter(|(_, row)| row.dead.is_some());
        let mut dead: Vec<_> = dead.collect();
        // Those of one moment stay in the order of their places.
        dead.sort_by_key(|(_, row)| row.dead);
        let dead = dead.into_iter().take(limit);
        dead.map(|(place, row)| row.letter(place)).collect()
    }

    /// How many are not delivered and not given up.
    pub(super) fn waiting(&self) -> usize {
        self.rows.values().filter(|row| row.dead.is_none()).count()
    }

    /// Forgets what a webhook was to be told.
    pub(super) fn forget(&mut self, owner: &Owner, task: &TaskId, config: &ConfigId) {
        self.rows
            .retain(|(of, about, to, _), _| (of, about, to) != (owner, task, config));
    }

    /// Forgets what was to be told about a task.
    pub(super) fn forget_task(&mut self, owner: &Owner, task: &TaskId) {
        self.rows
            .retain(|(of, about, ..), _| (of, about) != (owner, task));
    }
}

fn same_webhook(one: &Place, other: &Place) -> bool {
    (&one.0, &one.1, &one.2) == (&other.0, &other.1, &other.2)
}
