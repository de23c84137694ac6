//! Our own client as a client under test, and the model for others: it reads instructions line by line, and
//! writes what it got, as `docs/reference/client-protocol.md` defines.

mod faulty_reports;
mod instruction;
mod operation;
mod performer;
mod reports;
mod tasks;
mod trust;
mod webhook_receiver;

use std::io;
use std::sync::{Arc, Mutex};

use a2a_conformance::client::{EXIT_UNIMPLEMENTED, LineConnection, UNIMPLEMENTED};
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, BufReader};
use tokio::sync::mpsc;

use self::instruction::{InstructionLine, write_report};
use self::performer::Performer;
use crate::client::{ClientSubject, TamperingProxy};

/// Starts our client in this process, with the bug or peculiarity of `subject`, and returns the connection to it.
pub fn connect(subject: ClientSubject) -> LineConnection {
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
        let performing = operation::perform(&performer, &line, reports);
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
    let missing_feature = output.contains(&format!("\"{}\"", UNIMPLEMENTED));
    Ok(if missing_feature {
        EXIT_UNIMPLEMENTED
    } else {
        0
    })
}
