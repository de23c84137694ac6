//! A store so plain that nothing can be wrong with it: one thing after another, and no clock.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem::discriminant;
use std::sync::Arc;
use std::time::Duration;

use a2a_server::limits::{MAX_CONFIG_BYTES, MAX_CONFIGS};
use a2a_server::{
    Append, Appended, DeliveryResult, IdempotencyKey, IdempotencyRecord, Lease, NewTask,
    Notification, Outcome, Owner, StoreError, TraceContext,
};
use a2a_types::steps::is_step;
use a2a_types::{Event, ProtocolVersion, Role, TaskPushNotificationConfig};

use crate::observation::{Checked, Observation, same, short};
use crate::writer::Look;

/// Expected content of a store. A term is over at once if it is zero, and never otherwise.
#[derive(Default)]
pub(crate) struct Model {
    pub(crate) logs: BTreeMap<Key, Log>,
    pub(crate) received: BTreeMap<(Owner, String), IdempotencyRecord>,
}

pub(crate) type Key = (Owner, String);

/// Expected content of a store for one task.
#[derive(Clone)]
pub(crate) struct Log {
    pub(crate) look: Look,
    pub(crate) epoch: u64,
    /// Number of the caller's messages.
    messages: usize,
    holder: Arc<str>,
    /// `None` if the lease was given back.
    lasts: Option<bool>,
    /// The protocol version in which each webhook was asked for.
    protocol_versions: BTreeMap<String, ProtocolVersion>,
    outbox: BTreeMap<String, VecDeque<Row>>,
}

#[derive(Clone)]
struct Row {
    sequence: u64,
    attempt: u32,
    trace: Option<TraceContext>,
    hidden: bool,
    /// Given up.
    dead: bool,
}

/// A store must refuse for one of these reasons, and succeed if there is none.
pub(crate) fn agrees<T: std::fmt::Debug>(
    answer: &Result<T, StoreError>,
    reasons: &[StoreError],
) -> Checked {
    let agrees = match answer {
        Ok(_) => reasons.is_empty(),
        Err(error) => reasons.iter().any(|reason| is_same(error, reason)),
    };
    if agrees {
        return Ok(());
    }
    let (answer, reasons) = (short(answer), short(&reasons));
    Err(Observation::new(format!(
        "the answer: {answer}, expected one of these errors or, if there is none, success: {reasons}"
    )))
}

/// Compares the reasons; for a sequence conflict, also the position of the end of the log.
fn is_same(one: &StoreError, other: &StoreError) -> bool {
    match (one, other) {
        (StoreError::SequenceConflict(one), StoreError::SequenceConflict(other)) => one == other,
        _ => discriminant(one) == discriminant(other),
    }
}

impl Model {
    fn receipt(&self, owner: &Owner, receipt: Option<&IdempotencyKey>) -> Vec<StoreError> {
        let key = receipt.map(|receipt| (owner.clone(), receipt.message.to_string()));
        let known = key.is_some_and(|key| self.received.contains_key(&key));
        known
            .then_some(StoreError::DuplicateMessage)
            .into_iter()
            .collect()
    }

    fn note(&mut self, owner: &Owner, receipt: Option<IdempotencyKey>, outcome: Outcome) {
        if let Some(IdempotencyKey {
            message, digest, ..
        }) = receipt
        {
            let received = IdempotencyRecord::new(digest, outcome);
            self.received
                .insert((owner.clone(), message.into()), received);
        }
    }

    pub(crate) fn create(&mut self, owner: &Owner, mut new: NewTask) -> Vec<StoreError> {
        let key = (owner.clone(), new.task.id.to_string());
        let mut reasons = self.receipt(owner, new.receipt.as_ref());
        if self.logs.contains_key(&key) {
            reasons.push(StoreError::TaskExists);
        }
        if new.config.as_ref().is_some_and(is_too_long) {
            reasons.push(StoreError::ConfigTooLong(MAX_CONFIG_BYTES));
        }
        let first = new.split();
        let outcome = Outcome::Task(new.task.id.clone());
        let protocol_version =
            |config: &TaskPushNotificationConfig| (config.id.to_string(), new.protocol_version);
        let mut log = Log {
            protocol_versions: new.config.iter().map(protocol_version).collect(),
            messages: new.task.history.len(),
            look: Look {
                task: Arc::unwrap_or_clone(new.task),
                sequence: 1,
                protocol_version: new.protocol_version,
                checkpoint: None,
                turn: 1,
                events: Vec::new(),
                configs: new.config.into_iter().collect(),
            },
            epoch: 1,
            holder: new.holder,
            lasts: Some(!new.term.is_zero()),
            outbox: BTreeMap::new(),
        };
        reasons.extend(first.into_iter().flat_map(|first| log.write(first)));
        if reasons.is_empty() {
            self.note(owner, new.receipt, outcome);
            self.logs.insert(key, log);
        }
        reasons
    }

    pub(crate) fn append(
        &mut self,
        key: &Key,
        mut append: Append,
    ) -> Result<Appended, Vec<StoreError>> {
        let receipt = append.receipt.take();
        let mut reasons = self.receipt(&key.0, receipt.as_ref());
        let Some(log) = self.logs.get_mut(key) else {
            reasons.push(StoreError::NoTask);
            return Err(reasons);
        };
        let mut next = log.clone();
        reasons.extend(next.write(append));
        if !reasons.is_empty() {
            return Err(reasons);
        }
        let appended = Appended::new(next.look.sequence, next.epoch, next.messages);
        let outcome = Outcome::Task(next.look.task.id.clone());
        *log = next;
        self.note(&key.0, receipt, outcome);
        Ok(appended)
    }

    pub(crate) fn store_response(
        &mut self,
        owner: &Owner,
        receipt: IdempotencyKey,
        outcome: Outcome,
    ) -> Vec<StoreError> {
        let reasons = self.receipt(owner, Some(&receipt));
        if reasons.is_empty() {
            self.note(owner, Some(receipt), outcome);
        }
        reasons
    }

    pub(crate) fn put_config(
        &mut self,
        owner: &Owner,
        config: TaskPushNotificationConfig,
        protocol_version: ProtocolVersion,
    ) -> Vec<StoreError> {
        let key = (owner.clone(), config.task_id.to_string());
        let too_long = is_too_long(&config).then_some(StoreError::ConfigTooLong(MAX_CONFIG_BYTES));
        let mut reasons: Vec<_> = too_long.into_iter().collect();
        let Some(log) = self.logs.get_mut(&key) else {
            reasons.push(StoreError::NoTask);
            return reasons;
        };
        let configs = &mut log.look.configs;
        let known = configs.iter().position(|known| known.id == config.id);
        if known.is_none() && configs.len() == MAX_CONFIGS {
            reasons.push(StoreError::TooManyConfigs(MAX_CONFIGS));
        }
        if reasons.is_empty() {
            log.protocol_versions
                .insert(config.id.to_string(), protocol_version);
            match known {
                Some(place) => configs[place] = config,
                None => configs.push(config),
            }
        }
        reasons
    }

    pub(crate) fn delete_config(&mut self, key: &Key, config: &str) -> Vec<StoreError> {
        let Some(log) = self.logs.get_mut(key) else {
            return vec![StoreError::NoTask];
        };
        log.look.configs.retain(|known| known.id.as_str() != config);
        log.outbox.remove(config);
        Vec::new()
    }

    pub(crate) fn renew(&mut self, holder: &str, term: Duration) {
        for log in self.logs.values_mut().filter(|log| *log.holder == *holder) {
            log.lasts = log.lasts.map(|_| !term.is_zero());
        }
    }

    pub(crate) fn orphans(&self) -> BTreeSet<Key> {
        let orphaned = |log: &Log| {
            let state = log.look.task.status.state;
            let waits = log.look.turn < log.messages;
            let rests = state.is_terminal() || state.is_interrupted() && !waits;
            log.lasts != Some(true) && !rests
        };
        let logs = self.logs.iter().filter(|(_, log)| orphaned(log));
        logs.map(|(key, _)| key.clone()).collect()
    }

    pub(crate) fn sweep_all(&mut self) -> usize {
        let before = self.logs.len();
        self.logs
            .retain(|_, log| !log.look.task.status.state.is_terminal());
        before - self.logs.len()
    }

    /// Checks that taken notifications are due, no more than the limit, and all of them if there is room.
    pub(crate) fn take(&mut self, taken: &[Notification], limit: usize, term: Duration) -> Checked {
        let waiting = self
            .logs
            .values_mut()
            .flat_map(|log| log.outbox.values_mut());
        let due = waiting.filter_map(first).filter(|row| !row.hidden).count();
        same("how many are taken", taken.len(), due.min(limit))?;
        for taken in taken {
            let config = &taken.config;
            let key = (taken.owner.clone(), config.task_id.to_string());
            let none =
                || Observation::new(format!("taken: {}, expected nothing of it", short(taken)));
            let log = self.logs.get_mut(&key).ok_or_else(none)?;
            let rows = log.outbox.get_mut(config.id.as_str());
            let row = rows.and_then(first).filter(|row| !row.hidden);
            let row = row.ok_or_else(none)?;
            let before = row.clone();
            row.attempt += 1;
            row.hidden = !term.is_zero();
            let expected = log.notification(&key.0, config.id.as_str(), &before);
            same("taken", Some(taken.clone()), expected)?;
        }
        Ok(())
    }

    /// The dead letters, in no particular order.
    pub(crate) fn dead_letters(&self) -> Vec<Notification> {
        let mut dead = Vec::new();
        for ((owner, _), log) in &self.logs {
            for (config, rows) in &log.outbox {
                let rows = rows.iter().filter(|row| row.dead);
                dead.extend(rows.filter_map(|row| log.notification(owner, config, row)));
            }
        }
        dead
    }

    pub(crate) fn undelivered(&self) -> usize {
        let rows = self.logs.values().flat_map(|log| log.outbox.values());
        rows.flatten().filter(|row| !row.dead).count()
    }

    pub(crate) fn record_delivery(
        &mut self,
        notification: &Notification,
        settlement: DeliveryResult,
    ) {
        let config = &notification.config;
        let key = (notification.owner.clone(), config.task_id.to_string());
        let log = self.logs.get_mut(&key);
        let rows = log.and_then(|log| log.outbox.get_mut(config.id.as_str()));
        let Some(rows) = rows else { return };
        if settlement == DeliveryResult::Delivered {
            rows.retain(|row| row.sequence != notification.sequence);
        }
        let attempt = notification.attempt;
        let settled = |row: &&mut Row| {
            row.sequence == notification.sequence && row.attempt == attempt + u32::from(!row.dead)
        };
        for row in rows.iter_mut().filter(settled) {
            row.dead = settlement == DeliveryResult::DeadLetter;
            if let DeliveryResult::Retry(pause) | DeliveryResult::Deferred(pause) = settlement {
                row.hidden = !pause.is_zero();
                let untried = matches!(settlement, DeliveryResult::Deferred(_));
                row.attempt = row.attempt.saturating_sub(u32::from(untried));
            }
        }
    }
}

/// The only notification of a webhook that may be due.
fn first(rows: &mut VecDeque<Row>) -> Option<&mut Row> {
    rows.iter_mut().find(|row| !row.dead)
}

fn is_too_long(config: &TaskPushNotificationConfig) -> bool {
    let token = config.token.as_ref();
    token.is_some_and(|token| token.len() >= MAX_CONFIG_BYTES)
}

impl Log {
    /// Adds to the log; if that is refused, the log is left half written.
    fn write(&mut self, append: Append) -> Vec<StoreError> {
        let mut reasons = Vec::new();
        if append.after != self.look.sequence {
            reasons.push(StoreError::SequenceConflict(self.look.sequence));
        }
        reasons.extend(self.lease(&append.lease));
        let mut events = append.events.iter();
        let legal = events.try_for_each(|event| self.look.task.apply(event));
        reasons.extend(legal.err().map(StoreError::InvalidTransition));
        if !reasons.is_empty() {
            return reasons;
        }
        if append.release {
            self.lasts = None;
        }
        if append.checkpoint.is_some() || append.turn.is_some() {
            self.look.checkpoint = append.checkpoint;
        }
        self.look.turn = append.turn.unwrap_or(self.look.turn);
        for event in append.events {
            self.add(event, append.notify, append.trace.as_ref());
        }
        reasons
    }

    fn notification(&self, owner: &Owner, config: &str, row: &Row) -> Option<Notification> {
        let mut configs = self.look.configs.iter();
        let webhook = configs.find(|known| known.id.as_str() == config)?;
        let protocol_version = *self.protocol_versions.get(config)?;
        let mut notification = Notification::new(
            owner.clone(),
            webhook.clone(),
            protocol_version,
            row.sequence,
        );
        (notification.attempt, notification.trace) = (row.attempt, row.trace.clone());
        Some(notification)
    }

    fn lease(&mut self, lease: &Lease) -> Option<StoreError> {
        let (holder, term) = match lease {
            Lease::Held { epoch } if *epoch == self.epoch => return None,
            Lease::Held { .. } => return Some(StoreError::Fenced),
            Lease::Acquire { holder, .. } if self.lasts == Some(true) && *holder != self.holder => {
                return Some(StoreError::Leased);
            }
            Lease::Acquire { holder, term } | Lease::TakeOver { holder, term } => (holder, term),
        };
        self.holder = Arc::clone(holder);
        self.lasts = Some(!term.is_zero());
        self.epoch += 1;
        None
    }

    fn add(&mut self, event: Event, notify: bool, trace: Option<&TraceContext>) {
        self.look.sequence += 1;
        let is_of_caller = matches!(&event, Event::Message(it) if it.role != Role::Agent);
        self.messages += usize::from(is_of_caller);
        if notify && !matches!(event, Event::Message(_)) && !is_step(&event) {
            for config in &self.look.configs {
                let rows = self.outbox.entry(config.id.to_string()).or_default();
                rows.push_back(Row {
                    sequence: self.look.sequence,
                    attempt: 0,
                    trace: trace.cloned(),
                    hidden: false,
                    dead: false,
                });
            }
        }
        self.look.events.push(event);
    }
}
