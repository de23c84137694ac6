//! The list of tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use a2a_mcp::Bridge;
use a2a_server::demo::{Echo, Joker, Reference};
use a2a_types::AgentCard;
use serde_json::{Value, json};

use crate::editor::{Editor, bridge_to, client_of, everything, reference, text};

fn names(listed: &Value) -> Vec<&str> {
    let tools = listed["result"]["tools"]
        .as_array()
        .expect("tools are listed");
    tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect()
}

#[tokio::test]
async fn each_skill_of_each_agent_is_a_tool() {
    let (joker, echo) = (
        client_of(Joker::card(), Joker),
        client_of(Joker::card(), Echo),
    );
    let (bridge, _) = reference();
    let bridge = bridge
        .agent("joker", move || std::future::ready(Ok(joker.clone())))
        .agent("another joker", move || {
            std::future::ready(Ok(echo.clone()))
        });
    let mut editor = Editor::start(bridge, everything());
    let listed = editor.request("tools/list", json!({})).await;
    assert_eq!(
        names(&listed),
        ["reference_reference", "joker_joke", "joker_2_joke"]
    );
    assert_eq!(listed["result"]["ttlMs"], 300_000);
    assert_eq!(listed["result"]["cacheScope"], "private");
    let called = json!({"name": "joker_2_joke", "arguments": {"message": "hi"}});
    let called = editor.request("tools/call", called).await;
    assert!(text(&called["result"]).starts_with("hi"), "{called}");
}

#[tokio::test]
async fn an_agent_without_skills_is_one_tool() {
    let (bridge, _) = bridge_to(AgentCard::new("My agent", "Does things").skills([]), Echo);
    let mut editor = Editor::start(bridge, everything());
    let listed = editor.request("tools/list", json!({})).await;
    assert_eq!(names(&listed), ["my_agent"]);
}

#[tokio::test]
async fn a_schema_of_the_card_is_that_of_the_tool() {
    let mut card = Reference::card();
    let schema =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let params = json!({"skills": {"reference": {"inputSchema": schema}}});
    let extension = json!({"uri": "https://example.com/schemas", "params": params});
    card.capabilities
        .extensions
        .push(serde_json::from_value(extension).unwrap());
    let (bridge, client) = bridge_to(card, Echo);
    let mut editor = Editor::start(bridge, everything());
    let listed = editor.request("tools/list", json!({})).await;
    let input = &listed["result"]["tools"][0]["inputSchema"];
    assert_eq!(input["required"], json!(["city"]));
    assert_eq!(input["properties"]["city"], json!({"type": "string"}));
    assert_eq!(input["properties"]["task_id"]["type"], "string");
    let result = editor
        .call_with(json!({"city": "Delft", "context_id": "c1"}))
        .await;
    let task = client
        .get_task(crate::editor::id(&result, "task_id"), None)
        .await
        .unwrap();
    assert_eq!(task.context_id, Some("c1".into()));
    assert_eq!(
        task.history[0].parts[0].as_data(),
        Some(&json!({"city": "Delft"}))
    );
}

#[tokio::test]
async fn an_agent_that_is_away_comes_back() {
    let (bridge, _) = reference();
    let is_up = Arc::new(AtomicBool::new(false));
    let joker = client_of(Joker::card(), Joker);
    let up = Arc::clone(&is_up);
    let bridge = bridge.agent("http://joker.example", move || {
        std::future::ready(match up.load(Ordering::Relaxed) {
            true => Ok(joker.clone()),
            false => Err("connection refused".into()),
        })
    });
    let mut editor = Editor::start(bridge, everything());
    let listed = editor.request("tools/list", json!({})).await;
    assert_eq!(names(&listed), ["reference_reference"]);
    assert_eq!(listed["result"]["ttlMs"], 10_000);
    let called = json!({"name": "joker_joke", "arguments": {"message": "hi"}});
    let refused = editor.request("tools/call", called).await;
    let problem = refused["error"]["message"].as_str().unwrap();
    assert!(problem.contains("unknown tool `joker_joke`"), "{problem}");
    assert!(
        problem.contains("http://joker.example: connection refused"),
        "{problem}"
    );
    is_up.store(true, Ordering::Relaxed);
    let listed = editor.request("tools/list", json!({})).await;
    assert_eq!(names(&listed), ["reference_reference", "joker_joke"]);
}

#[tokio::test]
async fn a_tool_keeps_its_agent_when_another_of_the_same_name_comes_late() {
    let is_up = Arc::new(AtomicBool::new(false));
    let late = client_of(Joker::card(), Echo);
    let up = Arc::clone(&is_up);
    let joker = client_of(Joker::card(), Joker);
    let bridge = Bridge::builder()
        .agent("late", move || {
            std::future::ready(match up.load(Ordering::Relaxed) {
                true => Ok(late.clone()),
                false => Err("connection refused".into()),
            })
        })
        .agent("joker", move || std::future::ready(Ok(joker.clone())));
    let mut editor = Editor::start(bridge, everything());
    let listed = editor.request("tools/list", json!({})).await;
    assert_eq!(names(&listed), ["joker_joke"]);
    is_up.store(true, Ordering::Relaxed);
    let listed = editor.request("tools/list", json!({})).await;
    assert_eq!(names(&listed), ["joker_2_joke", "joker_joke"]);
    let called = json!({"name": "joker_joke", "arguments": {"message": "chickens"}});
    let called = editor.request("tools/call", called).await;
    assert!(text(&called["result"]).contains("chicken"), "{called}");
}

#[tokio::test]
async fn no_agent_at_all_is_an_error() {
    let bridge = Bridge::builder().agent("http://a.example", || {
        std::future::ready(Err("connection refused".into()))
    });
    let mut editor = Editor::start(bridge, everything());
    let listed = editor.request("tools/list", json!({})).await;
    let problem = listed["error"]["message"].as_str().unwrap();
    assert!(
        problem.contains("http://a.example: connection refused"),
        "{problem}"
    );
}

#[test]
fn a_short_key_is_refused() {
    let built = Bridge::builder().state_key("short").build();
    let error = built.err().map(|error| error.to_string()).unwrap();
    assert!(error.contains("32"), "{error}");
}
