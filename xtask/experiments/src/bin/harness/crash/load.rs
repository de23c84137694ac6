//! Callers who keep a server busy, each in its own way, until it is gone.

use std::sync::Arc;
use std::time::Duration;

use a2a_client::{Client, Retries, SendMessageResponse, StreamExt};
use a2a_transport::Error;
use a2a_types::{
    Event, Message, ProtocolVersion, SendMessageConfiguration, SendMessageRequest, Task, TaskId,
    TaskState,
};
use fastrand::Rng;
use tokio::task::JoinSet;

use super::journal::{Journal, MessageOutcome};
use crate::Failure;

/// Sets callers to work.
pub(crate) fn begin(
    callers: usize,
    url: &str,
    journal: &Arc<Journal>,
    rng: &mut Rng,
) -> Result<JoinSet<()>, Failure> {
    let mut set = JoinSet::new();
    for _ in 0..callers {
        let protocol_version = either(rng, ProtocolVersion::V1_0, ProtocolVersion::V0_2);
        let mut caller = LoadCaller {
            // The audit repeats requests itself.
            client: Client::at(url, protocol_version)?.retries(Retries::none()),
            protocol_version,
            journal: Arc::clone(journal),
            rng: rng.fork(),
            last: None,
        };
        set.spawn(async move { while caller.act().await.is_ok() {} });
    }
    Ok(set)
}

/// Waits until every caller has noticed that the server is gone.
pub(crate) async fn end(mut callers: JoinSet<()>) -> Result<(), Failure> {
    let all = async { while callers.join_next().await.is_some() {} };
    let in_time = tokio::time::timeout(Duration::from_secs(30), all).await;
    in_time.map_err(|_| "a caller did not notice that the server is gone".into())
}

/// Sends a message and records its outcome; records nothing if the server is gone.
pub(crate) async fn send(
    client: &Client,
    protocol_version: ProtocolVersion,
    journal: &Journal,
    request: SendMessageRequest,
) -> Result<Option<Task>, Gone> {
    let id = request.message.message_id.clone();
    journal.entries().sends(&request, protocol_version);
    let answer = client.send(request).await;
    let mut entries = journal.entries();
    match unless_gone(answer)? {
        None => entries.answered(&id, MessageOutcome::Refused),
        Some(SendMessageResponse::Message(reply)) => {
            entries.answered(&id, MessageOutcome::Reply(reply.message_id));
        }
        Some(SendMessageResponse::Task(task)) => {
            entries.answered(&id, MessageOutcome::Task(task.id.clone()));
            entries.task(&task, protocol_version);
            return Ok(Some(task));
        }
    }
    Ok(None)
}

/// The server is gone.
#[derive(Debug)]
pub(crate) struct Gone;

fn unless_gone<T>(answer: Result<T, Error>) -> Result<Option<T>, Gone> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Error::Agent(_)) => Ok(None),
        Err(_) => Err(Gone),
    }
}

struct LoadCaller {
    client: Client,
    protocol_version: ProtocolVersion,
    journal: Arc<Journal>,
    rng: Rng,
    /// The last message that was sent and answered.
    last: Option<SendMessageRequest>,
}

impl LoadCaller {
    /// Does one of the things that callers do.
    async fn act(&mut self) -> Result<(), Gone> {
        match self.rng.u8(..10) {
            0 => drop(self.send(message("echo this"), false).await?),
            1 => drop(self.send(message("steps 3 2"), false).await?),
            2 | 3 => drop(self.send(message("steps 20 4"), true).await?),
            4 => self.stream("steps 8 2").await?,
            5 => drop(self.send(message("reply to this"), false).await?),
            6 => self.converse().await?,
            7 => self.interrupt().await?,
            8 => self.twice_at_once().await?,
            _ => {
                if let Some(last) = self.last.clone() {
                    send(&self.client, self.protocol_version, &self.journal, last).await?;
                }
            }
        }
        Ok(())
    }

    async fn send(&mut self, message: Message, at_once: bool) -> Result<Option<Task>, Gone> {
        let request = request(message, at_once);
        let sent = send(
            &self.client,
            self.protocol_version,
            &self.journal,
            request.clone(),
        )
        .await;
        self.last = Some(request);
        sent
    }

    /// Follows a task from its message to the end.
    async fn stream(&mut self, text: &str) -> Result<(), Gone> {
        let request = request(message(text), false);
        let id = request.message.message_id.clone();
        self.journal
            .entries()
            .sends(&request, self.protocol_version);
        let Some(mut updates) = unless_gone(self.client.stream(request).await)? else {
            self.journal
                .entries()
                .answered(&id, MessageOutcome::Refused);
            return Ok(());
        };
        while let Some(event) = updates.next().await {
            let event = event.map_err(|_| Gone)?;
            let sequence = updates.sequence();
            let mut entries = self.journal.entries();
            if let Event::Task(task) = &event {
                entries.answered(&id, MessageOutcome::Task(task.id.clone()));
            }
            entries.event(&event, sequence, self.protocol_version);
        }
        Ok(())
    }

    /// Begins a conversation, or goes on with one that may be older than the server.
    async fn converse(&mut self) -> Result<(), Gone> {
        let waiting = self.journal.entries().waiting.pop();
        let Some((task, protocol_version)) = waiting else {
            let asked = self.send(message("ask me"), false).await?;
            let asked = asked.filter(|task| task.status.state == TaskState::InputRequired);
            let mut entries = self.journal.entries();
            entries
                .waiting
                .extend(asked.map(|task| (task.id, self.protocol_version)));
            return Ok(());
        };
        if protocol_version != self.protocol_version {
            self.journal
                .entries()
                .waiting
                .insert(0, (task, protocol_version));
            return Ok(());
        }
        self.send(to(task, "echo this answer"), false).await?;
        Ok(())
    }

    /// Sends another message to an active task, or cancels it.
    async fn interrupt(&mut self) -> Result<(), Gone> {
        let Some(task) = self.send(message("steps 10 3"), true).await? else {
            return Ok(());
        };
        if self.rng.bool() {
            let at_once = self.rng.bool();
            self.send(to(task.id, "echo this, too"), at_once).await?;
            return Ok(());
        }
        if let Some(task) = unless_gone(self.client.cancel_task(task.id).await)? {
            let mut entries = self.journal.entries();
            entries.acknowledged += 1;
            entries.task(&task, self.protocol_version);
        }
        Ok(())
    }

    async fn twice_at_once(&mut self) -> Result<(), Gone> {
        let request = request(message("steps 2 1"), self.rng.bool());
        let send = || {
            send(
                &self.client,
                self.protocol_version,
                &self.journal,
                request.clone(),
            )
        };
        let (one, other) = tokio::join!(send(), send());
        one.and(other).map(drop)
    }
}

fn message(text: &str) -> Message {
    Message::user(text)
}

fn to(task: TaskId, text: &str) -> Message {
    Message {
        task_id: Some(task),
        ..message(text)
    }
}

fn request(message: Message, return_immediately: bool) -> SendMessageRequest {
    SendMessageRequest {
        message,
        configuration: Some(SendMessageConfiguration {
            return_immediately,
            ..SendMessageConfiguration::default()
        }),
        ..SendMessageRequest::default()
    }
}

fn either<T>(rng: &mut Rng, one: T, other: T) -> T {
    if rng.bool() { one } else { other }
}
