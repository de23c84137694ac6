//! A client on the Rust SDK that follows its instructions line by line: docs/reference/client-protocol.md.
//!
//!     a2a-conformance client --stdio target/debug/client --protocol-version 1.0

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use a2a::*;
use a2a_client::agent_card::AgentCardResolver;
use a2a_client::auth::AuthInterceptor;
use a2a_client::jsonrpc::JsonRpcTransportFactory;
use a2a_client::rest::RestTransportFactory;
use a2a_client::{A2AClient, A2AClientFactory, BoxStream, Transport, default_reqwest_client};
use futures::StreamExt;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const KNOWN: [&str; 23] = [
    "id",
    "case",
    "op",
    "url",
    "protocol_version",
    "binding",
    "text",
    "parts",
    "metadata",
    "modes",
    "immediately",
    "detail",
    "task",
    "context",
    "references",
    "history",
    "extension",
    "config",
    "webhook",
    "list",
    "credentials",
    "patience_ms",
    "ca",
];

type Client = A2AClient<Box<dyn Transport>>;
type Events = BoxStream<'static, Result<StreamResponse, A2AError>>;

/// A failure: its kind, and its text for people.
struct Failure(String, String);

impl Failure {
    fn unimplemented(what: &str) -> Self {
        Self("UNIMPLEMENTED".into(), what.into())
    }
}

impl From<A2AError> for Failure {
    fn from(error: A2AError) -> Self {
        let kind = match error_reason(error.code) {
            "INTERNAL_ERROR" => "INTERNAL",
            reason => reason,
        };
        Self(kind.into(), error.message)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self("MALFORMED".into(), error.to_string())
    }
}

/// An instruction.
struct Ask(Value);

impl Ask {
    fn text(&self, name: &str) -> Option<String> {
        self.0[name].as_str().map(Into::into)
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Failure> {
        let value = self.0.get(name).cloned();
        Ok(value.map(serde_json::from_value).transpose()?)
    }

    fn task(&self) -> String {
        self.text("task").unwrap_or_default()
    }

    fn detail(&self) -> bool {
        self.0["detail"] == true
    }

    /// The push notification config to create, or to send with a message.
    fn config(&self) -> Result<Option<TaskPushNotificationConfig>, Failure> {
        if let Some(config) = self.read("config")? {
            return Ok(Some(config));
        }
        Ok(self.text("webhook").map(|url| TaskPushNotificationConfig {
            url,
            id: None,
            task_id: self.task(),
            token: None,
            authentication: None,
            tenant: None,
        }))
    }

    fn message(&self, immediately: bool) -> Result<SendMessageRequest, Failure> {
        let parts = match self.read("parts")? {
            Some(parts) => parts,
            None => vec![Part::text(self.text("text").unwrap_or_default())],
        };
        let message = Message {
            task_id: self.text("task"),
            context_id: self.text("context"),
            metadata: self.read("metadata")?,
            extensions: self.text("extension").map(|uri| vec![uri]),
            reference_task_ids: self.read("references")?,
            ..Message::new(Role::User, parts)
        };
        let configuration = SendMessageConfiguration {
            accepted_output_modes: self.read("modes")?,
            task_push_notification_config: self.config()?,
            history_length: self.read("history")?,
            return_immediately: if immediately {
                Some(true)
            } else {
                self.read("immediately")?
            },
        };
        Ok(SendMessageRequest {
            message,
            configuration: Some(configuration),
            metadata: None,
            tenant: None,
        })
    }

    /// The result, unless it takes longer than the agent may be silent.
    async fn within<T, E: Into<Failure>>(
        &self,
        call: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Failure> {
        let patience = Duration::from_millis(self.0["patience_ms"].as_u64().unwrap_or(10_000));
        match tokio::time::timeout(patience, call).await {
            Ok(result) => result.map_err(Into::into),
            Err(late) => Err(Failure("TIMEOUT".into(), late.to_string())),
        }
    }

    fn tell(&self, report: Value) {
        let mut report = report;
        report["id"] = self.0["id"].clone();
        println!("{report}");
    }
}

fn text_of(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect()
}

fn content(id: &str, parts: &[Part], detail: bool) -> Value {
    let mut content = json!({"id": id, "text": text_of(parts)});
    if detail {
        content["parts"] = json!(parts);
    }
    content
}

fn status_of(context: &str, status: &TaskStatus) -> Value {
    let state = match status.state {
        TaskState::Submitted => "submitted",
        TaskState::Working => "working",
        TaskState::InputRequired => "input-required",
        TaskState::AuthRequired => "auth-required",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Canceled => "canceled",
        TaskState::Rejected => "rejected",
        _ => "unknown",
    };
    let parts = status.message.as_ref().map(|message| &message.parts[..]);
    let text = text_of(parts.unwrap_or_default());
    json!({"context": context, "state": state, "text": text})
}

fn task_of(task: &Task, detail: bool) -> Value {
    let artifacts = task.artifacts.iter().flatten();
    let artifacts: Vec<_> = artifacts
        .map(|artifact| content(&artifact.artifact_id, &artifact.parts, detail))
        .collect();
    let mut reported = status_of(&task.context_id, &task.status);
    reported["id"] = json!(task.id);
    reported["artifacts"] = json!(artifacts);
    reported
}

fn message_of(message: &Message, detail: bool) -> Value {
    content(&message.message_id, &message.parts, detail)
}

fn event_of(event: &StreamResponse, detail: bool) -> Value {
    match event {
        StreamResponse::Task(task) => json!({"task": task_of(task, detail)}),
        StreamResponse::Message(message) => json!({"message": message_of(message, detail)}),
        StreamResponse::StatusUpdate(update) => {
            let mut reported = status_of(&update.context_id, &update.status);
            reported["task"] = json!(update.task_id);
            json!({"status": reported})
        }
        StreamResponse::ArtifactUpdate(update) => {
            let artifact = &update.artifact;
            let mut reported = content(&artifact.artifact_id, &artifact.parts, detail);
            reported["task"] = json!(update.task_id);
            reported["append"] = json!(update.append.unwrap_or(false));
            reported["last"] = json!(update.last_chunk.unwrap_or(false));
            json!({"artifact": reported})
        }
    }
}

fn config_of(config: &TaskPushNotificationConfig) -> Value {
    json!({"id": config.id, "task": config.task_id, "url": config.url})
}

fn card_of(card: &AgentCard) -> Value {
    json!({"card": {"name": card.name, "streaming": card.capabilities.streaming == Some(true)}})
}

/// The cards of the agents, by URL.
#[derive(Default)]
struct Session {
    cards: HashMap<String, AgentCard>,
}

impl Session {
    async fn card(&mut self, ask: &Ask) -> Result<AgentCard, Failure> {
        let url = ask.text("url").unwrap_or_default();
        if let Some(card) = self.cards.get(&url) {
            return Ok(card.clone());
        }
        let http = default_reqwest_client(ask.text("ca").as_deref().map(str::as_bytes))?;
        let resolver = AgentCardResolver::new(Some(http));
        let card = ask.within(resolver.resolve(&url)).await?;
        self.cards.insert(url, card.clone());
        Ok(card)
    }

    async fn client(&mut self, ask: &Ask) -> Result<Client, Failure> {
        let card = self.card(ask).await?;
        let http = default_reqwest_client(ask.text("ca").as_deref().map(str::as_bytes))?;
        let mut factory = A2AClientFactory::builder()
            .register(Arc::new(JsonRpcTransportFactory::new(Some(http.clone()))))
            .register(Arc::new(RestTransportFactory::new(Some(http))))
            .preferred_bindings(ask.text("binding").into_iter().collect());
        if let Some(uri) = ask.text("extension") {
            let header = AuthInterceptor::custom(SVC_PARAM_EXTENSIONS, uri);
            factory = factory.with_interceptor(Arc::new(header));
        }
        if ask.0.get("credentials").is_some() {
            let Some(token) = ask.0["credentials"]["bearer"].as_str() else {
                return Err(Failure::unimplemented(
                    "credentials other than bearer tokens",
                ));
            };
            factory = factory.with_interceptor(Arc::new(AuthInterceptor::bearer(token)));
        }
        ask.within(factory.build().create_from_card(&card)).await
    }

    async fn perform(&mut self, ask: &Ask) -> Result<(), Failure> {
        let strange = |name: &&String| !KNOWN.contains(&name.as_str());
        if let Some(name) = ask.0.as_object().and_then(|all| all.keys().find(strange)) {
            return Err(Failure::unimplemented(name));
        }
        if ask.text("protocol_version").is_some_and(|protocol_version| protocol_version != "1.0") {
            return Err(Failure::unimplemented("the version"));
        }
        if ask.text("binding").is_some_and(|binding| binding == "GRPC") {
            return Err(Failure::unimplemented("gRPC"));
        }
        let op = ask.text("op").unwrap_or_default();
        let tell = |result: Value| ask.tell(json!({"result": result}));
        match op.as_str() {
            "fetch_card" => tell(card_of(&self.card(ask).await?)),
            "send_message" => {
                let client = self.client(ask).await?;
                match ask
                    .within(client.send_message(&ask.message(false)?))
                    .await?
                {
                    SendMessageResponse::Task(task) => {
                        tell(json!({"task": task_of(&task, ask.detail())}))
                    }
                    SendMessageResponse::Message(message) => {
                        tell(json!({"message": message_of(&message, ask.detail())}))
                    }
                }
            }
            "send_and_wait" => {
                let client = self.client(ask).await?;
                let sent = ask.within(client.send_message(&ask.message(true)?)).await?;
                let SendMessageResponse::Task(mut task) = sent else {
                    return Err(Failure("MALFORMED".into(), "no task".into()));
                };
                while !task.status.state.is_terminal()
                    && task.status.state != TaskState::InputRequired
                {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    task = ask
                        .within(client.get_task(&read_task(&task.id, None)))
                        .await?;
                }
                tell(json!({"task": task_of(&task, ask.detail())}));
            }
            "stream" => {
                let client = self.client(ask).await?;
                let message = ask.message(false)?;
                let events = ask.within(client.send_streaming_message(&message)).await?;
                follow(ask, events).await?;
            }
            "subscribe" => {
                let client = self.client(ask).await?;
                let request = SubscribeToTaskRequest {
                    id: ask.task(),
                    tenant: None,
                };
                let events = ask.within(client.subscribe_to_task(&request)).await?;
                follow(ask, events).await?;
            }
            "get_task" => {
                let client = self.client(ask).await?;
                let request = read_task(&ask.task(), ask.read("history")?);
                let task = ask.within(client.get_task(&request)).await?;
                tell(json!({"task": task_of(&task, ask.detail())}));
            }
            "cancel_task" => {
                let client = self.client(ask).await?;
                let request = CancelTaskRequest {
                    id: ask.task(),
                    metadata: ask.read("metadata")?,
                    tenant: None,
                };
                let task = ask.within(client.cancel_task(&request)).await?;
                tell(json!({"task": task_of(&task, ask.detail())}));
            }
            "list_tasks" => {
                let client = self.client(ask).await?;
                let list = ask.0.get("list").cloned().unwrap_or(json!({}));
                let mut request: ListTasksRequest = serde_json::from_value(list)?;
                let mut tasks = Vec::new();
                loop {
                    let page = ask.within(client.list_tasks(&request)).await?;
                    tasks.extend(page.tasks.iter().map(|task| task_of(task, ask.detail())));
                    if page.next_page_token.is_empty() {
                        break;
                    }
                    request.page_token = Some(page.next_page_token);
                }
                tell(json!({"tasks": tasks}));
            }
            "create_push_config" => {
                let client = self.client(ask).await?;
                let Some(config) = ask.config()? else {
                    return Err(Failure::unimplemented("a config without a URL"));
                };
                let config = ask.within(client.create_push_config(&config)).await?;
                tell(json!({"config": config_of(&config)}));
            }
            "get_push_config" => {
                let client = self.client(ask).await?;
                let request = GetTaskPushNotificationConfigRequest {
                    task_id: ask.task(),
                    id: "config-1".into(),
                    tenant: None,
                };
                let config = ask.within(client.get_push_config(&request)).await?;
                tell(json!({"config": config_of(&config)}));
            }
            "list_push_configs" => {
                let client = self.client(ask).await?;
                let request = ListTaskPushNotificationConfigsRequest {
                    task_id: ask.task(),
                    page_size: None,
                    page_token: None,
                    tenant: None,
                };
                let page = ask.within(client.list_push_configs(&request)).await?;
                let configs: Vec<_> = page.configs.iter().map(config_of).collect();
                tell(json!({"configs": configs}));
            }
            "delete_push_config" => {
                let client = self.client(ask).await?;
                let request = DeleteTaskPushNotificationConfigRequest {
                    task_id: ask.task(),
                    id: "config-1".into(),
                    tenant: None,
                };
                ask.within(client.delete_push_config(&request)).await?;
                tell(json!({}));
            }
            "extended_card" => {
                let client = self.client(ask).await?;
                let request = GetExtendedAgentCardRequest { tenant: None };
                let card = ask.within(client.get_extended_agent_card(&request)).await?;
                tell(card_of(&card));
                self.cards.insert(ask.text("url").unwrap_or_default(), card);
            }
            _ => return Err(Failure::unimplemented(&op)),
        }
        Ok(())
    }
}

fn read_task(id: &str, history_length: Option<i32>) -> GetTaskRequest {
    GetTaskRequest {
        id: id.into(),
        history_length,
        tenant: None,
    }
}

async fn follow(ask: &Ask, mut events: Events) -> Result<(), Failure> {
    let next = async |events: &mut Events| events.next().await.transpose();
    while let Some(event) = ask.within(next(&mut events)).await? {
        ask.tell(json!({"event": event_of(&event, ask.detail())}));
    }
    ask.tell(json!({"done": true}));
    Ok(())
}

#[tokio::main]
async fn main() {
    let mut session = Session::default();
    for line in std::io::stdin().lines() {
        let Ok(ask) = serde_json::from_str(&line.expect("the input is text")).map(Ask) else {
            continue;
        };
        if let Err(Failure(kind, message)) = session.perform(&ask).await {
            ask.tell(json!({"error": {"kind": kind, "message": message}}));
        }
    }
}
