//! The floor: what an agent needs, made by hand with hyper, typed JSON, an agent in a task of its own, and a map of
//! tasks. It supports send, stream and get, and nothing else of the protocol. The cost of our server beyond it is
//! the price of everything else.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a_types::{ArtifactId, ContextId, TaskId, Timestamp};
use bytes::Bytes;
use futures_util::stream::unfold;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::agent::CHUNK;
use crate::machine::Failure;

pub(super) async fn serve() -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let tasks = Arc::new(TaskTable::default());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let tasks = Arc::clone(&tasks);
        let service = service_fn(move |request| answer_to(request, Arc::clone(&tasks)));
        tokio::spawn(async move {
            let mut http1 = http1::Builder::new();
            http1.timer(TokioTimer::new());
            // A caller that closes a connection has its answer.
            let _ = http1.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// A failure closes the connection, which the caller reports.
async fn answer_to(
    request: Request<Incoming>,
    tasks: Arc<TaskTable>,
) -> Result<Response<BoxBody<Bytes, Infallible>>, Failure> {
    let body = request.into_body().collect().await?.to_bytes();
    let JsonRpcRequest { id, method, params } = serde_json::from_slice(&body)?;
    let (body, media_type) = match (params.message, params.id) {
        (Some(message), _) if method == "SendStreamingMessage" => {
            (stream(id, message, &tasks), "text/event-stream")
        }
        (Some(message), _) => {
            let task = send(message, &tasks).await;
            let answer = serde_json::to_vec(&JsonRpcResponse::of(&id, &SendResult { task }))?;
            (Full::from(answer).boxed(), "application/json")
        }
        (None, asked) => {
            let task = asked.and_then(|id| tasks.get(&id));
            let task = task.ok_or("there is no such task")?;
            let answer = serde_json::to_vec(&JsonRpcResponse::of(&id, &task))?;
            (Full::from(answer).boxed(), "application/json")
        }
    };
    let mut response = Response::new(body);
    let media_type = HeaderValue::from_static(media_type);
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    Ok(response)
}

/// Returns a new task, as its agent leaves it.
async fn send(message: Message, tasks: &TaskTable) -> Task {
    let (task, mut events) = begin(message, tasks);
    while let Some(event) = events.recv().await {
        lock(&task).apply(&event);
    }
    let task = lock(&task);
    task.clone()
}

/// Returns a new task, and then each of its events.
fn stream(id: Value, message: Message, tasks: &TaskTable) -> BoxBody<Bytes, Infallible> {
    let (task, events) = begin(message, tasks);
    let frames = unfold(
        (id, task, events, true),
        async |(id, task, mut events, is_first)| {
            let event = match is_first {
                true => Event::Task(lock(&task).clone()),
                false => {
                    let event = events.recv().await?;
                    lock(&task).apply(&event);
                    event
                }
            };
            let mut frame = b"data: ".to_vec();
            serde_json::to_writer(&mut frame, &JsonRpcResponse::of(&id, &event)).ok()?;
            frame.extend_from_slice(b"\n\n");
            Some((Ok(Frame::data(frame.into())), (id, task, events, false)))
        },
    );
    StreamBody::new(frames).boxed()
}

/// Begins a task, and its agent.
fn begin(mut message: Message, tasks: &TaskTable) -> (Arc<Mutex<Task>>, mpsc::Receiver<Event>) {
    let (id, context_id) = (TaskId::random(), ContextId::random());
    let text: String = message.parts.iter().map(|part| &*part.text).collect();
    message.task_id = Some(id.clone());
    message.context_id = Some(context_id.clone());
    let task = tasks.put(Task {
        id: id.clone(),
        context_id: context_id.clone(),
        status: Status::now("TASK_STATE_SUBMITTED"),
        artifacts: Vec::new(),
        history: vec![message],
    });
    let (sender, events) = mpsc::channel(AHEAD);
    tokio::spawn(agent(text, (id, context_id), sender));
    (task, events)
}

/// The agent: it sends back the text, or as many chunks as the text asks for.
async fn agent(text: String, place: (TaskId, ContextId), sender: mpsc::Sender<Event>) {
    let count = text.strip_prefix("chunks ");
    let (chunk, count) = match count.and_then(|count| count.parse().ok()) {
        Some(count) => (CHUNK.to_owned(), count),
        None => (text, 1),
    };
    let artifact_id = ArtifactId::random();
    for number in 1..=count {
        let part = Part {
            text: chunk.clone(),
            ..Part::default()
        };
        let event = Event::ArtifactUpdate(ArtifactUpdate {
            task_id: place.0.clone(),
            context_id: place.1.clone(),
            append: number > 1,
            last_chunk: number == count,
            artifact: Artifact {
                artifact_id: artifact_id.clone(),
                name: Some("echo".to_owned()),
                parts: vec![part],
            },
        });
        // The caller is gone.
        if sender.send(event).await.is_err() {
            return;
        }
    }
    let (task_id, context_id) = place;
    let status = Status::now("TASK_STATE_COMPLETED");
    let completed = Event::StatusUpdate(StatusUpdate {
        task_id,
        context_id,
        status,
    });
    // The caller is gone.
    let _ = sender.send(completed).await;
}

/// The tasks; the oldest make room for new ones.
#[derive(Default)]
struct TaskTable(Mutex<TaskTableState>);

#[derive(Default)]
struct TaskTableState {
    tasks: HashMap<TaskId, Arc<Mutex<Task>>>,
    order: VecDeque<TaskId>,
}

impl TaskTable {
    fn put(&self, task: Task) -> Arc<Mutex<Task>> {
        let id = task.id.clone();
        let task = Arc::new(Mutex::new(task));
        let mut table = lock(&self.0);
        table.tasks.insert(id.clone(), Arc::clone(&task));
        table.order.push_back(id);
        if table.order.len() > MAX_TASKS
            && let Some(first) = table.order.pop_front()
        {
            table.tasks.remove(&first);
        }
        task
    }

    fn get(&self, id: &TaskId) -> Option<Task> {
        let task = lock(&self.0).tasks.get(id).cloned()?;
        let task = lock(&task);
        Some(task.clone())
    }
}

/// No code under these locks panics half-way, so poisoning is ignored.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Maximum number of tasks: as many as ours keeps.
const MAX_TASKS: usize = 10_000;

/// Number of events that an agent may be ahead.
const AHEAD: usize = 16;

#[derive(Deserialize)]
struct JsonRpcRequest {
    id: Value,
    method: String,
    params: Params,
}

/// Parameters of a send or of a get.
#[derive(Deserialize)]
struct Params {
    message: Option<Message>,
    id: Option<TaskId>,
}

#[derive(Serialize)]
struct JsonRpcResponse<'a, T> {
    jsonrpc: &'static str,
    id: &'a Value,
    result: &'a T,
}

impl<'a, T> JsonRpcResponse<'a, T> {
    fn of(id: &'a Value, result: &'a T) -> Self {
        let jsonrpc = "2.0";
        Self {
            jsonrpc,
            id,
            result,
        }
    }
}

#[derive(Serialize)]
struct SendResult {
    task: Task,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Event {
    Task(Task),
    ArtifactUpdate(ArtifactUpdate),
    StatusUpdate(StatusUpdate),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactUpdate {
    task_id: TaskId,
    context_id: ContextId,
    artifact: Artifact,
    append: bool,
    last_chunk: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusUpdate {
    task_id: TaskId,
    context_id: ContextId,
    status: Status,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Task {
    id: TaskId,
    context_id: ContextId,
    status: Status,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<Artifact>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    history: Vec<Message>,
}

impl Task {
    fn apply(&mut self, event: &Event) {
        match event {
            Event::Task(_) => {}
            Event::ArtifactUpdate(update) => match self.artifacts.last_mut() {
                Some(known) if update.append => {
                    known.parts.extend(update.artifact.parts.iter().cloned());
                }
                _ => self.artifacts.push(update.artifact.clone()),
            },
            Event::StatusUpdate(update) => self.status = update.status.clone(),
        }
    }
}

#[derive(Clone, Serialize)]
struct Status {
    state: &'static str,
    timestamp: Timestamp,
}

impl Status {
    fn now(state: &'static str) -> Self {
        let timestamp = Timestamp::now();
        Self { state, timestamp }
    }
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Artifact {
    artifact_id: ArtifactId,
    name: Option<String>,
    parts: Vec<Part>,
}

#[derive(Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    message_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_id: Option<ContextId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<TaskId>,
    role: String,
    parts: Vec<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Map<String, Value>>,
}

#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Map<String, Value>>,
}
