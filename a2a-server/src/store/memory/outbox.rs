//! The notifications that are not delivered yet.

use std::collections::BTreeMap;
use std::time::Duration;

use a2a_transport::TraceContext;
use a2a_types::{ConfigId, TaskId};
use tokio::time::Instant;

use super::super::{DeliveryResult, Owner, limits};

/// The notifications that are not delivered yet, in order for each webhook.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    webhooks: BTreeMap<Webhook, BTreeMap<u64, OutboxRow>>,
    /// Bytes that all of them hold, roughly.
    bytes: usize,
}

type Webhook = (Owner, TaskId, ConfigId);

/// A webhook and the sequence number of an event.
pub(super) type OutboxKey = (Owner, TaskId, ConfigId, u64);

#[derive(Debug)]
struct OutboxRow {
    attempt: u32,
    trace: Option<TraceContext>,
    due: Instant,
    /// Time since which it is a dead letter.
    dead: Option<Instant>,
}

/// A notification as it lies here.
pub(super) struct QueuedNotification {
    pub(super) key: OutboxKey,
    /// Number of attempts so far.
    pub(super) attempt: u32,
    pub(super) trace: Option<TraceContext>,
}

impl OutboxRow {
    /// Returns whether `attempts` attempts came before the last one, or before the notification was given up.
    fn is_after(&self, attempts: u32) -> bool {
        self.attempt == attempts + u32::from(self.dead.is_none())
    }

    fn bytes(&self) -> usize {
        limits::size_of_notification(self.trace.as_ref())
    }

    fn queued(&self, (owner, task, config): &Webhook, sequence: u64) -> QueuedNotification {
        QueuedNotification {
            key: (owner.clone(), task.clone(), config.clone(), sequence),
            attempt: self.attempt,
            trace: self.trace.clone(),
        }
    }
}

impl Outbox {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn put(&mut self, key: OutboxKey, trace: Option<TraceContext>) {
        let (webhook, sequence) = split(key);
        let row = OutboxRow {
            attempt: 0,
            trace,
            due: Instant::now(),
            dead: None,
        };
        let rows = self.webhooks.entry(webhook).or_default();
        if rows.is_empty() {
            self.bytes += QUEUE;
        }
        self.bytes += row.bytes();
        if let Some(before) = rows.insert(sequence, row) {
            self.bytes -= before.bytes();
        }
    }

    /// Takes the first of each webhook that is due, and keeps it from others for `term`.
    pub(super) fn take(&mut self, limit: usize, term: Duration) -> Vec<QueuedNotification> {
        let now = Instant::now();
        let first = |(webhook, rows): (_, &mut BTreeMap<u64, OutboxRow>)| {
            let mut waiting = rows.iter_mut().filter(|(_, row)| row.dead.is_none());
            let (sequence, row) = waiting.next().filter(|(_, row)| row.due <= now)?;
            row.due = now + term;
            let queued = row.queued(webhook, *sequence);
            row.attempt += 1;
            Some(queued)
        };
        let taken = self.webhooks.iter_mut().filter_map(first);
        taken.take(limit).collect()
    }

    pub(super) fn record_delivery(
        &mut self,
        key: &OutboxKey,
        attempt: u32,
        settlement: DeliveryResult,
    ) {
        let (webhook, sequence) = split(key.clone());
        let Some(rows) = self.webhooks.get_mut(&webhook) else {
            return;
        };
        match settlement {
            DeliveryResult::Delivered => {
                let gone = rows.remove(&sequence);
                self.bytes -= gone.as_ref().map_or(0, OutboxRow::bytes);
                if rows.is_empty() {
                    self.remove(&webhook);
                }
            }
            DeliveryResult::Retry(pause) | DeliveryResult::Deferred(pause) => {
                if let Some(row) = rows.get_mut(&sequence).filter(|it| it.is_after(attempt)) {
                    row.due = Instant::now() + pause;
                    row.dead = None;
                    let untried = matches!(settlement, DeliveryResult::Deferred(_));
                    row.attempt = row.attempt.saturating_sub(u32::from(untried));
                }
            }
            DeliveryResult::DeadLetter => {
                if let Some(row) = rows.get_mut(&sequence).filter(|it| it.is_after(attempt)) {
                    row.dead = Some(Instant::now());
                }
            }
        }
    }

    /// Returns the notifications that were given up, the first first.
    pub(super) fn dead(&self, limit: usize) -> Vec<QueuedNotification> {
        let dead = self.rows().filter(|(.., row)| row.dead.is_some());
        let mut dead: Vec<_> = dead.collect();
        // Notifications of one moment stay in the order of their places.
        dead.sort_by_key(|(.., row)| row.dead);
        let dead = dead.into_iter().take(limit);
        dead.map(|(webhook, sequence, row)| row.queued(webhook, sequence))
            .collect()
    }

    /// Counts the notifications that are neither delivered nor given up.
    pub(super) fn waiting(&self) -> usize {
        self.rows().filter(|(.., row)| row.dead.is_none()).count()
    }

    fn rows(&self) -> impl Iterator<Item = (&Webhook, u64, &OutboxRow)> {
        let rows = self.webhooks.iter();
        rows.flat_map(|(webhook, rows)| {
            rows.iter()
                .map(move |(sequence, row)| (webhook, *sequence, row))
        })
    }

    /// Forgets the notifications of a webhook.
    pub(super) fn forget(&mut self, owner: &Owner, task: &TaskId, config: &ConfigId) {
        let webhook = (owner.clone(), task.clone(), config.clone());
        self.remove(&webhook);
    }

    /// Forgets the notifications of a task.
    pub(super) fn forget_task(&mut self, owner: &Owner, task: &TaskId) {
        let first = (owner.clone(), task.clone(), ConfigId::from(""));
        let from_there = self.webhooks.range(first..).map(|(webhook, _)| webhook);
        let of_task = from_there.take_while(|(of, about, _)| (of, about) == (owner, task));
        let of_task: Vec<_> = of_task.cloned().collect();
        of_task.iter().for_each(|webhook| self.remove(webhook));
    }

    fn remove(&mut self, webhook: &Webhook) {
        if let Some(rows) = self.webhooks.remove(webhook) {
            self.bytes -= QUEUE + rows.values().map(OutboxRow::bytes).sum::<usize>();
        }
    }
}

/// Bytes of a webhook that has notifications: its place, and that of the first few of them.
const QUEUE: usize = 2 * size_of::<Webhook>() + 11 * size_of::<OutboxRow>();

fn split((owner, task, config, sequence): OutboxKey) -> (Webhook, u64) {
    ((owner, task, config), sequence)
}
