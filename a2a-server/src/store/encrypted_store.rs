//! Sealing of webhooks before a store keeps them.

use std::sync::Arc;
use std::time::Duration;

use a2a_types::{
    ConfigId, Message, MessageId, ProtocolVersion, TaskId, TaskPushNotificationConfig,
};
use tokio::sync::watch;

use super::encryption_keys::EncryptionKeys;
use super::{
    Append, Appended, DeliveryResult, IdempotencyKey, IdempotencyRecord, ListQuery, LogPage,
    NewTask, Notification, Orphan, Owner, Page, Retention, SharedStore, Snapshot, Store,
    StoreError, StoreFuture, TaskNotifier,
};

/// A store whose webhooks are sealed, if there are keys for it. Webhooks that it has in the clear are read
/// as they are, and sealed when they are written. A [`Server`](crate::Server) seals its store
/// [itself](crate::ServerBuilder::encrypt_secrets); this is for programs that read and write the same store without one.
///
/// Commands between servers are not encrypted: no webhook is in them.
pub struct EncryptedStore {
    store: Arc<dyn Store>,
    keys: Option<EncryptionKeys>,
}

impl EncryptedStore {
    /// Seals the webhooks of a store by these keys. Without keys, webhooks that are sealed already cannot be read.
    pub fn new(store: Arc<dyn Store>, keys: Option<EncryptionKeys>) -> Self {
        Self { store, keys }
    }

    fn seal(
        &self,
        owner: &Owner,
        config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, StoreError> {
        let Some(keys) = &self.keys else {
            return Ok(config);
        };
        keys.seal(owner, config).map_err(StoreError::failed)
    }

    fn open(
        &self,
        owner: &Owner,
        task: &TaskId,
        config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, StoreError> {
        EncryptionKeys::open(self.keys.as_ref(), owner, task, config).map_err(StoreError::failed)
    }

    fn open_notification(&self, sealed: &Notification) -> Result<Notification, StoreError> {
        let mut notification = sealed.clone();
        let config = std::mem::take(&mut notification.config);
        let task = config.task_id.clone();
        notification.config = self.open(&notification.owner, &task, config)?;
        Ok(notification)
    }

    /// Puts off a notification whose webhook cannot be opened: it waits for the key.
    async fn put_off(&self, notification: &Notification) {
        let settlement = DeliveryResult::Deferred(KEY_INTERVAL);
        if let Err(error) = self.store.record_delivery(notification, settlement).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "could not put off a notification");
        }
    }
}

/// Methods that have nothing to do with webhooks' secrets.
macro_rules! delegated {
    ($($method:ident($($name:ident: $type:ty),*) -> $answer:ty;)*) => {
        $(fn $method<'a>(&'a self, $($name: $type),*) -> StoreFuture<'a, $answer> {
            self.store.$method($($name),*)
        })*
    };
}

impl Store for EncryptedStore {
    fn create<'a>(&'a self, owner: &'a Owner, mut new: NewTask) -> StoreFuture<'a, ()> {
        match new.config.take().map(|config| self.seal(owner, config)) {
            Some(Err(error)) => return Box::pin(std::future::ready(Err(error))),
            Some(Ok(sealed)) => new.config = Some(sealed),
            None => {}
        }
        self.store.create(owner, new)
    }

    fn put_config<'a>(
        &'a self,
        owner: &'a Owner,
        config: TaskPushNotificationConfig,
        protocol_version: ProtocolVersion,
    ) -> StoreFuture<'a, ()> {
        match self.seal(owner, config) {
            Ok(sealed) => self.store.put_config(owner, sealed, protocol_version),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn configs<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> StoreFuture<'a, Vec<TaskPushNotificationConfig>> {
        Box::pin(async move {
            let sealed = self.store.configs(owner, task).await?;
            let opened = sealed
                .into_iter()
                .map(|config| self.open(owner, task, config));
            opened.collect()
        })
    }

    fn notifications(&self, limit: usize, term: Duration) -> StoreFuture<'_, Vec<Notification>> {
        Box::pin(async move {
            let mut opened = Vec::new();
            for sealed in self.store.notifications(limit, term).await? {
                match self.open_notification(&sealed) {
                    Ok(notification) => opened.push(notification),
                    Err(error) => {
                        refused(&sealed, &error);
                        self.put_off(&sealed).await;
                    }
                }
            }
            Ok(opened)
        })
    }

    fn dead_letters(&self, limit: usize) -> StoreFuture<'_, Vec<Notification>> {
        Box::pin(async move {
            let sealed = self.store.dead_letters(limit).await?;
            sealed
                .iter()
                .map(|sealed| self.open_notification(sealed))
                .collect()
        })
    }

    fn task_notifier(&self) -> &TaskNotifier {
        self.store.task_notifier()
    }

    fn shared(&self) -> Option<&dyn SharedStore> {
        self.store.shared()
    }

    delegated! {
        append(owner: &'a Owner, task: &'a TaskId, append: Append) -> Appended;
        snapshot(owner: &'a Owner, task: &'a TaskId) -> Option<Snapshot>;
        events_after(owner: &'a Owner, task: &'a TaskId, sequence: u64) -> LogPage;
        head(owner: &'a Owner, task: &'a TaskId) -> u64;
        watch(owner: &'a Owner, task: &'a TaskId) -> watch::Receiver<u64>;
        list(owner: &'a Owner, listing: ListQuery) -> Page;
        delete_config(owner: &'a Owner, task: &'a TaskId, config: &'a ConfigId) -> ();
        received(owner: &'a Owner, message: &'a MessageId) -> Option<IdempotencyRecord>;
        store_response(owner: &'a Owner, receipt: IdempotencyKey, answer: Message) -> ();
        undelivered() -> usize;
        record_delivery(notification: &'a Notification, settlement: DeliveryResult) -> ();
        renew(holder: &'a str, term: Duration) -> ();
        orphans(limit: usize) -> Vec<Orphan>;
        sweep(retention: Retention) -> usize;
    }
}

/// Logs that a webhook cannot be opened.
fn refused(notification: &Notification, error: &StoreError) {
    let task = &notification.config.task_id;
    let error = error as &dyn std::error::Error;
    tracing::error!(%task, error, "could not open the webhook of a notification, which waits");
}

/// Interval at which a webhook that cannot be opened is looked at again.
const KEY_INTERVAL: Duration = Duration::from_secs(60);
