//! Builder of a send request.

use std::sync::Arc;

use a2a_transport::{
    BoxFuture, CallRequest, Context, Credentials, Error, ResponseBody, TraceContext, Transport,
};
use a2a_types::{
    ContextId, Object, Operation, Request, Response, SendMessageConfiguration, SendMessageRequest,
    SendMessageResponse, TaskId, TaskPushNotificationConfig,
};

use crate::deadline::Deadline;
use crate::fault::mismatch;
use crate::follow::{Follower, Subject};
use crate::profile;
use crate::{Retrying, TaskEventStream};

/// A message to be sent, with its options. Awaiting it sends it and waits for the answer;
/// [`SendMessageBuilder::follow`] sends it and returns the events of its task.
///
/// ```
/// use std::time::Duration;
/// use a2a_client::{Client, SendMessageResponse};
/// # use a2a_client::{Error, Message, Transport};
/// # use a2a_transport::{BoxFuture, CallRequest, CallResponse};
/// # struct Echo;
/// # impl Transport for Echo {
/// #     fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
/// #         let a2a_types::Request::SendMessage(params) = call.request else { panic!() };
/// #         let answer = SendMessageResponse::Message(Message::agent(params.message.text()));
/// #         Box::pin(async { Ok(CallResponse::once(a2a_types::Response::SendMessage(answer))) })
/// #     }
/// # }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
/// # let client = Client::new(Echo);
/// let answer = client
///     .send("summarise the report")
///     .context("reports")
///     .accepted_output_modes(["text/plain"])
///     .deadline(Duration::from_secs(30))
///     .await?;
/// match answer {
///     SendMessageResponse::Message(message) => println!("{}", message.text()),
///     SendMessageResponse::Task(task) => println!("{:?}", task.status.state),
/// }
/// # Ok(()) }
/// ```
#[must_use = "a message is sent when this is awaited or followed"]
pub struct SendMessageBuilder {
    transport: Retrying<Arc<dyn Transport>>,
    params: SendMessageRequest,
    context: Context,
    /// Set if the card declares a profile that reports steps.
    profile: bool,
    deadline: Option<Deadline>,
    /// Set unless the card says that the agent does not stream.
    streams: bool,
}

impl SendMessageBuilder {
    pub(crate) fn new(
        transport: Retrying<Arc<dyn Transport>>,
        params: SendMessageRequest,
        context: Context,
        profile: bool,
        streams: bool,
    ) -> Self {
        Self {
            transport,
            params,
            context,
            profile,
            deadline: None,
            streams,
        }
    }

    /// Continues this task.
    pub fn task(mut self, task: impl Into<TaskId>) -> Self {
        self.params.message.task_id = Some(task.into());
        self
    }

    /// Sends the message in this conversation.
    pub fn context(mut self, context: impl Into<ContextId>) -> Self {
        self.params.message.context_id = Some(context.into());
        self
    }

    /// Requests results of these media types.
    pub fn accepted_output_modes<I>(mut self, modes: I) -> Self
    where
        I: IntoIterator<Item: Into<String>>,
    {
        self.configuration().accepted_output_modes = modes.into_iter().map(Into::into).collect();
        self
    }

    /// Requests at most `length` messages of the task's history.
    pub fn history_length(mut self, length: u32) -> Self {
        self.configuration().history_length = Some(length);
        self
    }

    /// Requests an answer as soon as there is a task, instead of when it ends or is interrupted.
    pub fn return_immediately(mut self) -> Self {
        self.configuration().return_immediately = true;
        self
    }

    /// Registers a webhook for the task.
    pub fn webhook(mut self, config: TaskPushNotificationConfig) -> Self {
        self.configuration().task_push_notification_config = Some(config.into());
        self
    }

    /// Sets the metadata of the request.
    pub fn metadata(mut self, metadata: Object) -> Self {
        self.params.metadata = Some(metadata);
        self
    }

    /// Requests extensions, by their URIs.
    pub fn extensions<I>(mut self, uris: I) -> Self
    where
        I: IntoIterator<Item: Into<String>>,
    {
        self.context.extensions = uris.into_iter().map(Into::into).collect();
        self
    }

    /// Requests the steps on the way to the answer, by declaring the profile in which the agent reports
    /// them. Does nothing if the agent's card does not declare it, or in an unsupported version.
    pub fn steps(mut self) -> Self {
        if self.profile {
            profile::declare(&mut self.params.message);
        }
        self
    }

    /// Names the user of the message. Not authenticated; some agents use it to separate the
    /// conversations of users.
    pub fn user_id(mut self, user: impl Into<Arc<str>>) -> Self {
        self.context.claims.user_id = Some(user.into());
        self
    }

    /// Sends the message as part of a trace, such as that of the request it is sent for.
    pub fn trace(mut self, trace: impl Into<Option<TraceContext>>) -> Self {
        self.context.trace = trace.into();
        self
    }

    /// Sends the message, and everything else that is sent to follow its task, with these credentials in
    /// place of the client's, as [`Client::with_credentials`](crate::Client::with_credentials) does.
    pub fn credentials(mut self, credentials: Arc<dyn Credentials>) -> Self {
        self.context.credentials = Some(credentials);
        self
    }

    /// Names a tenant other than that of the interface.
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.params.tenant = Some(tenant.into());
        self
    }

    /// Limits the wait to a [`Duration`](std::time::Duration) from now, or until an
    /// [`Instant`](std::time::Instant). Then it fails with [`Error::Timeout`], while the agent may
    /// continue. There is no limit by default.
    pub fn deadline(mut self, deadline: impl Into<Deadline>) -> Self {
        self.deadline = Some(deadline.into());
        self
    }

    /// Returns the events of the message's task as they happen. Sends the message when the first event
    /// is polled.
    pub fn follow(self) -> TaskEventStream {
        let subject = Subject {
            task: self.params.message.task_id.clone(),
            tenant: self.params.tenant.clone(),
            context: self.context,
            profile: self.profile,
            message: Some(self.params),
        };
        let follower = Follower::of_message(self.transport, subject, self.streams);
        TaskEventStream::new(follower, self.deadline)
    }

    fn configuration(&mut self) -> &mut SendMessageConfiguration {
        self.params.configuration.get_or_insert_default()
    }
}

impl IntoFuture for SendMessageBuilder {
    type Output = Result<SendMessageResponse, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let call = CallRequest {
            request: Request::SendMessage(self.params),
            context: self.context,
        };
        let transport = self.transport;
        let answer = async move {
            match transport.call(call).await?.answer {
                ResponseBody::Once(Response::SendMessage(response)) => Ok(response),
                answer => Err(mismatch(Operation::SendMessage, &answer)),
            }
        };
        Box::pin(Deadline::keep(self.deadline, answer))
    }
}
