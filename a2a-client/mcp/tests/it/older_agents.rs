//! Calls of an agent that speaks 0.1, where events name no context.

use a2a_client::Client;
use a2a_mcp::Bridge;
use a2a_server::Server;
use a2a_server::demo::Reference;
use a2a_types::{AgentInterface, ProtocolVersion};
use serde_json::json;

use crate::editor::{Editor, id, text};

/// Starts an editor that shows no forms, with a bridge to the reference agent.
async fn editor() -> Editor {
    let server = Server::builder(Reference::card(), Reference).build();
    let server = server.unwrap().bind("127.0.0.1:0").await.unwrap();
    let url = server.url();
    tokio::spawn(server.run(std::future::pending()));
    let bridge = Bridge::builder().agent("agent", move || {
        let mut card = Reference::card();
        card.supported_interfaces = vec![AgentInterface::json_rpc(&url, ProtocolVersion::V0_1)];
        let client = Client::builder(&url).card(card);
        async move { Ok(client.connect().await?) }
    });
    Editor::start(bridge, json!({}))
}

#[tokio::test]
async fn a_conversation_goes_on_in_its_context() {
    let mut editor = editor().await;
    let result = editor.call("echo hello").await;
    let context = id(&result, "context_id");
    assert_eq!(text(&result), format!("hello\ncontext_id: {context}"));
    let arguments = json!({"message": "echo again", "context_id": context});
    let result = editor.call_with(arguments).await;
    assert_eq!(id(&result, "context_id"), context);
}

#[tokio::test]
async fn a_question_is_answered_by_its_task() {
    let mut editor = editor().await;
    let result = editor.call("ask which phone?").await;
    let task = id(&result, "task_id");
    let arguments = json!({"message": "the red one", "task_id": task});
    let result = editor.call_with(arguments).await;
    assert!(text(&result).starts_with("the red one"), "{result}");
    assert_eq!(id(&result, "task_id"), task);
}
