//! What a push notification tells.

use std::fmt;

use a2a_transport::{Error, TraceContext};
use a2a_types::reading::Violation;
use a2a_types::{Dialect, Event, Task, TaskId};
use http::Uri;

use crate::Client;

/// One push notification.
#[derive(Clone)]
#[non_exhaustive]
pub struct Notification {
    /// The task, if the body names it.
    pub task: Option<TaskId>,
    /// What happened, in the canonical model: until 0.3 usually the whole task. None if the body
    /// says too little: [`refresh`](Self::refresh) asks the agent.
    pub event: Option<Event>,
    /// The generation of the body. What 0.2 and 0.3 spell alike counts as 0.3; what no generation
    /// knows as 0.1, which left bodies to the agent (0.1 §9.4).
    pub dialect: Dialect,
    /// Names the delivery, the same each time it is sent: `webhook-id`, or the `jti` of the token.
    pub delivery: Option<String>,
    /// Where it was sent to: a path or query of your own tells what it is about even when the body
    /// does not.
    pub uri: Uri,
    /// The trace that the delivery belongs to: of the request that the agent was at work for. Nothing
    /// proves it.
    pub trace: Option<TraceContext>,
}

/// Says all but where it was sent to: a path or query of a webhook is often a secret.
impl fmt::Debug for Notification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notification")
            .field("task", &self.task)
            .field("event", &self.event)
            .field("dialect", &self.dialect)
            .field("delivery", &self.delivery)
            .field("trace", &self.trace)
            .finish_non_exhaustive()
    }
}

impl Notification {
    /// The task, if the body tells all of it.
    pub fn whole(&self) -> Option<&Task> {
        match &self.event {
            // Bodies of 0.1 that only tell a status look like tasks without a conversation.
            Some(Event::Task(task)) if task.context_id.is_some() => Some(task),
            _ => None,
        }
    }

    /// The task: as the body tells it, if it tells all of it, else as the agent does (0.1 §9.4).
    pub async fn refresh(&self, client: &Client) -> Result<Task, Error> {
        match (self.whole(), &self.task) {
            (Some(task), _) => Ok(task.clone()),
            (None, Some(task)) => client.get_task(task.clone(), None).await,
            (None, None) => Err(Error::Malformed(Violation {
                path: "$".to_owned(),
                problem: "the notification names no task".to_owned(),
            })),
        }
    }
}
