//! A third-party store: its own map, written against public items only. It keeps
//! every promise of a store, and a server works with it.

mod log;
mod outbox;
mod replicas;
mod shared;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use a2a_server::{
    Append, Appended, BoxFuture, DeliveryResult, IdempotencyKey, IdempotencyRecord, ListCursor,
    ListQuery, LogPage, NewTask, Notification, Orphan, Outcome, Owner, Page, Retention,
    SharedStore, Snapshot, Store, StoreError, TaskNotifier, limits,
};
use a2a_types::{
    ConfigId, Message, MessageId, ProtocolVersion, TaskId, TaskPushNotificationConfig,
};
use tokio::sync::watch;
use tokio::time::Instant;

use log::TaskLog;
use outbox::OutboxTable;
use shared::SharedState;

#[tokio::test(flavor = "multi_thread")]
async fn own_store_keeps_every_promise() {
    let violations = a2a_store_suite::run(|| async { OwnStore::default() }).await;
    assert_eq!(violations, []);
}

/// The suite detects each of these faults in the same store.
#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_a_shared_store_is_found() {
    let faults = [
        (Fault::WakesNobody, "watch.tells_of_growth"),
        (Fault::ReservesTwice, "shared.reserved_once"),
        (Fault::ReplacesExpired, "shared.reservation_runs_out"),
        (Fault::ReleasesAny, "shared.reserved_once"),
        (Fault::KeepsReservations, "shared.reservation_runs_out"),
        (Fault::ReservesWhatIsKnown, "shared.outcome_counts"),
        (
            Fault::GivesCommandsToAnyServer,
            "shared.commands_follow_the_lease",
        ),
        (Fault::GivesCommandsTwice, "shared.commands_in_order"),
        (Fault::KeepsWithdrawnCommands, "shared.withdrawn"),
        (Fault::TakesAnyNumberOfCommands, "shared.command_limit"),
        (Fault::MixesOwners, "shared.reserved_once"),
        (
            Fault::TakesCommandsWithoutTask,
            "shared.commands_with_their_task",
        ),
    ];
    for case in a2a_store_suite::cases().filter(|it| it.name.starts_with("shared.")) {
        let found = faults.iter().any(|(_, name)| *name == case.name);
        assert!(found, "{} finds no fault", case.name);
    }
    for (fault, case) in faults {
        let broken = || async move {
            OwnStore {
                fault: Some(fault),
                ..OwnStore::default()
            }
        };
        let case = a2a_store_suite::cases().find(|it| it.name == case).unwrap();
        assert!(case.check(broken).await.is_err(), "{fault:?}");
    }
}

/// A deliberate fault.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fault {
    WakesNobody,
    ReservesTwice,
    ReplacesExpired,
    ReleasesAny,
    KeepsReservations,
    ReservesWhatIsKnown,
    GivesCommandsToAnyServer,
    GivesCommandsTwice,
    KeepsWithdrawnCommands,
    TakesAnyNumberOfCommands,
    MixesOwners,
    TakesCommandsWithoutTask,
}

/// Everything in one map under one lock; its clones are one store for several servers.
#[derive(Clone, Default)]
pub(crate) struct OwnStore {
    state: Arc<Mutex<StoreState>>,
    task_notifier: Arc<TaskNotifier>,
    fault: Option<Fault>,
    /// Reach of this server to the store. The clones for one server share it.
    pub(crate) reach: Arc<watch::Sender<Reach>>,
}

/// Reach of a server to the store.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Reach {
    #[default]
    Whole,
    /// Writes happen, and no answers come.
    NoAnswers,
    /// Every call fails.
    Refused,
    /// Calls wait.
    Frozen,
}

#[derive(Default)]
struct StoreState {
    logs: BTreeMap<(Owner, TaskId), TaskLog>,
    receipts: BTreeMap<(Owner, MessageId), (IdempotencyRecord, Instant)>,
    outbox: OutboxTable,
    shared: SharedState,
}

impl StoreState {
    fn log(&mut self, owner: &Owner, task: &TaskId) -> Result<&mut TaskLog, StoreError> {
        let key = (owner.clone(), task.clone());
        self.logs.get_mut(&key).ok_or(StoreError::NoTask)
    }

    fn received(&self, owner: &Owner, message: &MessageId) -> Option<&IdempotencyRecord> {
        let (received, until) = self.receipts.get(&(owner.clone(), message.clone()))?;
        (*until > Instant::now()).then_some(received)
    }

    fn check(&self, owner: &Owner, receipt: Option<&IdempotencyKey>) -> Result<(), StoreError> {
        let known = receipt.and_then(|it| self.received(owner, &it.message));
        known.map_or(Ok(()), |_| Err(StoreError::DuplicateMessage))
    }

    fn note(&mut self, owner: &Owner, receipt: Option<IdempotencyKey>, outcome: Outcome) {
        if let Some(receipt) = receipt {
            let received = IdempotencyRecord::new(receipt.digest, outcome);
            self.shared.outcome(owner, &receipt.message);
            let key = (owner.clone(), receipt.message);
            self.receipts
                .insert(key, (received, Instant::now() + receipt.term));
        }
    }

    fn create(&mut self, owner: &Owner, mut new: NewTask) -> Result<(), StoreError> {
        let key = (owner.clone(), new.task.id.clone());
        if self.logs.contains_key(&key) {
            return Err(StoreError::TaskExists);
        }
        let receipt = new.receipt.take();
        self.check(owner, receipt.as_ref())?;
        let first = new.split();
        let mut log = TaskLog::new(new)?;
        let notified = first.as_ref().map(Append::notified).unwrap_or_default();
        let trace = first.as_ref().and_then(|it| it.trace.clone());
        first.map_or(Ok(()), |first| log.append(first))?;
        self.outbox.put(&key, &log, &notified, trace.as_ref());
        self.note(owner, receipt, Outcome::Task(key.1.clone()));
        self.logs.insert(key, log);
        Ok(())
    }

    fn append(&mut self, owner: &Owner, task: &TaskId, append: Append) -> Result<(), StoreError> {
        let key = (owner.clone(), task.clone());
        if !self.logs.contains_key(&key) {
            return Err(StoreError::NoTask);
        }
        self.check(owner, append.receipt.as_ref())?;
        let (notified, trace) = (append.notified(), append.trace.clone());
        let receipt = append.receipt.clone();
        let log = self.logs.get_mut(&key).ok_or(StoreError::NoTask)?;
        log.append(append)?;
        self.outbox.put(&key, log, &notified, trace.as_ref());
        self.note(owner, receipt, Outcome::Task(key.1));
        Ok(())
    }

    fn page(&self, owner: &Owner, listing: &ListQuery) -> Page {
        let own = self.logs.iter().filter(|((of, _), _)| of == owner);
        let tasks = own.map(|(_, log)| log.task());
        let mut tasks: Vec<_> = tasks
            .filter(|task| listing.wants(task.context_id.as_ref(), &task.status))
            .collect();
        tasks.sort_by_cached_key(ListCursor::of);
        let total = tasks.len();
        if let Some(after) = &listing.after {
            tasks.retain(|task| ListCursor::of(task) > *after);
        }
        let mut size = limits::PageSize::default();
        let whole = tasks.iter().take(listing.limit);
        let count = whole
            .take_while(|task| size.admit(limits::size_of_task(task)))
            .count();
        let more = tasks.len() > count;
        tasks.truncate(count);
        Page::new(tasks, total, more)
    }

    fn sweep(&mut self, retention: Retention, task_notifier: &TaskNotifier) -> usize {
        let now = Instant::now();
        self.receipts.retain(|_, (_, until)| *until > now);
        let mut ended: Vec<_> = self
            .logs
            .iter()
            .filter_map(|(key, log)| Some((log.ended()?, key.clone())))
            .collect();
        ended.sort();
        let surplus = ended.len().saturating_sub(retention.count);
        let old = |(place, (since, _)): &(usize, &(Instant, _))| {
            *place < surplus || since.elapsed() > retention.age
        };
        let old = ended.iter().enumerate().filter(old);
        let mut gone: Vec<_> = old.map(|(_, (_, key))| key.clone()).collect();
        let waiting = self.logs.iter().filter(|(_, log)| {
            log.waits()
                .is_some_and(|it| it.elapsed() > retention.patience)
        });
        gone.extend(waiting.map(|(key, _)| key.clone()));
        for key in &gone {
            self.logs.remove(key);
            self.outbox.forget_task(key);
            self.shared.forget_task(key);
            task_notifier.remove(&key.0, &key.1);
        }
        gone.len()
    }

    fn described(&self, found: Vec<outbox::DueNotification>) -> Vec<Notification> {
        let described = found.into_iter().filter_map(|found| {
            let outbox::DueNotification {
                key,
                attempt,
                trace,
            } = found;
            let (owner, task, config, sequence) = key;
            let log = self.logs.get(&(owner.clone(), task))?;
            let (config, protocol_version) =
                log.configs.iter().find(|(it, _)| it.id == config)?.clone();
            let mut notification = Notification::new(owner, config, protocol_version, sequence);
            notification.attempt = attempt;
            notification.trace = trace;
            Some(notification)
        });
        described.collect()
    }
}

impl OwnStore {
    fn state(&self) -> MutexGuard<'_, StoreState> {
        self.state.lock().unwrap()
    }
}

impl OwnStore {
    /// Returns the store as another server gets it.
    pub(crate) fn for_another_server(&self) -> Self {
        Self {
            reach: Arc::default(),
            ..self.clone()
        }
    }

    /// Runs a call that reads, if this server reaches the store.
    fn read<'a, T: Send + 'a>(
        &'a self,
        call: impl FnOnce(&Self) -> Result<T, StoreError> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        let mut reach = self.reach.subscribe();
        Box::pin(async move {
            let thawed = reach.wait_for(|reach| *reach != Reach::Frozen).await;
            match *thawed.expect("it is kept here") {
                Reach::Refused => Err(StoreError::unavailable("refused")),
                _ => call(self),
            }
        })
    }

    /// Runs a call that writes, and answers when this server gets answers.
    fn answer<'a, T: Send + 'a>(
        &'a self,
        call: impl FnOnce(&Self) -> Result<T, StoreError> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        let mut reach = self.reach.subscribe();
        Box::pin(async move {
            let answer = self.read(call).await;
            let answers = reach.wait_for(|reach| *reach != Reach::NoAnswers).await;
            drop(answers.expect("it is kept here"));
            answer
        })
    }
}

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

impl Store for OwnStore {
    fn create<'a>(
        &'a self,
        owner: &'a Owner,
        new: NewTask,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.answer(move |it| it.state().create(owner, new))
    }

    fn append<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        append: Append,
    ) -> BoxFuture<'a, Result<Appended, StoreError>> {
        self.answer(move |it| {
            let mut state = it.state();
            state.append(owner, task, append)?;
            let log = state.log(owner, task)?;
            if it.fault != Some(Fault::WakesNobody) {
                it.task_notifier.wake(owner, task, log.sequence());
            }
            Ok(log.appended())
        })
    }

    fn snapshot<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> BoxFuture<'a, Result<Option<Snapshot>, StoreError>> {
        self.read(move |it| Ok(it.state().log(owner, task).ok().map(|log| log.snapshot())))
    }

    fn events_after<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        sequence: u64,
    ) -> BoxFuture<'a, Result<LogPage, StoreError>> {
        ready(self.state().log(owner, task).map(|log| log.after(sequence)))
    }

    fn head<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        ready(self.state().log(owner, task).map(|log| log.sequence()))
    }

    fn task_notifier(&self) -> &TaskNotifier {
        &self.task_notifier
    }

    fn list<'a>(
        &'a self,
        owner: &'a Owner,
        listing: ListQuery,
    ) -> BoxFuture<'a, Result<Page, StoreError>> {
        ready(Ok(self.state().page(owner, &listing)))
    }

    fn put_config<'a>(
        &'a self,
        owner: &'a Owner,
        config: TaskPushNotificationConfig,
        protocol_version: ProtocolVersion,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let mut state = self.state();
        let task = config.task_id.clone();
        let log = state.log(owner, &task);
        ready(log.and_then(|log| log.put_config(config, protocol_version)))
    }

    fn configs<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> BoxFuture<'a, Result<Vec<TaskPushNotificationConfig>, StoreError>> {
        let mut state = self.state();
        let log = state.log(owner, task);
        ready(log.map(|log| log.configs.iter().map(|(it, _)| it.clone()).collect()))
    }

    fn delete_config<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        config: &'a ConfigId,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let mut state = self.state();
        let deleted = state.log(owner, task).map(|log| log.delete_config(config));
        if deleted.is_ok() {
            let key = (owner.clone(), task.clone());
            state.outbox.forget(&key, config);
        }
        ready(deleted)
    }

    fn received<'a>(
        &'a self,
        owner: &'a Owner,
        message: &'a MessageId,
    ) -> BoxFuture<'a, Result<Option<IdempotencyRecord>, StoreError>> {
        self.read(move |it| Ok(it.state().received(owner, message).cloned()))
    }

    fn store_response<'a>(
        &'a self,
        owner: &'a Owner,
        receipt: IdempotencyKey,
        answer: Message,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let mut state = self.state();
        let checked = state.check(owner, Some(&receipt));
        if checked.is_ok() {
            state.note(owner, Some(receipt), Outcome::Message(Box::new(answer)));
        }
        ready(checked)
    }

    fn notifications(
        &self,
        limit: usize,
        term: Duration,
    ) -> BoxFuture<'_, Result<Vec<Notification>, StoreError>> {
        let mut state = self.state();
        let taken = state.outbox.take(limit, term);
        ready(Ok(state.described(taken)))
    }

    fn dead_letters(&self, limit: usize) -> BoxFuture<'_, Result<Vec<Notification>, StoreError>> {
        let state = self.state();
        ready(Ok(state.described(state.outbox.dead(limit))))
    }

    fn undelivered(&self) -> BoxFuture<'_, Result<usize, StoreError>> {
        ready(Ok(self.state().outbox.undelivered()))
    }

    fn record_delivery<'a>(
        &'a self,
        notification: &'a Notification,
        settlement: DeliveryResult,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.state()
            .outbox
            .record_delivery(notification, settlement);
        ready(Ok(()))
    }

    fn renew<'a>(
        &'a self,
        holder: &'a str,
        term: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        if *self.reach.borrow() == Reach::NoAnswers {
            return Box::pin(std::future::pending());
        }
        self.answer(move |it| {
            let mut state = it.state();
            state
                .logs
                .values_mut()
                .for_each(|log| log.renew(holder, term));
            state.shared.renew(holder, term);
            Ok(())
        })
    }

    fn orphans(&self, limit: usize) -> BoxFuture<'_, Result<Vec<Orphan>, StoreError>> {
        self.read(move |it| {
            let state = it.state();
            let orphans = state.logs.iter().filter(|(_, log)| log.is_orphan());
            let orphan = |(owner, task): &(Owner, TaskId)| Orphan::new(owner.clone(), task.clone());
            Ok(orphans.map(|(key, _)| orphan(key)).take(limit).collect())
        })
    }

    fn sweep(&self, retention: Retention) -> BoxFuture<'_, Result<usize, StoreError>> {
        ready(Ok(self.state().sweep(retention, &self.task_notifier)))
    }

    fn shared(&self) -> Option<&dyn SharedStore> {
        Some(self)
    }
}
