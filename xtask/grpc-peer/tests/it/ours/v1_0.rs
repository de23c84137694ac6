//! Operations of 1.0 of our server.

use grpc_peer::tonic::{Code, Status};
use grpc_peer::v1_0::{
    DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, ListTaskPushNotificationConfigsRequest, ListTasksRequest,
    Part, SendMessageRequest, TaskPushNotificationConfig, TaskState, part, send_message_response,
};
use grpc_peer::{bad_request, error_info};

use crate::v1_0::{Client, cancel, check_error, get, next, rest, send, state, subscribe};

async fn client() -> Client {
    super::connect().await.v1_0()
}

#[tokio::test]
async fn message_becomes_a_task_that_can_be_read() {
    let mut client = client().await;
    for (text, expected) in [
        ("echo hello", TaskState::Completed),
        ("ask which?", TaskState::InputRequired),
        ("fail no paper", TaskState::Failed),
    ] {
        let task = send(&mut client, SendMessageRequest::text(text)).await;
        assert_eq!(state(&task), expected, "{text}");
        assert_eq!(get(&mut client, &task.id, None).await.unwrap(), task);
    }
}

#[tokio::test]
async fn message_is_answered_by_a_message() {
    let mut client = client().await;
    let request = SendMessageRequest::text("reply hi");
    let response = client.send_message(request.clone()).await.unwrap();
    let Some(send_message_response::Payload::Message(message)) = response.into_inner().payload
    else {
        panic!("not a message");
    };
    assert_eq!(message.text(), "hi");
    let stream = client.send_streaming_message(request).await.unwrap();
    assert_eq!(rest(stream.into_inner()).await, ["message hi"]);
}

#[tokio::test]
async fn parts_of_every_kind_come_back() {
    use grpc_peer::prost_types::{Value, value::Kind};
    let mut client = client().await;
    let content = |content| Part {
        content: Some(content),
        ..Part::default()
    };
    let parts = vec![
        Part::text("parts"),
        content(part::Content::Raw(vec![0, 255])),
        content(part::Content::Url("https://example.com/".to_owned())),
        content(part::Content::Data(Value {
            kind: Some(Kind::NumberValue(1.5)),
        })),
    ];
    let mut request = SendMessageRequest::text("");
    request.message.as_mut().unwrap().parts = parts.clone();
    let task = send(&mut client, request).await;
    assert_eq!(task.history[0].parts, parts);
}

#[tokio::test]
async fn stream_has_every_event_and_ends() {
    let mut client = client().await;
    let request = SendMessageRequest::text("chunks 2 0");
    let stream = client.send_streaming_message(request).await.unwrap();
    let expected = [
        "task Submitted",
        r#"artifact "1 " append=false last=false"#,
        r#"artifact "2 " append=true last=true"#,
        "status Completed",
    ];
    assert_eq!(rest(stream.into_inner()).await, expected);
}

#[tokio::test]
async fn subscription_starts_with_the_task_and_sees_its_cancellation() {
    let mut client = client().await;
    let request = SendMessageRequest::text("wait").return_immediately();
    let id = send(&mut client, request).await.id;
    let mut subscription = subscribe(&mut client, &id).await.unwrap();
    assert!(next(&mut subscription).await.starts_with("task "));
    let canceled = cancel(&mut client, &id).await.unwrap();
    assert_eq!(state(&canceled), TaskState::Canceled);
    let events = rest(subscription).await;
    assert_eq!(events.last().unwrap(), "status Canceled");
}

#[tokio::test]
async fn dropped_stream_leaves_the_task_running() {
    let mut client = client().await;
    let request = SendMessageRequest::text("wait");
    let stream = client.send_streaming_message(request).await.unwrap();
    let mut stream = stream.into_inner();
    while next(&mut stream).await != "status Working" {}
    drop(stream);
    let list = client.list_tasks(ListTasksRequest::default()).await;
    let id = list.unwrap().into_inner().tasks[0].id.clone();
    let mut subscription = subscribe(&mut client, &id).await.unwrap();
    assert_eq!(next(&mut subscription).await, "task Working");
}

#[tokio::test]
async fn list_has_pages_and_takes_zero_as_the_default_page_size() {
    let mut client = client().await;
    for text in ["one", "two", "three"] {
        send(&mut client, SendMessageRequest::text(text)).await;
    }
    let mut request = ListTasksRequest {
        page_size: Some(2),
        include_artifacts: Some(true),
        ..ListTasksRequest::default()
    };
    let page = client.list_tasks(request.clone()).await.unwrap();
    let page = page.into_inner();
    assert_eq!((page.tasks.len(), page.total_size), (2, 3));
    request.page_token = page.next_page_token;
    let page = client.list_tasks(request).await.unwrap().into_inner();
    assert_eq!(page.tasks[0].artifacts[0].text(), "one");
    assert_eq!(page.next_page_token, "");

    let request = ListTasksRequest {
        page_size: Some(0),
        ..ListTasksRequest::default()
    };
    let page = client.list_tasks(request).await.unwrap().into_inner();
    assert_eq!(page.tasks.len(), 3);
}

#[tokio::test]
async fn history_length_bounds_the_history() {
    let mut client = client().await;
    let id = send(&mut client, SendMessageRequest::text("ask more?"))
        .await
        .id;
    send(&mut client, SendMessageRequest::text("yes").for_task(&id)).await;
    let whole = get(&mut client, &id, None).await.unwrap().history;
    for (length, expected) in [(0, 0), (1, 1), (100, whole.len())] {
        let task = get(&mut client, &id, Some(length)).await.unwrap();
        assert_eq!(task.history, whole[whole.len() - expected..], "{length}");
    }
}

#[tokio::test]
async fn webhooks_are_kept_listed_and_deleted() {
    let mut client = client().await;
    let request = SendMessageRequest::text("ask which?");
    let task_id = send(&mut client, request).await.id;
    let webhook = |id: &str| TaskPushNotificationConfig {
        id: id.to_owned(),
        task_id: task_id.clone(),
        url: "http://127.0.0.1:9/".to_owned(),
        token: "secret".to_owned(),
        ..TaskPushNotificationConfig::default()
    };
    for id in ["a", "b"] {
        let created = client.create_task_push_notification_config(webhook(id));
        assert_eq!(created.await.unwrap().into_inner(), webhook(id));
    }
    let request = GetTaskPushNotificationConfigRequest {
        task_id: task_id.clone(),
        id: "a".to_owned(),
        ..GetTaskPushNotificationConfigRequest::default()
    };
    let found = client.get_task_push_notification_config(request.clone());
    assert_eq!(found.await.unwrap().into_inner(), webhook("a"));

    let deletion = DeleteTaskPushNotificationConfigRequest {
        task_id: task_id.clone(),
        id: "a".to_owned(),
        ..DeleteTaskPushNotificationConfigRequest::default()
    };
    let deleted = client.delete_task_push_notification_config(deletion);
    deleted.await.unwrap();
    let list = ListTaskPushNotificationConfigsRequest {
        task_id: task_id.clone(),
        ..ListTaskPushNotificationConfigsRequest::default()
    };
    let list = client.list_task_push_notification_configs(list).await;
    assert_eq!(list.unwrap().into_inner().configs, [webhook("b")]);
    let error = client.get_task_push_notification_config(request).await;
    check_equal_details(&error.unwrap_err());
}

/// Checks that the details repeat code and message: the client in Python fails otherwise.
#[track_caller]
fn check_equal_details(status: &Status) {
    use grpc_peer::prost::Message;
    let details = grpc_peer::tonic_types::Status::decode(status.details()).unwrap();
    assert_eq!(
        (details.code, details.message.as_str()),
        (status.code() as i32, status.message())
    );
    assert!(error_info(status).is_some());
}

#[tokio::test]
async fn errors_have_code_reason_and_equal_details() {
    let mut client = client().await;
    let id = send(&mut client, SendMessageRequest::text("echo")).await.id;
    let check = |status: Status, code, reason| {
        check_error(&status, code, reason);
        check_equal_details(&status);
    };
    let error = get(&mut client, "other", None).await.unwrap_err();
    check(error, Code::NotFound, "TASK_NOT_FOUND");
    let error = cancel(&mut client, &id).await.unwrap_err();
    check(error, Code::FailedPrecondition, "TASK_NOT_CANCELABLE");
    let unsupported = "UNSUPPORTED_OPERATION";
    let error = subscribe(&mut client, &id).await.unwrap_err();
    check(error, Code::FailedPrecondition, unsupported);
    let request = SendMessageRequest::text("more").for_task(&id);
    let error = client.send_message(request.clone()).await.unwrap_err();
    check(error, Code::FailedPrecondition, unsupported);
    let error = client.send_streaming_message(request).await.unwrap_err();
    check(error, Code::FailedPrecondition, unsupported);
    let card = client.get_extended_agent_card(GetExtendedAgentCardRequest::default());
    let error = card.await.unwrap_err();
    check(error, Code::FailedPrecondition, unsupported);

    let error = client.send_message(SendMessageRequest::default()).await;
    let error = error.unwrap_err();
    let violations = bad_request(&error).unwrap().field_violations;
    assert_eq!(violations[0].description, "missing field `message`");
    check(error, Code::InvalidArgument, "INVALID_PARAMS");
    let request = ListTasksRequest {
        page_size: Some(-1),
        ..ListTasksRequest::default()
    };
    let error = client.list_tasks(request).await.unwrap_err();
    check(error, Code::InvalidArgument, "INVALID_PARAMS");
}

#[tokio::test]
async fn message_of_an_error_may_have_any_characters() {
    let mut client = client().await;
    let error = get(&mut client, "ü 100%\nx", None).await.unwrap_err();
    check_equal_details(&error);
}
