//! A server of gRPC that tonic has generated, with an agent of the same behaviour as ours. Its tasks are in a map.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use grpc_peer::prost_types::Timestamp;
use grpc_peer::tonic::transport::Server;
use grpc_peer::tonic::transport::server::TcpIncoming;
use grpc_peer::tonic::{Request, Response, Status, async_trait};
use grpc_peer::v1_0::a2a_service_server::{A2aService, A2aServiceServer};
use grpc_peer::v1_0::send_message_response::Payload as Answer;
use grpc_peer::v1_0::stream_response::Payload as Event;
use grpc_peer::v1_0::{
    AgentCard, Artifact, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    ListTasksRequest, ListTasksResponse, Message, Part, SendMessageRequest, SendMessageResponse,
    StreamResponse, SubscribeToTaskRequest, Task, TaskArtifactUpdateEvent,
    TaskPushNotificationConfig, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::agent::CHUNK;
use crate::machine::Failure;
use crate::request_template::next_id;

pub(super) async fn serve() -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let service = A2aServiceServer::new(Echo::default());
    let connections = TcpIncoming::from(listener).with_nodelay(Some(true));
    let router = Server::builder().add_service(service);
    Ok(router.serve_with_incoming(connections).await?)
}

/// Agent that does what the message demands:
///
/// - `chunks N` sends an artifact in N chunks, without a pause;
/// - `wait …` reports that it works, and then waits;
/// - anything else is sent back in an artifact.
#[derive(Clone, Default)]
struct Echo {
    tasks: Arc<Mutex<Tasks>>,
}

#[derive(Default)]
struct Tasks {
    by_id: HashMap<String, Task>,
    /// Ids of the tasks that have ended, the oldest first.
    ended: VecDeque<String>,
    /// Streams of waiting tasks, which stay open.
    waiting: Vec<Events>,
}

type Events = mpsc::Sender<Result<StreamResponse, Status>>;

#[async_trait]
impl A2aService for Echo {
    type SendStreamingMessageStream = ReceiverStream<Result<StreamResponse, Status>>;
    type SubscribeToTaskStream = Self::SendStreamingMessageStream;

    async fn send_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<SendMessageResponse>, Status> {
        let (text, mut task) = begin(request)?;
        task.artifacts.push(artifact("echo", text));
        task.status = Some(status(TaskState::Completed));
        self.tasks().keep(task.clone());
        Ok(Response::new(SendMessageResponse {
            payload: Some(Answer::Task(task)),
        }))
    }

    async fn send_streaming_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<Self::SendStreamingMessageStream>, Status> {
        let (text, task) = begin(request)?;
        let (events, received) = mpsc::channel(CHANNEL);
        self.tasks().keep(task.clone());
        let echo = self.clone();
        match text.split_once(' ') {
            Some(("chunks", count)) => {
                let count = count.parse().map_err(|_| Status::invalid_argument(&text))?;
                tokio::spawn(async move { echo.chunks(task, count, events).await });
            }
            Some(("wait", _)) => {
                send(&events, Event::Task(task.clone())).await;
                echo.update(&task, TaskState::Working, &events).await;
                echo.tasks().waiting.push(events);
            }
            _ => _ = tokio::spawn(async move { echo.echo(task, text, events).await }),
        }
        Ok(Response::new(ReceiverStream::new(received)))
    }

    async fn get_task(&self, request: Request<GetTaskRequest>) -> Result<Response<Task>, Status> {
        let id = request.into_inner().id;
        let task = self.tasks().by_id.get(&id).cloned();
        task.map(Response::new).ok_or_else(|| Status::not_found(id))
    }

    async fn list_tasks(
        &self,
        _: Request<ListTasksRequest>,
    ) -> Result<Response<ListTasksResponse>, Status> {
        not_measured()
    }

    async fn cancel_task(&self, _: Request<CancelTaskRequest>) -> Result<Response<Task>, Status> {
        not_measured()
    }

    async fn subscribe_to_task(
        &self,
        _: Request<SubscribeToTaskRequest>,
    ) -> Result<Response<Self::SubscribeToTaskStream>, Status> {
        not_measured()
    }

    async fn create_task_push_notification_config(
        &self,
        _: Request<TaskPushNotificationConfig>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        not_measured()
    }

    async fn get_task_push_notification_config(
        &self,
        _: Request<GetTaskPushNotificationConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        not_measured()
    }

    async fn list_task_push_notification_configs(
        &self,
        _: Request<ListTaskPushNotificationConfigsRequest>,
    ) -> Result<Response<ListTaskPushNotificationConfigsResponse>, Status> {
        not_measured()
    }

    async fn get_extended_agent_card(
        &self,
        _: Request<GetExtendedAgentCardRequest>,
    ) -> Result<Response<AgentCard>, Status> {
        not_measured()
    }

    async fn delete_task_push_notification_config(
        &self,
        _: Request<DeleteTaskPushNotificationConfigRequest>,
    ) -> Result<Response<()>, Status> {
        not_measured()
    }
}

impl Echo {
    async fn chunks(self, task: Task, count: usize, events: Events) {
        send(&events, Event::Task(task.clone())).await;
        self.update(&task, TaskState::Working, &events).await;
        let artifact_id = next_id();
        for number in 1..=count {
            let is_first = number == 1;
            let mut chunk = artifact("chunks", CHUNK.to_owned());
            chunk.artifact_id.clone_from(&artifact_id);
            if let Some(kept) = self.tasks().by_id.get_mut(&task.id) {
                match kept.artifacts.last_mut() {
                    Some(kept) => kept.parts.extend(chunk.parts.iter().cloned()),
                    None => kept.artifacts.push(chunk.clone()),
                }
            }
            let update = Event::ArtifactUpdate(TaskArtifactUpdateEvent {
                task_id: task.id.clone(),
                context_id: task.context_id.clone(),
                artifact: Some(chunk),
                append: !is_first,
                last_chunk: number == count,
                metadata: None,
            });
            send(&events, update).await;
        }
        self.update(&task, TaskState::Completed, &events).await;
    }

    async fn echo(self, task: Task, text: String, events: Events) {
        send(&events, Event::Task(task.clone())).await;
        let artifact = artifact("echo", text);
        if let Some(kept) = self.tasks().by_id.get_mut(&task.id) {
            kept.artifacts.push(artifact.clone());
        }
        let update = Event::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: task.id.clone(),
            context_id: task.context_id.clone(),
            artifact: Some(artifact),
            append: false,
            last_chunk: true,
            metadata: None,
        });
        send(&events, update).await;
        self.update(&task, TaskState::Completed, &events).await;
    }

    /// Keeps a new state of the task, and sends it.
    async fn update(&self, task: &Task, state: TaskState, events: &Events) {
        let status = status(state);
        if let Some(kept) = self.tasks().by_id.get_mut(&task.id) {
            kept.status = Some(status.clone());
        }
        let update = Event::StatusUpdate(TaskStatusUpdateEvent {
            task_id: task.id.clone(),
            context_id: task.context_id.clone(),
            status: Some(status),
            metadata: None,
        });
        send(events, update).await;
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tasks {
    /// Keeps a task, in place of the oldest one if there are as many as ours keeps.
    fn keep(&mut self, task: Task) {
        if self.ended.len() == MAX_TASKS
            && let Some(oldest) = self.ended.pop_front()
        {
            self.by_id.remove(&oldest);
        }
        self.ended.push_back(task.id.clone());
        self.by_id.insert(task.id.clone(), task);
    }
}

/// Returns the text of a message, and its new task.
fn begin(request: Request<SendMessageRequest>) -> Result<(String, Task), Status> {
    let message = request.into_inner().message;
    let mut message: Message = message.ok_or_else(|| Status::invalid_argument("no message"))?;
    let text = message.text();
    let (id, context_id) = (next_id(), next_id());
    message.task_id.clone_from(&id);
    message.context_id.clone_from(&context_id);
    let task = Task {
        id,
        context_id,
        status: Some(status(TaskState::Submitted)),
        history: vec![message],
        ..Task::default()
    };
    Ok((text, task))
}

fn artifact(name: &str, text: String) -> Artifact {
    Artifact {
        artifact_id: next_id(),
        name: name.to_owned(),
        parts: vec![Part::text(text)],
        ..Artifact::default()
    }
}

fn status(state: TaskState) -> TaskStatus {
    TaskStatus {
        state: state.into(),
        message: None,
        timestamp: Some(Timestamp::from(SystemTime::now())),
    }
}

async fn send(events: &Events, event: Event) {
    let response = StreamResponse {
        payload: Some(event),
    };
    // The caller is gone.
    drop(events.send(Ok(response)).await);
}

fn not_measured<T>() -> Result<Response<T>, Status> {
    Err(Status::unimplemented("it is not measured"))
}

/// Number of events that a task may be ahead of what is written.
const CHANNEL: usize = 64;

/// Number of ended tasks that are kept.
const MAX_TASKS: usize = 100_000;
