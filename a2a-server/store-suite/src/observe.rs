//! Observations of a store, each compared with the plain model.

use std::cmp::Reverse;

use a2a_server::{DeliveryResult, ListCursor, ListQuery, LogPage, Owner, StoreError};
use a2a_types::{ContextId, Task, Timestamp};

use crate::dice::STATES;
use crate::model::Key;
use crate::observation::{Checked, holds, refused, same, same_each};
use crate::random::{CONTEXTS, MESSAGES, Round};
use crate::sample::{LONG, time};
use crate::writer::{Look, Writer};

impl Round {
    /// Compares everything that can be read of a task.
    pub(crate) async fn look(&mut self, key: &Key) -> Checked {
        let writer = Writer {
            store: self.bench.store.clone(),
            owner: key.0.clone(),
            task: key.1.as_str().into(),
            sequence: 1,
            epoch: 1,
        };
        let (store, (owner, task)) = (&self.bench.store, (&key.0, &writer.task));
        let Some(log) = self.model.logs.get(key) else {
            same("the task exists", writer.exists().await?, false)?;
            refused!(store.events_after(owner, task, 1).await, StoreError::NoTask);
            refused!(store.head(owner, task).await, StoreError::NoTask);
            refused!(store.watch(owner, task).await, StoreError::NoTask);
            refused!(store.configs(owner, task).await, StoreError::NoTask);
            return Ok(());
        };
        let end = log.look.sequence;
        let after = 1 + self.dice.below(end);
        looks_like(writer.look().await?, &log.look)?;
        let begin = usize::try_from(after - 1).unwrap_or_default();
        let what = format!("the events after {after}");
        same_each(&what, &writer.read(after).await?, &log.look.events[begin..])?;
        for unknown in [0, end + 1, u64::MAX >> 1] {
            let tail = store.events_after(owner, task, unknown).await?;
            let is_unknown = matches!(tail, LogPage::Unknown);
            holds(format!("{unknown} of {end} is unknown"), is_unknown)?;
        }
        same("the end of the log", store.head(owner, task).await?, end)?;
        let watch = store.watch(owner, task).await?;
        let sequence = *watch.borrow();
        same("the sequence that is watched", sequence, end)
    }

    /// Compares everything that does not belong to a single task.
    pub(crate) async fn look_around(&mut self, owner: &Owner) -> Checked {
        let message = self.dice.one_of(&MESSAGES);
        self.look_at_message(owner, message).await?;
        let store = &self.bench.store;
        let orphans = self.model.orphans();
        same("the orphans", self.bench.orphans().await?, orphans.clone())?;
        let some = store.orphans(2).await?.len();
        same("how many of two orphans", some, orphans.len().min(2))?;
        let waiting = self.model.undelivered();
        same("how many wait", store.undelivered().await?, waiting)?;
        let expected = self.model.dead_letters();
        let dead = store.dead_letters(1000).await?;
        same("how many dead letters", dead.len(), expected.len())?;
        for letter in dead {
            let known = expected.contains(&letter);
            holds(format!("a dead letter: {letter:?}"), known)?;
        }
        let one = store.dead_letters(1).await?.len();
        same("how many of one dead letter", one, expected.len().min(1))
    }

    async fn look_at_message(&self, owner: &Owner, message: &str) -> Checked {
        let found = self.bench.store.received(owner, &message.into()).await?;
        let key = (owner.clone(), message.to_owned());
        let expected = self.model.received.get(&key).cloned();
        let what = format!("what became of message {message:?}");
        same(&what, found, expected)
    }

    pub(crate) async fn list(&mut self, owner: &Owner) -> Checked {
        let dice = &mut self.dice;
        let own = |(of, _): &&Key| of == owner;
        let own: Vec<_> = self.model.logs.keys().filter(own).cloned().collect();
        let place = match dice.below(3) {
            0 if !own.is_empty() => Some(ListCursor::of(
                &self.model.logs[&dice.one_of(&own)].look.task,
            )),
            // A cursor stays valid even if its task has moved.
            1 => self.place.clone(),
            _ => None,
        };
        let contexts = [CONTEXTS[0], CONTEXTS[1], Some("none"), None, None, None];
        let mut listing = ListQuery::new(1);
        listing.context_id = dice.one_of(&contexts).map(ContextId::from);
        listing.status = dice.chance(3).then(|| dice.one_of(&STATES));
        listing.since = dice.chance(3).then(|| time(dice.one_of(&[-1, 0, 2, 9])));
        listing.after = place;
        listing.limit = dice.one_of(&[1, 2, 50]);
        self.page(owner, listing).await.map(drop)
    }

    /// Compares one page; returns whether there are more.
    async fn page(&mut self, owner: &Owner, listing: ListQuery) -> Checked<bool> {
        self.asked = format!("list of {owner:?}: {listing:?}");
        let page = self.bench.store.list(owner, listing.clone()).await?;
        let wanted = |task: &&Task| {
            (listing.context_id.is_none() || listing.context_id == task.context_id)
                && listing
                    .status
                    .is_none_or(|state| state == task.status.state)
                && (listing.since.is_none() || task.status.timestamp >= listing.since)
        };
        let logs = self.model.logs.iter().filter(|((of, _), _)| of == owner);
        let tasks = logs.map(|(_, log)| &log.look.task);
        let mut tasks: Vec<_> = tasks.filter(wanted).cloned().collect();
        let place = |task: &Task| {
            let time = task.status.timestamp.map(Timestamp::as_millis);
            (Reverse(time.unwrap_or(i64::MIN)), task.id.clone())
        };
        tasks.sort_by_key(place);
        same("how many on all pages", page.total, tasks.len())?;
        if let Some(after) = &listing.after {
            tasks.retain(|task| place(task) > (after.time, after.task.clone()));
        }
        let more = tasks.len() > listing.limit;
        same("whether there are more", page.more, more)?;
        tasks.truncate(listing.limit);
        let ids = |tasks: &[Task]| -> Vec<_> { tasks.iter().map(|task| task.id.clone()).collect() };
        same("the listed ids", ids(&page.tasks), ids(&tasks))?;
        same_each("the listed tasks", &page.tasks, &tasks)?;
        self.place = tasks.last().map(ListCursor::of);
        Ok(more)
    }

    pub(crate) async fn end(&mut self) -> Checked {
        for owner in self.owners.clone() {
            for limit in [1, 7] {
                let mut listing = ListQuery::new(limit);
                while self.page(&owner, listing.clone()).await? {
                    listing.after.clone_from(&self.place);
                }
            }
        }
        self.sweep().await?;
        for owner in self.owners.clone() {
            for message in MESSAGES {
                self.look_at_message(&owner, message).await?;
            }
            for task in self.tasks {
                self.look(&(owner.clone(), (*task).to_owned())).await?;
            }
            self.look_around(&owner).await?;
        }
        // No notification is lost; hidden ones stay hidden.
        self.asked = "sweep, then delivery of everything".to_owned();
        self.given_out.clear();
        loop {
            let due = self.bench.due().await?;
            self.model.take(&due, 1000, LONG)?;
            if due.is_empty() {
                return Ok(());
            }
            for notification in due {
                let delivered = DeliveryResult::Delivered;
                self.bench
                    .store
                    .record_delivery(&notification, delivered)
                    .await?;
                self.model.record_delivery(&notification, delivered);
            }
        }
    }
}

/// Compares part by part, so that a difference can be read.
fn looks_like(found: Look, expected: &Look) -> Checked {
    let end = |look: &Look| (look.sequence, look.protocol_version);
    same("sequence and protocol_version", end(&found), end(expected))?;
    let point = |look: &Look| look.checkpoint.clone();
    same("the checkpoint", point(&found), point(expected))?;
    same_each("the events", &found.events, &expected.events)?;
    same_each("the webhooks", &found.configs, &expected.configs)?;
    let (task, expected) = (found.task, &expected.task);
    same("the status", &task.status, &expected.status)?;
    same_each("the history", &task.history, &expected.history)?;
    same_each("the artifacts", &task.artifacts, &expected.artifacts)?;
    same("the task", &task, expected)
}
