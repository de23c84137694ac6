//! Agents over a scripted service, which behaves well or badly.

mod answers;
mod endpoint;
mod failures;
mod history;
mod tools;

use std::time::Duration;

use a2a_client::{Client, StreamExt};
use a2a_model::{Api, ModelAgent};
use a2a_server::{Agent, Server};
use a2a_types::extension::trpc::Version;
use a2a_types::{AgentCard, ContextId, Message, SendMessageRequest, Task, TaskState};

use crate::endpoint::Endpoint;

const APIS: [Api; 2] = [Api::ChatCompletions, Api::Responses];

/// Returns an agent over the endpoint that does not wait long before it tries again.
fn model(endpoint: &Endpoint, api: Api) -> ModelAgent {
    ModelAgent::new(endpoint.base_url(), "tiny")
        .api(api)
        .api_key(KEY)
        .backoff(Duration::from_millis(1))
}

/// Has a character that JSON may escape.
const KEY: &str = "sk-secret/0123456789";

/// Serves an agent whose steps callers may see, and returns a client of it.
async fn serve(agent: impl Agent) -> Client {
    let mut card = AgentCard::new("Helper", "Answers questions");
    Version::CURRENT.declare(&mut card);
    let server = Server::builder(card, agent).build().unwrap();
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let url = bound.url();
    tokio::spawn(bound.run(std::future::pending()));
    Client::connect(&url).await.unwrap()
}

/// Sends a message, and returns the task when it has ended.
async fn send(client: &Client, message: impl Into<SendMessageRequest>) -> Task {
    let answer = bounded(async { client.send(message).await.unwrap() }).await;
    answer.task().cloned().expect("the agent makes a task")
}

/// Sends a message within a context.
async fn send_in(client: &Client, context: &ContextId, message: impl Into<Message>) -> Task {
    let sending = async { client.send(message.into()).context(context.clone()).await };
    let answer = bounded(sending).await.unwrap();
    answer.task().cloned().expect("the agent makes a task")
}

#[track_caller]
fn assert_completed(task: &Task, text: &str) {
    assert_eq!(task.status.state, TaskState::Completed, "{task:?}");
    assert_eq!(task.text(), text);
}

/// Checks that a task has failed for a reason, and what its artifact has.
#[track_caller]
fn assert_failed(task: &Task, reason: &str, artifact: &str) {
    assert_eq!(task.status.state, TaskState::Failed, "{task:?}");
    let message = task.status.message.as_deref().expect("there is a message");
    let metadata = message.metadata.as_ref().expect("there is metadata");
    assert_eq!(metadata["modelError"], reason, "{message:?}");
    assert!(!message.text().contains(KEY) && message.text().ends_with('.'));
    let text: String = task.artifacts.iter().map(|it| it.text()).collect();
    assert_eq!(text, artifact);
}

/// Waits for a future that must end.
async fn bounded<T>(future: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(30);
    tokio::time::timeout(limit, future)
        .await
        .expect("nothing hangs")
}
