//! Operations of 1.0.

use grpc_peer::prost_types::Value;
use grpc_peer::prost_types::value::Kind;
use grpc_peer::tonic::transport::Channel;
use grpc_peer::tonic::{Code, Request, Status, Streaming};
use grpc_peer::v1_0::a2a_service_client::A2aServiceClient;
use grpc_peer::v1_0::{
    CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTasksRequest, Part, SendMessageRequest, StreamResponse, SubscribeToTaskRequest, Task,
    TaskPushNotificationConfig, TaskState, part, send_message_response, stream_response,
};
use grpc_peer::{DOMAIN, bad_request, error_info};
use tokio_stream::StreamExt;

pub(crate) type Client = A2aServiceClient<Channel>;

async fn client() -> Client {
    crate::connect().await.v1_0()
}

pub(crate) async fn send(client: &mut Client, request: SendMessageRequest) -> Task {
    let response = client.send_message(request).await.unwrap().into_inner();
    match response.payload {
        Some(send_message_response::Payload::Task(task)) => task,
        other => panic!("not a task: {other:?}"),
    }
}

pub(crate) async fn get(
    client: &mut Client,
    id: &str,
    history_length: Option<i32>,
) -> Result<Task, Status> {
    let request = GetTaskRequest {
        id: id.to_owned(),
        history_length,
        ..GetTaskRequest::default()
    };
    client.get_task(request).await.map(|it| it.into_inner())
}

pub(crate) async fn cancel(client: &mut Client, id: &str) -> Result<Task, Status> {
    let request = CancelTaskRequest {
        id: id.to_owned(),
        ..CancelTaskRequest::default()
    };
    client.cancel_task(request).await.map(|it| it.into_inner())
}

pub(crate) async fn subscribe(
    client: &mut Client,
    id: &str,
) -> Result<Streaming<StreamResponse>, Status> {
    let request = SubscribeToTaskRequest {
        id: id.to_owned(),
        ..SubscribeToTaskRequest::default()
    };
    let response = client.subscribe_to_task(request).await;
    response.map(|it| it.into_inner())
}

/// Describes the next event of a stream.
pub(crate) async fn next(stream: &mut Streaming<StreamResponse>) -> String {
    let Some(response) = stream.next().await else {
        return "end".to_owned();
    };
    match response.unwrap().payload.unwrap() {
        stream_response::Payload::Task(task) => format!("task {:?}", state(&task)),
        stream_response::Payload::Message(message) => format!("message {}", message.text()),
        stream_response::Payload::StatusUpdate(event) => {
            format!("status {:?}", event.status.unwrap().state())
        }
        stream_response::Payload::ArtifactUpdate(event) => format!(
            "artifact {:?} append={} last={}",
            event.artifact.unwrap().text(),
            event.append,
            event.last_chunk
        ),
    }
}

pub(crate) async fn rest(mut stream: Streaming<StreamResponse>) -> Vec<String> {
    let mut events = Vec::new();
    loop {
        match next(&mut stream).await {
            end if end == "end" => return events,
            event => events.push(event),
        }
    }
}

pub(crate) fn state(task: &Task) -> TaskState {
    task.status.as_ref().unwrap().state()
}

#[track_caller]
pub(crate) fn check_error(status: &Status, code: Code, reason: &str) {
    assert_eq!(status.code(), code, "{status:?}");
    let info = error_info(status).unwrap();
    assert_eq!(
        (info.reason.as_str(), info.domain.as_str()),
        (reason, DOMAIN)
    );
}

#[tokio::test]
async fn text_decides_the_state() {
    let mut client = client().await;
    for (text, expected) in [
        ("hello", TaskState::Completed),
        ("ask", TaskState::InputRequired),
        ("fail", TaskState::Failed),
        ("wait", TaskState::Working),
    ] {
        let request = SendMessageRequest::text(text).return_immediately();
        let task = send(&mut client, request).await;
        assert_eq!(state(&task), expected, "{text}");
        assert_eq!(get(&mut client, &task.id, None).await.unwrap(), task);
    }
}

#[tokio::test]
async fn completed_task_has_artifact_and_history() {
    let mut client = client().await;
    let task = send(&mut client, SendMessageRequest::text("a\nb")).await;
    assert_eq!(task.artifacts.len(), 1);
    assert_eq!(task.artifacts[0].parts, [Part::text("a\nb")]);
    assert_eq!(task.history[0].text(), "a\nb");
    assert_eq!(task.history[0].task_id, task.id);
    assert_eq!(task.history[0].context_id, task.context_id);
}

#[tokio::test]
async fn parts_of_every_kind_are_kept() {
    let mut client = client().await;
    let content = |content| Part {
        content: Some(content),
        ..Part::default()
    };
    let parts = vec![
        Part::text("text"),
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
    assert_eq!(task.artifacts[0].text(), "text");
}

#[tokio::test]
async fn text_message_is_answered_by_message() {
    let mut client = client().await;
    let request = SendMessageRequest::text("message");
    let response = client.send_message(request.clone()).await.unwrap();
    let Some(send_message_response::Payload::Message(message)) = response.into_inner().payload
    else {
        panic!("not a message");
    };
    assert_eq!(message.text(), "message");
    let stream = client.send_streaming_message(request).await.unwrap();
    assert_eq!(rest(stream.into_inner()).await, ["message message"]);
}

#[tokio::test]
async fn input_continues_the_task() {
    let mut client = client().await;
    let task = send(&mut client, SendMessageRequest::text("ask")).await;
    let request = SendMessageRequest::text("answer").for_task(&task.id);
    let task = send(&mut client, request).await;
    let history: Vec<_> = task.history.iter().map(|it| it.text()).collect();
    assert_eq!(history, ["ask", "go on?", "answer"]);
    assert_eq!(state(&task), TaskState::Completed);
}

#[tokio::test]
async fn send_waits_until_the_task_ends() {
    let mut client = client().await;
    let mut other = client.clone();
    let waiting =
        tokio::spawn(async move { send(&mut other, SendMessageRequest::text("wait")).await });
    let id = loop {
        let tasks = client.list_tasks(ListTasksRequest::default()).await;
        match tasks.unwrap().into_inner().tasks.first() {
            Some(task) => break task.id.clone(),
            None => tokio::task::yield_now().await,
        }
    };
    cancel(&mut client, &id).await.unwrap();
    assert_eq!(state(&waiting.await.unwrap()), TaskState::Canceled);
}

#[tokio::test]
async fn streams_of_every_text() {
    let mut client = client().await;
    let start = ["task Submitted", "status Working"];
    for (text, expected) in [
        (
            "a",
            &[r#"artifact "a" append=false last=true"#, "status Completed"][..],
        ),
        (
            "a\nb",
            &[
                r#"artifact "a\n" append=false last=false"#,
                r#"artifact "b" append=true last=true"#,
                "status Completed",
            ],
        ),
        (
            "",
            &[r#"artifact "" append=false last=true"#, "status Completed"],
        ),
        ("ask", &["status InputRequired"]),
        ("fail", &["status Failed"]),
    ] {
        let request = SendMessageRequest::text(text);
        let stream = client.send_streaming_message(request).await.unwrap();
        let expected = [&start, expected].concat();
        assert_eq!(rest(stream.into_inner()).await, expected, "{text:?}");
    }
}

#[tokio::test]
async fn stream_and_subscription_see_the_cancellation() {
    let mut client = client().await;
    let request = SendMessageRequest::text("wait");
    let stream = client.send_streaming_message(request).await.unwrap();
    let mut stream = stream.into_inner();
    assert_eq!(next(&mut stream).await, "task Submitted");
    assert_eq!(next(&mut stream).await, "status Working");
    let mut subscription = subscribe(&mut client, "task-0").await.unwrap();
    assert_eq!(next(&mut subscription).await, "task Working");
    let canceled = cancel(&mut client, "task-0").await.unwrap();
    assert_eq!(state(&canceled), TaskState::Canceled);
    assert_eq!(rest(stream).await, ["status Canceled"]);
    assert_eq!(rest(subscription).await, ["status Canceled"]);
}

#[tokio::test]
async fn subscription_goes_on_after_a_question() {
    let mut client = client().await;
    let request = SendMessageRequest::text("wait").return_immediately();
    let id = send(&mut client, request).await.id;
    let subscription = subscribe(&mut client, &id).await.unwrap();
    for text in ["ask", "done"] {
        send(&mut client, SendMessageRequest::text(text).for_task(&id)).await;
    }
    let expected = [
        "task Working",
        "status Working",
        "status InputRequired",
        "status Working",
        r#"artifact "done" append=false last=true"#,
        "status Completed",
    ];
    assert_eq!(rest(subscription).await, expected);
}

#[tokio::test]
async fn history_length_bounds_the_history() {
    let mut client = client().await;
    let id = send(&mut client, SendMessageRequest::text("ask")).await.id;
    let request = SendMessageRequest::text("more").for_task(&id);
    send(&mut client, request).await;
    for (length, expected) in [(None, 3), (Some(0), 0), (Some(2), 2), (Some(9), 3)] {
        let task = get(&mut client, &id, length).await.unwrap();
        assert_eq!(task.history.len(), expected, "{length:?}");
    }
    let last = get(&mut client, &id, Some(1)).await.unwrap();
    assert_eq!(last.history[0].text(), "more");
}

#[tokio::test]
async fn list_pages_by_last_update() {
    let mut client = client().await;
    for text in ["ask", "one", "two", "three"] {
        send(&mut client, SendMessageRequest::text(text)).await;
    }
    let request = SendMessageRequest::text("answer").for_task("task-0");
    send(&mut client, request).await;

    let mut request = ListTasksRequest {
        page_size: Some(3),
        ..ListTasksRequest::default()
    };
    let page = client.list_tasks(request.clone()).await;
    let page = page.unwrap().into_inner();
    let ids: Vec<_> = page.tasks.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["task-0", "task-3", "task-2"]);
    assert_eq!((page.total_size, page.page_size), (4, 3));
    assert!(page.tasks[0].artifacts.is_empty());

    request.page_token = page.next_page_token;
    request.include_artifacts = Some(true);
    let page = client.list_tasks(request).await.unwrap().into_inner();
    assert_eq!(page.tasks[0].id, "task-1");
    assert_eq!(page.tasks[0].artifacts[0].text(), "one");
    assert_eq!((page.tasks.len(), page.next_page_token.as_str()), (1, ""));
}

#[tokio::test]
async fn list_filters() {
    let mut client = client().await;
    for text in ["ask", "one"] {
        send(&mut client, SendMessageRequest::text(text)).await;
    }
    let completed = get(&mut client, "task-1", None).await.unwrap();
    for (request, expected) in [
        (
            ListTasksRequest {
                context_id: "context-0".to_owned(),
                ..ListTasksRequest::default()
            },
            "task-0",
        ),
        (
            ListTasksRequest {
                status: TaskState::Completed.into(),
                page_size: Some(0),
                ..ListTasksRequest::default()
            },
            "task-1",
        ),
        (
            ListTasksRequest {
                status_timestamp_after: completed.status.unwrap().timestamp,
                ..ListTasksRequest::default()
            },
            "task-1",
        ),
    ] {
        let page = client.list_tasks(request).await.unwrap().into_inner();
        let ids: Vec<_> = page.tasks.iter().map(|it| it.id.as_str()).collect();
        assert_eq!((ids, page.total_size), (vec![expected], 1));
    }
}

#[tokio::test]
async fn push_notification_configs() {
    let mut client = client().await;
    let webhook = |id: &str| TaskPushNotificationConfig {
        id: id.to_owned(),
        task_id: "task-0".to_owned(),
        url: "https://example.com/".to_owned(),
        ..TaskPushNotificationConfig::default()
    };
    let mut request = SendMessageRequest::text("ask");
    request
        .configuration
        .get_or_insert_default()
        .task_push_notification_config = Some(TaskPushNotificationConfig {
        task_id: String::new(),
        ..webhook("")
    });
    send(&mut client, request).await;

    let created = client.create_task_push_notification_config(webhook("mine"));
    assert_eq!(created.await.unwrap().into_inner(), webhook("mine"));

    let request = GetTaskPushNotificationConfigRequest {
        task_id: "task-0".to_owned(),
        id: "config-1".to_owned(),
        ..GetTaskPushNotificationConfigRequest::default()
    };
    let found = client.get_task_push_notification_config(request).await;
    assert_eq!(found.unwrap().into_inner(), webhook("config-1"));

    let mut request = ListTaskPushNotificationConfigsRequest {
        task_id: "task-0".to_owned(),
        page_size: 1,
        ..ListTaskPushNotificationConfigsRequest::default()
    };
    let page = client.list_task_push_notification_configs(request.clone());
    let page = page.await.unwrap().into_inner();
    assert_eq!(page.configs, [webhook("config-1")]);
    request.page_token = page.next_page_token;
    let page = client.list_task_push_notification_configs(request.clone());
    let page = page.await.unwrap().into_inner();
    assert_eq!(page.configs, [webhook("mine")]);
    assert_eq!(page.next_page_token, "");

    for id in ["mine", "mine", "config-1"] {
        let request = DeleteTaskPushNotificationConfigRequest {
            task_id: "task-0".to_owned(),
            id: id.to_owned(),
            ..DeleteTaskPushNotificationConfigRequest::default()
        };
        let deleted = client.delete_task_push_notification_config(request).await;
        deleted.unwrap();
    }
    request.page_token.clear();
    let page = client.list_task_push_notification_configs(request).await;
    assert!(page.unwrap().into_inner().configs.is_empty());
}

#[tokio::test]
async fn card_names_the_address() {
    let mut client = client().await;
    let card = client.get_extended_agent_card(GetExtendedAgentCardRequest::default());
    let card = card.await.unwrap().into_inner();
    let interface = &card.supported_interfaces[0];
    assert!(interface.url.starts_with("127.0.0.1:"), "{}", interface.url);
    assert_eq!(interface.protocol_binding, "GRPC");
}

#[tokio::test]
async fn errors_have_details() {
    let mut client = client().await;
    send(&mut client, SendMessageRequest::text("done")).await;

    for id in ["task-1", "task-00", "", "other"] {
        let error = get(&mut client, id, None).await.unwrap_err();
        check_error(&error, Code::NotFound, "TASK_NOT_FOUND");
    }
    let error = cancel(&mut client, "task-0").await.unwrap_err();
    check_error(&error, Code::FailedPrecondition, "TASK_NOT_CANCELABLE");

    let unsupported = (Code::FailedPrecondition, "UNSUPPORTED_OPERATION");
    let error = subscribe(&mut client, "task-0").await.unwrap_err();
    check_error(&error, unsupported.0, unsupported.1);
    let request = SendMessageRequest::text("more").for_task("task-0");
    let error = client.send_message(request.clone()).await.unwrap_err();
    check_error(&error, unsupported.0, unsupported.1);
    let error = client.send_streaming_message(request).await.unwrap_err();
    check_error(&error, unsupported.0, unsupported.1);

    let error = client.send_message(SendMessageRequest::default()).await;
    let error = error.unwrap_err();
    check_error(&error, Code::InvalidArgument, "INVALID_PARAMS");
    let violations = bad_request(&error).unwrap().field_violations;
    assert_eq!(violations[0].field, "message");

    let error = get(&mut client, "task-0", Some(-1)).await.unwrap_err();
    check_error(&error, Code::InvalidArgument, "INVALID_PARAMS");
}

#[tokio::test]
async fn details_repeat_code_and_message() {
    use grpc_peer::prost::Message;
    let mut client = client().await;
    let error = get(&mut client, "other", None).await.unwrap_err();
    let details = grpc_peer::tonic_types::Status::decode(error.details()).unwrap();
    assert_eq!(details.code, Code::NotFound as i32);
    assert_eq!(details.message, error.message());
}

#[tokio::test]
async fn version_of_the_request_must_be_the_version_of_the_service() {
    let mut client = client().await;
    for (version, is_accepted) in [
        ("1.0", true),
        ("1.0.1", true),
        ("0.3", false),
        ("1.01", false),
    ] {
        let mut request = Request::new(SendMessageRequest::text("hello"));
        let version = version.parse().unwrap();
        request.metadata_mut().insert("a2a-version", version);
        match client.send_message(request).await {
            Ok(_) => assert!(is_accepted),
            Err(error) => {
                assert!(!is_accepted);
                check_error(&error, Code::FailedPrecondition, "VERSION_NOT_SUPPORTED");
            }
        }
    }
}
