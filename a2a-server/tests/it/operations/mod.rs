//! Every operation, in each protocol version over a socket and in process.

mod access;
mod extension_methods;
mod follow;
mod list;
mod questions;
mod send;

use std::sync::Arc;

use a2a_client::{
    Binding, Client, Error, HttpTransport, Retries, SendMessageResponse, StreamExt, TaskEventStream,
};
use a2a_server::{Agent, Failure, Server, ServerBuilder, Turn};
use a2a_types::{AgentCard, ErrorKind, Message, ProtocolVersion, Task, TaskState};
use tokio::sync::Notify;

use crate::stores;

/// An agent that does what messages say.
#[derive(Clone, Default)]
pub(crate) struct CommandAgent {
    pub(crate) go_on: Arc<Notify>,
}

impl Agent for CommandAgent {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        let text = turn.text();
        let (command, rest) = text.split_once(' ').unwrap_or((&text, ""));
        match command {
            "echo" => turn.artifact("echo").text(rest).finish().await?,
            "ask" => turn.ask(rest).await?,
            "reply" => turn.reply(Message::agent(rest)).await?,
            "reject" => turn.reject(rest).await?,
            "fail" => return Err("the secret reason".into()),
            "panic" => panic!("the secret reason"),
            "wait" => {
                turn.working("waiting").await?;
                turn.canceled().await;
            }
            "detach" => {
                turn.working("this takes long").await?;
                turn.respond_early().await?;
                self.go_on.notified().await;
            }
            "count" => {
                let mut numbers = turn.artifact("numbers");
                for number in 0..rest.parse::<u32>()? {
                    numbers = numbers.text(number.to_string()).send().await?;
                }
                numbers.finish().await?;
            }
            "late" => {
                turn.complete().await?;
                let refused = turn.working("too late").await.unwrap_err().to_string();
                assert!(refused.contains("TASK_STATE_COMPLETED"), "{refused}");
            }
            other => return Err(format!("unknown command {other}").into()),
        }
        Ok(())
    }
}

pub(crate) fn card() -> AgentCard {
    let mut card = AgentCard::new("Commands", "Does what the message commands");
    card.capabilities.push_notifications = Some(true);
    card
}

/// A client of each protocol version, over a socket, by every binding it has; each to a server of its own
/// with its tasks in memory, and to one with its tasks in a file.
pub(crate) async fn clients(
    agent: CommandAgent,
    protocol_versions: &[ProtocolVersion],
) -> Vec<(ProtocolVersion, Client)> {
    let mut clients = Vec::new();
    for &(protocol_version, binding) in WAYS
        .iter()
        .filter(|(protocol_version, _)| protocol_versions.contains(protocol_version))
    {
        for server in builders(&agent) {
            let server = server.build().unwrap();
            let bound = server
                .bind("127.0.0.1:0")
                .await
                .unwrap()
                .default_version(protocol_version);
            let transport = HttpTransport::new(&bound.url(), protocol_version).unwrap();
            clients.push((
                protocol_version,
                Client::new(transport.binding(binding)).retries(Retries::none()),
            ));
            tokio::spawn(bound.run(std::future::pending()));
        }
    }
    clients
}

/// A server with its tasks in memory, and one with its tasks in a file.
pub(crate) fn builders(agent: &CommandAgent) -> [ServerBuilder; 2] {
    let in_memory = Server::builder(card(), agent.clone());
    let in_a_file = Server::builder(card(), agent.clone()).store(stores::sqlite());
    [in_memory, in_a_file]
}

/// Every protocol version in every binding.
pub(crate) const WAYS: &[(ProtocolVersion, Binding)] = &[
    (ProtocolVersion::V0_1, Binding::JsonRpc),
    (ProtocolVersion::V0_2, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::HttpJson),
    (ProtocolVersion::V1_0, Binding::JsonRpc),
    (ProtocolVersion::V1_0, Binding::HttpJson),
];
pub(crate) const ALL: &[ProtocolVersion] = ProtocolVersion::ALL;
pub(crate) const SINCE_0_2: &[ProtocolVersion] = &[
    ProtocolVersion::V0_2,
    ProtocolVersion::V0_3,
    ProtocolVersion::V1_0,
];

pub(crate) fn task(response: SendMessageResponse) -> Task {
    match response {
        SendMessageResponse::Task(task) => task,
        SendMessageResponse::Message(message) => panic!("expected a task, got {message:?}"),
    }
}

pub(crate) fn to(task: &Task, text: &str) -> Message {
    Message {
        task_id: Some(task.id.clone()),
        context_id: task.context_id.clone(),
        ..Message::user(text)
    }
}

/// A first message; in 0.1 its sender names the task.
pub(crate) fn first(protocol_version: ProtocolVersion, text: &str) -> Message {
    Message {
        task_id: (protocol_version == ProtocolVersion::V0_1).then(a2a_types::TaskId::random),
        ..Message::user(text)
    }
}

#[track_caller]
pub(crate) fn assert_kind<T: std::fmt::Debug>(result: Result<T, Error>, kind: ErrorKind) {
    match result {
        Err(Error::Agent(error)) => assert_eq!(error.kind, kind, "{error}"),
        other => panic!("expected {kind:?}, got {other:?}"),
    }
}

/// Reads a stream to its end, and returns the state of its last event.
pub(crate) async fn last_state(mut updates: TaskEventStream) -> Option<TaskState> {
    let mut last = None;
    while let Some(event) = updates.next().await {
        last = event.unwrap().status().map(|status| status.state);
    }
    last
}
