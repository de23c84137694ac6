//! Agents that fill the memory of a client that follows their task.

use std::process::Stdio;

use a2a_client::{Client, Retries};
use a2a_types::ProtocolVersion;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio_stream::StreamExt;

use crate::TrialError;
use crate::agent::memory_of;

/// The events of an agent.
#[derive(Clone, Copy)]
pub(super) enum Answer {
    Chunks,
    Artifacts,
    Messages,
    Objects,
}

impl Answer {
    pub(super) const ALL: &[Self] = &[Self::Chunks, Self::Artifacts, Self::Messages, Self::Objects];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Chunks => "client: endless small chunks",
            Self::Artifacts => "client: endless artifacts",
            Self::Messages => "client: endless messages",
            Self::Objects => "client: an event of many small objects",
        }
    }

    /// Has a client, in a process of its own, follow a task; returns how that ended, and the peak of its memory in MiB.
    pub(super) async fn peak(self) -> Result<(String, f64), TrialError> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/", listener.local_addr()?);
        let agent = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A client that has enough closes the connection.
                tokio::spawn(async move { self.answer(stream).await.ok() });
            }
        });
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--follow", &url])
            .env("MALLOC_MMAP_THRESHOLD_", "1048576")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().ok_or("the client has no output")?;
        let ended = BufReader::new(stdout).lines().next_line().await?;
        let ended = ended.ok_or("the client did not say how it ended")?;
        let peak = memory_of(child.id().ok_or("the client ended")?, "VmHWM:")?;
        agent.abort();
        Ok((ended.chars().take(60).collect(), peak))
    }

    async fn answer(self, mut stream: TcpStream) -> Result<(), TrialError> {
        let id = request_id(&mut stream).await?;
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).await?;
        let task = json!({"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}});
        stream
            .write_all(&event(&id, json!({ "task": task })))
            .await?;
        let mut events = Vec::new();
        for number in 0_usize.. {
            events.extend_from_slice(&event(&id, self.event(number)));
            if events.len() > 64 << 10 {
                stream.write_all(&events).await?;
                events.clear();
            }
        }
        Ok(())
    }

    fn event(self, number: usize) -> Value {
        let text = json!([{"text": format!("{number} ")}]);
        let artifact = |id: &str, append: bool| {
            json!({"artifactUpdate": {
                "taskId": "t", "contextId": "c", "append": append,
                "artifact": {"artifactId": id, "parts": text},
            }})
        };
        match self {
            Self::Chunks => artifact("chunks", true),
            Self::Artifacts => artifact(&number.to_string(), false),
            Self::Messages => json!({"statusUpdate": {"taskId": "t", "contextId": "c", "status": {
                "state": "TASK_STATE_WORKING",
                "message": {"messageId": number.to_string(), "role": "ROLE_AGENT", "parts": text},
            }}}),
            Self::Objects => {
                let objects = vec![json!({"": 0}); 100_000];
                json!({"artifactUpdate": {
                    "taskId": "t", "contextId": "c", "append": true,
                    "artifact": {"artifactId": "objects", "parts": [{ "data": objects }]},
                }})
            }
        }
    }
}

fn event(id: &Value, result: Value) -> Vec<u8> {
    let response = json!({"jsonrpc": "2.0", "id": id, "result": result});
    format!("data: {response}\n\n").into_bytes()
}

/// Reads a request, and returns its id.
pub(super) async fn request_id(stream: &mut TcpStream) -> Result<Value, TrialError> {
    let mut request = Vec::new();
    loop {
        if stream.read_buf(&mut request).await? == 0 {
            return Err("the client asked for nothing".into());
        }
        let text = String::from_utf8_lossy(&request);
        let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        if let Ok(body) = serde_json::from_str::<Value>(body) {
            return Ok(body["id"].clone());
        }
    }
}

/// Follows a task, says how that ended, and stays until standard input ends.
pub(crate) async fn follow(url: &str) -> Result<(), TrialError> {
    let client = Client::at(url, ProtocolVersion::V1_0)?.retries(Retries::none());
    let mut updates = client.stream("go").await?;
    let (mut count, mut error) = (0_usize, None);
    while let Some(update) = updates.next().await {
        match update {
            Ok(_) => count += 1,
            Err(failed) => error = Some(failed),
        }
    }
    let error = error.map_or("no error".to_owned(), |error| error.to_string());
    println!("{count} events, {}", error.replace('\n', " "));
    let mut input = Vec::new();
    tokio::io::stdin().read_to_end(&mut input).await?;
    Ok(())
}
