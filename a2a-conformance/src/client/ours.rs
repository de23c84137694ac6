//! Our own client as a client under test, and the model for others: it reads instructions line by line, and
//! writes what it got, as `docs/client-protocol.md` defines.

mod digest;
mod misread;
mod perform;
mod receive;
mod tasks;
mod trust;

use std::io;
use std::sync::{Arc, Mutex};

use a2a_transport::webhook::Jwk;
use a2a_types::{Dialect, ListTasksRequest, Object, Part, TaskId, TaskPushNotificationConfig};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, Lines,
};
use tokio::sync::mpsc;

use self::perform::Performer;
use super::driver::Conversation;
use crate::mutant::client::{Meddler, Subject};

/// One instruction.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Line {
    id: Value,
    case: String,
    op: String,
    url: String,
    dialect: String,
    binding: String,
    text: Option<String>,
    parts: Option<Vec<Part>>,
    /// `true` if reports have the parts of messages and artifacts.
    detail: bool,
    metadata: Object,
    modes: Vec<String>,
    immediately: bool,
    task: Option<String>,
    context: Option<String>,
    references: Vec<TaskId>,
    config: Option<TaskPushNotificationConfig>,
    /// URL of the webhook, for a config that the client makes itself.
    webhook: Option<String>,
    list: ListTasksRequest,
    history: Option<u32>,
    extension: Option<String>,
    credentials: Shown,
    patience_ms: Option<u64>,
    verify: bool,
    keys: Keys,
    ca: Option<String>,
    require: Required,
    /// Port at which to receive push notifications.
    port: Option<u16>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Shown {
    bearer: Option<String>,
    api_key: Option<String>,
    user: Option<String>,
    password: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Keys {
    keys: Vec<Jwk>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Required {
    token: Option<String>,
    jwt: Option<Published>,
    /// The tasks that a notification may be about; any if there are none.
    tasks: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Published {
    jwks: String,
}

impl Line {
    fn dialect(&self) -> Dialect {
        Dialect::from_version(&self.dialect).unwrap_or(Dialect::V1_0)
    }
}

/// Starts our client in this process, perhaps wrong or odd, and returns the conversation with it.
pub(super) fn talk(subject: Subject) -> Conversation {
    let (near, far) = tokio::io::duplex(64 << 10);
    let (far_reads, far_writes) = tokio::io::split(far);
    let (near_reads, near_writes) = tokio::io::split(near);
    // An error means that the suite has hung up.
    let task = tokio::spawn(async move {
        drop(converse(BufReader::new(far_reads), far_writes, subject).await);
    });
    Conversation {
        says: Box::new(BufReader::new(near_reads)),
        hears: Box::new(near_writes),
        life: Box::new(Alive(task)),
    }
}

/// A Tokio task that is aborted when this is dropped.
struct Alive(tokio::task::JoinHandle<()>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Performs the instruction of each line until there are no more.
///
/// Errors: the other end cannot be read or written to.
pub async fn converse(
    input: impl AsyncBufRead + Unpin + Send,
    mut output: impl AsyncWrite + Unpin + Send,
    subject: Subject,
) -> io::Result<()> {
    let meddler = match subject.is_on_the_wire() {
        true => Some(Arc::new(Meddler::start(subject).await?)),
        false => None,
    };
    let performer = Performer {
        subject,
        meddler,
        session: Mutex::default(),
    };
    let mut input = input.lines();
    while let Some(text) = input.next_line().await? {
        let Ok(line) = serde_json::from_str::<Line>(&text) else {
            continue;
        };
        if line.op == "receive" {
            receive::receive(&line, subject, &mut input, &mut output).await?;
            continue;
        }
        let (say, mut said) = mpsc::unbounded_channel();
        let performing = performer.perform(&line, say);
        let mut performing = std::pin::pin!(performing);
        loop {
            tokio::select! {
                biased;
                Some(value) = said.recv() => tell(&mut output, &line.id, value).await?,
                end = &mut performing => {
                    while let Ok(value) = said.try_recv() {
                        tell(&mut output, &line.id, value).await?;
                    }
                    tell(&mut output, &line.id, end).await?;
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Performs the instructions of a context (`A2A_CONFORMANCE_CONTEXT`), and returns the exit code.
///
/// Errors: the port for push notifications cannot be opened.
pub async fn perform_once(context: &Value) -> io::Result<i32> {
    let asks = context["ask"].as_array().cloned().unwrap_or_default();
    let port = &context["webhook_port"];
    let lines = asks.into_iter().map(|mut ask| {
        ask["port"] = port.clone();
        format!("{ask}\n")
    });
    let lines: String = lines.collect();
    // A client that receives does so until it is ended.
    let (_open, rest) = tokio::io::duplex(1);
    let mut said = Vec::new();
    match port.is_null() {
        true => converse(lines.as_bytes(), &mut said, Subject::Ours).await?,
        false => {
            converse(
                lines.as_bytes().chain(BufReader::new(rest)),
                &mut said,
                Subject::Ours,
            )
            .await?
        }
    }
    let said = String::from_utf8_lossy(&said);
    let lacks = said.contains(&format!("\"{}\"", super::errand::UNIMPLEMENTED));
    Ok(if lacks { super::errand::LACKS } else { 0 })
}

/// Further lines from the suite.
type Input<R> = Lines<R>;

async fn tell(
    output: &mut (impl AsyncWrite + Unpin),
    id: &Value,
    mut value: Value,
) -> io::Result<()> {
    value["id"] = id.clone();
    output.write_all(format!("{value}\n").as_bytes()).await?;
    output.flush().await
}

/// Returns the report that this client does not have something.
fn unimplemented(what: &str) -> Value {
    json!({"error": {"kind": super::errand::UNIMPLEMENTED, "message": what}})
}
