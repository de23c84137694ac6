//! Hidden steps: a caller that did not declare the profile sees none, in whatever way it looks.

use a2a_client::{Binding, Client, HttpTransport, Retries, SendMessageResponse, StreamExt};
use a2a_server::{Server, ServerBuilder, SqliteStore, WebhookPolicy};
use a2a_types::extension::trpc::{URI, Version};
use a2a_types::{
    AgentCard, ListTasksRequest, Message, ProtocolVersion, SendMessageConfiguration,
    SendMessageRequest, Task, TaskPushNotificationConfig,
};
use serde_json::json;
use std::path::Path;

use crate::profile::step_agent::{StepAgent, card};
use crate::receiver::{next, receiver};
use crate::stores;

fn builders() -> [ServerBuilder; 2] {
    let with = |card: AgentCard| {
        let policy = WebhookPolicy::default().allow_hosts(["127.0.0.1"]);
        Server::builder(card, StepAgent)
            .webhooks(policy)
            .merge_chunks(false)
    };
    [with(card()), with(card()).store(stores::sqlite())]
}

const WAYS: &[(ProtocolVersion, Binding)] = &[
    (ProtocolVersion::V0_1, Binding::JsonRpc),
    (ProtocolVersion::V0_2, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::HttpJson),
    (ProtocolVersion::V1_0, Binding::JsonRpc),
    (ProtocolVersion::V1_0, Binding::HttpJson),
];

#[track_caller]
fn is_plain(what: &str, seen: &str) {
    for step in ["secret", "thought", "function", URI, ".reasoning"] {
        assert!(!seen.contains(step), "{what}: {step:?} in {seen}");
    }
}

fn task(answer: SendMessageResponse) -> Task {
    match answer {
        SendMessageResponse::Task(task) => task,
        SendMessageResponse::Message(message) => panic!("expected a task, got {message:?}"),
    }
}

#[tokio::test]
async fn no_step_is_seen_in_any_version_by_any_operation() {
    for builder in builders() {
        let server = builder.build().unwrap();
        let bound = server.bind("127.0.0.1:0").await.unwrap();
        let url = bound.url();
        tokio::spawn(bound.run(std::future::pending()));
        for &(protocol_version, binding) in WAYS {
            let transport = HttpTransport::new(&url, protocol_version)
                .unwrap()
                .binding(binding);
            let client = Client::new(transport).retries(Retries::none());
            let what = format!("{protocol_version} {binding}");
            for command in ["two calls", "code", "parallel"] {
                let mut sent = client.send(command);
                sent = sent.history_length(100);
                let answered = task(sent.await.unwrap());
                is_plain(&what, &json!(answered).to_string());
                assert!(
                    json!(answered.artifacts).to_string().contains("mild."),
                    "{what}"
                );
                let read = client
                    .get_task(answered.id.clone(), Some(100))
                    .await
                    .unwrap();
                is_plain(&what, &json!(read).to_string());
                // Hidden tasks are not counted.
                let read = client.get_task(answered.id, Some(1)).await.unwrap();
                assert_eq!(read.history.len(), 1, "{what}");

                let mut updates = client.send(command).follow();
                while let Some(event) = updates.next().await {
                    is_plain(&what, &json!(event.unwrap()).to_string());
                }
                is_plain(&what, &json!(updates.task()).to_string());
            }
            if protocol_version >= ProtocolVersion::V0_3 {
                let request = ListTasksRequest {
                    include_artifacts: true,
                    history_length: Some(100),
                    ..Default::default()
                };
                let list = client.list_tasks(request).await.unwrap();
                assert!(!list.tasks.is_empty(), "{what}");
                is_plain(&what, &json!(list).to_string());
            }
            let mut updates = client.send("wait").follow();
            let mut seen = String::new();
            while !seen.contains("Half an answer") {
                seen.push_str(&json!(updates.next().await.unwrap().unwrap()).to_string());
            }
            is_plain(&what, &seen);
            let waits = updates.task().unwrap().id.clone();
            let mut follower = client.subscribe(waits.clone()).await.unwrap();
            is_plain(
                &what,
                &json!(follower.next().await.unwrap().unwrap()).to_string(),
            );
            let canceled = client.cancel_task(waits).await.unwrap();
            is_plain(&what, &json!(canceled).to_string());
        }
    }
}

#[tokio::test]
async fn no_webhook_receives_a_step() {
    for builder in builders() {
        let server = builder.build().unwrap();
        let (url, mut requests) = receiver(false).await;
        let request = SendMessageRequest {
            message: Message::user("two calls"),
            configuration: Some(SendMessageConfiguration {
                task_push_notification_config: Some(Box::new(TaskPushNotificationConfig {
                    url,
                    ..Default::default()
                })),
                ..Default::default()
            }),
            ..Default::default()
        };
        let client = Client::new(server);
        client.send(request).await.unwrap();
        loop {
            let got = next(&mut requests).await;
            is_plain("a webhook", &got.json().to_string());
            if got.json()["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED" {
                break;
            }
        }
    }
}

/// The task of a caller that declared the profile shows its steps to all its readers; one whose steps were
/// hidden has none in its log, so that they are not there when they are shown again.
#[test]
fn a_caller_with_the_profile_reads_the_steps_unless_hidden() {
    for hides in [false, true] {
        let file = stores::new_file();
        let expected = if hides { 0 } else { 2 };
        let id = process(&file, hides, async |client| {
            let mut message = Message::user("two calls");
            Version::CURRENT.put_into(&mut message);
            let answered = task(client.send(message).await.unwrap());
            assert_eq!(steps(&answered), expected);
            let read = client.get_task(answered.id.clone(), None).await.unwrap();
            assert_eq!(steps(&read), expected);
            let text = json!(read).to_string();
            assert_eq!(text.contains("Which secret city?"), !hides);
            assert!(
                !text.contains(".reasoning") && !text.contains(URI),
                "{text}"
            );
            answered.id
        });
        let read = async |client: Client| client.get_task(id.clone(), None).await.unwrap();
        assert_eq!(steps(&process(&file, false, read)), expected);
        let hidden = process(&file, true, read);
        assert_eq!(steps(&hidden), 0);
        is_plain("hidden afterwards", &json!(hidden.artifacts).to_string());
    }
}

fn steps(task: &Task) -> usize {
    json!(task)
        .to_string()
        .matches("get_secret_weather")
        .count()
}

/// Runs a process that has a server with its tasks in a file, and ends with it.
fn process<T>(file: &Path, hides: bool, does: impl AsyncFnOnce(Client) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(file).unwrap();
        let server = Server::builder(card(), StepAgent).store(store);
        let server = if hides { server.hide_steps() } else { server };
        does(Client::new(server.build().unwrap())).await
    })
}
