//! Minimal server for an agent, made by hand: hyper, types for the messages, an agent in a task of its own, a
//! map of tasks, and nothing of the protocol but a send and a get without errors. The additional cost
//! of ours is the price of everything else.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a_types::{ArtifactId, ContextId, TaskId, Timestamp};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::Failure;

pub(super) async fn serve() -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let shelf = Arc::new(TaskTable::default());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let shelf = Arc::clone(&shelf);
        let service = service_fn(move |request| answer_to(request, Arc::clone(&shelf)));
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
    shelf: Arc<TaskTable>,
) -> Result<Response<Full<Bytes>>, Failure> {
    let body = request.into_body().collect().await?.to_bytes();
    let JsonRpcRequest { id, params } = serde_json::from_slice(&body)?;
    let result = match params {
        Params {
            message: Some(message),
            ..
        } => CallResult::Sent {
            task: send(message, &shelf).await,
        },
        Params { id, .. } => {
            let task = id.and_then(|id| shelf.get(&id));
            CallResult::Found(task.ok_or("there is no such task")?)
        }
    };
    let answer = serde_json::to_vec(&JsonRpcResponse {
        jsonrpc: "2.0",
        id,
        result,
    })?;
    let mut response = Response::new(Full::from(answer));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    Ok(response)
}

/// Returns a new task, as its agent leaves it.
async fn send(mut message: Message, shelf: &TaskTable) -> Task {
    let (id, context_id) = (TaskId::random(), ContextId::random());
    let text = message
        .parts
        .iter()
        .map(|part| part.text.as_str())
        .collect();
    message.task_id = Some(id.clone());
    message.context_id = Some(context_id.clone());
    let task = shelf.put(Task {
        id,
        context_id,
        status: Status::now("TASK_STATE_SUBMITTED"),
        artifacts: Vec::new(),
        history: vec![message],
    });
    let (sender, mut events) = mpsc::channel(AHEAD);
    tokio::spawn(echo(text, sender));
    while let Some(event) = events.recv().await {
        let mut task = lock(&task);
        match event {
            Event::Artifact(artifact) => task.artifacts.push(artifact),
            Event::Status(status) => task.status = status,
        }
    }
    let task = lock(&task);
    task.clone()
}

/// The agent: it sends back the text.
async fn echo(text: String, sender: mpsc::Sender<Event>) {
    let artifact = Artifact {
        artifact_id: ArtifactId::random(),
        name: Some("echo".to_owned()),
        parts: vec![Part {
            text,
            ..Part::default()
        }],
    };
    let events = [
        Event::Artifact(artifact),
        Event::Status(Status::now("TASK_STATE_COMPLETED")),
    ];
    for event in events {
        // The caller is gone.
        if sender.send(event).await.is_err() {
            return;
        }
    }
}

/// The tasks; those that came first make room for new ones.
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

/// Nothing that is done under these locks can panic half-way.
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
    params: Params,
}

/// Those of a send and those of a get.
#[derive(Deserialize)]
struct Params {
    message: Option<Message>,
    id: Option<TaskId>,
}

#[derive(Serialize)]
struct JsonRpcResponse {
    jsonrpc: &'static str,
    id: Value,
    result: CallResult,
}

#[derive(Serialize)]
#[serde(untagged)]
enum CallResult {
    Sent { task: Task },
    Found(Task),
}

enum Event {
    Artifact(Artifact),
    Status(Status),
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
