//! Tasks of MCP.

use std::time::Duration;

use a2a_server::demo::Joker;
use a2a_server::{Failure, Turn};
use a2a_types::{AgentCard, Message, TaskState};
use serde_json::{Value, json};

use crate::editor::{Editor, bridge_to, client_of, everything, reference, text};

/// Calls a tool that takes longer than the grace, and returns the task.
async fn begin(editor: &mut Editor, message: &str) -> Value {
    let result = editor.call(message).await;
    assert_eq!(result["resultType"], "task", "{result}");
    assert_eq!(result["status"], "working");
    result
}

#[tokio::test]
async fn a_long_call_becomes_a_task_that_ends() {
    let (bridge, _) = reference();
    let bridge = bridge.grace(Duration::from_millis(20));
    let mut editor = Editor::start(bridge, everything());
    let task = begin(&mut editor, "chunks 20 20").await;
    let state = settled(&mut editor, &task["taskId"]).await;
    let state = &state["result"];
    assert_eq!(state["status"], "completed", "{state}");
    assert_eq!(state["createdAt"], task["createdAt"]);
    assert!(text(&state["result"]).contains("context_id"), "{state}");
}

#[tokio::test]
async fn a_task_is_canceled() {
    let (bridge, _) = reference();
    let bridge = bridge.grace(Duration::from_millis(20));
    let mut editor = Editor::start(bridge, everything());
    let task = begin(&mut editor, "wait").await;
    let id = json!({"taskId": task["taskId"]});
    let canceled = editor.request("tasks/cancel", id.clone()).await;
    assert!(canceled.get("result").is_some(), "{canceled}");
    let state = editor.request("tasks/get", id.clone()).await;
    assert_eq!(state["result"]["status"], "cancelled", "{state}");
    // A second cancellation succeeds, too.
    let canceled = editor.request("tasks/cancel", id).await;
    assert!(canceled.get("result").is_some(), "{canceled}");
}

/// Starts an editor with an agent that asks when it is told, and returns the sender that tells it.
async fn asking_late() -> (Editor, tokio::sync::watch::Sender<bool>, Value) {
    let (tell, told) = tokio::sync::watch::channel(false);
    let agent = move |turn: Turn| {
        let mut told = told.clone();
        async move {
            if turn.text() != "begin" {
                return Ok::<_, Failure>(
                    turn.artifact("a").text(turn.text()).complete_task().await?,
                );
            }
            turn.working("thinking").await?;
            told.wait_for(|told| *told).await?;
            Ok(turn.ask("which?").await?)
        }
    };
    let (bridge, _) = bridge_to(AgentCard::new("Reference", "Asks late"), agent);
    let bridge = bridge.grace(Duration::from_millis(20));
    let mut editor = Editor::start(bridge, everything());
    let call = json!({"name": "reference_main", "arguments": {"message": "begin"}});
    let task = editor.request("tools/call", call).await;
    let id = task["result"]["taskId"].clone();
    assert!(id.is_string(), "{task}");
    (editor, tell, id)
}

/// Returns the state of a task once the agent does nothing more.
async fn settled(editor: &mut Editor, id: &Value) -> Value {
    loop {
        let state = editor.request("tasks/get", json!({"taskId": id})).await;
        if state["result"]["status"] != "working" {
            return state;
        }
    }
}

#[tokio::test]
async fn a_declined_question_ends_the_task() {
    let (mut editor, tell, id) = asking_late().await;
    tell.send(true).unwrap();
    let state = settled(&mut editor, &id).await;
    let requests = state["result"]["inputRequests"].as_object().unwrap();
    let key = requests.keys().next().unwrap().as_str();
    let responses = json!({key: {"action": "decline"}});
    let update = json!({"taskId": id, "inputResponses": responses});
    editor.request("tasks/update", update).await;
    let state = settled(&mut editor, &id).await;
    assert_eq!(state["result"]["status"], "completed", "{state}");
    assert_eq!(state["result"]["result"]["isError"], true);
}

#[tokio::test]
async fn a_question_of_a_task_is_answered() {
    let (mut editor, tell, id) = asking_late().await;
    tell.send(true).unwrap();
    let state = settled(&mut editor, &id).await;
    assert_eq!(state["result"]["status"], "input_required", "{state}");
    let requests = state["result"]["inputRequests"].as_object().unwrap();
    let (key, request) = requests.iter().next().unwrap();
    assert_eq!(request["params"]["message"], "which?");
    let answer = json!({"action": "accept", "content": {"answer": "this"}});
    // An answer to another question is ignored.
    let responses = json!({"other": answer});
    let update = json!({"taskId": id, "inputResponses": responses});
    let updated = editor.request("tasks/update", update).await;
    assert!(updated.get("result").is_some(), "{updated}");
    let responses = json!({key.as_str(): answer});
    let update = json!({"taskId": id, "inputResponses": responses});
    let updated = editor.request("tasks/update", update).await;
    assert!(updated.get("result").is_some(), "{updated}");
    let mut state = editor.request("tasks/get", json!({"taskId": id})).await;
    while state["result"]["status"] == "working" {
        state = editor.request("tasks/get", json!({"taskId": id})).await;
    }
    assert!(
        text(&state["result"]["result"]).starts_with("this"),
        "{state}"
    );
}

#[tokio::test]
async fn a_task_names_its_agent_if_there_are_several() {
    let (bridge, _) = reference();
    let joker = client_of(Joker::card(), Joker);
    let bridge = bridge
        .agent("joker", move || std::future::ready(Ok(joker.clone())))
        .grace(Duration::from_millis(20));
    let mut editor = Editor::start(bridge, everything());
    let task = begin(&mut editor, "wait").await;
    let id = task["taskId"].as_str().unwrap();
    // The key does not depend on the order in which agents connect.
    let (key, _) = id.split_once('/').unwrap();
    assert_eq!(key.len(), 8, "{id}");
    let state = editor.request("tasks/cancel", json!({"taskId": id})).await;
    assert!(state.get("result").is_some(), "{state}");
}

#[tokio::test]
async fn an_unknown_task_is_an_error() {
    let (bridge, _) = reference();
    let mut editor = Editor::start(bridge, everything());
    for method in ["tasks/get", "tasks/cancel"] {
        let response = editor.request(method, json!({"taskId": "none"})).await;
        assert_eq!(response["error"]["code"], -32602, "{response}");
    }
}

#[tokio::test]
async fn an_editor_without_tasks_waits() {
    let (bridge, _) = reference();
    let bridge = bridge.grace(Duration::ZERO);
    let mut editor = Editor::start(bridge, json!({}));
    let result = editor.call("chunks 3 10").await;
    assert_eq!(result["resultType"], "complete", "{result}");
}

/// Starts an editor whose call has been answered by a page for credentials: returns the task, and the sender by which the
/// agent learns that the user has logged in.
async fn logging_in() -> (Editor, tokio::sync::watch::Sender<bool>, Value) {
    let (log_in, logged_in) = tokio::sync::watch::channel(false);
    let agent = move |turn: Turn| {
        let mut logged_in = logged_in.clone();
        async move {
            let page = Message::agent("Log in at https://login.example/x.");
            turn.status(TaskState::AuthRequired, Some(page)).await?;
            logged_in.wait_for(|it| *it).await?;
            Ok::<_, Failure>(turn.artifact("a").text("welcome").complete_task().await?)
        }
    };
    let (bridge, _) = bridge_to(AgentCard::new("Reference", "Asks for credentials"), agent);
    let mut editor = Editor::start(bridge.grace(Duration::from_millis(20)), everything());
    let mut call = json!({"name": "reference_main", "arguments": {"message": "begin"}});
    let asked = editor.request("tools/call", call.clone()).await;
    let result = &asked["result"];
    assert_eq!(result["resultType"], "input_required", "{asked}");
    let key = result["inputRequests"].as_object().unwrap().keys().next();
    call["inputResponses"] = json!({key.unwrap().as_str(): {"action": "accept"}});
    call["requestState"] = result["requestState"].clone();
    let task = editor.request("tools/call", call).await;
    let id = task["result"]["taskId"].clone();
    assert!(id.is_string(), "{task}");
    (editor, log_in, id)
}

#[tokio::test]
async fn a_page_that_was_opened_is_not_asked_for_again() {
    let (mut editor, log_in, id) = logging_in().await;
    let state = editor.request("tasks/get", json!({"taskId": id})).await;
    assert_eq!(state["result"]["status"], "working", "{state}");
    log_in.send(true).unwrap();
    let state = settled(&mut editor, &id).await;
    assert_eq!(state["result"]["status"], "completed", "{state}");
    assert!(text(&state["result"]["result"]).starts_with("welcome"));
}
