//! A store so plain that nothing can be wrong with it: one thing after another, and no clock.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use a2a_types::steps::is_step;
use a2a_types::{Event, TaskPushNotificationConfig};

use super::super::limits::MAX_CONFIGS;
use super::super::{
    Append, Appended, Lease, NewTask, Notification, Outcome, Owner, Receipt, Received, Settlement,
    StoreError,
};
use super::saw::{Checked, Saw, holds, same, short};
use super::writer::Look;

/// Expected content of a store. A term is over at once if it is zero, and never otherwise.
#[derive(Default)]
pub(super) struct Model {
    pub(super) logs: BTreeMap<Key, Log>,
    pub(super) received: BTreeMap<(Owner, String), Received>,
}

pub(super) type Key = (Owner, String);

/// Expected content of a store for one task.
#[derive(Clone)]
pub(super) struct Log {
    pub(super) look: Look,
    pub(super) epoch: u64,
    holder: Arc<str>,
    /// None if it was handed back.
    lasts: Option<bool>,
    outbox: BTreeMap<String, VecDeque<Row>>,
}

#[derive(Clone)]
struct Row {
    generation: u64,
    attempt: u32,
    hidden: bool,
}

/// Reason why an operation cannot succeed; of several reasons a store may give any.
#[derive(Debug, PartialEq)]
pub(super) enum Reason {
    NoTask,
    TaskExists,
    Received,
    Behind(u64),
    Fenced,
    Leased,
    Illegal,
    TooManyConfigs,
}

impl Reason {
    fn of(error: &StoreError) -> Option<Self> {
        Some(match error {
            StoreError::NoTask => Self::NoTask,
            StoreError::TaskExists => Self::TaskExists,
            StoreError::Received => Self::Received,
            StoreError::Behind(end) => Self::Behind(*end),
            StoreError::Fenced => Self::Fenced,
            StoreError::Leased => Self::Leased,
            StoreError::Illegal(_) => Self::Illegal,
            StoreError::TooManyConfigs(_) => Self::TooManyConfigs,
            _ => return None,
        })
    }
}

/// A store must refuse for one of these reasons, and succeed if there is none.
pub(super) fn agrees<T: std::fmt::Debug>(
    answer: &Result<T, StoreError>,
    reasons: &[Reason],
) -> Checked {
    let agrees = match answer {
        Ok(_) => reasons.is_empty(),
        Err(error) => Reason::of(error).is_some_and(|reason| reasons.contains(&reason)),
    };
    match agrees {
        true => Ok(()),
        false => Err(Saw::new(format!("{}, reasons {reasons:?}", short(answer)))),
    }
}

impl Model {
    fn receipt(&self, owner: &Owner, receipt: Option<&Receipt>) -> Vec<Reason> {
        let key = receipt.map(|receipt| (owner.clone(), receipt.message.to_string()));
        let known = key.is_some_and(|key| self.received.contains_key(&key));
        known.then_some(Reason::Received).into_iter().collect()
    }

    fn note(&mut self, owner: &Owner, receipt: Option<Receipt>, outcome: Outcome) {
        if let Some(Receipt {
            message, digest, ..
        }) = receipt
        {
            let received = Received::new(digest, outcome);
            self.received
                .insert((owner.clone(), message.into()), received);
        }
    }

    pub(super) fn create(&mut self, owner: &Owner, new: NewTask) -> Vec<Reason> {
        let key = (owner.clone(), new.task.id.to_string());
        let mut reasons = self.receipt(owner, new.receipt.as_ref());
        if self.logs.contains_key(&key) {
            reasons.push(Reason::TaskExists);
        }
        if reasons.is_empty() {
            let outcome = Outcome::Task(new.task.id.clone());
            self.note(owner, new.receipt, outcome);
            let log = Log {
                look: Look {
                    task: Arc::unwrap_or_clone(new.task),
                    generation: 1,
                    dialect: new.dialect,
                    checkpoint: None,
                    events: Vec::new(),
                    configs: new.config.into_iter().collect(),
                },
                epoch: 1,
                holder: new.holder,
                lasts: Some(!new.term.is_zero()),
                outbox: BTreeMap::new(),
            };
            self.logs.insert(key, log);
        }
        reasons
    }

    pub(super) fn append(&mut self, key: &Key, append: Append) -> Result<Appended, Vec<Reason>> {
        let mut reasons = self.receipt(&key.0, append.receipt.as_ref());
        let Some(log) = self.logs.get_mut(key) else {
            return Err(vec![Reason::NoTask]);
        };
        let mut next = log.clone();
        if append.after != log.look.generation {
            reasons.push(Reason::Behind(log.look.generation));
        }
        reasons.extend(next.lease(&append.lease));
        let legal = append
            .events
            .iter()
            .try_for_each(|event| next.look.task.apply(event));
        reasons.extend(legal.err().map(|_| Reason::Illegal));
        if !reasons.is_empty() {
            return Err(reasons);
        }
        if append.release {
            next.lasts = None;
        }
        next.look.checkpoint = append.checkpoint.or(next.look.checkpoint);
        for event in append.events {
            next.add(event, append.notify);
        }
        let appended = Appended::new(next.look.generation, next.epoch);
        let outcome = Outcome::Task(next.look.task.id.clone());
        *log = next;
        self.note(&key.0, append.receipt, outcome);
        Ok(appended)
    }

    pub(super) fn keep_answer(
        &mut self,
        owner: &Owner,
        receipt: Receipt,
        outcome: Outcome,
    ) -> Vec<Reason> {
        let reasons = self.receipt(owner, Some(&receipt));
        if reasons.is_empty() {
            self.note(owner, Some(receipt), outcome);
        }
        reasons
    }

    pub(super) fn put_config(
        &mut self,
        owner: &Owner,
        config: TaskPushNotificationConfig,
    ) -> Vec<Reason> {
        let key = (owner.clone(), config.task_id.to_string());
        let Some(log) = self.logs.get_mut(&key) else {
            return vec![Reason::NoTask];
        };
        let configs = &mut log.look.configs;
        match configs.iter().position(|known| known.id == config.id) {
            Some(place) => configs[place] = config,
            None if configs.len() == MAX_CONFIGS => return vec![Reason::TooManyConfigs],
            None => configs.push(config),
        }
        Vec::new()
    }

    pub(super) fn delete_config(&mut self, key: &Key, config: &str) -> Vec<Reason> {
        let Some(log) = self.logs.get_mut(key) else {
            return vec![Reason::NoTask];
        };
        log.look.configs.retain(|known| known.id.as_str() != config);
        log.outbox.remove(config);
        Vec::new()
    }

    pub(super) fn renew(&mut self, holder: &str) {
        for log in self.logs.values_mut().filter(|log| *log.holder == *holder) {
            log.lasts = log.lasts.map(|_| true);
        }
    }

    pub(super) fn orphans(&self) -> BTreeSet<Key> {
        let orphaned = |log: &Log| {
            let state = log.look.task.status.state;
            log.lasts != Some(true) && !state.is_terminal() && !state.is_interrupted()
        };
        let logs = self.logs.iter().filter(|(_, log)| orphaned(log));
        logs.map(|(key, _)| key.clone()).collect()
    }

    pub(super) fn sweep_all(&mut self) -> usize {
        let before = self.logs.len();
        self.logs
            .retain(|_, log| !log.look.task.status.state.is_terminal());
        before - self.logs.len()
    }

    /// Checks that taken notifications are due, no more than the limit, and all of them if there is room.
    pub(super) fn take(&mut self, taken: &[Notification], limit: usize, term: Duration) -> Checked {
        let waiting = self.logs.values().flat_map(|log| log.outbox.values());
        let due = waiting.filter(|rows| rows.front().is_some_and(|row| !row.hidden));
        same("how many are taken", taken.len(), due.count().min(limit))?;
        for taken in taken {
            let told = format!("{taken:?} is due");
            let config = &taken.config;
            let log = self
                .logs
                .get_mut(&(taken.owner.clone(), config.task_id.to_string()));
            let log = log.ok_or_else(|| Saw::new(&told))?;
            holds(&told, log.look.configs.contains(config))?;
            let rows = log.outbox.get_mut(config.id.as_str());
            let row = rows.and_then(VecDeque::front_mut);
            let row = row.ok_or_else(|| Saw::new(&told))?;
            let is_next = (row.generation, row.attempt, row.hidden);
            same(&told, (taken.generation, taken.attempt, false), is_next)?;
            row.attempt += 1;
            row.hidden = !term.is_zero();
        }
        Ok(())
    }

    pub(super) fn settle(&mut self, notification: &Notification, settlement: Settlement) {
        let config = &notification.config;
        let key = (notification.owner.clone(), config.task_id.to_string());
        let log = self.logs.get_mut(&key);
        let rows = log.and_then(|log| log.outbox.get_mut(config.id.as_str()));
        let Some(rows) = rows else { return };
        match settlement {
            Settlement::Delivered | Settlement::GivenUp => {
                rows.retain(|row| row.generation != notification.generation);
            }
            Settlement::Later(pause) | Settlement::Untried(pause) => {
                let settled = |row: &&mut Row| row.generation == notification.generation;
                for row in rows.iter_mut().filter(settled) {
                    row.hidden = !pause.is_zero();
                    let untried = matches!(settlement, Settlement::Untried(_));
                    row.attempt = row.attempt.saturating_sub(u32::from(untried));
                }
            }
        }
    }
}

impl Log {
    fn lease(&mut self, lease: &Lease) -> Option<Reason> {
        let (holder, term) = match lease {
            Lease::Held { epoch } if *epoch == self.epoch => return None,
            Lease::Held { .. } => return Some(Reason::Fenced),
            Lease::Taken { holder, .. } if self.lasts == Some(true) && *holder != self.holder => {
                return Some(Reason::Leased);
            }
            Lease::Taken { holder, term } | Lease::Seized { holder, term } => (holder, term),
        };
        self.holder = Arc::clone(holder);
        self.lasts = Some(!term.is_zero());
        self.epoch += 1;
        None
    }

    fn add(&mut self, event: Event, notify: bool) {
        self.look.generation += 1;
        if notify && !matches!(event, Event::Message(_)) && !is_step(&event) {
            for config in &self.look.configs {
                let rows = self.outbox.entry(config.id.to_string()).or_default();
                rows.push_back(Row {
                    generation: self.look.generation,
                    attempt: 0,
                    hidden: false,
                });
            }
        }
        self.look.events.push(event);
    }
}
