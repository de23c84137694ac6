//! Where tasks are kept: each is a log of events, and the fold of its log.

mod memory;
mod owner;

use std::cmp::Reverse;

use a2a_transport::BoxFuture;
use a2a_types::{
    ConfigId, ContextId, Dialect, Event, IllegalEvent, Task, TaskId, TaskPushNotificationConfig,
    TaskState, Timestamp,
};
use tokio::sync::watch;

pub use memory::MemoryStore;
pub use owner::Owner;

/// Keeps the logs of tasks.
///
/// Every method wants the owner: a task of somebody else is not there. A log is only ever appended
/// to; its length is the task's *generation*.
pub trait Store: Send + Sync + 'static {
    /// Begins the log of a new task with the task itself, generation 1.
    fn create<'a>(
        &'a self,
        owner: &'a Owner,
        new: NewTask,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Adds an event, if it may happen to the task as it stands, and yields its generation.
    fn append<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        event: Event,
    ) -> BoxFuture<'a, Result<u64, StoreError>>;

    /// The task as it stands.
    fn snapshot<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> BoxFuture<'a, Result<Option<Snapshot>, StoreError>>;

    /// What the log holds after a generation, in order: all of it, or the first part, which is never
    /// empty if there is anything.
    fn events_after<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        generation: u64,
    ) -> BoxFuture<'a, Result<Vec<Logged>, StoreError>>;

    /// Tells the generation, and each change of it.
    fn watch<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> BoxFuture<'a, Result<watch::Receiver<u64>, StoreError>>;

    /// One page of the owner's tasks, those with the latest status first.
    fn list<'a>(
        &'a self,
        owner: &'a Owner,
        listing: Listing,
    ) -> BoxFuture<'a, Result<Page, StoreError>>;

    /// Keeps a webhook of a task, in place of one with the same id.
    fn put_config<'a>(
        &'a self,
        owner: &'a Owner,
        config: TaskPushNotificationConfig,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// The webhooks of a task, in order of creation.
    fn configs<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> BoxFuture<'a, Result<Vec<TaskPushNotificationConfig>, StoreError>>;

    /// Forgets a webhook; one that is not there is forgotten already.
    fn delete_config<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        config: &'a ConfigId,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// A task to be kept.
#[derive(Clone, Debug)]
pub struct NewTask {
    /// The task, submitted.
    pub task: Task,
    /// The generation of the protocol in which it was asked for.
    pub dialect: Dialect,
    /// A webhook that came with it.
    pub config: Option<TaskPushNotificationConfig>,
}

/// A task as it stood at a generation.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The task.
    pub task: Task,
    /// The length of its log.
    pub generation: u64,
    /// The generation of the protocol in which it was created.
    pub dialect: Dialect,
}

/// Which tasks are wanted.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Only those of this conversation.
    pub context_id: Option<ContextId>,
    /// Only those in this state.
    pub status: Option<TaskState>,
    /// Only those whose status is of this time or later.
    pub since: Option<Timestamp>,
    /// Only those that come after this place: where the page before ended.
    pub after: Option<Place>,
    /// How many at most.
    pub limit: usize,
}

/// A task's place in a listing: by the time of its status, the latest first, then by its id.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Place {
    /// The time of the status.
    pub time: Reverse<i64>,
    /// The task.
    pub task: TaskId,
}

impl Place {
    /// Where a task stands.
    pub fn of(task: &Task) -> Self {
        Self {
            time: Reverse(task.status.timestamp.map_or(i64::MIN, Timestamp::as_millis)),
            task: task.id.clone(),
        }
    }
}

/// One page of a listing.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The tasks, whole.
    pub tasks: Vec<Task>,
    /// How many match, on all pages.
    pub total: usize,
    /// Whether more come after these.
    pub more: bool,
}

/// An event of a log.
#[derive(Clone, Debug)]
pub struct Logged {
    /// Its place.
    pub generation: u64,
    /// The event.
    pub event: Event,
}

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no such task, or it is somebody else's.
    #[error("there is no such task")]
    NoTask,
    /// There is such a task already.
    #[error("the task exists already")]
    TaskExists,
    /// There is no room for another task.
    #[error("the store holds {0} unfinished tasks and has no room for another")]
    Full(usize),
    /// The task holds as many messages of its caller as it may.
    #[error("the task has taken {0} messages and takes no more")]
    TooManyMessages(usize),
    /// The task holds as many webhooks as it may.
    #[error("the task has {0} push notification configs and may have no more")]
    TooManyConfigs(usize),
    /// The event cannot happen to the task as it stands.
    #[error(transparent)]
    Illegal(#[from] IllegalEvent),
    /// The store itself failed.
    #[error("the store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}
