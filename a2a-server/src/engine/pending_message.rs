//! A message on its way to the agent.

use std::sync::Arc;

use a2a_transport::{Context, Principal, TraceContext};
use a2a_types::size::size_of_request;
use a2a_types::{Object, SendMessageRequest};

use crate::engine::idempotency::InFlightSend;
use crate::engine::limiter::HeldBytes;
use crate::store::limits::NAME;
use crate::store::{IdempotencyKey, Owner, Snapshot};

/// A request whose message is in the task's history.
#[derive(Clone, Debug)]
pub(crate) struct PendingMessage {
    pub(crate) request: SendMessageRequest,
    pub(crate) context: Context,
    /// Number of the message among the caller's messages to the task, counted from 1.
    pub(crate) number: usize,
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
            number: 1,
            resumed: None,
            in_flight: None,
            held: None,
        }
    }

    /// Returns the message of this number from a task's history, as a task knows it without the process that accepted it:
    /// in the task's protocol version, without what else its request had. `None` if the history has no such message.
    pub(crate) fn from_history(owner: &Owner, snapshot: &Snapshot, number: usize) -> Option<Self> {
        let request = SendMessageRequest {
            message: snapshot.message(number)?.clone(),
            ..SendMessageRequest::default()
        };
        let Owner { principal, tenant } = owner.clone();
        let principal = principal.map_or_else(Principal::anonymous, Principal::named);
        let context = Context::new(snapshot.protocol_version)
            .principal(principal)
            .tenant(tenant);
        Some(Self {
            number,
            ..Self::new(request, context)
        })
    }

    /// Returns the bytes of memory that the message takes until it is answered.
    pub(crate) fn size(&self) -> usize {
        let Context {
            principal,
            tenant,
            extensions,
            claims,
            trace,
            repairs,
            ..
        } = &self.context;
        let shared = tenant
            .iter()
            .chain(&claims.user_id)
            .chain(&claims.user_agent);
        let shared = shared.map(|name| NAME + name.len()).sum::<usize>();
        let state = trace.as_ref().and_then(TraceContext::tracestate);
        let texts = [principal.name(), state].into_iter().flatten();
        let texts = texts.map(|text| NAME + text.len()).sum::<usize>();
        let extensions = extensions.iter().map(|uri| NAME + uri.capacity());
        let repairs = repairs
            .iter()
            .map(|repair| size_of_val(repair) + NAME + repair.path.capacity());
        let context = shared + texts + extensions.sum::<usize>() + repairs.sum::<usize>();
        TURN + size_of_request(&self.request) + context
    }

    /// Returns whether the message is recognised when it is sent again.
    pub(crate) fn is_recognised(&self) -> bool {
        self.context.protocol_version.rules().names_messages
            && !self.request.message.message_id.is_empty()
    }

    /// Returns whether the message may begin a task whose id it chooses.
    pub(crate) fn may_name_new_task(&self) -> bool {
        self.context.protocol_version.rules().caller_names_tasks
    }

    /// Returns whether a message may answer it, without a task.
    pub(crate) fn may_be_answered_directly(&self) -> bool {
        self.context.protocol_version.rules().answers_directly
    }

    /// Returns whether the message has an ended task submitted again.
    pub(crate) fn reopens_ended_task(&self) -> bool {
        self.context.protocol_version.rules().reopens_ended_tasks
    }

    /// Returns the receipt that the store keeps of the message, if it is recognised when it is sent again.
    pub(crate) fn receipt(&self) -> Option<IdempotencyKey> {
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

/// Overhead in bytes of a message until it is answered: its turn, its caller that waits, and its places in
/// tables.
const TURN: usize = 4096;
