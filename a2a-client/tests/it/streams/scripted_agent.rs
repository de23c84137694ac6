//! Scripted agent of any protocol version, over a socket.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a_client::{Binding, Client, Event, ProtocolVersion, Retries};
use a2a_jsonrpc::Id;
use a2a_transport::binding::{EventWriter, write_reply};
use a2a_transport::{ResponseContext, sse};
use a2a_types::{
    Artifact, Error as A2aError, ErrorKind, Message, Operation, Part, Response, Task,
    TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent,
};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Answer to one request.
#[derive(Clone)]
pub(crate) enum Answer {
    /// Events, with these ids.
    Events(Vec<(Option<u64>, Event)>, StreamEnd),
    /// One response, to this operation.
    Once(Operation, Result<Response, A2aError>),
    /// These bytes.
    Raw(&'static str),
}

/// End of a stream.
#[derive(Clone, Copy)]
pub(crate) enum StreamEnd {
    /// A regular end.
    Clean,
    /// A broken connection within the next event.
    Broken,
    /// No end: the stream stays open.
    Open,
}

/// A request as received.
#[derive(Clone, Debug)]
pub(crate) struct RecordedCall {
    pub(crate) operation: Operation,
    pub(crate) last_event_id: Option<String>,
    pub(crate) params: Value,
}

pub(crate) struct ScriptedAgent {
    pub(crate) url: String,
    protocol_version: ProtocolVersion,
    asked: Arc<Mutex<Vec<RecordedCall>>>,
}

impl ScriptedAgent {
    /// Gives these answers to any requests, and closes the connection when there are no more.
    pub(crate) async fn new(
        protocol_version: ProtocolVersion,
        answers: impl IntoIterator<Item = Answer>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let mut answers: VecDeque<_> = answers.into_iter().collect();
        let record = Arc::clone(&asked);
        tokio::spawn(async move {
            let mut open = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                let mut stream = BufReader::new(stream);
                let Some((asked, id)) = read(&mut stream, protocol_version).await else {
                    continue;
                };
                record.lock().unwrap().push(asked.clone());
                if let Some(answer) = answers.pop_front()
                    && write(stream.get_mut(), answer, protocol_version, &asked, id).await
                {
                    open.push(stream);
                }
            }
        });
        Self {
            url,
            protocol_version,
            asked,
        }
    }

    /// Creates a client that retries soon.
    pub(crate) fn client(&self) -> Client {
        let client = Client::at(&self.url, self.protocol_version).unwrap();
        client.retries(Retries::default().base(Duration::from_millis(5)))
    }

    pub(crate) fn asked(&self) -> Vec<RecordedCall> {
        self.asked.lock().unwrap().clone()
    }

    /// Returns the requested operations, in order.
    pub(crate) fn operations(&self) -> Vec<Operation> {
        self.asked().iter().map(|asked| asked.operation).collect()
    }
}

async fn read(
    stream: &mut BufReader<TcpStream>,
    protocol_version: ProtocolVersion,
) -> Option<(RecordedCall, Id)> {
    let (mut length, mut last_event_id) = (0, None);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if let Some(value) = line.strip_prefix("last-event-id:") {
            last_event_id = Some(value.trim().to_owned());
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let body: Value = serde_json::from_slice(&body).ok()?;
    let method = body["method"].as_str()?;
    let named = |operation: &&Operation| protocol_version.method(**operation) == Some(method);
    let asked = RecordedCall {
        operation: *Operation::ALL.iter().find(named)?,
        last_event_id,
        params: body["params"].clone(),
    };
    Some((asked, Id::number(body["id"].as_u64()?)))
}

/// Returns whether the connection is to stay open.
async fn write(
    stream: &mut TcpStream,
    answer: Answer,
    protocol_version: ProtocolVersion,
    asked: &RecordedCall,
    id: Id,
) -> bool {
    const HEAD: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\n";
    let envelope = |operation| {
        let mut envelope = ResponseContext::new(protocol_version, Binding::JsonRpc, operation);
        envelope.id = Some(id.clone());
        envelope.task = Some("t".into());
        envelope
    };
    let mut stays = false;
    let bytes = match answer {
        Answer::Raw(text) => text.as_bytes().to_vec(),
        Answer::Once(operation, outcome) => {
            let body = write_reply(&envelope(operation), outcome).body;
            let head = format!(
                "{HEAD}content-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            [head.into_bytes(), body].concat()
        }
        Answer::Events(events, end) => {
            let mut writer = EventWriter::new(&envelope(asked.operation));
            let mut bytes = format!("{HEAD}content-type: text/event-stream\r\n\r\n").into_bytes();
            for (id, event) in events {
                for line in writer.write(&event.into()) {
                    bytes.extend_from_slice(&sse::encode(id, None, &line.json()));
                }
            }
            match end {
                StreamEnd::Clean => {}
                StreamEnd::Broken => bytes.extend_from_slice(b"data: {\"jsonrpc\":\"2.0\",\"res"),
                StreamEnd::Open => stays = true,
            }
            bytes
        }
    };
    drop(stream.write_all(&bytes).await);
    stays
}

/// Returns the task of all scripts.
pub(crate) fn task(state: TaskState, parts: &[&str]) -> Task {
    let mut task = Task::submitted("t".into(), "c".into());
    task.status = state.into();
    if !parts.is_empty() {
        task.artifacts = vec![artifact(parts)];
    }
    task
}

fn artifact(parts: &[&str]) -> Artifact {
    Artifact {
        artifact_id: "0".into(),
        parts: parts.iter().copied().map(Part::text).collect(),
        ..Artifact::default()
    }
}

pub(crate) fn snapshot(state: TaskState, parts: &[&str]) -> Event {
    Event::Task(task(state, parts))
}

/// Returns the next part of the artifact; `1` is the first.
pub(crate) fn chunk(text: &str) -> Event {
    Event::ArtifactUpdate(TaskArtifactUpdateEvent {
        task_id: "t".into(),
        context_id: Some("c".into()),
        artifact: artifact(&[text]),
        append: text != "1",
        last_chunk: false,
        metadata: None,
    })
}

pub(crate) fn status(state: TaskState) -> Event {
    Event::StatusUpdate(TaskStatusUpdateEvent {
        task_id: "t".into(),
        context_id: Some("c".into()),
        status: state.into(),
        metadata: None,
    })
}

/// Events without ids.
pub(crate) fn events(events: impl IntoIterator<Item = Event>, end: StreamEnd) -> Answer {
    Answer::Events(events.into_iter().map(|event| (None, event)).collect(), end)
}

/// Returns the answer of a read: the task in this state.
pub(crate) fn looked(state: TaskState, parts: &[&str]) -> Answer {
    Answer::Once(
        Operation::GetTask,
        Ok(Response::GetTask(task(state, parts))),
    )
}

pub(crate) fn refused(kind: ErrorKind) -> Answer {
    Answer::Once(Operation::GetTask, Err(kind.into()))
}

/// Returns a summary of an event.
pub(crate) fn in_short(event: &Event) -> String {
    let texts = |parts: &[Part]| parts.iter().filter_map(Part::as_text).collect::<String>();
    match event {
        Event::Task(task) => {
            let parts = task.artifacts.iter().map(|artifact| texts(&artifact.parts));
            format!("{:?}[{}]", task.status.state, parts.collect::<String>())
        }
        Event::Message(message) => message.text(),
        Event::StatusUpdate(update) => format!("{:?}", update.status.state),
        Event::ArtifactUpdate(update) => {
            let sign = if update.append { "+" } else { "=" };
            format!("{sign}{}", texts(&update.artifact.parts))
        }
    }
}

/// Returns a message that names its task in the versions that require it.
pub(crate) fn message(protocol_version: ProtocolVersion) -> Message {
    Message {
        task_id: protocol_version
            .rules()
            .caller_names_tasks
            .then(|| "t".into()),
        ..Message::user("go")
    }
}

/// Awaits a future for a day of the paused clock, so that a test fails instead of hanging.
pub(crate) async fn in_time<T>(future: impl Future<Output = T>) -> T {
    let came = tokio::time::timeout(Duration::from_secs(24 * 3600), future).await;
    came.expect("nothing more came")
}
