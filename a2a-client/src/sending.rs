//! A message on its way.

use std::sync::Arc;

use a2a_transport::{Answer, BoxFuture, Call, Claims, Error, TraceContext, Transport};
use a2a_types::{
    ContextId, Object, Operation, Request, Response, SendMessageConfiguration, SendMessageRequest,
    SendMessageResponse, TaskId, TaskPushNotificationConfig,
};

use crate::client::mismatch;
use crate::deadline::Deadline;
use crate::follow::{Follower, Subject};
use crate::profile;
use crate::retrying::Retrying;
use crate::{Client, Updates};

/// A message that is about to be sent, with how it is to be answered. Awaiting it sends it and waits
/// for the answer; [`Sending::follow`] sends it and tells what comes of it, as it happens.
///
/// ```
/// use std::time::Duration;
/// use a2a_client::{Client, SendMessageResponse};
/// # use a2a_client::{Error, Message, Transport};
/// # use a2a_transport::{BoxFuture, Call, Reply};
/// # struct Echo;
/// # impl Transport for Echo {
/// #     fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply, Error>> {
/// #         let a2a_types::Request::SendMessage(params) = call.request else { panic!() };
/// #         let answer = SendMessageResponse::Message(Message::agent(params.message.text()));
/// #         Box::pin(async { Ok(Reply::once(a2a_types::Response::SendMessage(answer))) })
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
pub struct Sending {
    transport: Retrying<Arc<dyn Transport>>,
    params: SendMessageRequest,
    extensions: Vec<String>,
    claims: Claims,
    trace: Option<TraceContext>,
    /// The card declares a profile in which steps are told.
    profile: bool,
    deadline: Option<Deadline>,
    /// The card says that the agent streams, or says nothing of it.
    streams: bool,
}

impl Sending {
    pub(crate) fn new(client: &Client, params: SendMessageRequest) -> Self {
        Self {
            transport: client.transport().clone(),
            params,
            extensions: Vec::new(),
            claims: Claims::default(),
            trace: client.trace().cloned(),
            profile: client.speaks_profile(),
            deadline: None,
            streams: client.streams(),
        }
    }

    /// Continues that task.
    pub fn task(mut self, task: impl Into<TaskId>) -> Self {
        self.params.message.task_id = Some(task.into());
        self
    }

    /// Sends it in that conversation.
    pub fn context(mut self, context: impl Into<ContextId>) -> Self {
        self.params.message.context_id = Some(context.into());
        self
    }

    /// Asks for results of these media types.
    pub fn accepted_output_modes<I>(mut self, modes: I) -> Self
    where
        I: IntoIterator<Item: Into<String>>,
    {
        self.configuration().accepted_output_modes = modes.into_iter().map(Into::into).collect();
        self
    }

    /// Asks for at most so many messages of the task's history.
    pub fn history_length(mut self, length: u32) -> Self {
        self.configuration().history_length = Some(length);
        self
    }

    /// Asks to be answered as soon as there is a task, instead of when it ends or is interrupted.
    pub fn return_immediately(mut self) -> Self {
        self.configuration().return_immediately = true;
        self
    }

    /// Has a webhook told what happens to the task.
    pub fn webhook(mut self, config: TaskPushNotificationConfig) -> Self {
        self.configuration().task_push_notification_config = Some(config.into());
        self
    }

    /// Says along with it whatever the two sides agreed on.
    pub fn metadata(mut self, metadata: Object) -> Self {
        self.params.metadata = Some(metadata);
        self
    }

    /// Wants extensions active, by their URIs.
    pub fn extensions<I>(mut self, uris: I) -> Self
    where
        I: IntoIterator<Item: Into<String>>,
    {
        self.extensions = uris.into_iter().map(Into::into).collect();
        self
    }

    /// Asks for the steps on the way to the answer, by declaring the profile that the agent tells them in.
    /// Agents whose card does not declare it, or in a version that we do not understand, are asked
    /// as if this had not been said.
    pub fn steps(mut self) -> Self {
        if self.profile {
            profile::declare(&mut self.params.message);
        }
        self
    }

    /// Says for which user this is sent. It proves nothing to the agent, which may keep conversations
    /// of users apart by it: some agents do.
    pub fn user_id(mut self, user: impl Into<Arc<str>>) -> Self {
        self.claims.user_id = Some(user.into());
        self
    }

    /// Sends it as part of a trace, like that of the request which it is sent for.
    pub fn trace(mut self, trace: impl Into<Option<TraceContext>>) -> Self {
        self.trace = trace.into();
        self
    }

    /// Names a tenant other than that of the interface.
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.params.tenant = Some(tenant.into());
        self
    }

    /// Waits no longer than for a [`Duration`](std::time::Duration) from now, or until an
    /// [`Instant`](std::time::Instant): then it fails with [`Error::Timeout`], whatever the agent
    /// goes on to do. There is no limit by default.
    pub fn deadline(mut self, deadline: impl Into<Deadline>) -> Self {
        self.deadline = Some(deadline.into());
        self
    }

    /// Sends it and tells what comes of it, as it happens. Nothing is sent before the first event is
    /// asked for.
    pub fn follow(self) -> Updates {
        let subject = Subject {
            task: self.params.message.task_id.clone(),
            tenant: self.params.tenant.clone(),
            extensions: self.extensions,
            claims: self.claims,
            trace: self.trace,
            profile: self.profile,
            message: Some(self.params),
        };
        let follower = Follower::of_message(self.transport, subject, self.streams);
        Updates::new(follower, self.deadline)
    }

    fn configuration(&mut self) -> &mut SendMessageConfiguration {
        self.params.configuration.get_or_insert_default()
    }
}

impl IntoFuture for Sending {
    type Output = Result<SendMessageResponse, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let mut call = Call::new(Request::SendMessage(self.params));
        call.context.extensions = self.extensions;
        call.context.claims = self.claims;
        call.context.trace = self.trace;
        let transport = self.transport;
        let answer = async move {
            match transport.call(call).await?.answer {
                Answer::Once(Response::SendMessage(response)) => Ok(response),
                answer => Err(mismatch(Operation::SendMessage, &answer)),
            }
        };
        Box::pin(Deadline::keep(self.deadline, answer))
    }
}
