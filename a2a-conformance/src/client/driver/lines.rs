//! A client that reads instructions line by line, and writes what it got.

use std::io;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::client::driver_request::{DriverOutcome, DriverRequest};
use crate::client::instruction::InstructionKind;

/// Both directions of a conversation with a client; dropping it ends the client.
pub struct LineConnection {
    /// Reports of the client.
    pub reader: Box<dyn AsyncBufRead + Send + Unpin>,
    /// Instructions to the client.
    pub writer: Box<dyn AsyncWrite + Send + Unpin>,
    /// Value that keeps the client alive until it is dropped.
    pub guard: Box<dyn Send>,
}

/// Pool of idle clients.
pub(super) struct Pool {
    open: Box<dyn Fn() -> io::Result<LineConnection> + Send + Sync>,
    idle: Mutex<Vec<LineConnection>>,
}

impl Pool {
    pub(super) fn new(
        open: impl Fn() -> io::Result<LineConnection> + Send + Sync + 'static,
    ) -> Self {
        Self {
            open: Box::new(open),
            idle: Mutex::default(),
        }
    }

    pub(super) async fn run(&self, request: &DriverRequest) -> DriverOutcome {
        let lines = match request.lines() {
            Ok(lines) => lines,
            Err(problem) => return failed(problem),
        };
        // One at most is taken or put back at a time, so a panic elsewhere leaves the list whole.
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = idle().pop();
        let conversation = waiting.map_or_else(|| (self.open)(), Ok);
        let mut conversation = match conversation {
            Ok(conversation) => conversation,
            Err(error) => return failed(format!("the client cannot be started: {error}")),
        };
        let mut outcome = DriverOutcome {
            reports: Some(Vec::new()),
            ..DriverOutcome::default()
        };
        let asking = conversation.run_all(request, lines, &mut outcome);
        match request.in_time(asking).await {
            Some(true) => idle().push(conversation),
            // A client that has ended is not used again.
            Some(false) => {}
            None => {
                outcome.late = true;
                let _ = conversation.writer.shutdown().await;
                drop(conversation.guard);
            }
        }
        outcome
    }
}

fn failed(problem: String) -> DriverOutcome {
    DriverOutcome {
        harness: Some(problem),
        ..DriverOutcome::default()
    }
}

impl LineConnection {
    /// Gives all instructions, one after another; returns false if the client has ended.
    async fn run_all(
        &mut self,
        request: &DriverRequest,
        lines: Vec<Value>,
        outcome: &mut DriverOutcome,
    ) -> bool {
        for (index, (mut line, ask)) in lines.into_iter().zip(&request.case().ask).enumerate() {
            line["id"] = (index + 1).into();
            let DriverOutcome {
                reports, webhook, ..
            } = outcome;
            let reports = reports.get_or_insert_default();
            reports.push(json!({"op": ask.op, "events": []}));
            let Some(report) = reports.last_mut() else {
                return false;
            };
            if self.write_line(&line).await.is_err() {
                report["died"] = true.into();
                return false;
            }
            while !is_over(report) {
                let Some(line_of_client) = self.read_line().await else {
                    report["died"] = true.into();
                    return false;
                };
                if line_of_client["id"] != line["id"] {
                    continue;
                }
                for member in ["result", "error", "done"] {
                    if let Some(value) = line_of_client.get(member) {
                        report[member] = value.clone();
                    }
                }
                if let (Some(event), Some(events)) =
                    (line_of_client.get("event"), report["events"].as_array_mut())
                {
                    events.push(event.clone());
                }
                if let Some(url) = line_of_client["listening"].as_str()
                    && ask.op == InstructionKind::Receive
                {
                    webhook.extend(request.notify(url).await);
                    if self
                        .write_line(&json!({"id": line["id"], "op": "stop"}))
                        .await
                        .is_err()
                    {
                        return false;
                    }
                }
            }
            outcome.note_missing_feature(request.case());
            if outcome.missing_feature.is_some() {
                return true;
            }
        }
        true
    }

    async fn write_line(&mut self, line: &Value) -> io::Result<()> {
        self.writer
            .write_all(format!("{line}\n").as_bytes())
            .await?;
        self.writer.flush().await
    }

    /// Returns the next line that is JSON, or `None` at the end. Other lines are for people.
    async fn read_line(&mut self) -> Option<Value> {
        loop {
            let mut line = Vec::new();
            let mut bounded = (&mut self.reader).take(MAX_LINE);
            match bounded.read_until(b'\n', &mut line).await {
                Ok(1..) if line.ends_with(b"\n") => {}
                _ => return None,
            }
            if let Ok(line_of_client) = serde_json::from_slice(&line) {
                return Some(line_of_client);
            }
        }
    }
}

fn is_over(report: &Value) -> bool {
    ["result", "error", "done"]
        .iter()
        .any(|member| report.get(*member).is_some())
}

/// Maximum bytes of a line of a client.
const MAX_LINE: u64 = 64 << 20;
