//! Faults of reading.

use std::sync::Arc;

use a2a_server::{
    IdempotencyRecord, ListCursor, ListQuery, LogEntry, LogPage, Orphan, Outcome, Owner, Page,
    Snapshot, Store, StoreError,
};
use a2a_types::{MessageId, TaskId};
use tokio::sync::watch;

use super::{Broken, StoreResult};
use crate::fault::Fault;

impl Broken {
    pub(super) async fn look(&self, owner: &Owner, task: &TaskId) -> StoreResult<Option<Snapshot>> {
        if self.notes().gone.contains(&(owner.clone(), task.clone())) {
            return Ok(None);
        }
        let mut snapshot = self.inner.snapshot(owner, task).await?;
        if self.fault == Fault::LosesSnapshots
            && let Some(snapshot) = &mut snapshot
            && snapshot.sequence > 64
        {
            Arc::make_mut(&mut snapshot.task).artifacts.pop();
        }
        Ok(snapshot)
    }

    pub(super) async fn read(
        &self,
        owner: &Owner,
        task: &TaskId,
        after: u64,
    ) -> StoreResult<LogPage> {
        let tail = self.inner.events_after(owner, task, after).await?;
        let LogPage::Events(mut events) = tail else {
            let known = self.fault == Fault::KnowsEveryPlace && after > 0;
            return Ok(if known {
                LogPage::Events(Vec::new())
            } else {
                tail
            });
        };
        match self.fault {
            Fault::SkipsEvent => events.retain(|logged| logged.sequence != 3),
            Fault::SwapsEvents if events.len() > 1 => {
                let first = events[0].event.clone();
                events[0].event = events[1].event.clone();
                events[1].event = first;
            }
            Fault::RepeatsEvent if after > 1 => {
                return self.inner.events_after(owner, task, after - 1).await;
            }
            Fault::ReadsNothing if after.is_multiple_of(10) => events.clear(),
            Fault::ReadsEverything => {
                while let Some(last) = events.last() {
                    let after = last.sequence;
                    let LogPage::Events(more) = self.inner.events_after(owner, task, after).await?
                    else {
                        break;
                    };
                    if more.is_empty() {
                        break;
                    }
                    events.extend(more);
                }
            }
            Fault::RewritesLog if after == 1 => {
                let snapshot = self.inner.snapshot(owner, task).await?;
                let is_over = |it: Snapshot| it.task.status.state.is_terminal();
                let last: Option<LogEntry> = events.last().cloned();
                if snapshot.is_some_and(is_over)
                    && let Some(last) = last
                {
                    events[0].event = last.event;
                }
            }
            _ => {}
        }
        Ok(LogPage::Events(events))
    }

    pub(super) async fn listen(
        &self,
        owner: &Owner,
        task: &TaskId,
    ) -> StoreResult<watch::Receiver<u64>> {
        let known = self.inner.watch(owner, task).await;
        let key = (owner.clone(), task.clone());
        let channel = |begin: u64| {
            let mut notes = self.notes();
            let channel = notes.channels.entry(key);
            channel
                .or_insert_with(|| watch::Sender::new(begin))
                .subscribe()
        };
        match (self.fault, known) {
            (Fault::WatchesAnything, Err(StoreError::NoTask)) => Ok(channel(1)),
            (Fault::WatchesFromStart, Ok(_)) => Ok(watch::Sender::new(1).subscribe()),
            (Fault::WakesNobody | Fault::WakesFirst | Fault::WakesBackwards, Ok(known)) => {
                let begin = *known.borrow();
                Ok(channel(begin))
            }
            (_, known) => known,
        }
    }

    /// Wakes watches by a channel of this store's own.
    pub(super) fn announce(&self, owner: &Owner, task: &TaskId, sequence: u64) {
        let notes = self.notes();
        if let Some(channel) = notes.channels.get(&(owner.clone(), task.clone())) {
            channel.send_replace(sequence);
        }
    }

    pub(super) async fn page(&self, owner: &Owner, mut listing: ListQuery) -> StoreResult<Page> {
        let mut whole = listing.clone();
        whole.after = None;
        whole.limit = 10_000;
        match self.fault {
            Fault::ListsEveryContext => listing.context_id = None,
            Fault::ListsEveryState => listing.status = None,
            Fault::ListsEveryTime => listing.since = None,
            Fault::SkipsAtCursor if listing.after.is_some() => {
                let mut next = listing.clone();
                next.limit = 1;
                let next = self.inner.list(owner, next).await?;
                listing.after = next.tasks.first().map(ListCursor::of).or(listing.after);
            }
            Fault::RepeatsAtCursor => {
                let all = self.inner.list(owner, whole).await?.tasks;
                let places: Vec<_> = all.iter().map(ListCursor::of).collect();
                let after = listing.after.take();
                let before =
                    |place: &&ListCursor| after.as_ref().is_some_and(|after| *place < after);
                listing.after = places.iter().filter(before).max().cloned();
            }
            Fault::CountsToCursor => return self.page_by_count(owner, whole, listing).await,
            _ => {}
        }
        let mut page = self.inner.list(owner, listing).await?;
        match self.fault {
            Fault::ListsBackwards => page.tasks.reverse(),
            Fault::CountsPage => page.total = page.tasks.len(),
            Fault::PromisesMore => page.more = true,
            Fault::ListsPartly => {
                for task in &mut page.tasks {
                    task.artifacts.clear();
                }
            }
            Fault::SweepsUnfinished | Fault::SweepsLast => {
                let notes = self.notes();
                let gone = |id: &TaskId| notes.gone.contains(&(owner.clone(), id.clone()));
                page.tasks.retain(|task| !gone(&task.id));
            }
            _ => {}
        }
        Ok(page)
    }

    async fn page_by_count(
        &self,
        owner: &Owner,
        whole: ListQuery,
        listing: ListQuery,
    ) -> StoreResult<Page> {
        let all = self.inner.list(owner, whole).await?.tasks;
        let mut notes = self.notes();
        let listed = |place: ListCursor| notes.listed.get(&place).map_or(0, |index| index + 1);
        let begin = listing.after.map_or(0, listed);
        let places = all.iter().map(ListCursor::of).zip(0..);
        notes.listed.extend(places);
        let rest = all[begin.min(all.len())..].to_vec();
        let more = rest.len() > listing.limit;
        let tasks = rest.into_iter().take(listing.limit).collect();
        Ok(Page::new(tasks, all.len(), more))
    }

    pub(super) async fn recall(
        &self,
        owner: &Owner,
        message: &MessageId,
    ) -> StoreResult<Option<IdempotencyRecord>> {
        let received = self.inner.received(owner, message).await?;
        if self.fault == Fault::ForgetsReceiptsOfSwept
            && let Some(Outcome::Task(task)) = received.as_ref().map(|it| &it.outcome)
            && self.inner.snapshot(owner, task).await?.is_none()
        {
            return Ok(None);
        }
        let guess = IdempotencyRecord::new([0; 32], Outcome::Task("t".into()));
        let invents = self.fault == Fault::KnowsEveryMessage && message.as_str() == "begin";
        Ok(received.or(invents.then_some(guess)))
    }

    pub(super) async fn abandoned(&self, limit: usize) -> StoreResult<Vec<Orphan>> {
        let limit = match self.fault {
            Fault::OrphansUnlimited => 1000,
            _ => limit,
        };
        let mut orphans = self.inner.orphans(limit).await?;
        if self.fault == Fault::ForgetsQueuedMessages {
            let all = std::mem::take(&mut orphans);
            for orphan in all {
                let snapshot = self.inner.snapshot(&orphan.owner, &orphan.task).await?;
                let waits = |it: &Snapshot| it.task.status.state.is_interrupted();
                if !snapshot.as_ref().is_some_and(waits) {
                    orphans.push(orphan);
                }
            }
        }
        let tasks = self.notes().tasks.clone();
        for (owner, task) in tasks.into_keys() {
            let Some(snapshot) = self.inner.snapshot(&owner, &task).await? else {
                continue;
            };
            let state = snapshot.task.status.state;
            let is_one = match self.fault {
                Fault::OrphansInterrupted => state.is_interrupted(),
                Fault::OrphansLeased => !state.is_interrupted() && !state.is_terminal(),
                _ => false,
            };
            let orphan = Orphan::new(owner, task);
            if is_one && !orphans.contains(&orphan) {
                orphans.push(orphan);
            }
        }
        Ok(orphans)
    }
}
