//! Operations of 0.3 of our server.

use grpc_peer::error_info;
use grpc_peer::tonic::Code;
use grpc_peer::v0_3::{
    CreateTaskPushNotificationConfigRequest, DeleteTaskPushNotificationConfigRequest,
    GetAgentCardRequest, GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigRequest, Part, PushNotificationConfig, SendMessageRequest,
    TaskPushNotificationConfig, TaskState, send_message_response,
};

use crate::v0_3::{Client, cancel, get, next, parts, rest, send, state, subscribe};

async fn client() -> Client {
    super::connect().await.v0_3()
}

#[tokio::test]
async fn message_becomes_a_task_that_can_be_read() {
    let mut client = client().await;
    for (text, expected) in [
        ("echo hello", TaskState::Completed),
        ("ask which?", TaskState::InputRequired),
        ("fail no paper", TaskState::Failed),
    ] {
        let request = SendMessageRequest::text(text).blocking();
        let task = send(&mut client, request).await;
        assert_eq!(state(&task), expected, "{text}");
        let name = format!("tasks/{}", task.id);
        assert_eq!(get(&mut client, &name, 0).await.unwrap(), task);
    }
}

#[tokio::test]
async fn parts_come_back_with_their_names_and_metadata() {
    let mut client = client().await;
    let mut request = SendMessageRequest::text("").blocking();
    let sent = [vec![Part::text("parts")], parts().split_off(1)].concat();
    request.request.as_mut().unwrap().content = sent.clone();
    let task = send(&mut client, request).await;
    assert_eq!(task.artifacts[0].parts, sent);
    assert_eq!(task.history[0].content, sent);
}

#[tokio::test]
async fn message_is_answered_by_a_message() {
    let mut client = client().await;
    let request = SendMessageRequest::text("reply hi").blocking();
    let response = client.send_message(request.clone()).await.unwrap();
    let Some(send_message_response::Payload::Msg(message)) = response.into_inner().payload else {
        panic!("not a message");
    };
    assert_eq!(message.text(), "hi");
    let stream = client.send_streaming_message(request).await.unwrap();
    assert_eq!(rest(stream.into_inner()).await, ["message hi"]);
}

#[tokio::test]
async fn stream_ends_with_a_final_event() {
    let mut client = client().await;
    for (text, expected) in [
        ("echo", "status Completed final=true"),
        ("ask which?", "status InputRequired final=true"),
        ("fail no paper", "status Failed final=true"),
    ] {
        let request = SendMessageRequest::text(text);
        let stream = client.send_streaming_message(request).await.unwrap();
        let events = rest(stream.into_inner()).await;
        assert!(events[0].starts_with("task "), "{events:?}");
        assert_eq!(events.last().unwrap(), expected, "{events:?}");
    }
}

#[tokio::test]
async fn subscription_sees_the_cancellation() {
    let mut client = client().await;
    let task = send(&mut client, SendMessageRequest::text("wait")).await;
    let name = format!("tasks/{}", task.id);
    let mut subscription = subscribe(&mut client, &name).await;
    assert!(next(&mut subscription).await.starts_with("task "));
    let canceled = cancel(&mut client, &name).await.unwrap();
    assert_eq!(state(&canceled), TaskState::Cancelled);
    let events = rest(subscription).await;
    assert_eq!(events.last().unwrap(), "status Cancelled final=true");
}

#[tokio::test]
async fn history_length_of_zero_is_all_of_it() {
    let mut client = client().await;
    let request = SendMessageRequest::text("ask more?").blocking();
    let id = send(&mut client, request).await.id;
    let request = SendMessageRequest::text("yes").for_task(&id).blocking();
    let whole = send(&mut client, request).await.history;
    let name = format!("tasks/{id}");
    for (length, expected) in [(0, whole.len()), (1, 1)] {
        let task = get(&mut client, &name, length).await.unwrap();
        assert_eq!(task.history, whole[whole.len() - expected..], "{length}");
    }
}

#[tokio::test]
async fn webhooks_are_kept_listed_and_deleted() {
    let mut client = client().await;
    let request = SendMessageRequest::text("ask which?").blocking();
    let parent = format!("tasks/{}", send(&mut client, request).await.id);
    let webhook = |id: &str| TaskPushNotificationConfig {
        name: format!("{parent}/pushNotificationConfigs/{id}"),
        push_notification_config: Some(PushNotificationConfig {
            id: id.to_owned(),
            url: "http://127.0.0.1:9/".to_owned(),
            token: "secret".to_owned(),
            authentication: None,
        }),
    };
    for id in ["a", "b"] {
        let request = CreateTaskPushNotificationConfigRequest {
            parent: parent.clone(),
            config_id: id.to_owned(),
            config: Some(webhook(id)),
        };
        let created = client.create_task_push_notification_config(request).await;
        assert_eq!(created.unwrap().into_inner(), webhook(id));
    }
    let name = webhook("a").name;
    let request = GetTaskPushNotificationConfigRequest { name: name.clone() };
    let found = client.get_task_push_notification_config(request).await;
    assert_eq!(found.unwrap().into_inner(), webhook("a"));
    let request = DeleteTaskPushNotificationConfigRequest { name };
    let deleted = client.delete_task_push_notification_config(request).await;
    deleted.unwrap();
    let request = ListTaskPushNotificationConfigRequest {
        parent: parent.clone(),
        ..ListTaskPushNotificationConfigRequest::default()
    };
    let list = client.list_task_push_notification_config(request).await;
    assert_eq!(list.unwrap().into_inner().configs, [webhook("b")]);
}

#[tokio::test]
async fn errors_have_their_codes_names_and_reasons() {
    let mut client = client().await;
    let request = SendMessageRequest::text("echo").blocking();
    let name = format!("tasks/{}", send(&mut client, request).await.id);
    for (result, code, name, reason) in [
        (
            get(&mut client, "tasks/other", 0).await,
            Code::NotFound,
            "TaskNotFoundError: ",
            "TASK_NOT_FOUND",
        ),
        (
            get(&mut client, "other", 0).await,
            Code::InvalidArgument,
            "InvalidParamsError: ",
            "INVALID_PARAMS",
        ),
        (
            cancel(&mut client, &name).await,
            Code::FailedPrecondition,
            "TaskNotCancelableError: ",
            "TASK_NOT_CANCELABLE",
        ),
    ] {
        let status = result.unwrap_err();
        assert_eq!(status.code(), code);
        assert!(status.message().starts_with(name), "{status}");
        assert_eq!(error_info(&status).unwrap().reason, reason);
    }
    let mut request = SendMessageRequest::text("more");
    request.request.as_mut().unwrap().task_id = name.trim_start_matches("tasks/").to_owned();
    let stream = client.send_streaming_message(request).await;
    let text = stream.unwrap_err().message().to_owned();
    assert!(text.starts_with("UnsupportedOperationError: "), "{text}");
    let request = SendMessageRequest::default();
    let error = client.send_message(request).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
}

#[tokio::test]
async fn tasks_are_shared_with_1_0() {
    let connection = super::connect().await;
    let request = grpc_peer::v1_0::SendMessageRequest::text("echo");
    let id = crate::v1_0::send(&mut connection.v1_0(), request).await.id;
    let name = format!("tasks/{id}");
    let task = get(&mut connection.v0_3(), &name, 0).await.unwrap();
    assert_eq!(state(&task), TaskState::Completed);
}

#[tokio::test]
async fn card_of_an_agent_without_extended_card_is_the_public_card() {
    let connection = super::connect().await;
    let (mut v0_3, mut v1_0) = (connection.v0_3(), connection.v1_0());
    let card = v0_3.get_agent_card(GetAgentCardRequest {}).await;
    let card = card.unwrap().into_inner();
    assert_eq!(card.name, "Reference");
    assert!(!card.supports_authenticated_extended_card);
    let interfaces = card.additional_interfaces.iter();
    let transports = interfaces.map(|it| it.transport.as_str());
    let transports: Vec<_> = transports.chain([&*card.preferred_transport]).collect();
    assert!(transports.contains(&"GRPC"), "{transports:?}");

    let request = grpc_peer::v1_0::GetExtendedAgentCardRequest::default();
    let result = v1_0.get_extended_agent_card(request).await;
    let status = result.unwrap_err();
    assert_eq!(error_info(&status).unwrap().reason, "UNSUPPORTED_OPERATION");
}
