//! Subscriptions that are refused or bring nothing: the task itself decides what comes next.

use std::sync::{Arc, Mutex};

use a2a_client::{Binding, Client, Error, Event, ProtocolVersion, Retries};
use a2a_jsonrpc::Id;
use a2a_transport::binding::{EventWriter, write_reply};
use a2a_transport::{ResponseContext, sse};
use a2a_types::{Error as A2aError, ErrorKind, Operation, Response, TaskState};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::streams::every_version::collect;
use crate::streams::scripted_agent::{chunk, message, snapshot, status, task};
use Operation::{GetTask, SendStreamingMessage, SubscribeToTask};
use TaskState::{Completed, Working};

/// Answer to a subscription that brings no events.
#[derive(Clone, Copy, Debug)]
enum SubscriptionRefusal {
    /// An error with its HTTP status, as the binding writes it.
    Answered(ErrorKind),
    /// An error as the first event of the stream.
    Streamed(ErrorKind),
    /// A stream without events.
    Empty,
    /// A stream whose connection breaks before the first event.
    Dropped,
    /// A success without a body.
    NoBody,
    /// An HTML page.
    Page,
}

impl SubscriptionRefusal {
    fn is_unsupported(self) -> bool {
        matches!(self, Self::Streamed(ErrorKind::UnsupportedOperation))
    }
}

const REFUSALS: &[SubscriptionRefusal] = &[
    SubscriptionRefusal::Answered(ErrorKind::InvalidParams),
    SubscriptionRefusal::Answered(ErrorKind::TaskNotFound),
    SubscriptionRefusal::Answered(ErrorKind::Internal),
    SubscriptionRefusal::Streamed(ErrorKind::InvalidParams),
    SubscriptionRefusal::Streamed(ErrorKind::TaskNotFound),
    SubscriptionRefusal::Streamed(ErrorKind::UnsupportedOperation),
    SubscriptionRefusal::Streamed(ErrorKind::Internal),
    SubscriptionRefusal::Empty,
    SubscriptionRefusal::Dropped,
    SubscriptionRefusal::NoBody,
    SubscriptionRefusal::Page,
];

const WIRES: &[(ProtocolVersion, Binding)] = &[
    (ProtocolVersion::V0_1, Binding::JsonRpc),
    (ProtocolVersion::V0_2, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::JsonRpc),
    (ProtocolVersion::V1_0, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::HttpJson),
    (ProtocolVersion::V1_0, Binding::HttpJson),
];

/// An agent whose message streams break after the first part, and that refuses `refusals`
/// subscriptions before it answers one to the end.
#[derive(Clone)]
struct RefusingAgent {
    protocol_version: ProtocolVersion,
    binding: Binding,
    refusal: SubscriptionRefusal,
    refusals: usize,
    /// The answer to GetTask while subscriptions are refused.
    task: Result<TaskState, ErrorKind>,
    asked: Arc<Mutex<Vec<Operation>>>,
}

impl RefusingAgent {
    async fn serve(self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut stream = BufReader::new(stream);
                let Some((operation, id)) = read(&mut stream, self.protocol_version).await else {
                    continue;
                };
                let answer = self.answer(operation, id);
                drop(stream.get_mut().write_all(&answer).await);
            }
        });
        url
    }

    fn answer(&self, operation: Operation, id: Id) -> Vec<u8> {
        let subscriptions = {
            let mut asked = self.asked.lock().unwrap();
            asked.push(operation);
            let subscriptions = asked.iter().filter(|asked| **asked == SubscribeToTask);
            subscriptions.count()
        };
        let mut envelope = ResponseContext::new(self.protocol_version, self.binding, operation);
        envelope.id = (self.binding == Binding::JsonRpc).then_some(id);
        envelope.task = Some("t".into());
        match operation {
            SendStreamingMessage => stream(&envelope, vec![status(Working), chunk("1")], true),
            GetTask if subscriptions > self.refusals => {
                let whole = task(Completed, &["1", "2", "3"]);
                once(&envelope, Ok(Response::GetTask(whole)))
            }
            GetTask => {
                let state = self.task.map_err(A2aError::from);
                let outcome = state.map(|state| Response::GetTask(task(state, &["1", "2"])));
                once(&envelope, outcome)
            }
            _ if subscriptions <= self.refusals => self.refuse(&envelope),
            _ => {
                let events = vec![
                    snapshot(Working, &["1", "2"]),
                    chunk("3"),
                    status(Completed),
                ];
                stream(&envelope, events, false)
            }
        }
    }

    fn refuse(&self, envelope: &ResponseContext) -> Vec<u8> {
        match self.refusal {
            SubscriptionRefusal::Answered(kind) => once(envelope, Err(kind.into())),
            SubscriptionRefusal::Streamed(kind) => {
                let line = EventWriter::new(envelope).write_error(kind.into()).json();
                [STREAM.as_bytes(), &sse::encode(None, None, &line)].concat()
            }
            SubscriptionRefusal::Empty => STREAM.into(),
            SubscriptionRefusal::Dropped => {
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                transfer-encoding: chunked\r\n\r\n"
                    .into()
            }
            SubscriptionRefusal::NoBody => "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".into(),
            SubscriptionRefusal::Page => "HTTP/1.1 404 Not Found\r\ncontent-type: text/html\r\n\
                content-length: 13\r\n\r\n<h1>gone</h1>"
                .into(),
        }
    }
}

const STREAM: &str =
    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n";

fn once(envelope: &ResponseContext, outcome: Result<Response, A2aError>) -> Vec<u8> {
    let written = write_reply(envelope, outcome);
    let head = format!(
        "HTTP/1.1 {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
        connection: close\r\n\r\n",
        written.status,
        written.body.len()
    );
    [head.into_bytes(), written.body].concat()
}

fn stream(envelope: &ResponseContext, events: Vec<Event>, is_cut: bool) -> Vec<u8> {
    let mut writer = EventWriter::new(envelope);
    let mut bytes = STREAM.as_bytes().to_vec();
    for event in events {
        for line in writer.write(&event.into()) {
            bytes.extend_from_slice(&sse::encode(None, None, &line.json()));
        }
    }
    if is_cut {
        bytes.extend_from_slice(b"data: {\"jso");
    }
    bytes
}

/// Reads a request: the operation by its method in JSON-RPC, or by its path.
async fn read(
    stream: &mut BufReader<TcpStream>,
    protocol_version: ProtocolVersion,
) -> Option<(Operation, Id)> {
    let mut head = String::new();
    stream.read_line(&mut head).await.ok()?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    if let Some(method) = body["method"].as_str() {
        let named = |operation: &&Operation| protocol_version.method(**operation) == Some(method);
        let operation = Operation::ALL.iter().find(named)?;
        return Some((*operation, Id::number(body["id"].as_u64()?)));
    }
    let operation = match head.split(' ').nth(1)? {
        path if path.ends_with(":subscribe") => SubscribeToTask,
        path if path.ends_with(":stream") => SendStreamingMessage,
        _ => GetTask,
    };
    Some((operation, Id::Null))
}

/// Events and error of a follower, and its requests after the first.
struct FollowOutcome {
    events: Vec<String>,
    error: Option<Error>,
    asked: Vec<Operation>,
}

/// Follows the task in every version and binding through each refusal, from the beginning of its
/// message and from a subscription of its own.
async fn each(
    refusals: usize,
    task: Result<TaskState, ErrorKind>,
    check: impl Fn(FollowOutcome, bool),
) {
    for &(protocol_version, binding) in WIRES {
        for &refusal in REFUSALS {
            // An agent without subscriptions is polled.
            if refusal.is_unsupported() && task == Ok(Working) {
                continue;
            }
            for subscribes in [false, true] {
                let agent = RefusingAgent {
                    protocol_version,
                    binding,
                    refusal,
                    refusals,
                    task,
                    asked: Arc::default(),
                };
                let asked = Arc::clone(&agent.asked);
                let url = agent.serve().await;
                let client = Client::builder(&url)
                    .binding(binding)
                    .connect_at(protocol_version);
                let quick = Retries::default().base(std::time::Duration::from_millis(1));
                let client = client.unwrap().retries(quick);
                let updates = match subscribes {
                    false => Ok(client.send(message(protocol_version)).follow()),
                    true => client.subscribe("t").await,
                };
                let (events, error) = match updates {
                    Ok(mut updates) => collect(&mut updates).await,
                    Err(error) => (Vec::new(), Some(error)),
                };
                let asked = asked.lock().unwrap().clone();
                println!(
                    "{protocol_version} {binding} {refusal:?} {subscribes}: {events:?} {error:?}"
                );
                let followed = FollowOutcome {
                    events,
                    error,
                    asked,
                };
                check(followed, subscribes);
            }
        }
    }
}

#[tokio::test]
async fn a_task_that_has_ended_is_read_once() {
    each(usize::MAX, Ok(Completed), |followed, subscribes| {
        assert!(followed.error.is_none());
        let (events, asked) = match subscribes {
            true => (vec!["Completed[12]"], vec![SubscribeToTask, GetTask]),
            false => (
                vec!["Working", "=1", "+2", "Completed"],
                vec![SendStreamingMessage, SubscribeToTask, GetTask],
            ),
        };
        assert_eq!(followed.events, events);
        assert_eq!(followed.asked, asked);
    })
    .await;
}

#[tokio::test]
async fn a_task_that_goes_on_is_subscribed_to_again() {
    each(1, Ok(Working), |followed, subscribes| {
        assert!(followed.error.is_none());
        let (events, asked) = match subscribes {
            true => (vec!["Working[12]"], vec![]),
            false => (vec!["Working", "=1", "+2"], vec![SendStreamingMessage]),
        };
        let events: Vec<_> = events.into_iter().chain(["+3", "Completed"]).collect();
        let rest = [SubscribeToTask, GetTask, SubscribeToTask];
        assert_eq!(followed.events, events);
        // In 0.1 no stream begins with the task, which is read once more.
        assert!(followed.asked.starts_with(&[asked, rest.into()].concat()));
    })
    .await;
}

#[tokio::test]
async fn a_task_that_is_gone_is_an_error() {
    each(usize::MAX, Err(ErrorKind::TaskNotFound), |followed, _| {
        assert!(
            matches!(&followed.error, Some(Error::Agent(error)) if error.kind == ErrorKind::TaskNotFound)
        );
        assert_eq!(followed.asked.last(), Some(&GetTask));
        let reads = followed.asked.iter().filter(|asked| **asked == GetTask);
        assert_eq!(reads.count(), 1);
    })
    .await;
}
