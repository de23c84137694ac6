//! Faults of webhooks and answers.

use std::time::Duration;

use a2a_server::{Append, DeliveryResult, IdempotencyKey, Notification, Owner, Store, StoreError};
use a2a_types::{ConfigId, Event, Message, ProtocolVersion, TaskId, TaskPushNotificationConfig};

use super::{Broken, StoreResult};
use crate::fault::Fault;

const LONG: Duration = Duration::from_secs(3600);

impl Broken {
    /// Counts all notifications, dead letters too.
    pub(super) async fn all_letters(&self) -> StoreResult<usize> {
        let dead = self.inner.dead_letters(usize::MAX).await?.len();
        Ok(self.inner.undelivered().await? + dead)
    }

    pub(super) async fn keep_webhook(
        &self,
        owner: &Owner,
        mut config: TaskPushNotificationConfig,
        mut protocol_version: ProtocolVersion,
    ) -> StoreResult<()> {
        if self.fault == Fault::LosesWebhooksVersion {
            protocol_version = ProtocolVersion::V1_0;
        }
        if self.fault == Fault::LosesCredentials {
            config.authentication = None;
        }
        let kept = self
            .inner
            .put_config(owner, config.clone(), protocol_version)
            .await;
        match (self.fault, kept) {
            (Fault::HidesConfigLimit, Err(StoreError::TooManyConfigs(_)))
            | (Fault::HidesConfigSize, Err(StoreError::ConfigTooLong(_)))
            | (Fault::KeepsWebhookOfNothing, Err(StoreError::NoTask)) => return Ok(()),
            (_, Err(error)) => return Err(error),
            (_, Ok(())) => {}
        }
        let sequence = self.sequence(owner, &config.task_id).await?;
        if self.fault == Fault::TellsThePast && sequence > 1 {
            self.notes().more.push(Notification::new(
                owner.clone(),
                config.clone(),
                ProtocolVersion::V1_0,
                sequence,
            ));
        }
        self.notes().configs.push((owner.clone(), config));
        Ok(())
    }

    pub(super) async fn webhooks(
        &self,
        owner: &Owner,
        task: &TaskId,
    ) -> StoreResult<Vec<TaskPushNotificationConfig>> {
        let mut configs = match self.inner.configs(owner, task).await {
            Err(StoreError::NoTask) if self.fault == Fault::LeavesWebhooks => Vec::new(),
            configs => configs?,
        };
        let notes = self.notes();
        let put = notes.configs.iter().filter(|(of, config)| {
            of == owner && config.task_id == *task && !configs.contains(config)
        });
        match self.fault {
            Fault::AddsWebhooks => {
                let replaced: Vec<_> = put.map(|(_, config)| config.clone()).collect();
                configs.extend(replaced);
            }
            Fault::SortsWebhooks => configs.sort_by(|one, other| one.id.cmp(&other.id)),
            _ => {}
        }
        Ok(configs)
    }

    pub(super) async fn drop_webhook(
        &self,
        owner: &Owner,
        task: &TaskId,
        config: &ConfigId,
    ) -> StoreResult<()> {
        let tasks = self.notes().tasks.clone();
        match self.fault {
            Fault::DeletesNothing => return Ok(()),
            Fault::DeletesForAll => {
                for (owner, _) in tasks.keys().filter(|(_, same)| same == task) {
                    // A task that was swept has no webhook.
                    let _ = self.inner.delete_config(owner, task, config).await;
                }
            }
            _ => {}
        }
        self.inner.delete_config(owner, task, config).await
    }

    pub(super) async fn answer(
        &self,
        owner: &Owner,
        mut receipt: IdempotencyKey,
        answer: Message,
    ) -> StoreResult<()> {
        if self.fault == Fault::RemembersMessages {
            receipt.term = LONG;
        }
        let shared = self.fault == Fault::SharesReceipts;
        if shared && !self.notes().messages.insert(receipt.message.clone()) {
            return Err(StoreError::DuplicateMessage);
        }
        match self.inner.store_response(owner, receipt, answer).await {
            Err(StoreError::DuplicateMessage) if self.fault == Fault::AnswersTwice => Ok(()),
            kept => kept,
        }
    }

    /// Notifies webhooks of messages, too.
    pub(super) async fn tell_messages(
        &self,
        owner: &Owner,
        task: &TaskId,
        append: &Append,
    ) -> StoreResult<()> {
        let configs = self.inner.configs(owner, task).await?;
        for (sequence, event) in (append.after + 1..).zip(&append.events) {
            if !matches!(event, Event::Message(_)) {
                continue;
            }
            let notifications = configs.iter().map(|config| {
                Notification::new(
                    owner.clone(),
                    config.clone(),
                    ProtocolVersion::V1_0,
                    sequence,
                )
            });
            self.notes().more.extend(notifications);
        }
        Ok(())
    }

    pub(super) async fn take(
        &self,
        limit: usize,
        term: Duration,
    ) -> StoreResult<Vec<Notification>> {
        let (limit, term) = match self.fault {
            Fault::TakesEverything => (1000, term),
            Fault::TakesForNothing => (limit, Duration::ZERO),
            Fault::TakesForLong => (limit, LONG),
            _ => (limit, term),
        };
        if matches!(self.fault, Fault::TellsAtOnce | Fault::TellsBackwards) {
            return self.drain().await;
        }
        let mut taken = self.inner.notifications(limit, term).await?;
        taken.append(&mut self.notes().more);
        match self.fault {
            Fault::CountsNoAttempts => taken.iter_mut().for_each(|taken| taken.attempt = 0),
            Fault::LosesTraces => taken.iter_mut().for_each(|taken| taken.trace = None),
            Fault::KeepsFirstTrace => {
                for taken in &mut taken {
                    let trace = &mut self.notes().trace;
                    taken.trace = trace.get_or_insert_with(|| taken.trace.clone()).clone();
                }
            }
            Fault::TellsOldWebhook => {
                let notes = self.notes();
                for taken in &mut taken {
                    let first = notes.configs.iter().map(|(_, config)| config);
                    let mut first = first.filter(|first| first.id == taken.config.id);
                    taken.config = first.next().unwrap_or(&taken.config).clone();
                }
            }
            _ => {}
        }
        Ok(taken)
    }

    /// Takes whatever there is: all of it, or the last of it.
    async fn drain(&self) -> StoreResult<Vec<Notification>> {
        loop {
            let due = self.inner.notifications(1000, LONG).await?;
            if due.is_empty() {
                break;
            }
            for notification in &due {
                let delivered = DeliveryResult::Delivered;
                self.inner.record_delivery(notification, delivered).await?;
            }
            self.notes().more.extend(due);
        }
        let mut notes = self.notes();
        Ok(match self.fault {
            Fault::TellsBackwards => notes.more.pop().into_iter().collect(),
            _ => std::mem::take(&mut notes.more),
        })
    }

    pub(super) async fn conclude(
        &self,
        notification: &Notification,
        settlement: DeliveryResult,
    ) -> StoreResult<()> {
        let again = DeliveryResult::Retry(Duration::ZERO);
        let settlement = match (self.fault, settlement) {
            (Fault::TellsTwice, DeliveryResult::Delivered) if notification.attempt == 0 => again,
            (Fault::DropsWhatIsLater, DeliveryResult::Retry(_)) => DeliveryResult::Delivered,
            (Fault::GivesUpNothing, DeliveryResult::DeadLetter) => DeliveryResult::Retry(LONG),
            (Fault::PutsNothingOff, DeliveryResult::Retry(_)) => again,
            (Fault::CountsWhatWasNotTried, DeliveryResult::Deferred(pause)) => {
                DeliveryResult::Retry(pause)
            }
            (_, settlement) => settlement,
        };
        if self.fault == Fault::SettlesAnyAttempt {
            let mut any = notification.clone();
            for attempt in 0..10 {
                any.attempt = attempt;
                self.inner.record_delivery(&any, settlement).await?;
            }
        }
        self.inner.record_delivery(notification, settlement).await
    }
}
