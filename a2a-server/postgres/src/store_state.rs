//! State of a store, shared by its operations and its background tasks.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use a2a_server::{IdempotencyKey, Owner, TaskBudget, TaskNotifier};
use a2a_types::MessageId;
use uuid::Uuid;

use crate::connections::Connections;
use crate::in_doubt_writes::Doubts;
use crate::names::{Key, message_key};
use crate::notify::Hints;
use crate::recent::Recent;
use crate::reservations::Reservations;
use crate::unfinished::Unfinished;
use crate::{PostgresError, PostgresOptions};

/// Connections to the database, and this server's knowledge of its contents.
pub(crate) struct StoreState {
    pub(crate) connections: Connections,
    pub(crate) recent: Recent,
    pub(crate) doubts: Doubts,
    pub(crate) hints: Hints,
    pub(crate) task_notifier: TaskNotifier,
    /// Memory budget of large tasks that callers hold.
    pub(crate) loaded: TaskBudget,
    /// Maximum number of receipts.
    pub(crate) receipts: u64,
    /// Time of the last count of receipts.
    pub(crate) trimmed: Mutex<Option<Instant>>,
    pub(crate) reservations: Reservations,
    pub(crate) unfinished: Unfinished,
    /// No more commands are posted because too many wait.
    pub(crate) commands_are_full: AtomicBool,
    #[cfg(feature = "faults")]
    fault: Option<crate::Fault>,
}

impl StoreState {
    pub(crate) fn new(options: &PostgresOptions) -> Result<Self, PostgresError> {
        Ok(Self {
            connections: Connections::new(options)?,
            recent: Recent::new(options.cache_bytes),
            doubts: Doubts::default(),
            hints: Hints::new(&options.schema, options.listens()),
            task_notifier: TaskNotifier::default(),
            loaded: TaskBudget::default(),
            receipts: options.receipts,
            trimmed: Mutex::default(),
            reservations: Reservations::default(),
            unfinished: Unfinished::new(options.unfinished),
            commands_are_full: AtomicBool::default(),
            #[cfg(feature = "faults")]
            fault: options.fault,
        })
    }

    /// Wakes the followers in this process, and queues a hint for other servers, after a log has grown.
    pub(crate) fn announce(&self, (owner, task): &Key, id: Uuid, sequence: u64) {
        self.task_notifier.wake(owner, task, sequence);
        self.hints.add(id, sequence);
    }

    /// Drops a removed task from the cache, and ends the watches of its followers.
    pub(crate) fn forget(&self, key: &Key) {
        self.recent.forget(key);
        self.task_notifier.remove(&key.0, &key.1);
    }

    /// Returns the key of a message.
    pub(crate) fn message_key(&self, owner: &Owner, message: &MessageId) -> Uuid {
        #[cfg(feature = "faults")]
        if self.fault == Some(crate::Fault::MixesOwners) {
            return message_key(&Owner::from(a2a_server::Principal::anonymous()), message);
        }
        message_key(owner, message)
    }

    /// Returns a receipt with the key of its message.
    pub(crate) fn keyed<'r>(
        &self,
        owner: &Owner,
        receipt: Option<&'r IdempotencyKey>,
    ) -> Option<(Uuid, &'r IdempotencyKey)> {
        receipt.map(|receipt| (self.message_key(owner, &receipt.message), receipt))
    }
}
