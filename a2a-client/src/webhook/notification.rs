//! Push notification given to a handler.

use std::fmt;

use a2a_transport::{Error, TraceContext};
use a2a_types::reading::Violation;
use a2a_types::{Event, ProtocolVersion, Task, TaskId};
use http::Uri;

use crate::Client;

/// One push notification.
#[derive(Clone)]
#[non_exhaustive]
pub struct Notification {
    /// The task, if the body names it.
    pub task: Option<TaskId>,
    /// The event, in the canonical model: until 0.3 usually the whole task. `None` if the body has too
    /// little of it: [`refresh`](Self::refresh) asks the agent.
    pub event: Option<Event>,
    /// The protocol version of the body. A body that is the same in 0.2 and 0.3 counts as 0.3; one of
    /// no version as 0.1, which left bodies to the agent (0.1 §9.4).
    pub protocol_version: ProtocolVersion,
    /// Id of the delivery, the same for each attempt: `webhook-id`, or the `jti` of the token.
    pub delivery: Option<String>,
    /// The request URI: a path or query of your own identifies the subject even when the body does not.
    pub uri: Uri,
    /// The trace of the request that caused the delivery. Not authenticated.
    pub trace: Option<TraceContext>,
}

/// Omits the URI: the path or query of a webhook is often a secret.
impl fmt::Debug for Notification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notification")
            .field("task", &self.task)
            .field("event", &self.event)
            .field("protocol_version", &self.protocol_version)
            .field("delivery", &self.delivery)
            .field("trace", &self.trace)
            .finish_non_exhaustive()
    }
}

impl Notification {
    /// Returns the task, if the body has all of it.
    pub fn full_task(&self) -> Option<&Task> {
        match &self.event {
            // Bodies of 0.1 that only have a status look like tasks without a conversation.
            Some(Event::Task(task)) if task.context_id.is_some() => Some(task),
            _ => None,
        }
    }

    /// Returns the task from the body if it has all of it, else asks the agent (0.1 §9.4).
    pub async fn refresh(&self, client: &Client) -> Result<Task, Error> {
        match (self.full_task(), &self.task) {
            (Some(task), _) => Ok(task.clone()),
            (None, Some(task)) => client.get_task(task.clone(), None).await,
            (None, None) => Err(Error::Malformed(Violation {
                path: "$".to_owned(),
                problem: "the notification names no task".to_owned(),
            })),
        }
    }
}
