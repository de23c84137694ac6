//! Tasks of agents, and their webhooks.

use a2a_server::WebhookPolicy;
use a2a_server::demo::Reference;
use http::StatusCode;
use serde_json::{Value, json};

use crate::harness::{Page, builder, message, reference, started, state, task_of};

#[tokio::test]
async fn a_task_is_canceled() {
    let page = Page::open().await;
    let agent = page.path_of(&reference().await).await;
    let sent = json!({"message": message("wait"), "stream": true});
    let mut events = page
        .events("POST", &format!("{agent}/messages"), Some(sent))
        .await;
    let first = events.named("update").await;
    let task = first["event"]["task"]["id"].as_str().unwrap().to_owned();
    let canceled = page
        .call("POST", &format!("{agent}/tasks/{task}/cancel"), None)
        .await
        .ok();
    assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED");
    assert_eq!(state(&events.all().await), "TASK_STATE_CANCELED");
    let again = page
        .call("POST", &format!("{agent}/tasks/{task}/cancel"), None)
        .await;
    assert_eq!(again.status, StatusCode::BAD_GATEWAY);
    assert_eq!(again.problem()["kind"], "TASK_NOT_CANCELABLE");
}

#[tokio::test]
async fn a_task_is_resumed_after_an_event() {
    let page = Page::open().await;
    let agent = page.path_of(&reference().await).await;
    let sent = json!({"message": message("chunks 5 1"), "stream": true});
    let events = page.message(&agent, sent).await;
    let task = task_of(&events);
    let all: Vec<_> = events
        .iter()
        .filter_map(|(_, data)| data["sequence"].as_u64())
        .collect();
    let after = all[all.len() - 3];
    let path = format!("{agent}/tasks/{task}/events?after={after}");
    let rest = page.events("GET", &path, None).await.all().await;
    let resumed: Vec<_> = rest
        .iter()
        .filter_map(|(_, data)| data["sequence"].as_u64())
        .collect();
    assert_eq!(resumed, all[all.len() - 2..], "{rest:?}");
    assert_eq!(rest.last().unwrap().0, "end");
}

#[tokio::test]
async fn tasks_are_listed_by_state_and_page() {
    let page = Page::open().await;
    let agent = page.path_of(&reference().await).await;
    for text in ["echo 1", "echo 2", "ask which?"] {
        page.message(&agent, json!({"message": message(text)}))
            .await;
    }
    let list = async |query: &str| page.get(&format!("{agent}/tasks?{query}")).await;
    let all = list("").await;
    assert_eq!(all["totalSize"], 3);
    let waiting = list("state=TASK_STATE_INPUT_REQUIRED&contextId=&pageToken=").await;
    assert_eq!(waiting["tasks"].as_array().unwrap().len(), 1);
    let first = list("pageSize=2&historyLength=0").await;
    assert_eq!(first["tasks"].as_array().unwrap().len(), 2);
    let token = first["nextPageToken"].as_str().unwrap();
    let second = list(&format!("pageSize=2&pageToken={token}")).await;
    assert_eq!(second["tasks"].as_array().unwrap().len(), 1);
    let context = all["tasks"][0]["contextId"].as_str().unwrap();
    let of_context = list(&format!("contextId={context}")).await;
    assert_eq!(of_context["totalSize"], 1);
    for query in ["state=DONE", "pageSize=x"] {
        let answer = page
            .call("GET", &format!("{agent}/tasks?{query}"), None)
            .await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
    }
}

#[tokio::test]
async fn an_operation_that_the_version_lacks_is_reported() {
    let page = Page::open().await;
    let agent = page
        .connect(&reference().await, json!({"version": "0.1"}))
        .await;
    let path = format!("/api/agents/{}/tasks", agent["id"].as_str().unwrap());
    let problem = page.call("GET", &path, None).await.problem();
    assert_eq!(problem["kind"], "not_supported");
    assert!(problem["hint"].is_string());
}

#[tokio::test]
async fn webhooks_are_added_listed_and_removed_without_their_secrets() {
    let mut card = Reference::card();
    card.capabilities.push_notifications = Some(true);
    let policy = WebhookPolicy::default().allow_hosts(["127.0.0.1"]);
    let url = started(builder(card, Reference).webhooks(policy)).await;
    let page = Page::open().await;
    let agent = page.path_of(&url).await;
    let events = page
        .message(&agent, json!({"message": message("ask which?")}))
        .await;
    let path = format!("{agent}/tasks/{}/webhooks", task_of(&events));
    let config = json!({
        "url": "http://127.0.0.1:1/hook",
        "token": "CANARY",
        "authentication": {"scheme": "Bearer", "credentials": "CANARY"},
    });
    let hidden = |config: &Value| {
        assert_eq!(config["token"], "***");
        assert_eq!(config["authentication"]["scheme"], "Bearer");
        assert!(!config.to_string().contains("CANARY"), "{config}");
    };
    let added = page.post(&path, config).await;
    hidden(&added);
    let listed = page.get(&path).await;
    hidden(&listed["configs"][0]);
    let id = added["id"].as_str().unwrap();
    page.call("DELETE", &format!("{path}/{id}"), None)
        .await
        .ok();
    assert_eq!(page.get(&path).await, json!({"configs": []}));
}
