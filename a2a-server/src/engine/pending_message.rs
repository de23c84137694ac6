//! A message on its way to the agent.

use std::sync::Arc;

use a2a_transport::Context;
use a2a_types::{Object, SendMessageRequest};

use crate::engine::idempotency::InFlightSend;
use crate::engine::limiter::HeldBytes;
use crate::store::Receipt;

/// A request whose message is in the task's history.
#[derive(Clone, Debug)]
pub(crate) struct PendingMessage {
    pub(crate) request: SendMessageRequest,
    pub(crate) context: Context,
    /// If the message was being answered before, by a process that is gone.
    pub(crate) resumed: Option<Box<Resumed>>,
    /// The message as its sender may send it again: open until it is answered.
    pub(crate) in_flight: Option<Arc<InFlightSend>>,
    /// Its share of what all messages may hold that are being answered.
    pub(crate) held: Option<Arc<HeldBytes>>,
}

impl PendingMessage {
    pub(crate) fn new(request: SendMessageRequest, context: Context) -> Self {
        Self {
            request,
            context,
            resumed: None,
            in_flight: None,
            held: None,
        }
    }

    /// Returns whether the message is recognised when it is sent again.
    pub(crate) fn is_recognised(&self) -> bool {
        self.context.dialect.rules().names_messages && !self.request.message.message_id.is_empty()
    }

    /// Returns whether the message may begin a task whose id it chooses.
    pub(crate) fn may_name_new_task(&self) -> bool {
        self.context.dialect.rules().caller_names_tasks
    }

    /// Returns whether a message may answer it, without a task.
    pub(crate) fn may_be_answered_directly(&self) -> bool {
        self.context.dialect.rules().answers_directly
    }

    /// Returns whether the message has an ended task submitted again.
    pub(crate) fn reopens_ended_task(&self) -> bool {
        self.context.dialect.rules().reopens_ended_tasks
    }

    /// Returns the receipt that the store keeps of the message, if it is recognised when it is sent again.
    pub(crate) fn receipt(&self) -> Option<Receipt> {
        Some(self.in_flight.as_ref()?.receipt())
    }
}

/// State that a process has left to the turn that resumes its work.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Resumed {
    /// The last [checkpoint](crate::Turn::checkpoint).
    pub checkpoint: Option<Object>,
}
