//! A client that reads instructions line by line, and writes what it got.

use std::io;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use crate::client::ask::Op;
use crate::client::errand::{Errand, Told};

/// Both directions of a conversation with a client; dropping it ends the client.
pub(in crate::client) struct Conversation {
    pub(in crate::client) says: Box<dyn AsyncBufRead + Send + Unpin>,
    pub(in crate::client) hears: Box<dyn AsyncWrite + Send + Unpin>,
    /// Value that keeps the client alive until it is dropped.
    pub(in crate::client) life: Box<dyn Send>,
}

/// Pool of idle clients.
pub(super) struct Pool {
    open: Box<dyn Fn() -> io::Result<Conversation> + Send + Sync>,
    idle: Mutex<Vec<Conversation>>,
}

impl Pool {
    pub(super) fn new(open: impl Fn() -> io::Result<Conversation> + Send + Sync + 'static) -> Self {
        Self {
            open: Box::new(open),
            idle: Mutex::default(),
        }
    }

    pub(super) async fn run(&self, errand: &Errand) -> Told {
        let lines = match errand.lines() {
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
        let mut told = Told {
            reports: Some(Vec::new()),
            ..Told::default()
        };
        let asking = conversation.ask_all(errand, lines, &mut told);
        let in_time = timeout(errand.within, asking).await;
        match in_time {
            Ok(true) => idle().push(conversation),
            // A client that has ended is not used again.
            Ok(false) => {}
            Err(_) => {
                told.late = true;
                let _ = conversation.hears.shutdown().await;
                drop(conversation.life);
            }
        }
        told
    }
}

fn failed(problem: String) -> Told {
    Told {
        harness: Some(problem),
        ..Told::default()
    }
}

impl Conversation {
    /// Gives all instructions, one after another; returns false if the client has ended.
    async fn ask_all(&mut self, errand: &Errand, lines: Vec<Value>, told: &mut Told) -> bool {
        for (index, (mut line, ask)) in lines.into_iter().zip(&errand.case().ask).enumerate() {
            line["id"] = (index + 1).into();
            let Told {
                reports, webhook, ..
            } = told;
            let reports = reports.get_or_insert_default();
            reports.push(json!({"op": ask.op, "events": []}));
            let Some(report) = reports.last_mut() else {
                return false;
            };
            if self.tell(&line).await.is_err() {
                report["died"] = true.into();
                return false;
            }
            while !is_over(report) {
                let Some(said) = self.hear().await else {
                    report["died"] = true.into();
                    return false;
                };
                if said["id"] != line["id"] {
                    continue;
                }
                for member in ["result", "error", "done"] {
                    if let Some(value) = said.get(member) {
                        report[member] = value.clone();
                    }
                }
                if let (Some(event), Some(events)) =
                    (said.get("event"), report["events"].as_array_mut())
                {
                    events.push(event.clone());
                }
                if let Some(url) = said["listening"].as_str()
                    && ask.op == Op::Receive
                {
                    webhook.extend(errand.notify(url).await);
                    if self
                        .tell(&json!({"id": line["id"], "op": "stop"}))
                        .await
                        .is_err()
                    {
                        return false;
                    }
                }
            }
            told.note_lack(errand.case());
            if told.lacks.is_some() {
                return true;
            }
        }
        true
    }

    async fn tell(&mut self, line: &Value) -> io::Result<()> {
        self.hears.write_all(format!("{line}\n").as_bytes()).await?;
        self.hears.flush().await
    }

    /// Returns the next line that is JSON, or `None` at the end. Other lines are for people.
    async fn hear(&mut self) -> Option<Value> {
        loop {
            let mut line = Vec::new();
            let mut bounded = (&mut self.says).take(MAX_LINE);
            match bounded.read_until(b'\n', &mut line).await {
                Ok(1..) if line.ends_with(b"\n") => {}
                _ => return None,
            }
            if let Ok(said) = serde_json::from_slice(&line) {
                return Some(said);
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
