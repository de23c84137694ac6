//! Editors of MCP 2025-11-25.

use std::time::Duration;

use serde_json::json;

use crate::editor::{Editor, TOOL, everything, reference, text};

#[tokio::test]
async fn an_older_editor_lists_and_calls() {
    let (bridge, _) = reference();
    let mut editor = Editor::start_older(bridge.grace(Duration::ZERO), json!({})).await;
    let listed = editor.request("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"][0]["name"], TOOL);
    let result = editor.call("echo hello").await;
    assert!(text(&result).starts_with("hello\n"), "{result}");
    assert!(result.get("resultType").is_none(), "{result}");
}

#[tokio::test]
async fn an_older_editor_gets_no_task() {
    let (bridge, _) = reference();
    let bridge = bridge.grace(Duration::ZERO);
    let mut editor = Editor::start_older(bridge, everything()).await;
    let result = editor.call("chunks 3 10").await;
    assert_eq!(text(&result).lines().next(), Some("1 2 3 "), "{result}");
}

#[tokio::test]
async fn an_older_editor_is_asked_by_a_request() {
    let (bridge, _) = reference();
    let mut editor = Editor::start_older(bridge, json!({"elicitation": {}})).await;
    let call = json!({"name": TOOL, "arguments": {"message": "ask which?"}});
    let id = editor.begin("tools/call", call).await;
    let asked = editor.receive().await;
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    assert_eq!(asked["params"]["message"], "which?");
    let answer = json!({"action": "accept", "content": {"answer": "this"}});
    editor
        .send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}))
        .await;
    let response = editor.end(id).await;
    assert!(text(&response["result"]).starts_with("this"), "{response}");
}

#[tokio::test]
async fn an_older_editor_without_forms_is_told_how_to_go_on() {
    let (bridge, _) = reference();
    let mut editor = Editor::start_older(bridge, json!({})).await;
    let result = editor.call("ask which?").await;
    assert!(text(&result).contains("call the tool again"), "{result}");
}

#[tokio::test]
async fn a_task_whose_question_an_older_editor_refuses_is_told() {
    let (bridge, _) = reference();
    let mut editor = Editor::start_older(bridge, json!({"elicitation": {}})).await;
    for answer in [
        json!({"error": {"code": -32603, "message": "no window"}}),
        json!({"result": {"action": "accept", "content": {}}}),
    ] {
        let call = json!({"name": TOOL, "arguments": {"message": "ask which?"}});
        let id = editor.begin("tools/call", call).await;
        let asked = editor.receive().await;
        let mut message = json!({"jsonrpc": "2.0", "id": asked["id"]});
        let (name, value) = answer.as_object().unwrap().iter().next().unwrap();
        message[name] = value.clone();
        editor.send(message).await;
        let response = editor.end(id).await;
        let told = text(&response["result"]);
        assert!(told.contains("task_id: "), "{response}");
        assert!(told.contains("call the tool again"), "{response}");
    }
}
