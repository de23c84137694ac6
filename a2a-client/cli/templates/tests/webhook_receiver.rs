//! Test of the program: it runs as a process of its own.

mod program;

use agent2agent::server::{Algorithm, SigningKey, WebhookKeys, WebhookPolicy};
use agent2agent::types::TaskPushNotificationConfig;
use agent2agent::{AgentCard, Client, Server, Turn};
use program::{LIMIT, Program, directory};

/// Serves an agent that signs its webhooks, and returns its URL.
async fn serve() -> String {
    let agent = async |turn: Turn| {
        let text = turn.text();
        Ok(turn.artifact("echo").text(text).complete_task().await?)
    };
    let key = SigningKey::generate(Algorithm::Es256).expect("a key");
    let server = Server::builder(AgentCard::new("Echo", "Repeats"), agent)
        .webhooks(WebhookPolicy::default().allow_hosts(["127.0.0.1"]))
        .sign_webhooks(WebhookKeys::new(key))
        .build();
    let bound = server.expect("a server").bind("127.0.0.1:0").await;
    let bound = bound.expect("an address");
    let url = bound.url().to_string();
    tokio::spawn(bound.run(std::future::pending()));
    url
}

#[tokio::test(flavor = "multi_thread")]
async fn notifications_are_printed() {
    let url = serve().await;
    let receiver = Program::start(&directory(), &[&url, "127.0.0.1:0"]);
    let webhook = TaskPushNotificationConfig {
        url: receiver.line_with("/hook"),
        token: Some("token-of-the-hook".to_owned()),
        ..TaskPushNotificationConfig::default()
    };
    let client = Client::connect(&url).await.expect("the agent has a card");
    let answer = client.send("hello").webhook(webhook).deadline(LIMIT).await;
    answer.expect("an answer");
    receiver.line_with("TASK_STATE_COMPLETED");
}
