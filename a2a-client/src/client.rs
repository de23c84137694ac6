//! Typed calls.

use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::task::{Context, Poll};

use a2a_transport::http::HttpTransport;
use a2a_transport::{Answer, Call, Error, Transport, Update, UpdateStream};
use a2a_types::{
    AgentCard, CancelTaskRequest, ConfigId, DeleteTaskPushNotificationConfigRequest, Dialect,
    Event, GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTasksRequest, ListTasksResponse, Message,
    Operation, Request, Response, SendMessageRequest, SendMessageResponse, SubscribeToTaskRequest,
    Task, TaskId, TaskPushNotificationConfig,
};
use tokio_stream::Stream;

use crate::{Cards, ClientBuilder};

/// A connection to an agent, in the canonical model whatever generation the agent speaks.
#[derive(Clone)]
pub struct Client {
    transport: Arc<dyn Transport>,
    card: Arc<RwLock<Option<Arc<AgentCard>>>>,
}

impl Client {
    /// A client of anything that is a [`Transport`]: a server in the same process, an
    /// [`HttpTransport`], middleware.
    pub fn new(transport: impl Transport) -> Self {
        Self {
            transport: Arc::new(transport),
            card: Arc::default(),
        }
    }

    /// A client of an agent whose card is known.
    pub fn with_card(transport: impl Transport, card: Arc<AgentCard>) -> Self {
        let client = Self::new(transport);
        client.set_card(card);
        client
    }

    /// Fetches the card of the agent at `url` (its origin, base or card) and connects to the first
    /// interface on it that we speak. [`Cards`] does that for many agents, and keeps their cards.
    pub async fn discover(url: &str) -> Result<Self, Error> {
        Cards::default().connect(url).await
    }

    /// Connects to the JSON-RPC endpoint at `url`, which speaks `dialect`, without a card.
    pub fn connect(url: &str, dialect: Dialect) -> Result<Self, Error> {
        Ok(Self::new(HttpTransport::new(url, dialect)?))
    }

    /// How to reach the agent at `url`: its origin, base or card.
    pub fn builder(url: &str) -> ClientBuilder {
        ClientBuilder::new(url)
    }

    /// The card that was discovered; the extended one once it was read.
    pub fn card(&self) -> Option<Arc<AgentCard>> {
        let card = self.card.read().unwrap_or_else(PoisonError::into_inner);
        card.clone()
    }

    fn set_card(&self, card: Arc<AgentCard>) {
        let mut kept = self.card.write().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(card);
    }

    /// Sends a message; resolves when the agent answers, which usually is when the task ends.
    pub async fn send(&self, message: impl Into<Message>) -> Result<SendMessageResponse, Error> {
        self.send_with(SendMessageRequest {
            message: message.into(),
            ..SendMessageRequest::default()
        })
        .await
    }

    /// Sends a message with settings of its own.
    pub async fn send_with(
        &self,
        params: SendMessageRequest,
    ) -> Result<SendMessageResponse, Error> {
        match self.once(Request::SendMessage(params)).await? {
            Response::SendMessage(response) => Ok(response),
            other => Err(mismatch(Operation::SendMessage, &other)),
        }
    }

    /// Sends a message and tells what comes of it, as it happens.
    pub async fn stream(&self, message: impl Into<Message>) -> Result<Updates, Error> {
        self.stream_with(SendMessageRequest {
            message: message.into(),
            ..SendMessageRequest::default()
        })
        .await
    }

    /// Sends a message with settings of its own and tells what comes of it, as it happens.
    pub async fn stream_with(&self, params: SendMessageRequest) -> Result<Updates, Error> {
        self.updates(Request::SendStreamingMessage(params), None)
            .await
    }

    /// Follows a task.
    pub async fn subscribe(&self, task: impl Into<TaskId>) -> Result<Updates, Error> {
        self.subscribe_after(task, None).await
    }

    /// Follows a task from after the event of that generation, if the agent still has it.
    pub async fn subscribe_after(
        &self,
        task: impl Into<TaskId>,
        seen: Option<u64>,
    ) -> Result<Updates, Error> {
        let params = SubscribeToTaskRequest {
            tenant: None,
            id: task.into(),
        };
        self.updates(Request::SubscribeToTask(params), seen).await
    }

    /// Reads a task, with at most so many messages of its history; none given leaves it to the agent.
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
            other => Err(mismatch(Operation::GetTask, &other)),
        }
    }

    /// Lists tasks, the latest change first, page by page: the answer's `next_page_token` goes into
    /// the next request.
    pub async fn list_tasks(&self, params: ListTasksRequest) -> Result<ListTasksResponse, Error> {
        match self.once(Request::ListTasks(params)).await? {
            Response::ListTasks(list) => Ok(list),
            other => Err(mismatch(Operation::ListTasks, &other)),
        }
    }

    /// Asks the agent to stop.
    pub async fn cancel_task(&self, task: impl Into<TaskId>) -> Result<Task, Error> {
        let params = CancelTaskRequest {
            id: task.into(),
            ..CancelTaskRequest::default()
        };
        match self.once(Request::CancelTask(params)).await? {
            Response::CancelTask(task) => Ok(task),
            other => Err(mismatch(Operation::CancelTask, &other)),
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
                &other,
            )),
        }
    }

    /// Reads a webhook of a task; without an id the agent picks one.
    pub async fn push_config(
        &self,
        task: impl Into<TaskId>,
        id: Option<ConfigId>,
    ) -> Result<TaskPushNotificationConfig, Error> {
        let params = GetTaskPushNotificationConfigRequest {
            tenant: None,
            task_id: task.into(),
            id: id.unwrap_or_default(),
        };
        match self
            .once(Request::GetTaskPushNotificationConfig(params))
            .await?
        {
            Response::GetTaskPushNotificationConfig(config) => Ok(config),
            other => Err(mismatch(Operation::GetTaskPushNotificationConfig, &other)),
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
            other => Err(mismatch(Operation::ListTaskPushNotificationConfigs, &other)),
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
                &other,
            )),
        }
    }

    /// Reads the card for callers who authenticate. It takes the place of the public one for as long
    /// as this client or a clone of it lives (specification 1.0 §3.1.11).
    pub async fn extended_card(&self) -> Result<Arc<AgentCard>, Error> {
        let params = GetExtendedAgentCardRequest::default();
        match self.once(Request::GetExtendedAgentCard(params)).await? {
            Response::GetExtendedAgentCard(card) => {
                let card = Arc::new(card);
                self.set_card(Arc::clone(&card));
                Ok(card)
            }
            other => Err(mismatch(Operation::GetExtendedAgentCard, &other)),
        }
    }

    async fn once(&self, request: Request) -> Result<Response, Error> {
        let operation = request.operation();
        match self.transport.call(Call::new(request)).await?.answer {
            Answer::Once(response) => Ok(response),
            Answer::Stream(_) => Err(not_as_asked(operation, "a stream")),
        }
    }

    async fn updates(&self, request: Request, seen: Option<u64>) -> Result<Updates, Error> {
        let operation = request.operation();
        let mut call = Call::new(request);
        call.context.last_event_id = seen;
        match self.transport.call(call).await?.answer {
            Answer::Stream(updates) => Ok(Updates { updates, seen }),
            Answer::Once(_) => Err(not_as_asked(operation, "one answer")),
        }
    }
}

/// The events of a task, in order; the stream ends when the agent says so.
pub struct Updates {
    updates: UpdateStream,
    seen: Option<u64>,
}

impl Updates {
    /// The generation of the last event that was read, from agents that tell it:
    /// [`Client::subscribe_after`] goes on from there.
    pub fn generation(&self) -> Option<u64> {
        self.seen
    }
}

impl Stream for Updates {
    type Item = Result<Event, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.updates.as_mut().poll_next(cx);
        polled.map(|item| {
            let Update { event, generation } = match item? {
                Ok(update) => update,
                Err(error) => return Some(Err(error)),
            };
            self.seen = generation.or(self.seen);
            Some(Ok(event))
        })
    }
}

fn mismatch(asked: Operation, got: &Response) -> Error {
    not_as_asked(asked, &format!("an answer to {}", got.operation().name()))
}

/// Only a transport that breaks its own contract comes to this.
fn not_as_asked(asked: Operation, got: &str) -> Error {
    Error::NotA2a {
        status: 200,
        problem: format!("{} was answered by {got}", asked.name()),
    }
}
