//! Client bugs in requests, as a transport.

use std::sync::Arc;

use a2a_transport::{BoxFuture, CallRequest, CallResponse, Error, Transport};
use a2a_types::{Content, MessageId, Request, SendMessageRequest};

use super::Bug;

/// Returns the transport with the bug, if the bug is one in requests.
pub(crate) fn tampering(bug: Bug, inner: Arc<dyn Transport>) -> TamperingTransport {
    TamperingTransport { bug, inner }
}

pub(crate) struct TamperingTransport {
    bug: Bug,
    inner: Arc<dyn Transport>,
}

impl Transport for TamperingTransport {
    fn call(&self, mut call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        if self.bug == Bug::WrongTask
            && let Request::SubscribeToTask(params) = &mut call.request
        {
            params.id = "another-task".into();
        }
        if self.bug == Bug::NoTask
            && let Request::CreateTaskPushNotificationConfig(config) = &mut call.request
        {
            config.task_id = String::new().into();
        }
        if let Request::SendMessage(params) | Request::SendStreamingMessage(params) =
            &mut call.request
        {
            drop_members(params, self.bug);
        }
        Box::pin(async move {
            let with_new_id = with_new_id(&call).filter(|_| self.bug == Bug::Resends);
            match (self.inner.call(call).await, with_new_id) {
                (Err(Error::Connection(_)), Some(with_new_id)) => {
                    self.inner.call(with_new_id).await
                }
                (reply, _) => reply,
            }
        })
    }
}

/// Removes the members that a client with the bug does not send.
fn drop_members(params: &mut SendMessageRequest, bug: Bug) {
    match bug {
        Bug::NoConfiguration => params.configuration = None,
        Bug::NoMetadata => params.metadata = None,
        Bug::NoReferences => params.message.reference_task_ids.clear(),
        Bug::NoMediaType => {
            let parts = params.message.parts.iter_mut();
            parts.for_each(|part| part.media_type = None);
        }
        Bug::AsciiOnly => {
            for part in &mut params.message.parts {
                if let Content::Text(text) = &mut part.content {
                    *text = text.replace(|letter: char| !letter.is_ascii(), "?");
                }
            }
        }
        _ => {}
    }
}

/// Returns the same message with another id.
fn with_new_id(call: &CallRequest) -> Option<CallRequest> {
    let mut call = call.clone();
    match &mut call.request {
        Request::SendMessage(params) | Request::SendStreamingMessage(params) => {
            params.message.message_id = MessageId::random();
            Some(call)
        }
        _ => None,
    }
}
