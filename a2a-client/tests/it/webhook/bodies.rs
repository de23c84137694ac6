//! Bodies of notifications and responses to them.

use a2a_client::Client;
use a2a_client::webhook::ReceiverBuilder;
use a2a_transport::{BoxFuture, CallRequest, CallResponse, Error, Transport};
use a2a_types::{Event, ProtocolVersion, Request, Response, Task, TaskState};

use crate::webhook::hook::{Hook, Post, TASK, post};

#[tokio::test]
async fn bodies_of_every_version_are_read() {
    let hook = Hook::new(|builder| builder).await;
    let proto = r#"{"statusUpdate":{"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_COMPLETED"}}}"#;
    let bodies = [
        (
            ProtocolVersion::V0_1,
            r#"{"id":"T","sessionId":"C","status":{"state":"completed"}}"#,
            "application/json",
        ),
        (
            ProtocolVersion::V0_3,
            TASK,
            "application/json; charset=utf-8",
        ),
        (
            ProtocolVersion::V0_3,
            &proto.replace("}}}", r#"},"final":true}}"#),
            "text/plain",
        ),
        (ProtocolVersion::V1_0, proto, "application/a2a+json"),
        (ProtocolVersion::V1_0, proto, "application/json"),
    ];
    for (protocol_version, body, content_type) in bodies {
        let post = Post::new(body).with("content-type", content_type);
        assert_eq!(hook.post(&post).await, 200);
        let notification = hook.last();
        assert_eq!(
            (notification.protocol_version, notification.task),
            (protocol_version, Some("T".into()))
        );
        let status = notification.event.as_ref().and_then(Event::status).unwrap();
        assert_eq!(status.state, TaskState::Completed);
        assert_eq!(notification.uri.query(), Some("task=T"));
        assert_eq!(notification.delivery, None);
    }
    for bad in ["", "[]", "{", "task"] {
        assert_eq!(hook.post(&Post::new(bad)).await, 400);
    }
    assert_eq!(hook.count(), 5);
}

/// The body has the form that the documentation of 0.2 prints.
#[tokio::test]
async fn the_documented_exchange_is_accepted() {
    let hook = Hook::new(|builder| builder.token("secure-client-token-for-task-aaa")).await;
    let body = r#"{
      "id": "43667960-d455-4453-b0cf-1bae4955270d",
      "contextId": "c295ea44-7543-4f78-b524-7a38915ad6e4",
      "status": { "state": "completed", "timestamp": "2024-03-15T18:30:00Z" },
      "kind": "task"
    }"#;
    let post = Post::new(body)
        .with("Authorization", "Bearer server_jwt_for_webhook_audience")
        .with("Content-Type", "application/json");
    assert_eq!(hook.post(&post).await, 401);
    let post = post.with(
        "X-A2A-Notification-Token",
        "secure-client-token-for-task-aaa",
    );
    assert_eq!(hook.post(&post).await, 200);
    let notification = hook.last();
    let task = notification.full_task().unwrap();
    assert_eq!(task.id.as_str(), "43667960-d455-4453-b0cf-1bae4955270d");
    assert_eq!(task.status.state, TaskState::Completed);
    assert!(task.status.timestamp.is_some());
}

#[tokio::test]
async fn requests_too_large_or_not_post_are_refused() {
    let hook = Hook::new(|builder| builder.limit(100)).await;
    let large = format!("{{\"id\":\"{}\"}}", "x".repeat(100));
    assert_eq!(hook.post(&Post::new(large)).await, 413);
    let mut get = Post::new("");
    get.line = "GET /hook?validationToken=abc".to_owned();
    assert_eq!(hook.post(&get).await, 405);
    assert_eq!(hook.count(), 0);
}

#[tokio::test]
async fn the_challenge_of_0_1_is_answered() {
    let hook = Hook::new(ReceiverBuilder::challenge).await;
    let check = async |query: &str, status: u16, word: &str| {
        let mut get = Post::new("");
        get.line = format!("GET /hook?{query}");
        let (found, answer) = post(&hook.address, &get).await;
        assert_eq!(found, status, "{query}");
        if status == 200 {
            assert!(answer.contains("content-type: text/plain\r\n"));
            assert!(answer.ends_with(&format!("\r\n\r\n{word}")), "{answer}");
        }
    };
    check("a=b&validationToken=abc-1%7E", 200, "abc-1~").await;
    let long = format!("validationToken={}", "x".repeat(257));
    let bad = [
        "",
        "validationToken=",
        "validationToken=a%0Ab",
        "validationToken=a+b",
        "validationToken=%C3%A9",
        "validationToken=a&validationToken=b",
        &long,
    ];
    for query in bad {
        check(query, 400, "").await;
    }
}

/// Knows one task.
struct Agent;

impl Transport for Agent {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        let Request::GetTask(params) = call.request else {
            panic!("only asked for tasks")
        };
        let task = Task {
            id: params.id,
            context_id: Some("from the agent".into()),
            ..Task::default()
        };
        let reply = CallResponse::once(Response::GetTask(task));
        Box::pin(std::future::ready(Ok(reply)))
    }
}

#[tokio::test]
async fn the_agent_supplies_what_a_body_omits() {
    let hook = Hook::new(|builder| builder).await;
    let client = Client::new(Agent);
    let context_of = async |body: &str| {
        assert_eq!(hook.post(&Post::new(body)).await, 200);
        let task = hook.last().refresh(&client).await.ok();
        task.map(|task| String::from(task.context_id.unwrap()))
    };
    let agent = Some("from the agent".to_owned());
    assert_eq!(context_of(TASK).await.as_deref(), Some("C"));
    assert_eq!(context_of(r#"{"taskId":"T","event":"done"}"#).await, agent);
    assert_eq!(
        context_of(r#"{"id":"T","status":{"state":"completed"}}"#).await,
        agent
    );
    assert_eq!(context_of("{}").await, None);
}
