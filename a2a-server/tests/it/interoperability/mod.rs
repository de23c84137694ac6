//! Callers of every protocol version in every binding, at one server at once, and through a gateway.

mod concurrent;
mod errors;
mod gateway;
mod gateway_webhooks;
mod large;

use std::sync::Arc;

use a2a_client::{
    Binding, Client, Error, Event, HttpTransport, Retries, StreamExt, TaskEventStream,
};
use a2a_server::{Agent, BoundServer, Failure, Server, Turn};
use a2a_types::reading::Mode;
use a2a_types::{AgentCard, Message, ProtocolVersion, SendMessageResponse, Task, TaskId};
use http::{HeaderName, HeaderValue};
use tokio::sync::Notify;

/// Every protocol version in every binding it has.
pub(crate) const BINDINGS: [(ProtocolVersion, Binding); 6] = [
    (ProtocolVersion::V0_1, Binding::JsonRpc),
    (ProtocolVersion::V0_2, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::HttpJson),
    (ProtocolVersion::V1_0, Binding::JsonRpc),
    (ProtocolVersion::V1_0, Binding::HttpJson),
];

/// Agent that streams a poem, at once or when it is notified, or asks back.
#[derive(Clone, Default)]
pub(crate) struct PoemAgent {
    pub(crate) go: Arc<Notify>,
}

impl Agent for PoemAgent {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        match turn.text().as_str() {
            "recite" => {}
            "recite on release" => {
                turn.working("waiting").await?;
                self.go.notified().await;
            }
            _ => return Ok(turn.ask("what?").await?),
        }
        turn.working("reciting").await?;
        let mut poem = turn.artifact("poem");
        for line in POEM {
            poem = poem.text(line).send().await?;
        }
        poem.finish().await?;
        Ok(())
    }
}

pub(crate) const POEM: [&str; 5] = ["Es ", "war ", "ein ", "ma", "l 🦀"];

pub(crate) async fn reciter(agent: PoemAgent) -> BoundServer {
    let card = AgentCard::new("Poem", "Streams a poem");
    let server = Server::builder(card, agent).build().unwrap();
    server.bind("127.0.0.1:0").await.unwrap()
}

/// A client that takes nothing but the spelling of its own protocol version, and names that.
pub(crate) fn client(url: &str, protocol_version: ProtocolVersion, binding: Binding) -> Client {
    let version = HeaderValue::from_static(protocol_version.version());
    let transport = HttpTransport::new(url, protocol_version)
        .unwrap()
        .binding(binding)
        .mode(Mode::Strict)
        .header(HeaderName::from_static("a2a-version"), version);
    Client::new(transport).retries(Retries::none())
}

/// A first message; in 0.1 its sender names the task.
pub(crate) fn first(protocol_version: ProtocolVersion, text: &str) -> Message {
    Message {
        task_id: (protocol_version == ProtocolVersion::V0_1).then(TaskId::random),
        ..Message::user(text)
    }
}

pub(crate) fn to(task: &Task, text: &str) -> Message {
    Message {
        task_id: Some(task.id.clone()),
        context_id: task.context_id.clone(),
        ..Message::user(text)
    }
}

pub(crate) fn task(response: SendMessageResponse) -> Task {
    match response {
        SendMessageResponse::Task(task) => task,
        SendMessageResponse::Message(message) => panic!("expected a task, got {message:?}"),
    }
}

/// The text of a task's artifacts.
pub(crate) fn recited(task: &Task) -> String {
    let parts = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
    parts.filter_map(a2a_types::Part::as_text).collect()
}

/// Content of a stream: the pieces of the poem in their order, and whether the task was completed.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct PoemStream {
    pub(crate) pieces: Vec<String>,
    pub(crate) completed: bool,
}

impl PoemStream {
    pub(crate) fn all() -> Self {
        Self {
            pieces: POEM.map(str::to_owned).into(),
            completed: true,
        }
    }

    pub(crate) async fn from(mut updates: TaskEventStream) -> Result<Self, Error> {
        let mut stream = Self::default();
        while let Some(event) = updates.next().await {
            stream.add(&event?);
        }
        Ok(stream)
    }

    pub(crate) fn add(&mut self, event: &Event) {
        if let Event::ArtifactUpdate(update) = event {
            let texts = update
                .artifact
                .parts
                .iter()
                .filter_map(a2a_types::Part::as_text);
            self.pieces.extend(texts.map(str::to_owned));
        }
        let state = event.status().map(|status| status.state);
        self.completed |= state == Some(a2a_types::TaskState::Completed);
    }
}
