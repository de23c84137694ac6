//! Bugs in what is asked.

use std::sync::Arc;

use a2a_transport::{BoxFuture, Call, Error, Reply, Transport};
use a2a_types::{MessageId, Request};

use super::Bug;

/// The transport with the bug, if it is one in what is asked.
pub(crate) fn meddling(bug: Bug, inner: Arc<dyn Transport>) -> Meddling {
    Meddling { bug, inner }
}

pub(crate) struct Meddling {
    bug: Bug,
    inner: Arc<dyn Transport>,
}

impl Transport for Meddling {
    fn call(&self, mut call: Call) -> BoxFuture<'_, Result<Reply, Error>> {
        if self.bug == Bug::WrongTask
            && let Request::SubscribeToTask(params) = &mut call.request
        {
            params.id = "another-task".into();
        }
        Box::pin(async move {
            let again = again(&call).filter(|_| self.bug == Bug::Resends);
            match (self.inner.call(call).await, again) {
                (Err(Error::Connection(_)), Some(again)) => self.inner.call(again).await,
                (reply, _) => reply,
            }
        })
    }
}

/// The same message under another id.
fn again(call: &Call) -> Option<Call> {
    let mut call = call.clone();
    match &mut call.request {
        Request::SendMessage(params) | Request::SendStreamingMessage(params) => {
            params.message.message_id = MessageId::random();
            Some(call)
        }
        _ => None,
    }
}
