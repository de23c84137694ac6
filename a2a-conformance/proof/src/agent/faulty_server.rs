//! A server with a bug in its behaviour.

use std::sync::Arc;

use a2a_server::Server;
use a2a_transport::{BoxFuture, CallRequest, CallResponse, Error, ResponseBody, Transport, Update};
use a2a_types::{
    CancelTaskRequest, Content, ErrorKind, Event, GetTaskRequest, Operation, ProtocolVersion,
    Request, Response, SendMessageResponse, Task, TaskId, TaskState, TaskStatusUpdateEvent,
};
use futures_util::StreamExt;

use super::bug::Bug;
use super::followers::{DropHookStream, Followers};
use super::memory::{Memory, Owner};
use super::relay::{Relay, fetch};
use super::subscription_bugs;

/// A server that may have a bug.
#[derive(Clone)]
pub(super) struct FaultyServer {
    server: Server,
    bug: Option<Bug>,
    memory: Arc<Memory>,
    followers: Arc<Followers>,
    /// Relay between the server and the webhooks.
    relay: Option<Arc<Relay>>,
}

impl FaultyServer {
    pub(super) fn new(server: Server, bug: Option<Bug>, relay: Option<Arc<Relay>>) -> Self {
        Self {
            server,
            bug,
            memory: Arc::default(),
            followers: Arc::default(),
            relay,
        }
    }
}

impl Transport for FaultyServer {
    fn call(&self, mut call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        Box::pin(async move {
            let original = call.clone();
            if let Some(bug) = self.bug {
                self.before(bug, &mut call).await;
            }
            if let Some(relay) = &self.relay {
                relay.outbound(&mut call.request);
            }
            let reply = self.server.call(call).await;
            let mut reply = match self.bug {
                Some(bug) => self.after(bug, original, reply).await,
                None => reply,
            };
            if let (
                Some(relay),
                Ok(CallResponse {
                    answer: ResponseBody::Once(response),
                    ..
                }),
            ) = (&self.relay, &mut reply)
            {
                relay.inbound(response);
            }
            reply
        })
    }
}

impl FaultyServer {
    /// Changes a call before it reaches the server.
    async fn before(&self, bug: Bug, call: &mut CallRequest) {
        let operation = call.request.operation();
        let foreign = match bug {
            Bug::OthersReadTask => operation == Operation::GetTask,
            Bug::OthersFollowTask => {
                matches!(
                    operation,
                    Operation::SubscribeToTask | Operation::CancelTask
                )
            }
            Bug::OthersReadWebhooks => matches!(
                operation,
                Operation::GetTaskPushNotificationConfig
                    | Operation::ListTaskPushNotificationConfigs
            ),
            _ => false,
        };
        if let Some(owner) = call.request.task_id().and_then(|id| self.memory.owner(id))
            && foreign
        {
            owner.pose(call);
        }
        match (bug, &mut call.request) {
            (Bug::UnrequestedHistory, Request::GetTask(params))
                if params.history_length == Some(0) =>
            {
                params.history_length = None;
            }
            (Bug::ListedWithArtifacts, Request::ListTasks(params)) => {
                params.include_artifacts = true
            }
            (Bug::PageTokenOfOthers, Request::ListTasks(params)) => {
                if let Some(owner) = self.memory.owner_of_token(&params.page_token) {
                    owner.pose(call);
                }
            }
            (Bug::WebhookIdIsTaskId, Request::CreateTaskPushNotificationConfig(params))
                if params.id.as_str().is_empty() =>
            {
                params.id = params.task_id.as_str().into();
            }
            (Bug::FetchesFiles, Request::SendMessage(params)) => {
                for part in &params.message.parts {
                    if let Content::Url(url) = &part.content {
                        // The response is discarded.
                        let _ = fetch(url).await;
                    }
                }
            }
            (Bug::LosesConcurrentMessage, Request::SendMessage(params)) => {
                params.message.parts = self
                    .memory
                    .message_swap
                    .exchange(&params.message.parts)
                    .await;
            }
            _ => {}
        }
    }

    /// Changes the server's answer.
    async fn after(
        &self,
        bug: Bug,
        original: CallRequest,
        reply: Result<CallResponse, Error>,
    ) -> Result<CallResponse, Error> {
        let owner = Owner::of(&original);
        let mut reply = match reply {
            Ok(reply) => reply,
            Err(error) => return self.after_error(bug, original, error).await,
        };
        reply.answer = match reply.answer {
            ResponseBody::Once(mut response) => {
                self.inject_bug(bug, &owner, &mut response);
                ResponseBody::Once(response)
            }
            ResponseBody::Stream(updates) => {
                let memory = Arc::clone(&self.memory);
                let follows = original.request.operation() == Operation::SubscribeToTask;
                let updates = updates.inspect(move |update| {
                    let Ok(update) = update else { return };
                    if let Some(id) = update.event.task_id() {
                        memory.note(id, &owner);
                    }
                    if !follows {
                        memory.note_chunk(update);
                    }
                });
                ResponseBody::Stream(self.stream(bug, &original, Box::pin(updates)).await)
            }
        };
        Ok(reply)
    }

    async fn after_error(
        &self,
        bug: Bug,
        original: CallRequest,
        error: Error,
    ) -> Result<CallResponse, Error> {
        let Error::Agent(mut said) = error else {
            return Err(error);
        };
        match (bug, &original.request, said.kind) {
            (
                Bug::AcceptsAfterEnd,
                Request::SendMessage(_) | Request::SendStreamingMessage(_),
                _,
            ) => {
                if let Some(task) = self.task(&original).await
                    && task.status.state.is_terminal()
                {
                    return Ok(match original.request {
                        Request::SendMessage(_) => CallResponse::once(Response::SendMessage(
                            SendMessageResponse::Task(task),
                        )),
                        _ => {
                            let update = Update::new(Event::Task(task), None);
                            CallResponse::stream(tokio_stream::once(Ok(update)))
                        }
                    });
                }
            }
            (
                Bug::CancelsEnded | Bug::CancelsFailed,
                Request::CancelTask(_),
                ErrorKind::TaskNotCancelable,
            ) => {
                let is_spoiled = |task: &Task| {
                    bug == Bug::CancelsEnded || task.status.state == TaskState::Failed
                };
                if let Some(task) = self.task(&original).await.filter(is_spoiled) {
                    return Ok(CallResponse::once(Response::CancelTask(task)));
                }
            }
            (Bug::UnknownIsInvalidParams, Request::CancelTask(_), ErrorKind::TaskNotFound) => {
                said.kind = ErrorKind::InvalidParams;
            }
            (Bug::ErrorsRevealSource, ..) => said.message.push_str(TRACE),
            (
                Bug::StreamedRefusal,
                Request::SendStreamingMessage(_) | Request::SubscribeToTask(_),
                _,
            ) => {
                return Ok(CallResponse::stream(tokio_stream::once(Err(Error::Agent(
                    said,
                )))));
            }
            _ => {}
        }
        Err(Error::Agent(said))
    }

    /// The task that a call is about, as the server has it.
    async fn task(&self, original: &CallRequest) -> Option<Task> {
        let request = GetTaskRequest {
            id: original.request.task_id()?.clone(),
            history_length: None,
            tenant: original.request.tenant().map(str::to_owned),
        };
        let call = CallRequest {
            request: request.into(),
            context: original.context.clone(),
        };
        match self.server.call(call).await.ok()?.answer {
            ResponseBody::Once(Response::GetTask(task)) => Some(task),
            _ => None,
        }
    }

    fn inject_bug(&self, bug: Bug, owner: &Owner, response: &mut Response) {
        if !matches!(response, Response::ListTasks(_)) {
            let tasks = response.tasks_mut();
            tasks.for_each(|task| self.memory.note(&task.id, owner));
        }
        match (bug, response) {
            (Bug::EndedWorksAgain, Response::GetTask(task))
                if task.status.state.is_terminal() && self.memory.has_read(&task.id) =>
            {
                task.status.state = TaskState::Working;
            }
            (Bug::ListedOldestFirst, Response::ListTasks(list)) => list.tasks.reverse(),
            (Bug::PageTokenOfOthers, Response::ListTasks(list)) => {
                self.memory.note_token(&list.next_page_token, owner);
            }
            _ => {}
        }
    }

    async fn stream(
        &self,
        bug: Bug,
        original: &CallRequest,
        updates: a2a_transport::UpdateStream,
    ) -> a2a_transport::UpdateStream {
        match bug {
            Bug::StreamWithoutTask
                if original.context.protocol_version == ProtocolVersion::V1_0 =>
            {
                Box::pin(updates.enumerate().map(|(number, update)| match number {
                    0 => update.map(without_task),
                    _ => update,
                }))
            }
            Bug::StreamOpenAfterFailure | Bug::ConnectionOpenAfterFinal => {
                Box::pin(updates.flat_map(|update| {
                    let failed = |event: &Event| {
                        let status = event.status();
                        status.is_some_and(|status| status.state == TaskState::Failed)
                    };
                    let stays = update.as_ref().is_ok_and(|update| failed(&update.event));
                    let once = futures_util::stream::once(std::future::ready(update));
                    match stays {
                        true => once.chain(futures_util::stream::pending()).left_stream(),
                        false => once.right_stream(),
                    }
                }))
            }
            Bug::EventAfterEnd => Box::pin(updates.flat_map(|update| {
                let ends = |event: &Event| {
                    let Event::StatusUpdate(update) = event else {
                        return false;
                    };
                    update.status.state.is_terminal()
                };
                let again = update.as_ref().ok().filter(|update| ends(&update.event));
                let again = again.cloned().map(Ok);
                futures_util::stream::iter(std::iter::once(update).chain(again))
            })),
            Bug::SubscriptionMissesEvent
                if original.request.operation() == Operation::SubscribeToTask =>
            {
                let missed = updates.enumerate().filter_map(|(number, update)| {
                    std::future::ready((number != 1).then_some(update))
                });
                Box::pin(missed)
            }
            Bug::ResumedStreamMissesEvent
            | Bug::ResumedStreamRepeatsEvent
            | Bug::SubscriptionRepeatsChunk
            | Bug::EventOfOtherTask
            | Bug::OldSubscriptionMissesEvent => {
                subscription_bugs::with_bug(bug, original, updates, &self.memory)
            }
            Bug::StreamsEndTogether => self.followers.linked(updates),
            Bug::DisconnectCancels => {
                let (server, original) = (self.server.clone(), original.clone());
                let cancel = move |id: TaskId| {
                    let request = CancelTaskRequest {
                        id,
                        tenant: original.request.tenant().map(str::to_owned),
                        metadata: None,
                    };
                    let call = CallRequest {
                        request: request.into(),
                        context: original.context.clone(),
                    };
                    drop(tokio::spawn(
                        async move { server.call(call).await.map(drop) },
                    ));
                };
                Box::pin(DropHookStream::new(updates, cancel))
            }
            _ => updates,
        }
    }
}

/// The status instead of the task.
fn without_task(update: Update) -> Update {
    let event = match update.event.into_event() {
        Event::Task(task) => Event::StatusUpdate(TaskStatusUpdateEvent {
            task_id: task.id,
            context_id: task.context_id,
            status: task.status,
            metadata: None,
        }),
        event => event,
    };
    Update::new(event, update.sequence)
}

/// Stack trace that agents should keep to themselves.
const TRACE: &str =
    "\nTraceback (most recent call last):\n  File \"/srv/agent/executor.py\", line 88, in run";
