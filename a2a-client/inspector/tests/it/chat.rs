//! Messages to agents.

use http::StatusCode;
use serde_json::{Value, json};

use crate::harness::{Page, joker, message, reference, state, task_of};

#[tokio::test]
async fn a_task_that_asks_for_input_is_continued() {
    let page = Page::open().await;
    let agent = page.path_of(&joker().await).await;
    let asked = json!({"message": message("tell me a joke"), "stream": true});
    let events = page.message(&agent, asked).await;
    assert_eq!(state(&events), "TASK_STATE_INPUT_REQUIRED");
    let task = task_of(&events);
    let mut answer = message("chickens");
    answer["taskId"] = json!(task);
    let events = page
        .message(&agent, json!({"message": answer, "stream": true}))
        .await;
    assert_eq!(state(&events), "TASK_STATE_COMPLETED");
    let read = page.get(&format!("{agent}/tasks/{task}")).await;
    assert_eq!(read["status"]["state"], "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn a_stream_tells_exchange_updates_and_end() {
    let page = Page::open().await;
    let agent = page.path_of(&reference().await).await;
    let sent = json!({"message": message("chunks 3 1"), "stream": true});
    let events = page.message(&agent, sent).await;
    let names: Vec<_> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.first(), Some(&"exchange"), "{names:?}");
    assert!(events[0].1["number"].is_u64());
    assert_eq!(names.last(), Some(&"end"), "{names:?}");
    let updates: Vec<&Value> = events
        .iter()
        .filter(|(name, _)| name == "update")
        .map(|(_, data)| data)
        .collect();
    let sequences: Vec<_> = updates
        .iter()
        .map(|data| data["sequence"].as_u64().unwrap())
        .collect();
    assert!(
        sequences.windows(2).all(|pair| pair[0] < pair[1]),
        "{sequences:?}"
    );
    assert!(updates.iter().all(|data| data["ms"].is_f64()));
    let chunks = updates
        .iter()
        .filter(|data| data["event"]["artifactUpdate"].is_object());
    assert_eq!(chunks.count(), 3);
}

#[tokio::test]
async fn a_message_with_extensions_metadata_and_configuration_is_sent() {
    let page = Page::open().await;
    let agent = page.path_of(&reference().await).await;
    let sent = json!({
        "message": message("wait"),
        "configuration": {"returnImmediately": true, "historyLength": 0},
        "metadata": {"origin": "page"},
        "extensions": ["https://extension.example/1"],
    });
    let events = page.message(&agent, sent).await;
    let names: Vec<_> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["exchange", "update", "end"]);
    assert!(state(&events).ends_with("SUBMITTED") || state(&events).ends_with("WORKING"));
}

#[tokio::test]
async fn a_message_that_is_wrong_is_not_sent() {
    let page = Page::open().await;
    let agent = page.path_of(&reference().await).await;
    let path = format!("{agent}/messages");
    for (body, part) in [
        (json!({}), "message"),
        (
            json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": []}}),
            "at least one part",
        ),
        (
            json!({"message": message("echo"), "extension": []}),
            "unknown field",
        ),
    ] {
        let answer = page.call("POST", &path, Some(body)).await;
        assert!(answer.status.is_client_error());
        let problem = answer.problem()["message"].as_str().unwrap().to_owned();
        assert!(problem.contains(part), "{problem}");
    }
    let sent = json!({"message": message("echo")});
    let answer = page
        .call("POST", "/api/agents/none/messages", Some(sent))
        .await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_error_of_the_agent_ends_the_answer() {
    let page = Page::open().await;
    let agent = page.path_of(&reference().await).await;
    let mut unknown = message("echo");
    unknown["taskId"] = json!("none");
    for stream in [true, false] {
        let sent = json!({"message": unknown, "stream": stream});
        let events = page.message(&agent, sent).await;
        let (name, problem) = events.last().unwrap();
        assert_eq!(name, "failed");
        assert_eq!(problem["kind"], "TASK_NOT_FOUND");
        assert!(problem["message"].is_string(), "{problem}");
    }
}

#[tokio::test]
async fn a_task_outlives_the_page_that_stops_reading() {
    let page = Page::open().await;
    let agent = page.path_of(&reference().await).await;
    let sent = json!({"message": message("chunks 10 20"), "stream": true});
    let mut events = page
        .events("POST", &format!("{agent}/messages"), Some(sent))
        .await;
    let first = events.named("update").await;
    let task = first["event"]["task"]["id"].as_str().unwrap().to_owned();
    drop(events);
    let rest = page
        .events("GET", &format!("{agent}/tasks/{task}/events"), None)
        .await;
    assert_eq!(state(&rest.all().await), "TASK_STATE_COMPLETED");
}
