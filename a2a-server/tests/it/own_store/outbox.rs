//! Notifications that are not delivered yet.

use std::collections::BTreeMap;
use std::time::Duration;

use a2a_server::{DeliveryResult, Notification, Owner, TraceContext};
use a2a_types::{ConfigId, TaskId};
use tokio::time::Instant;

use super::log::TaskLog;

/// Owner, task, webhook, and the sequence number of the event in the task's log.
type OutboxKey = (Owner, TaskId, ConfigId, u64);

#[derive(Default)]
pub(super) struct OutboxTable {
    rows: BTreeMap<OutboxKey, OutboxEntry>,
}

#[derive(Clone)]
struct OutboxEntry {
    attempt: u32,
    trace: Option<TraceContext>,
    due: Instant,
    dead_since: Option<Instant>,
}

pub(super) struct DueNotification {
    pub(super) key: OutboxKey,
    pub(super) attempt: u32,
    pub(super) trace: Option<TraceContext>,
}

impl OutboxEntry {
    fn found(&self, key: &OutboxKey) -> DueNotification {
        DueNotification {
            key: key.clone(),
            attempt: self.attempt,
            trace: self.trace.clone(),
        }
    }
}

impl OutboxTable {
    pub(super) fn put(
        &mut self,
        (owner, task): &(Owner, TaskId),
        log: &TaskLog,
        notified: &[u64],
        trace: Option<&TraceContext>,
    ) {
        for (config, _) in &log.configs {
            for sequence in notified {
                let key = (owner.clone(), task.clone(), config.id.clone(), *sequence);
                let row = OutboxEntry {
                    attempt: 0,
                    trace: trace.cloned(),
                    due: Instant::now(),
                    dead_since: None,
                };
                self.rows.insert(key, row);
            }
        }
    }

    /// Takes the first of each webhook, if it is due.
    pub(super) fn take(&mut self, limit: usize, term: Duration) -> Vec<DueNotification> {
        let now = Instant::now();
        let (mut found, mut last) = (Vec::new(), None);
        for (key, row) in &mut self.rows {
            let webhook = (key.0.clone(), key.1.clone(), key.2.clone());
            if row.dead_since.is_some() || last.as_ref() == Some(&webhook) {
                continue;
            }
            last = Some(webhook);
            if row.due <= now && found.len() < limit {
                found.push(row.found(key));
                row.due = now + term;
                row.attempt += 1;
            }
        }
        found
    }

    pub(super) fn dead(&self, limit: usize) -> Vec<DueNotification> {
        let dead = self.rows.iter().filter(|(_, row)| row.dead_since.is_some());
        let mut dead: Vec<_> = dead.collect();
        dead.sort_by_key(|(_, row)| row.dead_since);
        let dead = dead.into_iter().take(limit);
        dead.map(|(key, row)| row.found(key)).collect()
    }

    pub(super) fn undelivered(&self) -> usize {
        let waiting = self.rows.values().filter(|row| row.dead_since.is_none());
        waiting.count()
    }

    pub(super) fn record_delivery(
        &mut self,
        notification: &Notification,
        settlement: DeliveryResult,
    ) {
        let config = &notification.config;
        let key = (
            notification.owner.clone(),
            config.task_id.clone(),
            config.id.clone(),
            notification.sequence,
        );
        let Some(row) = self.rows.get_mut(&key) else {
            return;
        };
        let is_last = row.attempt == notification.attempt + u32::from(row.dead_since.is_none());
        match settlement {
            DeliveryResult::Delivered => _ = self.rows.remove(&key),
            _ if !is_last => {}
            DeliveryResult::DeadLetter => row.dead_since = Some(Instant::now()),
            DeliveryResult::Retry(pause) => {
                (row.due, row.dead_since) = (Instant::now() + pause, None);
            }
            DeliveryResult::Deferred(pause) => {
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
