//! An agent on the Rust SDK that keeps the behaviour contract: a2a-conformance/docs/behaviour-contract.md.
//!
//!     cargo run --bin agent 9703

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a::*;
use a2a_server::agent_card::agent_card_router;
use a2a_server::jsonrpc::jsonrpc_router;
use a2a_server::rest::rest_router;
use a2a_server::{
    AgentExecutor, DefaultRequestHandler, ExecutorContext, HttpPushSender, HttpPushSenderConfig,
    InMemoryPushConfigStore, InMemoryTaskStore, StaticAgentCard,
};
use futures::stream::{self, AbortHandle, BoxStream, StreamExt};
use serde_json::json;

type Events = BoxStream<'static, Result<StreamResponse, A2AError>>;

/// The task that a message is about.
#[derive(Clone)]
struct Turn {
    task_id: TaskId,
    context_id: String,
}

impl Turn {
    fn of(context: &ExecutorContext) -> Self {
        let (task_id, context_id) = context.task_info();
        Self {
            task_id,
            context_id,
        }
    }

    fn status(&self, state: TaskState, text: Option<&str>) -> StreamResponse {
        let message = text.map(|text| Message {
            task_id: Some(self.task_id.clone()),
            context_id: Some(self.context_id.clone()),
            ..Message::new(Role::Agent, vec![Part::text(text)])
        });
        StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            status: TaskStatus {
                state,
                message,
                timestamp: None,
            },
            metadata: None,
        })
    }

    /// A piece of an artifact, which `place` numbers, of `count` pieces.
    fn piece(&self, id: &str, parts: Vec<Part>, place: usize, count: usize) -> StreamResponse {
        StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            artifact: Artifact {
                artifact_id: id.into(),
                name: Some(id.into()),
                description: None,
                parts,
                metadata: None,
                extensions: None,
            },
            append: Some(place > 1),
            last_chunk: Some(place == count),
            metadata: None,
        })
    }

    /// An artifact with one part, then the end.
    fn result(&self, name: &str, part: Part) -> Vec<StreamResponse> {
        self.results(vec![(name.into(), vec![part])])
    }

    fn results(&self, artifacts: Vec<(String, Vec<Part>)>) -> Vec<StreamResponse> {
        let mut events: Vec<_> = artifacts
            .into_iter()
            .map(|(name, parts)| self.piece(&name, parts, 1, 1))
            .collect();
        events.push(self.status(TaskState::Completed, None));
        events
    }
}

/// Does what the first word of a message says.
#[derive(Default)]
struct Orders {
    running: Mutex<HashMap<TaskId, AbortHandle>>,
}

impl AgentExecutor for Orders {
    fn execute(&self, context: ExecutorContext) -> Events {
        let turn = Turn::of(&context);
        let message = context.message.expect("a message is executed");
        let text = message.text().unwrap_or_default().to_owned();
        let (order, rest) = text.split_once(' ').unwrap_or((&text, ""));
        let waits = context.stored_task.as_ref().is_some_and(|task| {
            matches!(
                task.status.state,
                TaskState::InputRequired | TaskState::AuthRequired
            )
        });
        if order == "reply" && !waits {
            let reply = Message {
                context_id: Some(turn.context_id),
                ..Message::new(Role::Agent, vec![Part::text(rest)])
            };
            return stream::iter([Ok(StreamResponse::Message(reply))]).boxed();
        }

        let mut task = context.stored_task.unwrap_or_else(|| Task {
            id: turn.task_id.clone(),
            context_id: turn.context_id.clone(),
            status: TaskStatus {
                state: TaskState::Submitted,
                message: None,
                timestamp: None,
            },
            artifacts: None,
            history: None,
            metadata: None,
        });
        let history = task.history.get_or_insert_default();
        if history
            .iter()
            .all(|earlier| earlier.message_id != message.message_id)
        {
            history.push(message.clone());
        }
        if waits {
            task.status = TaskStatus {
                state: TaskState::Working,
                message: None,
                timestamp: None,
            };
        }
        let begin = stream::iter([Ok(StreamResponse::Task(task))]);

        let events = if waits {
            stream::iter(turn.result("answer", Part::text(&text)))
                .map(Ok)
                .boxed()
        } else {
            self.order(&turn, order, rest, &text, message.parts)
        };
        let (events, handle) = stream::abortable(begin.chain(events));
        self.running.lock().unwrap().insert(turn.task_id, handle);
        events.boxed()
    }

    fn cancel(&self, context: ExecutorContext) -> Events {
        if let Some(handle) = self.running.lock().unwrap().remove(&context.task_id) {
            handle.abort();
        }
        let canceled = Turn::of(&context).status(TaskState::Canceled, None);
        stream::iter([Ok(canceled)]).boxed()
    }
}

impl Orders {
    fn order(&self, turn: &Turn, order: &str, rest: &str, text: &str, parts: Vec<Part>) -> Events {
        let mut numbers = rest.split_whitespace().map_while(|word| word.parse().ok());
        let events = match order {
            "parts" => turn.results(vec![("parts".into(), parts)]),
            "chunks" => {
                let count: usize = numbers.next().unwrap_or(1);
                let pause = Duration::from_millis(numbers.next().unwrap_or(1) as u64);
                let turn = turn.clone();
                let working = turn.status(TaskState::Working, None);
                let completed = turn.status(TaskState::Completed, None);
                let chunks = stream::iter(1..=count).then(move |number| {
                    let parts = vec![Part::text(format!("{number} "))];
                    let chunk = turn.piece("chunks", parts, number, count);
                    async move {
                        if number > 1 {
                            tokio::time::sleep(pause).await;
                        }
                        Ok(chunk)
                    }
                });
                let begin = stream::iter([Ok(working)]);
                return begin
                    .chain(chunks)
                    .chain(stream::iter([Ok(completed)]))
                    .boxed();
            }
            "artifacts" => {
                let names = (1..=numbers.next().unwrap_or(1)).map(|number| number.to_string());
                turn.results(
                    names
                        .map(|name| (name.clone(), vec![Part::text(name)]))
                        .collect(),
                )
            }
            "data" => turn.result("data", Part::data(json!({"answer": 42}))),
            "file" => {
                let file = Part::raw(b"hello".to_vec());
                let file = file
                    .with_filename("hello.txt")
                    .with_media_type("text/plain");
                turn.result("file", file)
            }
            "link" => turn.result("link", Part::url(rest)),
            "say" => vec![
                turn.status(TaskState::Working, Some(rest)),
                turn.status(TaskState::Completed, None),
            ],
            "ask" => vec![turn.status(TaskState::InputRequired, Some(rest))],
            "auth" => vec![turn.status(TaskState::AuthRequired, Some(rest))],
            "fail" => vec![turn.status(TaskState::Failed, Some(rest))],
            "reject" => vec![turn.status(TaskState::Rejected, Some(rest))],
            "crash" => {
                let broken = A2AError::internal("the message asks for it");
                return stream::iter([Err(broken)]).boxed();
            }
            "wait" => {
                let working = turn.status(TaskState::Working, None);
                return stream::iter([Ok(working)]).chain(stream::pending()).boxed();
            }
            "echo" => turn.result("echo", Part::text(rest)),
            _ => turn.result("echo", Part::text(text)),
        };
        stream::iter(events).map(Ok).boxed()
    }
}

#[tokio::main]
async fn main() {
    let port = std::env::args()
        .nth(1)
        .expect("the port is the only argument");
    let address = format!("127.0.0.1:{port}");
    let capabilities = AgentCapabilities {
        streaming: Some(true),
        push_notifications: Some(true),
        extended_agent_card: Some(false),
        ..AgentCapabilities::default()
    };
    let card = AgentCard {
        name: "Contract".into(),
        description: "Keeps the behaviour contract".into(),
        version: "1.0.0".into(),
        supported_interfaces: vec![
            AgentInterface::new(format!("http://{address}/"), TRANSPORT_PROTOCOL_JSONRPC),
            AgentInterface::new(
                format!("http://{address}/rest"),
                TRANSPORT_PROTOCOL_HTTP_JSON,
            ),
        ],
        capabilities: capabilities.clone(),
        default_input_modes: vec!["text/plain".into()],
        default_output_modes: vec!["text/plain".into()],
        skills: vec![AgentSkill {
            id: "orders".into(),
            name: "Orders".into(),
            description: "Does each order".into(),
            tags: vec!["test".into()],
            examples: None,
            input_modes: None,
            output_modes: None,
            security_requirements: None,
        }],
        provider: None,
        documentation_url: None,
        icon_url: None,
        security_schemes: None,
        security_requirements: None,
        signatures: None,
    };
    let local_webhooks = HttpPushSenderConfig {
        validate_urls: false,
        ..Default::default()
    };
    let handler = DefaultRequestHandler::new(Orders::default(), InMemoryTaskStore::new())
        .with_capabilities(capabilities)
        .with_push_notifications(
            InMemoryPushConfigStore::new(),
            HttpPushSender::new(Some(local_webhooks)),
        );
    let handler = Arc::new(handler);
    let app = jsonrpc_router(handler.clone())
        .nest("/rest", rest_router(handler))
        .merge(agent_card_router(Arc::new(StaticAgentCard::new(card))));
    let listener = tokio::net::TcpListener::bind(&address)
        .await
        .expect("the port is free");
    axum::serve(listener, app).await.expect("the server runs");
}
