//! Transport that retries calls.

use a2a_transport::{BoxFuture, CallRequest, CallResponse, Error, ResponseBody, Transport};
use a2a_types::{ErrorKind, GetTaskRequest, Request, Response, TaskState};

use crate::Retries;
use crate::fault::{is_cut, nothing_was_done, retry_after};

/// A [`Transport`] that retries calls of another one when that is safe and may help. Every
/// [`Client`](crate::Client) has one.
///
/// It retries until the answer begins; [`TaskEventStream`](crate::TaskEventStream) handles streams that break later.
#[derive(Clone, Debug)]
pub struct Retrying<T> {
    inner: T,
    retries: Retries,
}

impl<T> Retrying<T> {
    /// Creates a transport that calls `inner` and retries as `retries` allows.
    pub fn new(inner: T, retries: Retries) -> Self {
        Self { inner, retries }
    }

    pub(crate) fn inner(&self) -> &T {
        &self.inner
    }

    pub(crate) fn retries(&self) -> &Retries {
        &self.retries
    }
}

impl<T: Transport> Transport for Retrying<T> {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        Box::pin(async move {
            self.retries.begin();
            let mut failed = 0;
            loop {
                let error = match self.inner.call(call.clone()).await {
                    Ok(reply) => return Ok(reply),
                    Err(error) => error,
                };
                if failed > 0
                    && matches!(&error, Error::Agent(error_answer) if error_answer.kind == ErrorKind::TaskNotCancelable)
                    && let Some(reply) = self.canceled(&call).await
                {
                    return Ok(reply);
                }
                failed += 1;
                let safe = nothing_was_done(&error)
                    || is_cut(&error) && cannot_be_done_twice(&call.request, &self.retries);
                let again = safe.then(|| self.retries.again(failed, retry_after(&error)));
                let Some(pause) = again.flatten() else {
                    return Err(error);
                };
                let operation = call.request.operation().name();
                tracing::debug!(operation, failed, %error, "retrying a request");
                tokio::time::sleep(pause).await;
            }
        })
    }
}

impl<T: Transport> Retrying<T> {
    /// Returns the canceled task if an earlier attempt to cancel it has succeeded.
    async fn canceled(&self, call: &CallRequest) -> Option<CallResponse> {
        let Request::CancelTask(params) = &call.request else {
            return None;
        };
        let request = GetTaskRequest {
            tenant: params.tenant.clone(),
            id: params.id.clone(),
            ..GetTaskRequest::default()
        };
        let call = CallRequest {
            request: request.into(),
            context: call.context.clone(),
        };
        let reply = self.inner.call(call).await.ok()?;
        match reply.answer {
            ResponseBody::Once(Response::GetTask(task))
                if task.status.state == TaskState::Canceled =>
            {
                Some(CallResponse::once(Response::CancelTask(task)))
            }
            _ => None,
        }
    }
}

/// Returns whether a request is idempotent.
pub(crate) fn cannot_be_done_twice(request: &Request, retries: &Retries) -> bool {
    match request {
        Request::GetTask(_)
        | Request::ListTasks(_)
        | Request::SubscribeToTask(_)
        | Request::GetTaskPushNotificationConfig(_)
        | Request::ListTaskPushNotificationConfigs(_)
        | Request::GetExtendedAgentCard(_)
        // Idempotent by specification 1.0 §3.3.1 and §3.1.10; older versions do not differ.
        | Request::CancelTask(_)
        | Request::DeleteTaskPushNotificationConfig(_) => true,
        // Without an id, each attempt would create another webhook.
        Request::CreateTaskPushNotificationConfig(config) => {
            !config.id.is_empty()
        }
        Request::SendMessage(params) | Request::SendStreamingMessage(params) => {
            retries.resends_messages() && !params.message.message_id.is_empty()
        }
    }
}
