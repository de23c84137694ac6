//! Operations of 0.3.

use grpc_peer::prost_types::value::Kind;
use grpc_peer::prost_types::{Struct, Value};
use grpc_peer::tonic::transport::Channel;
use grpc_peer::tonic::{Code, Status, Streaming};
use grpc_peer::v0_3::a2a_service_client::A2aServiceClient;
use grpc_peer::v0_3::{
    AuthenticationInfo, CancelTaskRequest, CreateTaskPushNotificationConfigRequest, DataPart,
    DeleteTaskPushNotificationConfigRequest, FilePart, GetAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigRequest,
    Part, PushNotificationConfig, SendMessageRequest, StreamResponse, Task,
    TaskPushNotificationConfig, TaskState, TaskSubscriptionRequest, file_part, part,
    send_message_response, stream_response,
};
use tokio_stream::StreamExt;

pub(crate) type Client = A2aServiceClient<Channel>;

async fn client() -> Client {
    crate::connect().await.v0_3()
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
    name: &str,
    history_length: i32,
) -> Result<Task, Status> {
    let request = GetTaskRequest {
        name: name.to_owned(),
        history_length,
    };
    client.get_task(request).await.map(|it| it.into_inner())
}

pub(crate) async fn cancel(client: &mut Client, name: &str) -> Result<Task, Status> {
    let name = name.to_owned();
    let response = client.cancel_task(CancelTaskRequest { name }).await;
    response.map(|it| it.into_inner())
}

pub(crate) async fn subscribe(client: &mut Client, name: &str) -> Streaming<StreamResponse> {
    let name = name.to_owned();
    let request = TaskSubscriptionRequest { name };
    client
        .task_subscription(request)
        .await
        .unwrap()
        .into_inner()
}

/// Describes the next event of a stream.
pub(crate) async fn next(stream: &mut Streaming<StreamResponse>) -> String {
    let Some(response) = stream.next().await else {
        return "end".to_owned();
    };
    match response.unwrap().payload.unwrap() {
        stream_response::Payload::Task(task) => format!("task {:?}", state(&task)),
        stream_response::Payload::Msg(message) => format!("message {}", message.text()),
        stream_response::Payload::StatusUpdate(event) => {
            let state = event.status.unwrap().state();
            format!("status {state:?} final={}", event.r#final)
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

#[tokio::test]
async fn text_decides_the_state() {
    let mut client = client().await;
    for (text, expected) in [
        ("hello", TaskState::Completed),
        ("ask", TaskState::InputRequired),
        ("fail", TaskState::Failed),
        ("wait", TaskState::Working),
    ] {
        let task = send(&mut client, SendMessageRequest::text(text)).await;
        assert_eq!(state(&task), expected, "{text}");
        let name = format!("tasks/{}", task.id);
        assert_eq!(get(&mut client, &name, 0).await.unwrap(), task);
    }
}

/// Returns a part of each kind, with all members.
pub(crate) fn parts() -> Vec<Part> {
    let text = Value {
        kind: Some(Kind::StringValue("b".to_owned())),
    };
    let object = || Struct {
        fields: [("a".to_owned(), text.clone())].into(),
    };
    let file = |file| Part {
        part: Some(part::Part::File(FilePart {
            mime_type: "image/png".to_owned(),
            name: "a.png".to_owned(),
            file: Some(file),
        })),
        metadata: Some(object()),
    };
    vec![
        Part::text("text"),
        file(file_part::File::FileWithBytes(vec![0, 255])),
        file(file_part::File::FileWithUri(
            "https://example.com/".to_owned(),
        )),
        Part {
            part: Some(part::Part::Data(DataPart {
                data: Some(object()),
            })),
            metadata: None,
        },
    ]
}

#[tokio::test]
async fn parts_of_every_kind_are_kept() {
    let mut client = client().await;
    let mut request = SendMessageRequest::text("");
    request.request.as_mut().unwrap().content = parts();
    let task = send(&mut client, request).await;
    assert_eq!(task.history[0].content, parts());
    assert_eq!(task.artifacts[0].text(), "text");
}

#[tokio::test]
async fn text_message_is_answered_by_message() {
    let mut client = client().await;
    let request = SendMessageRequest::text("message");
    let response = client.send_message(request.clone()).await.unwrap();
    let Some(send_message_response::Payload::Msg(message)) = response.into_inner().payload else {
        panic!("not a message");
    };
    assert_eq!(message.text(), "message");
    let stream = client.send_streaming_message(request).await.unwrap();
    assert_eq!(rest(stream.into_inner()).await, ["message message"]);
}

#[tokio::test]
async fn blocking_send_waits_until_the_task_ends() {
    let mut client = client().await;
    let mut other = client.clone();
    let request = SendMessageRequest::text("wait").blocking();
    let waiting = tokio::spawn(async move { send(&mut other, request).await });
    while cancel(&mut client, "tasks/task-0").await.is_err() {
        tokio::task::yield_now().await;
    }
    assert_eq!(state(&waiting.await.unwrap()), TaskState::Cancelled);
}

#[tokio::test]
async fn streams_end_with_a_final_event() {
    let mut client = client().await;
    let start = ["task Submitted", "status Working final=false"];
    for (text, expected) in [
        (
            "a\nb",
            &[
                r#"artifact "a\n" append=false last=false"#,
                r#"artifact "b" append=true last=true"#,
                "status Completed final=true",
            ][..],
        ),
        ("ask", &["status InputRequired final=true"]),
        ("fail", &["status Failed final=true"]),
    ] {
        let request = SendMessageRequest::text(text);
        let stream = client.send_streaming_message(request).await.unwrap();
        let expected = [&start, expected].concat();
        assert_eq!(rest(stream.into_inner()).await, expected, "{text:?}");
    }
}

#[tokio::test]
async fn subscription_starts_with_the_task() {
    let mut client = client().await;
    send(&mut client, SendMessageRequest::text("wait")).await;
    let mut stream = subscribe(&mut client, "tasks/task-0").await;
    assert_eq!(next(&mut stream).await, "task Working");
    cancel(&mut client, "tasks/task-0").await.unwrap();
    assert_eq!(rest(stream).await, ["status Cancelled final=true"]);

    let stream = subscribe(&mut client, "tasks/task-0").await;
    assert_eq!(rest(stream).await, ["task Cancelled"]);
}

#[tokio::test]
async fn history_length_bounds_the_history() {
    let mut client = client().await;
    send(&mut client, SendMessageRequest::text("ask")).await;
    let request = SendMessageRequest::text("more").for_task("task-0");
    send(&mut client, request).await;
    for (length, expected) in [(0, 3), (2, 2), (9, 3)] {
        let task = get(&mut client, "tasks/task-0", length).await.unwrap();
        assert_eq!(task.history.len(), expected, "{length}");
    }
}

#[tokio::test]
async fn push_notification_configs() {
    let mut client = client().await;
    send(&mut client, SendMessageRequest::text("ask")).await;
    let webhook = |id: &str| TaskPushNotificationConfig {
        name: format!("tasks/task-0/pushNotificationConfigs/{id}"),
        push_notification_config: Some(PushNotificationConfig {
            id: id.to_owned(),
            url: "https://example.com/".to_owned(),
            token: "secret".to_owned(),
            authentication: Some(AuthenticationInfo {
                schemes: vec!["Bearer".to_owned()],
                credentials: "credentials".to_owned(),
            }),
        }),
    };
    for (config_id, own_id, expected) in
        [("", "", "config-1"), ("", "own", "own"), ("a", "own", "a")]
    {
        let request = CreateTaskPushNotificationConfigRequest {
            parent: "tasks/task-0".to_owned(),
            config_id: config_id.to_owned(),
            config: Some(webhook(own_id)),
        };
        let created = client.create_task_push_notification_config(request).await;
        assert_eq!(created.unwrap().into_inner(), webhook(expected));
    }

    let name = webhook("own").name;
    let request = GetTaskPushNotificationConfigRequest { name: name.clone() };
    let found = client.get_task_push_notification_config(request).await;
    assert_eq!(found.unwrap().into_inner(), webhook("own"));

    let request = DeleteTaskPushNotificationConfigRequest { name };
    let deleted = client.delete_task_push_notification_config(request).await;
    deleted.unwrap();

    let request = ListTaskPushNotificationConfigRequest {
        parent: "tasks/task-0".to_owned(),
        ..ListTaskPushNotificationConfigRequest::default()
    };
    let page = client.list_task_push_notification_config(request).await;
    let configs = page.unwrap().into_inner().configs;
    assert_eq!(configs, [webhook("config-1"), webhook("a")]);
}

#[tokio::test]
async fn card_names_the_address() {
    let mut client = client().await;
    let card = client.get_agent_card(GetAgentCardRequest {}).await;
    let card = card.unwrap().into_inner();
    assert!(card.url.starts_with("127.0.0.1:"), "{}", card.url);
    assert_eq!(card.preferred_transport, "GRPC");
}

#[tokio::test]
async fn errors_have_no_details() {
    let mut client = client().await;
    send(&mut client, SendMessageRequest::text("done")).await;
    let errors = [
        (get(&mut client, "tasks/other", 0).await, Code::NotFound),
        (get(&mut client, "task-0", 0).await, Code::InvalidArgument),
        (get(&mut client, "tasks/", 0).await, Code::InvalidArgument),
        (
            cancel(&mut client, "tasks/task-0").await,
            Code::FailedPrecondition,
        ),
    ];
    for (result, expected) in errors {
        let error = result.unwrap_err();
        assert_eq!(error.code(), expected);
        assert!(error.details().is_empty());
    }
}

#[tokio::test]
async fn tasks_are_shared_with_1_0() {
    let connection = crate::connect().await;
    let request = grpc_peer::v1_0::SendMessageRequest::text("hello");
    connection.v1_0().send_message(request).await.unwrap();
    let task = get(&mut connection.v0_3(), "tasks/task-0", 0).await;
    assert_eq!(task.unwrap().artifacts[0].text(), "hello");
}
