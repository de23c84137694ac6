//! Notifications that are not delivered yet.

use std::collections::BTreeMap;
use std::time::Duration;

use a2a_server::{Notification, Owner, Settlement, TraceContext};
use a2a_types::{ConfigId, TaskId};
use tokio::time::Instant;

use super::log::Log;

/// Owner, task, webhook, and the place of the event in the task's log.
type RowKey = (Owner, TaskId, ConfigId, u64);

#[derive(Default)]
pub(super) struct Outbox {
    rows: BTreeMap<RowKey, Row>,
}

#[derive(Clone)]
struct Row {
    attempt: u32,
    trace: Option<TraceContext>,
    due: Instant,
    dead_since: Option<Instant>,
}

pub(super) struct Found {
    pub(super) place: RowKey,
    pub(super) attempt: u32,
    pub(super) trace: Option<TraceContext>,
}

impl Row {
    fn found(&self, place: &RowKey) -> Found {
        Found {
            place: place.clone(),
            attempt: self.attempt,
            trace: self.trace.clone(),
        }
    }
}

impl Outbox {
    pub(super) fn put(
        &mut self,
        (owner, task): &(Owner, TaskId),
        log: &Log,
        notified: &[u64],
        trace: Option<&TraceContext>,
    ) {
        for (config, _) in &log.configs {
            for sequence in notified {
                let place = (owner.clone(), task.clone(), config.id.clone(), *sequence);
                let row = Row {
                    attempt: 0,
                    trace: trace.cloned(),
                    due: Instant::now(),
                    dead_since: None,
                };
                self.rows.insert(place, row);
            }
        }
    }

    /// Takes the first of each webhook, if it is due.
    pub(super) fn take(&mut self, limit: usize, term: Duration) -> Vec<Found> {
        let now = Instant::now();
        let (mut found, mut last) = (Vec::new(), None);
        for (place, row) in &mut self.rows {
            let webhook = (place.0.clone(), place.1.clone(), place.2.clone());
            if row.dead_since.is_some() || last.as_ref() == Some(&webhook) {
                continue;
            }
            last = Some(webhook);
            if row.due <= now && found.len() < limit {
                found.push(row.found(place));
                row.due = now + term;
                row.attempt += 1;
            }
        }
        found
    }

    pub(super) fn dead(&self, limit: usize) -> Vec<Found> {
        let dead = self.rows.iter().filter(|(_, row)| row.dead_since.is_some());
        let mut dead: Vec<_> = dead.collect();
        dead.sort_by_key(|(_, row)| row.dead_since);
        let dead = dead.into_iter().take(limit);
        dead.map(|(place, row)| row.found(place)).collect()
    }

    pub(super) fn undelivered(&self) -> usize {
        let waiting = self.rows.values().filter(|row| row.dead_since.is_none());
        waiting.count()
    }

    pub(super) fn settle(&mut self, notification: &Notification, settlement: Settlement) {
        let config = &notification.config;
        let place = (
            notification.owner.clone(),
            config.task_id.clone(),
            config.id.clone(),
            notification.sequence,
        );
        let Some(row) = self.rows.get_mut(&place) else {
            return;
        };
        match settlement {
            Settlement::Delivered => _ = self.rows.remove(&place),
            Settlement::GivenUp => row.dead_since = Some(Instant::now()),
            Settlement::Later(pause) => {
                (row.due, row.dead_since) = (Instant::now() + pause, None);
            }
            Settlement::Untried(pause) => {
                (row.due, row.dead_since) = (Instant::now() + pause, None);
                row.attempt = row.attempt.saturating_sub(1);
            }
        }
    }

    pub(super) fn forget(&mut self, (owner, task): &(Owner, TaskId), config: &ConfigId) {
        self.rows
            .retain(|(of, about, id, _), _| (of, about, id) != (owner, task, config));
    }

    pub(super) fn forget_task(&mut self, (owner, task): &(Owner, TaskId)) {
        self.rows
            .retain(|(of, about, ..), _| (of, about) != (owner, task));
    }
}
