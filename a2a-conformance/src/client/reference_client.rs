//! Our own client as a client under test, and the model for others: it reads instructions line by line, and
//! writes what it got, as `docs/client-protocol.md` defines.

mod faulty_reports;
mod performer;
mod reports;
mod tasks;
mod trust;
mod webhook_receiver;

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

use self::performer::Performer;
use super::driver::LineConnection;
use crate::mutant::client::{ClientSubject, TamperingProxy};

/// One instruction.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InstructionLine {
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
    credentials: Credentials,
    patience_ms: Option<u64>,
    verify: bool,
    keys: Keys,
    ca: Option<String>,
    require: RequiredCredentials,
    /// Port at which to receive push notifications.
    port: Option<u16>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Credentials {
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
struct RequiredCredentials {
    token: Option<String>,
    jwt: Option<KeySource>,
    /// The tasks that a notification may be about; any if there are none.
    tasks: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct KeySource {
    jwks: String,
}

impl InstructionLine {
    fn dialect(&self) -> Dialect {
        Dialect::from_version(&self.dialect).unwrap_or(Dialect::V1_0)
    }
}

/// Starts our client in this process, with the bug or peculiarity of `subject`, and returns the connection to it.
pub(super) fn connect(subject: ClientSubject) -> LineConnection {
    let (near, far) = tokio::io::duplex(64 << 10);
    let (far_reads, far_writes) = tokio::io::split(far);
    let (near_reads, near_writes) = tokio::io::split(near);
    // An error means that the suite has hung up.
    let task = tokio::spawn(async move {
        drop(perform_lines(BufReader::new(far_reads), far_writes, subject).await);
    });
    LineConnection {
        reader: Box::new(BufReader::new(near_reads)),
        writer: Box::new(near_writes),
        guard: Box::new(AbortOnDrop(task)),
    }
}

/// A Tokio task that is aborted when this is dropped.
struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Performs the instruction of each line until there are no more.
///
/// Errors: the other end cannot be read or written to.
pub async fn perform_lines(
    input: impl AsyncBufRead + Unpin + Send,
    mut output: impl AsyncWrite + Unpin + Send,
    subject: ClientSubject,
) -> io::Result<()> {
    let proxy = match subject.is_on_the_wire() {
        true => Some(Arc::new(TamperingProxy::start(subject).await?)),
        false => None,
    };
    let performer = Performer {
        subject,
        proxy,
        session: Mutex::default(),
    };
    let mut input = input.lines();
    while let Some(text) = input.next_line().await? {
        let Ok(line) = serde_json::from_str::<InstructionLine>(&text) else {
            continue;
        };
        if line.op == "receive" {
            webhook_receiver::receive(&line, subject, &mut input, &mut output).await?;
            continue;
        }
        let (reports, mut receiver) = mpsc::unbounded_channel();
        let performing = performer.perform(&line, reports);
        let mut performing = std::pin::pin!(performing);
        loop {
            tokio::select! {
                biased;
                Some(value) = receiver.recv() => write_report(&mut output, &line.id, value).await?,
                end = &mut performing => {
                    while let Ok(value) = receiver.try_recv() {
                        write_report(&mut output, &line.id, value).await?;
                    }
                    write_report(&mut output, &line.id, end).await?;
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
pub async fn perform_context(context: &Value) -> io::Result<i32> {
    let asks = context["ask"].as_array().cloned().unwrap_or_default();
    let port = &context["webhook_port"];
    let lines = asks.into_iter().map(|mut ask| {
        ask["port"] = port.clone();
        format!("{ask}\n")
    });
    let lines: String = lines.collect();
    // A client that receives does so until it is ended.
    let (_open, rest) = tokio::io::duplex(1);
    let mut output = Vec::new();
    match port.is_null() {
        true => perform_lines(lines.as_bytes(), &mut output, ClientSubject::Reference).await?,
        false => {
            perform_lines(
                lines.as_bytes().chain(BufReader::new(rest)),
                &mut output,
                ClientSubject::Reference,
            )
            .await?
        }
    }
    let output = String::from_utf8_lossy(&output);
    let missing_feature = output.contains(&format!("\"{}\"", super::driver_request::UNIMPLEMENTED));
    Ok(if missing_feature {
        super::driver_request::EXIT_UNIMPLEMENTED
    } else {
        0
    })
}

/// Further lines from the suite.
type Input<R> = Lines<R>;

async fn write_report(
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
    json!({"error": {"kind": super::driver_request::UNIMPLEMENTED, "message": what}})
}
