//! Judgement of exchanges with an agent: what holds for every answer, event and notification, whatever a case expects.
//!
//! Nothing here opens a socket or waits: an exchange is data, and what is found is recorded in [`Observations`].

mod answer;
mod content;
mod delivery;
mod errors;
pub(crate) mod invariants;
mod protojson;
mod response;
pub(crate) mod result;
pub(crate) mod stream_tail;
mod task_records;
mod tasks;

use std::sync::Arc;

use a2a_transport::Binding;
use a2a_types::Dialect;

pub(crate) use self::answer::time;
use self::invariants::Observations;
pub(crate) use self::response::{RawRequest, error_kind, is_unread};
pub(crate) use self::task_records::{OwnTasks, TaskRecords};

/// Judge of the exchanges on one interface of an agent.
pub(crate) struct Judge {
    pub(crate) dialect: Dialect,
    pub(crate) binding: Binding,
    pub(crate) observations: Observations,
    /// Records of the agent's reports on its tasks.
    pub(crate) task_records: TaskRecords,
    /// The tasks that the suite has begun, on any interface.
    pub(crate) own: Arc<OwnTasks>,
}
