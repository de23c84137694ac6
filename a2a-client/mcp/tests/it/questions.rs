//! Questions of agents, asked by editors of MCP 2026-07-28 in round trips.

use a2a_server::{Agent, Failure, Turn};
use a2a_types::AgentCard;
use a2a_types::{Message, TaskState};
use serde_json::{Value, json};

use crate::editor::{Editor, TOOL, bridge_to, everything, id, reference, text};

const FORMS: &str = r#"{"elicitation": {}}"#;

fn forms() -> Value {
    serde_json::from_str(FORMS).unwrap()
}

/// Returns the key, the parameters and the state of the question in a result.
fn question(result: &Value) -> (String, Value, String) {
    assert_eq!(result["resultType"], "input_required", "{result}");
    let requests = result["inputRequests"].as_object().unwrap();
    let (key, request) = requests.iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create");
    let state = result["requestState"].as_str().unwrap();
    (key.clone(), request["params"].clone(), state.to_owned())
}

fn repeated(message: &str, key: &str, response: Value, state: &str) -> Value {
    json!({
        "name": TOOL,
        "arguments": {"message": message},
        "inputResponses": {key: response},
        "requestState": state
    })
}

#[tokio::test]
async fn a_question_is_asked_and_its_answer_sent() {
    let (bridge, _) = reference();
    let mut editor = Editor::start(bridge, forms());
    let (key, asked, state) = question(&editor.call("ask which phone?").await);
    assert_eq!(asked["message"], "which phone?");
    assert_eq!(
        asked["requestedSchema"]["properties"]["answer"]["type"],
        "string"
    );
    let answer = json!({"action": "accept", "content": {"answer": "the red one"}});
    let again = repeated("ask which phone?", &key, answer, &state);
    let response = editor.request("tools/call", again).await;
    assert!(
        text(&response["result"]).starts_with("the red one"),
        "{response}"
    );
}

#[tokio::test]
async fn a_state_that_was_changed_is_refused() {
    let (bridge, _) = reference();
    let mut editor = Editor::start(bridge, forms());
    let (key, _, state) = question(&editor.call("ask which?").await);
    let answer = json!({"action": "accept", "content": {"answer": "a"}});
    let (other, _) = reference();
    let mut other = Editor::start(other, forms());
    let changed = state.replace("rs1.", "rs1.AA");
    let again = repeated("ask which?", &key, answer.clone(), &changed);
    let refused = editor.request("tools/call", again).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    // A bridge with another key.
    let again = repeated("ask which?", &key, answer, &state);
    let refused = other.request("tools/call", again).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

#[tokio::test]
async fn a_question_is_answered_after_a_restart_with_the_same_key() {
    let key = [7; 32];
    let (bridge, client) = reference();
    let mut editor = Editor::start(bridge.state_key(key), forms());
    let (name, _, state) = question(&editor.call("ask which?").await);
    drop(editor);
    let connect = move || std::future::ready(Ok(client.clone()));
    let bridge = a2a_mcp::Bridge::builder()
        .agent("agent", connect)
        .state_key(key);
    let mut editor = Editor::start(bridge, forms());
    let answer = json!({"action": "accept", "content": {"answer": "a"}});
    let response = editor
        .request("tools/call", repeated("", &name, answer, &state))
        .await;
    assert!(text(&response["result"]).starts_with('a'), "{response}");
}

#[tokio::test]
async fn a_question_without_an_answer_is_asked_again() {
    let (bridge, _) = reference();
    let mut editor = Editor::start(bridge, forms());
    let (key, _, state) = question(&editor.call("ask which?").await);
    let call = json!({"name": TOOL, "arguments": {"message": "ask which?"}, "requestState": state});
    let response = editor.request("tools/call", call).await;
    assert_eq!(question(&response["result"]).0, key);
}

#[tokio::test]
async fn a_declined_question_leaves_the_task_and_a_canceled_one_cancels_it() {
    let (bridge, client) = reference();
    let mut editor = Editor::start(bridge, forms());
    for (action, expected) in [
        ("decline", TaskState::InputRequired),
        ("cancel", TaskState::Canceled),
    ] {
        let (key, _, state) = question(&editor.call("ask which?").await);
        let again = repeated("", &key, json!({"action": action}), &state);
        let response = editor.request("tools/call", again).await;
        assert_eq!(response["result"]["isError"], true, "{response}");
        let task = client
            .get_task(id(&response["result"], "task_id"), None)
            .await
            .unwrap();
        assert_eq!(task.status.state, expected);
    }
}

#[tokio::test]
async fn an_editor_without_forms_is_told_how_to_go_on() {
    let (bridge, _) = reference();
    let mut editor = Editor::start(bridge, json!({}));
    let result = editor.call("ask which?").await;
    let (task, context) = (id(&result, "task_id"), id(&result, "context_id"));
    let told = text(&result);
    assert!(told.starts_with("which?"), "{told}");
    assert!(told.contains(&format!("task_id: {task}")), "{told}");
    let arguments = json!({"message": "this", "task_id": task, "context_id": context});
    let result = editor.call_with(arguments).await;
    assert!(text(&result).starts_with("this"), "{result}");
}

#[tokio::test]
async fn choices_and_forms_keep_their_form() {
    let agent = async |turn: Turn| {
        match turn.text().as_str() {
            "choice" => turn.ask_choice("Which?", ["red", "blue"]).await?,
            "form" => {
                let city = json!({"type": "object", "properties": {"city": {"type": "string"}}});
                let city = city.as_object().cloned().unwrap_or_default();
                turn.ask_form("Where?", city).await?;
            }
            _ => {
                let parts = serde_json::to_string(&turn.message().parts)?;
                turn.artifact("parts").text(parts).complete_task().await?;
            }
        }
        Ok::<_, Failure>(())
    };
    let (bridge, _) = bridge_to(AgentCard::new("Asker", "Asks"), agent);
    let mut editor = Editor::start(bridge, forms());
    for (message, field, content, expected) in [
        (
            "choice",
            "/answer/enum/1",
            json!({"answer": "blue"}),
            r#"[{"text":"blue"}]"#,
        ),
        (
            "form",
            "/city/type",
            json!({"city": "Delft"}),
            r#"[{"data":{"city":"Delft"}}]"#,
        ),
    ] {
        let call = json!({"name": "asker_main", "arguments": {"message": message}});
        let response = editor.request("tools/call", call.clone()).await;
        let (key, asked, state) = question(&response["result"]);
        assert!(
            asked["requestedSchema"]["properties"]
                .pointer(field)
                .is_some(),
            "{asked}"
        );
        let mut again = call;
        again["inputResponses"] = json!({key: {"action": "accept", "content": content}});
        again["requestState"] = json!(state);
        let response = editor.request("tools/call", again).await;
        assert!(
            text(&response["result"]).starts_with(expected),
            "{response}"
        );
    }
}

/// Agent that asks for credentials, and goes on when a caller reads its task once more.
struct Guarded;

impl Agent for Guarded {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        let message = match turn.text().as_str() {
            "page" => Message::agent("Log in at https://login.example/x."),
            _ => Message::agent("Log in."),
        };
        turn.status(TaskState::AuthRequired, Some(message)).await?;
        turn.canceled().await;
        Ok(())
    }
}

#[tokio::test]
async fn credentials_are_asked_for_at_the_page_that_the_agent_names() {
    let (bridge, _) = bridge_to(AgentCard::new("Guarded", "Asks for credentials"), Guarded);
    let mut editor = Editor::start(bridge, everything());
    let call = json!({"name": "guarded_main", "arguments": {"message": "page"}});
    let response = editor.request("tools/call", call).await;
    let (_, asked, _) = question(&response["result"]);
    assert_eq!(asked["mode"], "url");
    assert_eq!(asked["url"], "https://login.example/x");
    let call = json!({"name": "guarded_main", "arguments": {"message": "elsewhere"}});
    let response = editor.request("tools/call", call).await;
    assert_eq!(response["result"]["isError"], true, "{response}");
    assert!(
        text(&response["result"]).contains("waits for credentials"),
        "{response}"
    );
}
