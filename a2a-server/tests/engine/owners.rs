//! A task is only there for its owner: every operation, every kind of stranger, every store.

use a2a_server::{Principal, Server, Transport};
use a2a_transport::{Answer, Call, Context, Error};
use a2a_types::{
    CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, Dialect, Error as A2aError,
    ErrorKind, GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTasksRequest, Message, Operation, Request,
    Response, SendMessageRequest, SendMessageResponse, SubscribeToTaskRequest, TaskId,
    TaskPushNotificationConfig, TaskState,
};

use crate::{Worker, builders};

/// Who asks: a name, and a tenant.
type Who = (Option<&'static str>, Option<&'static str>);

const OWNER: Who = (Some("alice"), Some("a"));
const STRANGERS: [Who; 5] = [
    (Some("mallory"), Some("a")),
    (Some("mallory"), None),
    (Some("alice"), Some("b")),
    (Some("alice"), None),
    (None, None),
];

async fn ask(
    server: &Server,
    (name, tenant): Who,
    mut request: Request,
) -> Result<Answer, A2aError> {
    request.set_tenant(tenant.map(str::to_owned));
    let principal = name.map_or_else(Principal::anonymous, Principal::named);
    let context = Context {
        principal,
        dialect: Dialect::V1_0,
        ..Context::default()
    };
    match server.call(Call { request, context }).await {
        Ok(reply) => Ok(reply.answer),
        Err(Error::Agent(error)) => Err(error),
        Err(other) => panic!("{other}"),
    }
}

/// Every operation that is about a task, on this one.
fn requests(task: &TaskId) -> Vec<Request> {
    let send = SendMessageRequest {
        message: Message {
            task_id: Some(task.clone()),
            ..Message::user("echo x")
        },
        ..SendMessageRequest::default()
    };
    let config = TaskPushNotificationConfig {
        task_id: task.clone(),
        id: "hook".into(),
        url: "https://example.com/hook".to_owned(),
        ..TaskPushNotificationConfig::default()
    };
    vec![
        Request::SendMessage(send.clone()),
        Request::GetTask(GetTaskRequest {
            id: task.clone(),
            ..GetTaskRequest::default()
        }),
        Request::CancelTask(CancelTaskRequest {
            id: task.clone(),
            ..CancelTaskRequest::default()
        }),
        Request::CreateTaskPushNotificationConfig(config.clone()),
        Request::GetTaskPushNotificationConfig(GetTaskPushNotificationConfigRequest {
            task_id: task.clone(),
            id: "hook".into(),
            ..GetTaskPushNotificationConfigRequest::default()
        }),
        Request::ListTaskPushNotificationConfigs(ListTaskPushNotificationConfigsRequest {
            task_id: task.clone(),
            ..ListTaskPushNotificationConfigsRequest::default()
        }),
        Request::DeleteTaskPushNotificationConfig(DeleteTaskPushNotificationConfigRequest {
            task_id: task.clone(),
            id: "hook".into(),
            ..DeleteTaskPushNotificationConfigRequest::default()
        }),
        Request::SendStreamingMessage(SendMessageRequest {
            message: Message {
                task_id: Some(task.clone()),
                ..Message::user("echo x")
            },
            ..send
        }),
        Request::SubscribeToTask(SubscribeToTaskRequest {
            id: task.clone(),
            ..SubscribeToTaskRequest::default()
        }),
    ]
}

async fn begin(server: &Server, who: Who, text: &str) -> TaskId {
    let request = SendMessageRequest {
        message: Message::user(text),
        ..SendMessageRequest::default()
    };
    match ask(server, who, request.into()).await {
        Ok(Answer::Once(Response::SendMessage(SendMessageResponse::Task(task)))) => task.id,
        Ok(_) => panic!("expected a task"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn no_operation_is_forgotten() {
    let mut asked: Vec<_> = requests(&TaskId::from("t"))
        .iter()
        .map(Request::operation)
        .collect();
    // One is tested by itself, the other is about no task.
    asked.extend([Operation::ListTasks, Operation::GetExtendedAgentCard]);
    assert!(
        Operation::ALL
            .iter()
            .all(|operation| asked.contains(operation))
    );
    assert_eq!(
        Request::from(GetExtendedAgentCardRequest::default()).task_id(),
        None
    );
}

#[tokio::test]
async fn what_is_somebody_elses_looks_like_what_is_not_there() {
    for builder in builders(&Worker::default()) {
        let server = builder.build().unwrap();
        let task = begin(&server, OWNER, "ask which").await;
        let before = ask(&server, OWNER, get(&task)).await;
        for who in STRANGERS {
            let absent = TaskId::random();
            for (foreign, nowhere) in requests(&task).into_iter().zip(requests(&absent)) {
                let operation = foreign.operation();
                let foreign = ask(&server, who, foreign).await.err();
                let nowhere = ask(&server, who, nowhere).await.err();
                let kind = foreign.as_ref().map(|error| error.kind);
                assert_eq!(kind, Some(ErrorKind::TaskNotFound), "{operation:?} {who:?}");
                assert_eq!(foreign, nowhere, "{operation:?} {who:?}");
            }
        }
        assert_eq!(told(before), told(ask(&server, OWNER, get(&task)).await));
    }
}

#[tokio::test]
async fn its_owner_may_do_everything() {
    for builder in builders(&Worker::default()) {
        let server = builder.build().unwrap();
        for (index, operation) in Operation::ALL.iter().enumerate() {
            let task = begin(&server, OWNER, "ask which").await;
            let hook = requests(&task).swap_remove(3);
            ask(&server, OWNER, hook)
                .await
                .unwrap_or_else(|error| panic!("{error}"));
            let mut requests = requests(&task).into_iter();
            if let Some(request) = requests.find(|request| request.operation() == *operation) {
                let allowed = ask(&server, OWNER, request).await;
                assert!(allowed.is_ok(), "{index} {operation:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_listing_has_ones_own_tasks_only() {
    for builder in builders(&Worker::default()) {
        let server = builder.build().unwrap();
        let everyone = STRANGERS.into_iter().chain([OWNER]);
        let mut own = Vec::new();
        for who in everyone {
            own.push((who, begin(&server, who, "echo x").await));
        }
        for (who, task) in own {
            let listed = ask(&server, who, ListTasksRequest::default().into()).await;
            let Ok(Answer::Once(Response::ListTasks(page))) = listed else {
                panic!("expected a page");
            };
            let ids: Vec<_> = page.tasks.iter().map(|task| &task.id).collect();
            assert_eq!(ids, [&task], "{who:?}");
            assert_eq!(page.total_size, 1, "{who:?}");
        }
    }
}

#[tokio::test]
async fn an_agent_sees_what_its_caller_may_see() {
    for builder in builders(&Worker::default()) {
        let server = builder.build().unwrap();
        let own = begin(&server, OWNER, "echo x").await;
        let foreign = begin(&server, STRANGERS[0], "echo x").await;
        let request = SendMessageRequest {
            message: Message {
                reference_task_ids: vec![own.clone(), foreign, TaskId::random(), own.clone()],
                ..Message::user("look")
            },
            ..SendMessageRequest::default()
        };
        let Ok(Answer::Once(Response::SendMessage(SendMessageResponse::Task(task)))) =
            ask(&server, OWNER, request.into()).await
        else {
            panic!("expected a task");
        };
        assert_eq!(task.status.state, TaskState::Completed);
        assert_eq!(task.artifacts[0].parts[0].as_text(), Some(own.as_str()));
    }
}

fn get(task: &TaskId) -> Request {
    let id = task.clone();
    Request::GetTask(GetTaskRequest {
        id,
        ..GetTaskRequest::default()
    })
}

fn told(answer: Result<Answer, A2aError>) -> Response {
    match answer {
        Ok(Answer::Once(response)) => response,
        Ok(Answer::Stream(_)) => panic!("expected one answer"),
        Err(error) => panic!("{error}"),
    }
}
