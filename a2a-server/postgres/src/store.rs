//! The PostgreSQL store: its background tasks, and the traits that it implements.

use std::sync::Arc;
use std::time::Duration;

use a2a_server::{
    Append, Appended, DeliveryResult, IdempotencyKey, IdempotencyRecord, ListQuery, LogPage,
    NewTask, Notification, Orphan, Owner, Page, Retention, SharedStore, Snapshot, Store,
    StoreFuture, TaskCommand, TaskNotifier,
};
use a2a_types::{
    ConfigId, Message, MessageId, ProtocolVersion, TaskId, TaskPushNotificationConfig,
};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::connections::Connections;
use crate::notify::{LOOK_EVERY, LOOK_EVERY_UNHEARD};
use crate::store_state::StoreState;
use crate::{
    PostgresError, PostgresOptions, appends, commands, creates, leases, listener, reads, receipts,
    retention, schema, webhooks,
};

/// Store of tasks in PostgreSQL, 15 or later, for any number of servers.
///
/// Each write is one statement, and is on the disk of the database when its method returns. Clones share one store; other
/// servers open stores of their own with the same options. Their appends wake followers here within milliseconds, and at
/// the latest after half a second.
///
/// While the database cannot be reached, every method fails with [`a2a_server::StoreError::Unavailable`] within a few seconds.
#[derive(Clone)]
pub struct PostgresStore(Arc<Running>);

/// The store and its background tasks, which end with it.
struct Running {
    state: Arc<StoreState>,
    tasks: Vec<AbortHandle>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

impl PostgresStore {
    /// Connects to the database at a URL, creates or migrates the tables, and starts to listen for other servers' events.
    ///
    /// Errors: the database cannot be reached, or this release cannot work with its tables.
    pub async fn connect(url: &str) -> Result<Self, PostgresError> {
        Self::open(PostgresOptions::new(url)?).await
    }

    /// Connects to a database with these options.
    ///
    /// Errors: the database cannot be reached, or this release cannot work with its tables.
    pub async fn open(options: PostgresOptions) -> Result<Self, PostgresError> {
        let state = Arc::new(StoreState::new(&options)?);
        if options.migrate {
            schema::migrate_on(&state.connections, &options).await?;
        }
        schema::check(&state.connections).await?;
        let mut tasks = Vec::new();
        let every = match options.listens() {
            true => {
                tasks.push(tokio::spawn(listener::send_hints(Arc::clone(&state))).abort_handle());
                tasks.push(tokio::spawn(listener::listen(Arc::clone(&state))).abort_handle());
                LOOK_EVERY
            }
            false => LOOK_EVERY_UNHEARD,
        };
        let looking = tokio::spawn(listener::look_often(Arc::clone(&state), every));
        tasks.push(looking.abort_handle());
        Ok(Self(Arc::new(Running { state, tasks })))
    }

    fn state(&self) -> &StoreState {
        &self.0.state
    }

    fn connections(&self) -> &Connections {
        &self.0.state.connections
    }
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}

impl Store for PostgresStore {
    fn create<'a>(&'a self, owner: &'a Owner, new: NewTask) -> StoreFuture<'a, ()> {
        let key = (owner.clone(), new.task.id.clone());
        Box::pin(creates::create(self.state(), key, new))
    }

    fn append<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        append: Append,
    ) -> StoreFuture<'a, Appended> {
        let key = (owner.clone(), task.clone());
        Box::pin(appends::append(self.state(), key, append))
    }

    fn snapshot<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> StoreFuture<'a, Option<Snapshot>> {
        Box::pin(reads::snapshot(self.state(), owner, task))
    }

    fn events_after<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        sequence: u64,
    ) -> StoreFuture<'a, LogPage> {
        Box::pin(reads::events_after(self.state(), owner, task, sequence))
    }

    fn head<'a>(&'a self, owner: &'a Owner, task: &'a TaskId) -> StoreFuture<'a, u64> {
        Box::pin(reads::head(self.state(), owner, task))
    }

    fn task_notifier(&self) -> &TaskNotifier {
        &self.state().task_notifier
    }

    fn list<'a>(&'a self, owner: &'a Owner, listing: ListQuery) -> StoreFuture<'a, Page> {
        Box::pin(reads::list(self.state(), owner, listing))
    }

    fn put_config<'a>(
        &'a self,
        owner: &'a Owner,
        config: TaskPushNotificationConfig,
        protocol_version: ProtocolVersion,
    ) -> StoreFuture<'a, ()> {
        let connections = self.connections();
        Box::pin(webhooks::put_config(
            connections,
            owner,
            config,
            protocol_version,
        ))
    }

    fn configs<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> StoreFuture<'a, Vec<TaskPushNotificationConfig>> {
        Box::pin(webhooks::configs(self.connections(), owner, task))
    }

    fn delete_config<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        config: &'a ConfigId,
    ) -> StoreFuture<'a, ()> {
        let connections = self.connections();
        Box::pin(webhooks::delete_config(connections, owner, task, config))
    }

    fn received<'a>(
        &'a self,
        owner: &'a Owner,
        message: &'a MessageId,
    ) -> StoreFuture<'a, Option<IdempotencyRecord>> {
        let message = self.state().message_key(owner, message);
        Box::pin(receipts::received(self.connections(), message))
    }

    fn store_response<'a>(
        &'a self,
        owner: &'a Owner,
        receipt: IdempotencyKey,
        answer: Message,
    ) -> StoreFuture<'a, ()> {
        let message = self.state().message_key(owner, &receipt.message);
        let connections = self.connections();
        Box::pin(receipts::store_response(
            connections,
            message,
            receipt,
            answer,
        ))
    }

    fn notifications(&self, limit: usize, term: Duration) -> StoreFuture<'_, Vec<Notification>> {
        let connections = self.connections();
        Box::pin(webhooks::take(connections, limit, term))
    }

    fn dead_letters(&self, limit: usize) -> StoreFuture<'_, Vec<Notification>> {
        Box::pin(webhooks::dead_letters(self.connections(), limit))
    }

    fn undelivered(&self) -> StoreFuture<'_, usize> {
        Box::pin(webhooks::undelivered(self.connections()))
    }

    fn record_delivery<'a>(
        &'a self,
        notification: &'a Notification,
        settlement: DeliveryResult,
    ) -> StoreFuture<'a, ()> {
        let connections = self.connections();
        Box::pin(webhooks::record_delivery(
            connections,
            notification,
            settlement,
        ))
    }

    fn renew<'a>(&'a self, holder: &'a str, term: Duration) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let (connections, state) = (self.connections(), self.state());
            leases::renew(connections, &state.doubts, holder, term).await?;
            state.reservations.renew(connections, holder, term).await?;
            leases::review_doubts(connections, &state.doubts).await
        })
    }

    fn orphans(&self, limit: usize) -> StoreFuture<'_, Vec<Orphan>> {
        Box::pin(leases::orphans(self.connections(), limit))
    }

    fn sweep(&self, retention: Retention) -> StoreFuture<'_, usize> {
        Box::pin(async move {
            let (connections, state) = (self.connections(), self.state());
            commands::sweep(connections, &state.commands_are_full).await?;
            state.unfinished.count(connections).await?;
            retention::sweep(state, retention).await
        })
    }

    fn shared(&self) -> Option<&dyn SharedStore> {
        Some(self)
    }
}

impl SharedStore for PostgresStore {
    fn reserve<'a>(
        &'a self,
        owner: &'a Owner,
        receipt: &'a IdempotencyKey,
        holder: &'a str,
        term: Duration,
        replaces: Option<u64>,
    ) -> StoreFuture<'a, u64> {
        let message = self.state().message_key(owner, &receipt.message);
        let reservations = &self.state().reservations;
        Box::pin(reservations.reserve(self.connections(), message, holder, term, replaces))
    }

    fn release<'a>(
        &'a self,
        owner: &'a Owner,
        message: &'a MessageId,
        reservation: u64,
    ) -> StoreFuture<'a, ()> {
        let message = self.state().message_key(owner, message);
        let reservations = &self.state().reservations;
        Box::pin(reservations.release(self.connections(), message, reservation))
    }

    fn post(&self, command: TaskCommand) -> StoreFuture<'_, ()> {
        Box::pin(commands::post(self.state(), command))
    }

    fn withdraw<'a>(&'a self, command: &'a TaskCommand) -> StoreFuture<'a, bool> {
        Box::pin(commands::withdraw(self.connections(), command))
    }

    fn take_commands<'a>(
        &'a self,
        holder: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<TaskCommand>> {
        Box::pin(commands::take(self.connections(), holder, limit))
    }

    fn command_posted(&self) -> Option<&Notify> {
        Some(&self.state().hints.command)
    }
}
