//! Faults of writing.

use std::sync::Arc;
use std::time::Duration;

use a2a_server::{
    Append, Appended, IdempotencyKey, Lease, NewTask, Owner, Retention, Store, StoreError,
};
use a2a_types::{Event, Message, ProtocolVersion, TaskId};

use super::{Broken, StoreResult};
use crate::fault::Fault;

const LONG: Duration = Duration::from_secs(3600);

impl Broken {
    pub(super) async fn create_task(&self, owner: &Owner, mut new: NewTask) -> StoreResult<()> {
        match self.fault {
            Fault::LosesHistory => Arc::make_mut(&mut new.task).history.clear(),
            Fault::LosesProtocolVersion => new.protocol_version = ProtocolVersion::V1_0,
            Fault::LosesFirstEvents => new.events.clear(),
            Fault::LosesFirstWebhook => new.config = None,
            Fault::FoldsCase => {
                let id = new.task.id.as_str().to_lowercase().into();
                Arc::make_mut(&mut new.task).id = id;
            }
            Fault::LeasesForLong => new.term = LONG,
            Fault::LosesCredentials => {
                if let Some(config) = &mut new.config {
                    config.authentication = None;
                }
            }
            _ => {}
        }
        new.receipt = self.receipt(owner, new.receipt).await?;
        let key = (owner.clone(), new.task.id.clone());
        let holder = new.holder.to_string();
        self.notes().tasks.entry(key).or_default().insert(holder);
        let receipt = new.receipt.clone();
        match self.inner.create(owner, new.clone()).await {
            Err(StoreError::TaskExists) if self.fault == Fault::CreatesTwice => Ok(()),
            Err(StoreError::TaskExists) if self.fault == Fault::TakesMessageOfRefusedTask => {
                self.take_message(owner, receipt).await?;
                Err(StoreError::TaskExists)
            }
            Err(StoreError::DuplicateMessage)
                if self.takes_again(owner, receipt.as_ref()).await? =>
            {
                new.receipt = None;
                self.inner.create(owner, new).await
            }
            Err(error @ StoreError::InvalidTransition(_)) if self.fault == Fault::BeginsHalf => {
                new.events.clear();
                self.inner.create(owner, new).await?;
                Err(error)
            }
            created => created,
        }
    }

    /// Returns what this fault leaves of a receipt.
    async fn receipt(
        &self,
        owner: &Owner,
        receipt: Option<IdempotencyKey>,
    ) -> StoreResult<Option<IdempotencyKey>> {
        let Some(mut receipt) = receipt else {
            return Ok(None);
        };
        match self.fault {
            Fault::LosesReceipts => return Ok(None),
            Fault::RemembersMessages => receipt.term = LONG,
            Fault::SharesReceipts if !self.notes().messages.insert(receipt.message.clone()) => {
                return Err(StoreError::DuplicateMessage);
            }
            Fault::ChecksReceiptFirst => {
                let known = self.inner.received(owner, &receipt.message).await?;
                if known.is_some() {
                    return Err(StoreError::DuplicateMessage);
                }
                tokio::task::yield_now().await;
                // Only the first of several concurrent checks has the message remembered.
                let late = self.inner.received(owner, &receipt.message).await?;
                return Ok(late.is_none().then_some(receipt));
            }
            _ => {}
        }
        Ok(Some(receipt))
    }

    /// Returns whether a message is taken although it is known.
    async fn takes_again(
        &self,
        owner: &Owner,
        receipt: Option<&IdempotencyKey>,
    ) -> StoreResult<bool> {
        let Some(receipt) = receipt else {
            return Ok(false);
        };
        Ok(match self.fault {
            Fault::IgnoresReceipts | Fault::ChecksReceiptFirst => true,
            Fault::ComparesDigests => {
                let known = self.inner.received(owner, &receipt.message).await?;
                known.is_some_and(|known| known.digest != receipt.digest)
            }
            _ => false,
        })
    }

    async fn take_message(
        &self,
        owner: &Owner,
        receipt: Option<IdempotencyKey>,
    ) -> StoreResult<()> {
        match receipt {
            Some(receipt) => {
                let answer = Message::agent("none");
                self.inner.store_response(owner, receipt, answer).await
            }
            None => Ok(()),
        }
    }

    pub(super) async fn append_to(
        &self,
        owner: &Owner,
        task: &TaskId,
        mut append: Append,
    ) -> StoreResult<Appended> {
        let end = append.after + append.events.len() as u64;
        self.note(owner, task, &append);
        append.lease = self.lease(owner, task, append.lease).await?;
        append.receipt = self.receipt(owner, append.receipt).await?;
        match self.fault {
            Fault::DropsEvent if append.events.len() > 2 => drop(append.events.remove(1)),
            Fault::LosesCheckpoint => append.checkpoint = None,
            Fault::LosesTurn => append.turn = None,
            Fault::KeepsLease => append.release = false,
            Fault::TellsLess if append.events.len() > 1 => append.notify = false,
            Fault::IgnoresSequence => append.after = self.sequence(owner, task).await?,
            Fault::ChecksSequenceFirst => {
                let sequence = self.sequence(owner, task).await?;
                if sequence != append.after {
                    return Err(StoreError::SequenceConflict(sequence));
                }
                tokio::task::yield_now().await;
                append.after = self.sequence(owner, task).await?;
            }
            Fault::WakesFirst => {
                self.announce(owner, task, end);
                for _ in 0..3 {
                    tokio::task::yield_now().await;
                }
            }
            _ => {}
        }
        let whole = append.clone();
        let appended = match self.inner.append(owner, task, append).await {
            Ok(appended) => appended,
            Err(error) => return self.after_refusal(owner, task, whole, error).await,
        };
        if self.fault == Fault::WakesBackwards {
            let back = if end % 10 == 5 { 3 } else { 0 };
            self.announce(owner, task, end - back);
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
        }
        if self.fault == Fault::TellsMessages && whole.notify {
            self.tell_messages(owner, task, &whole).await?;
        }
        let uncounted = self.fault == Fault::CountsAppends && whole.events.is_empty();
        let sequence = match self.fault {
            Fault::DropsEvent | Fault::ChecksSequenceFirst => end,
            _ => appended.sequence + u64::from(uncounted),
        };
        Ok(Appended::new(sequence, appended.epoch, appended.messages))
    }

    /// Applies this fault to a refused append; returns the answer.
    async fn after_refusal(
        &self,
        owner: &Owner,
        task: &TaskId,
        mut append: Append,
        error: StoreError,
    ) -> StoreResult<Appended> {
        let said_so = Appended::new(
            append.after + append.events.len() as u64,
            match append.lease {
                Lease::Held { epoch } => epoch,
                Lease::Acquire { .. } | Lease::TakeOver { .. } => 1,
            },
            1,
        );
        let receipt = append.receipt.clone();
        match (self.fault, error) {
            (Fault::HidesIllegalEvents, StoreError::InvalidTransition(_))
            | (Fault::HidesMissingTask, StoreError::NoTask)
            | (
                Fault::HidesLimits,
                StoreError::TooManyMessages(_)
                | StoreError::TooLong(_)
                | StoreError::TooManyArtifacts(_),
            ) => Ok(said_so),
            (Fault::TakesMessageOfRefusedAppend, error) => {
                self.take_message(owner, receipt).await?;
                Err(error)
            }
            (Fault::AppliesHalf, error @ StoreError::InvalidTransition(_)) => {
                append.events.truncate(1);
                append.receipt = None;
                // Perhaps the first one is illegal too.
                let _ = self.inner.append(owner, task, append).await;
                Err(error)
            }
            (Fault::ReleasesWhenRefused, error @ StoreError::InvalidTransition(_)) => {
                append.events.clear();
                append.receipt = None;
                self.inner.append(owner, task, append).await?;
                Err(error)
            }
            (Fault::IgnoresEpoch, StoreError::Fenced) => {
                let epoch = self.epoch(owner, task).await?;
                append.lease = Lease::Held { epoch };
                self.inner.append(owner, task, append).await
            }
            (_, StoreError::DuplicateMessage)
                if self.takes_again(owner, receipt.as_ref()).await? =>
            {
                append.receipt = None;
                self.inner.append(owner, task, append).await
            }
            (_, error) => Err(error),
        }
    }

    fn note(&self, owner: &Owner, task: &TaskId, append: &Append) {
        let mut notes = self.notes();
        let key = (owner.clone(), task.clone());
        let ends = |event: &&Event| event.status().is_some_and(|to| to.state.is_terminal());
        let ends = append.events.iter().filter(ends).map(|_| key.clone());
        notes.ends.extend(ends);
        let Some(holders) = notes.tasks.get_mut(&key) else {
            return;
        };
        if let Lease::Acquire { holder, .. } | Lease::TakeOver { holder, .. } = &append.lease {
            holders.insert(holder.to_string());
        }
        let holders = holders.clone();
        if append.release {
            let given_back = holders.into_iter().map(|holder| (key.clone(), holder));
            notes.given_back.extend(given_back);
        }
    }

    /// Returns the lease that this fault makes of one.
    async fn lease(&self, owner: &Owner, task: &TaskId, lease: Lease) -> StoreResult<Lease> {
        let named = |holder: &Arc<str>| holder.clone();
        Ok(match (self.fault, lease) {
            (Fault::IgnoresLeases, Lease::Acquire { holder, term }) => {
                Lease::TakeOver { holder, term }
            }
            (Fault::SeizesNothing, Lease::TakeOver { holder, term }) => {
                Lease::Acquire { holder, term }
            }
            (Fault::ChecksLeaseFirst, Lease::Acquire { holder, term }) => {
                let free = self.inner.orphans(1000).await?;
                let is_free = free.iter().any(|it| it.owner == *owner && it.task == *task);
                tokio::task::yield_now().await;
                match is_free {
                    true => Lease::TakeOver { holder, term },
                    false => Lease::Acquire { holder, term },
                }
            }
            (Fault::ChecksEpochFirst, lease @ Lease::Held { .. }) => {
                let after = self.sequence(owner, task).await?;
                let mut probe = Append::held(after, 0, Vec::new());
                probe.lease = lease;
                self.inner.append(owner, task, probe).await?;
                tokio::task::yield_now().await;
                let epoch = self.epoch(owner, task).await?;
                Lease::Held { epoch }
            }
            (Fault::WantsLastingLease, lease @ Lease::Held { .. }) => {
                let free = self.inner.orphans(1000).await?;
                if free.iter().any(|it| it.owner == *owner && it.task == *task) {
                    return Err(StoreError::Fenced);
                }
                lease
            }
            (Fault::LeasesForLong, Lease::Acquire { holder, .. }) => Lease::Acquire {
                holder: named(&holder),
                term: LONG,
            },
            (Fault::LeasesForNothing, Lease::Acquire { holder, .. }) => Lease::Acquire {
                holder: named(&holder),
                term: Duration::ZERO,
            },
            (Fault::MistakesHolders, Lease::Acquire { holder, term }) => {
                self.notes().count += 1;
                let holder = format!("{holder} {}", self.notes().count).into();
                Lease::Acquire { holder, term }
            }
            (Fault::KeepsEpoch, Lease::Acquire { .. }) => Lease::Held {
                epoch: self.epoch(owner, task).await?,
            },
            (_, lease) => lease,
        })
    }

    pub(super) async fn prolong(&self, holder: &str, term: Duration) -> StoreResult<()> {
        let tasks = self.notes().tasks.clone();
        match self.fault {
            Fault::RenewsNothing => return Ok(()),
            Fault::RenewsEverybodys => {
                for holder in tasks.into_values().flatten() {
                    self.inner.renew(&holder, term).await?;
                }
            }
            Fault::RenewsLost | Fault::RenewsGivenBack => {
                for ((owner, task), holders) in tasks {
                    let key = ((owner.clone(), task.clone()), holder.to_owned());
                    let given_back = self.notes().given_back.contains(&key);
                    if self.fault == Fault::RenewsLost && holders.contains(holder) || given_back {
                        let after = self.sequence(&owner, &task).await?;
                        let mut again = Append::held(after, 0, Vec::new());
                        again.lease = Lease::TakeOver {
                            holder: holder.into(),
                            term,
                        };
                        self.inner.append(&owner, &task, again).await?;
                    }
                }
            }
            _ => {}
        }
        let for_long = matches!(self.fault, Fault::RenewsForLong | Fault::LeasesForLong);
        let term = if for_long { LONG } else { term };
        self.inner.renew(holder, term).await
    }

    pub(super) async fn clear(&self, mut retention: Retention) -> StoreResult<usize> {
        match self.fault {
            Fault::WaitsForEver => retention.patience = LONG,
            Fault::SweepsYoung => retention.count = 0,
            Fault::CountsEnds => {
                let tasks = self.notes().tasks.clone();
                let mut ended = 0;
                for (owner, task) in tasks.keys() {
                    let snapshot = self.inner.snapshot(owner, task).await?;
                    let is_over = |task: a2a_server::Snapshot| task.task.status.state.is_terminal();
                    ended += usize::from(snapshot.is_some_and(is_over));
                }
                let surplus = self.notes().ends.len().saturating_sub(ended);
                retention.count = retention.count.saturating_sub(surplus);
            }
            Fault::SweepsLast if retention.count > 0 => {
                return Ok(self.forget_last(retention.count));
            }
            _ => {}
        }
        let mut swept = self.inner.sweep(retention).await?;
        let sweeps_more = match self.fault {
            Fault::SweepsUnfinished => retention.count == 0,
            Fault::SweepsWorkedOn => retention.patience < LONG,
            _ => false,
        };
        if sweeps_more {
            let tasks = self.notes().tasks.clone();
            for (owner, task) in tasks.into_keys() {
                let left = self.inner.snapshot(&owner, &task).await?.is_some();
                let first = left && self.notes().gone.insert((owner, task));
                swept += usize::from(first);
            }
        }
        Ok(swept)
    }

    /// Hides the tasks that ended last, and keeps the first `keep`; returns the number of hidden tasks.
    fn forget_last(&self, keep: usize) -> usize {
        let mut notes = self.notes();
        let keep = keep.min(notes.ends.len());
        let last = notes.ends.split_off(keep);
        notes.gone.extend(last.iter().cloned());
        last.len()
    }
}
