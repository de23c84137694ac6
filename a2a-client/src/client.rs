//! Client of an agent.

use std::sync::{Arc, PoisonError, RwLock};

#[cfg(feature = "card-signature")]
use a2a_transport::card_signature::Verification;
use a2a_transport::{
    CallRequest, Context, Credentials, Error, ResponseBody, TraceContext, Transport,
};
use a2a_types::{
    AgentCard, CancelTaskRequest, ConfigId, DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTasksRequest, ListTasksResponse, Operation,
    Request, Response, SendMessageRequest, Task, TaskId, TaskPushNotificationConfig,
};

use futures_util::stream::{Stream, TryStreamExt, iter, try_unfold};

use crate::fault::{lacks_operation, mismatch};
use crate::follow::{Follower, Subject};
use crate::profile;
use crate::{Retries, Retrying, SendMessageBuilder, TaskEventStream};

/// A client of one agent, in the canonical model for every protocol version.
#[derive(Clone)]
pub struct Client {
    transport: Retrying<Arc<dyn Transport>>,
    card: Arc<RwLock<Option<FoundCard>>>,
    /// Default context of calls.
    context: Context,
}

impl Client {
    /// Creates a client of any [`Transport`]: a server in the same process, an
    /// [`HttpTransport`](crate::HttpTransport), middleware.
    pub fn new(transport: impl Transport) -> Self {
        Self {
            transport: Retrying::new(Arc::new(transport), Retries::default()),
            card: Arc::default(),
            context: Context::default(),
        }
    }

    /// Creates a client of an agent whose card is known.
    pub fn with_card(transport: impl Transport, card: Arc<AgentCard>) -> Self {
        Self::with_found(transport, card.into())
    }

    pub(crate) fn with_found(transport: impl Transport, found: FoundCard) -> Self {
        let client = Self::new(transport);
        client.set_card(found);
        client
    }

    /// Returns the card that was discovered, or the extended card once it was read.
    pub fn card(&self) -> Option<Arc<AgentCard>> {
        Some(self.found()?.card)
    }

    /// Returns the signature that verified the card, if [one was required](crate::ClientBuilder::verify_card);
    /// `None` once the extended card was read, which is not verified: it comes from an interface on the card that is.
    #[cfg(feature = "card-signature")]
    pub fn card_verification(&self) -> Option<Arc<Verification>> {
        self.found()?.verification
    }

    fn found(&self) -> Option<FoundCard> {
        let card = self.card.read().unwrap_or_else(PoisonError::into_inner);
        card.clone()
    }

    fn set_card(&self, found: FoundCard) {
        let mut kept = self.card.write().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(found);
    }

    /// Sets the policy of retries and of resumed streams.
    pub fn retries(mut self, retries: Retries) -> Self {
        self.transport = Retrying::new(Arc::clone(self.transport.inner()), retries);
        self
    }

    /// Returns the same client with its calls in a trace, such as that of the request they are made
    /// for.
    pub fn with_trace_context(&self, trace: impl Into<Option<TraceContext>>) -> Self {
        let mut client = self.clone();
        client.context.trace = trace.into();
        client
    }

    /// Returns the same client with these credentials in place of its own, for a server that acts for
    /// many users. They go to the agent only, as the client's own do: with a call to an interface of
    /// another origin it fails as [`Error::Credentials`]. An extended card stays with the returned
    /// client and its clones.
    pub fn with_credentials(&self, credentials: Arc<dyn Credentials>) -> Self {
        let mut client = self.clone();
        client.context.credentials = Some(credentials);
        client.card = Arc::new(RwLock::new(self.found()));
        client
    }

    /// Returns whether the agent streams; `true` unless its card says otherwise.
    fn streams(&self) -> bool {
        let card = self.card();
        card.is_none_or(|card| card.capabilities.streaming != Some(false))
    }

    /// Returns whether the agent declares a profile that reports steps. Any other agent gets plain A2A.
    fn speaks_profile(&self) -> bool {
        self.card().is_some_and(|card| profile::is_declared(&card))
    }

    /// Sends a message, or a whole request: await the result for the answer, which usually comes when
    /// the task ends, or [follow](SendMessageBuilder::follow) the events meanwhile.
    pub fn send(&self, message: impl Into<SendMessageRequest>) -> SendMessageBuilder {
        let (profile, streams) = (self.speaks_profile(), self.streams());
        let context = self.context.clone();
        let transport = self.transport.clone();
        SendMessageBuilder::new(transport, message.into(), context, profile, streams)
    }

    /// Sends a message and returns the events of its task, once the agent has begun to answer.
    /// [`SendMessageBuilder::follow`] returns without waiting.
    pub async fn stream(
        &self,
        message: impl Into<SendMessageRequest>,
    ) -> Result<TaskEventStream, Error> {
        self.send(message).follow().begun().await
    }

    /// Follows a task: the first event is the task in its current state. In 1.0 agents may continue
    /// while the task waits for its caller, until it has ended; in older versions the stream ends
    /// there.
    pub async fn subscribe(&self, task: impl Into<TaskId>) -> Result<TaskEventStream, Error> {
        self.subscribe_after(task, None).await
    }

    /// Follows a task from after the event with this sequence number (`seen`), if the agent still has
    /// it.
    pub async fn subscribe_after(
        &self,
        task: impl Into<TaskId>,
        seen: Option<u64>,
    ) -> Result<TaskEventStream, Error> {
        let subject = Subject {
            message: None,
            task: Some(task.into()),
            tenant: None,
            context: self.context.clone(),
            profile: self.speaks_profile(),
        };
        let follower = Follower::of_task(self.transport.clone(), subject, seen, self.streams());
        TaskEventStream::new(follower, None).begun().await
    }

    /// Reads a task, with at most `history_length` messages of its history; `None` leaves it to the
    /// agent.
    pub async fn get_task(
        &self,
        task: impl Into<TaskId>,
        history_length: Option<u32>,
    ) -> Result<Task, Error> {
        let params = GetTaskRequest {
            tenant: None,
            id: task.into(),
            history_length,
        };
        match self.once(Request::GetTask(params)).await? {
            Response::GetTask(task) => Ok(task),
            other => Err(mismatch(Operation::GetTask, &ResponseBody::Once(other))),
        }
    }

    /// Lists tasks, the latest change first, page by page: the answer's `next_page_token` goes into
    /// the next request.
    pub async fn list_tasks(&self, params: ListTasksRequest) -> Result<ListTasksResponse, Error> {
        match self.once(Request::ListTasks(params)).await? {
            Response::ListTasks(list) => Ok(list),
            other => Err(mismatch(Operation::ListTasks, &ResponseBody::Once(other))),
        }
    }

    /// Streams all tasks that match, the latest change first. Pages are read as they are needed.
    ///
    /// ```no_run
    /// # async fn show(client: a2a_client::Client) -> Result<(), a2a_client::Error> {
    /// use a2a_client::StreamExt;
    ///
    /// let mut tasks = client.tasks(Default::default());
    /// while let Some(task) = tasks.next().await {
    ///     println!("{}", task?.id);
    /// }
    /// # Ok(()) }
    /// ```
    pub fn tasks(
        &self,
        params: ListTasksRequest,
    ) -> impl Stream<Item = Result<Task, Error>> + Send + Unpin + use<> {
        let client = self.clone();
        let pages = try_unfold(Some(params), move |next| {
            let client = client.clone();
            async move {
                let Some(mut params) = next else {
                    return Ok::<_, Error>(None);
                };
                let page = client.list_tasks(params.clone()).await?;
                let tasks = iter(page.tasks.into_iter().map(Ok));
                // Otherwise an agent that repeats a token would be called forever.
                let has_more =
                    !page.next_page_token.is_empty() && page.next_page_token != params.page_token;
                params.page_token = page.next_page_token;
                Ok(Some((tasks, has_more.then_some(params))))
            }
        });
        Box::pin(pages.try_flatten())
    }

    /// Cancels a task.
    pub async fn cancel_task(&self, task: impl Into<TaskId>) -> Result<Task, Error> {
        let params = CancelTaskRequest {
            id: task.into(),
            ..CancelTaskRequest::default()
        };
        match self.once(Request::CancelTask(params)).await? {
            Response::CancelTask(task) => Ok(task),
            other => Err(mismatch(Operation::CancelTask, &ResponseBody::Once(other))),
        }
    }

    /// Registers a webhook.
    pub async fn create_push_config(
        &self,
        config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, Error> {
        match self
            .once(Request::CreateTaskPushNotificationConfig(config))
            .await?
        {
            Response::CreateTaskPushNotificationConfig(config) => Ok(config),
            other => Err(mismatch(
                Operation::CreateTaskPushNotificationConfig,
                &ResponseBody::Once(other),
            )),
        }
    }

    /// Reads a webhook of a task; without an id the only one. Errors: [`Error::Ambiguous`] if there are
    /// several.
    pub async fn push_config(
        &self,
        task: impl Into<TaskId>,
        id: Option<ConfigId>,
    ) -> Result<TaskPushNotificationConfig, Error> {
        let task_id = task.into();
        let id = match id {
            Some(id) => id,
            None => match self.push_configs(task_id.clone()).await {
                Ok(configs) => match only(configs)? {
                    Some(config) => return Ok(config),
                    // The agent reports this in its own words.
                    None => ConfigId::default(),
                },
                // Before 0.3 a task has one webhook, which has no id and cannot be listed.
                Err(error) if lacks_operation(&error) => ConfigId::default(),
                Err(error) => return Err(error),
            },
        };
        let params = GetTaskPushNotificationConfigRequest {
            tenant: None,
            task_id,
            id,
        };
        match self
            .once(Request::GetTaskPushNotificationConfig(params))
            .await?
        {
            Response::GetTaskPushNotificationConfig(config) => Ok(config),
            other => Err(mismatch(
                Operation::GetTaskPushNotificationConfig,
                &ResponseBody::Once(other),
            )),
        }
    }

    /// Lists the webhooks of a task.
    pub async fn push_configs(
        &self,
        task: impl Into<TaskId>,
    ) -> Result<Vec<TaskPushNotificationConfig>, Error> {
        let params = ListTaskPushNotificationConfigsRequest {
            task_id: task.into(),
            ..ListTaskPushNotificationConfigsRequest::default()
        };
        match self
            .once(Request::ListTaskPushNotificationConfigs(params))
            .await?
        {
            Response::ListTaskPushNotificationConfigs(list) => Ok(list.configs),
            other => Err(mismatch(
                Operation::ListTaskPushNotificationConfigs,
                &ResponseBody::Once(other),
            )),
        }
    }

    /// Deletes a webhook of a task.
    pub async fn delete_push_config(
        &self,
        task: impl Into<TaskId>,
        id: impl Into<ConfigId>,
    ) -> Result<(), Error> {
        let params = DeleteTaskPushNotificationConfigRequest {
            tenant: None,
            task_id: task.into(),
            id: id.into(),
        };
        match self
            .once(Request::DeleteTaskPushNotificationConfig(params))
            .await?
        {
            Response::DeleteTaskPushNotificationConfig(()) => Ok(()),
            other => Err(mismatch(
                Operation::DeleteTaskPushNotificationConfig,
                &ResponseBody::Once(other),
            )),
        }
    }

    /// Reads the extended card. It replaces the public one in this client and its clones (specification
    /// 1.0 §3.1.11).
    pub async fn extended_card(&self) -> Result<Arc<AgentCard>, Error> {
        let params = GetExtendedAgentCardRequest::default();
        match self.once(Request::GetExtendedAgentCard(params)).await? {
            Response::GetExtendedAgentCard(card) => {
                let card = Arc::new(card);
                self.set_card(Arc::clone(&card).into());
                Ok(card)
            }
            other => Err(mismatch(
                Operation::GetExtendedAgentCard,
                &ResponseBody::Once(other),
            )),
        }
    }

    async fn once(&self, request: Request) -> Result<Response, Error> {
        let operation = request.operation();
        let context = self.context.clone();
        let call = CallRequest { request, context };
        match self.transport.call(call).await?.answer {
            ResponseBody::Once(response) => Ok(response),
            stream @ ResponseBody::Stream(_) => Err(mismatch(operation, &stream)),
        }
    }
}

/// A card, and the signature that verified it if one was required.
#[derive(Clone, Debug)]
pub(crate) struct FoundCard {
    pub(crate) card: Arc<AgentCard>,
    #[cfg(feature = "card-signature")]
    pub(crate) verification: Option<Arc<Verification>>,
}

impl From<Arc<AgentCard>> for FoundCard {
    fn from(card: Arc<AgentCard>) -> Self {
        Self {
            card,
            #[cfg(feature = "card-signature")]
            verification: None,
        }
    }
}

/// Returns the only webhook, or `None`. Errors: there are several.
fn only(
    mut configs: Vec<TaskPushNotificationConfig>,
) -> Result<Option<TaskPushNotificationConfig>, Error> {
    if configs.len() > 1 {
        let ids: Vec<_> = configs.iter().map(|config| config.id.as_str()).collect();
        let ids = ids.join(", ");
        return Err(Error::Ambiguous(format!(
            "the task has several webhooks: name one of {ids}"
        )));
    }
    Ok(configs.pop())
}
