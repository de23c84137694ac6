//! Calls of tools by editors of MCP 2026-07-28.

use std::time::Duration;

use a2a_client::Client;
use a2a_server::{Failure, Turn};
use a2a_types::AgentCard;
use a2a_types::{ListTasksRequest, TaskState};
use serde_json::{Value, json};

use crate::editor::{Editor, LIMIT, TOOL, bridge_to, everything, id, reference, text};

#[tokio::test]
async fn an_answer_has_its_text_and_its_ids() {
    let (bridge, client) = reference();
    let mut editor = Editor::start(bridge, everything());
    let result = editor.call("echo hello").await;
    let context = id(&result, "context_id");
    assert_eq!(text(&result), format!("hello\ncontext_id: {context}"));
    assert_eq!(result["isError"], false);
    let task = client.get_task(id(&result, "task_id"), None).await.unwrap();
    let metadata = task.history[0].metadata.as_ref().unwrap();
    assert_eq!(metadata["skillId"], "reference");
    // The context goes on.
    let arguments = json!({"message": "echo again", "context_id": context});
    let result = editor.call_with(arguments).await;
    assert_eq!(id(&result, "context_id"), context);
}

#[tokio::test]
async fn a_message_is_a_result_too() {
    let (bridge, _) = reference();
    let mut editor = Editor::start(bridge, everything());
    let result = editor.call("reply hi").await;
    assert!(text(&result).starts_with("hi\ncontext_id: "), "{result}");
}

#[tokio::test]
async fn a_failed_task_is_an_error_with_its_reason() {
    let (bridge, _) = reference();
    let mut editor = Editor::start(bridge, everything());
    let result = editor.call("fail no paper").await;
    assert_eq!(result["isError"], true);
    assert!(text(&result).contains("no paper"), "{result}");
    assert!(
        text(&result).contains("State of the task: failed"),
        "{result}"
    );
}

#[tokio::test]
async fn wrong_calls_are_answered_with_what_was_expected() {
    let (bridge, _) = reference();
    let mut editor = Editor::start(bridge, everything());
    let result = editor.call_with(json!({"mesage": "hi"})).await;
    assert_eq!(result["isError"], true);
    assert!(
        text(&result).contains("expected one of `message`, `files`, `data`"),
        "{result}"
    );
    let result = editor
        .call_with(json!({"message": "hi", "task_id": "none"}))
        .await;
    assert_eq!(result["isError"], true);
    assert!(text(&result).contains("answered with an error"), "{result}");
    let response = editor
        .request("tools/call", json!({"name": "x", "arguments": {}}))
        .await;
    let problem = response["error"]["message"].as_str().unwrap();
    assert!(
        problem.contains("expected reference_reference"),
        "{problem}"
    );
}

#[tokio::test]
async fn progress_is_told_to_callers_that_want_it() {
    let (bridge, _) = reference();
    let mut editor = Editor::start(bridge, everything());
    let call = json!({
        "name": TOOL,
        "arguments": {"message": "chunks 3 1"},
        "_meta": {"progressToken": "p"}
    });
    let response = editor.request("tools/call", call).await;
    assert_eq!(response["result"]["isError"], false, "{response}");
    let progress = editor.notifications.iter();
    let progress: Vec<_> = progress.map(|it| &it["params"]).collect();
    assert!(progress.len() >= 4, "{progress:?}");
    assert!(progress.iter().all(|params| params["progressToken"] == "p"));
    let counts = progress.iter().map(|params| params["progress"].as_f64());
    assert!(counts.is_sorted());
}

/// Waits until the only task of an agent has a state, and returns it.
async fn only_task(client: &Client, state: TaskState) -> a2a_types::Task {
    let looking = async {
        loop {
            let listed = client
                .list_tasks(ListTasksRequest::default())
                .await
                .unwrap();
            if let Some(task) = listed.tasks.into_iter().find(|it| it.status.state == state) {
                return task;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LIMIT, looking)
        .await
        .expect("the task gets the state")
}

#[tokio::test]
async fn a_canceled_call_cancels_the_task() {
    let (bridge, client) = reference();
    let mut editor = Editor::start(bridge, json!({}));
    let call = json!({"name": TOOL, "arguments": {"message": "wait"}});
    let id = editor.begin("tools/call", call).await;
    only_task(&client, TaskState::Working).await;
    let cancel = json!({"requestId": id, "reason": "enough"});
    editor
        .send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel}))
        .await;
    only_task(&client, TaskState::Canceled).await;
}

#[tokio::test]
async fn an_editor_that_goes_away_cancels_its_calls() {
    let (bridge, client) = reference();
    let mut editor = Editor::start(bridge, json!({}));
    let call = json!({"name": TOOL, "arguments": {"message": "wait"}});
    editor.begin("tools/call", call).await;
    only_task(&client, TaskState::Working).await;
    drop(editor);
    only_task(&client, TaskState::Canceled).await;
}

#[tokio::test]
async fn the_trace_is_passed_on() {
    let agent = async |turn: Turn| {
        let trace = turn
            .trace()
            .map(|trace| trace.traceparent())
            .unwrap_or_default();
        turn.artifact("trace").text(trace).complete_task().await?;
        Ok::<_, Failure>(())
    };
    let (bridge, _) = bridge_to(AgentCard::new("Tracer", "Tells its trace"), agent);
    let mut editor = Editor::start(bridge, json!({}));
    let trace = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
    let call = json!({"name": "tracer_main", "arguments": {"message": "hi"}, "_meta": {"traceparent": trace}});
    let response = editor.request("tools/call", call).await;
    let told = text(&response["result"]);
    assert!(told.contains("0af7651916cd43dd8448eb211c80319c"), "{told}");
}

#[tokio::test]
async fn structured_data_is_structured_content() {
    let agent = async |turn: Turn| {
        turn.artifact("data")
            .data(json!({"sum": 3}))
            .complete_task()
            .await?;
        Ok::<_, Failure>(())
    };
    let (bridge, _) = bridge_to(AgentCard::new("Sum", "Adds"), agent);
    let mut editor = Editor::start(bridge, json!({}));
    let call = json!({"name": "sum_main", "arguments": {"message": "1 2"}});
    let response = editor.request("tools/call", call).await;
    assert_eq!(response["result"]["structuredContent"], json!({"sum": 3}));
    assert!(text(&response["result"]).starts_with(r#"{"sum":3}"#));
    let _: &Value = &response;
}
