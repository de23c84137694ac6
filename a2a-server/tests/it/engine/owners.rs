//! A task is only there for its owner: every operation, every kind of stranger, every store, and
//! through a gateway that is the server's only caller.

use std::sync::Arc;

use a2a_client::{Binding, HttpTransport};
use a2a_server::{Principal, Transport};
use a2a_transport::{Answer, Call, Context, Error, Gateway};
use a2a_types::{
    Base64, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, Dialect, Error as A2aError,
    ErrorKind, GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTasksRequest, ListTasksResponse, Message,
    Operation, Request, Response, SendMessageRequest, SendMessageResponse, SubscribeToTaskRequest,
    Task, TaskId, TaskPushNotificationConfig, TaskState,
};

use serde_json::json;

use crate::engine::{Worker, builders};

/// A caller: a name, and a tenant.
type Who = (Option<&'static str>, Option<&'static str>);

const OWNER: Who = (Some("alice"), Some("a"));
const STRANGERS: [Who; 5] = [
    (Some("mallory"), Some("a")),
    (Some("mallory"), None),
    (Some("alice"), Some("b")),
    (Some("alice"), None),
    (None, None),
];

/// A transport for owners, and its protocol version.
struct Front {
    transport: Arc<dyn Transport>,
    name: String,
    /// The version spoken to the server.
    dialect: Dialect,
    /// `true` if messages can refer to tasks on the way to the server: not in 0.1, nor in HTTP+JSON of 0.3.
    refers: bool,
}

/// The ways of speaking to a server that a gateway has.
const WAYS: [(Dialect, Binding); 6] = [
    (Dialect::V0_1, Binding::JsonRpc),
    (Dialect::V0_2, Binding::JsonRpc),
    (Dialect::V0_3, Binding::JsonRpc),
    (Dialect::V0_3, Binding::HttpJson),
    (Dialect::V1_0, Binding::JsonRpc),
    (Dialect::V1_0, Binding::HttpJson),
];

/// The servers of all stores, each by itself and behind gateways that speak one version to it.
async fn fronts() -> Vec<Front> {
    let mut fronts = Vec::new();
    for (store, builder) in ["memory", "sqlite"]
        .iter()
        .zip(builders(&Worker::default()))
    {
        let server = builder.build().unwrap();
        fronts.push(Front {
            transport: Arc::new(server.clone()),
            name: format!("server, {store}"),
            dialect: Dialect::V1_0,
            refers: true,
        });
        let bound = server.bind("127.0.0.1:0").await.unwrap();
        let url = bound.url();
        tokio::spawn(bound.run(std::future::pending()));
        for (dialect, binding) in WAYS {
            let agent = HttpTransport::new(&url, dialect).unwrap().binding(binding);
            fronts.push(Front {
                transport: Arc::new(Gateway::new(agent, dialect)),
                name: format!("gateway in {dialect} {binding}, {store}"),
                dialect,
                refers: dialect != Dialect::V0_1
                    && (dialect, binding) != (Dialect::V0_3, Binding::HttpJson),
            });
        }
    }
    fronts
}

async fn ask(front: &Front, (name, tenant): Who, mut request: Request) -> Result<Answer, A2aError> {
    request.set_tenant(tenant.map(str::to_owned));
    let principal = name.map_or_else(Principal::anonymous, Principal::named);
    let context = Context::new(Dialect::V1_0).principal(principal);
    match front.transport.call(Call { request, context }).await {
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
    for front in fronts().await {
        let name = &front.name;
        let task = begin(&front, OWNER, "ask which").await;
        let before = ask(&front, OWNER, get(&task)).await;
        for who in STRANGERS {
            let absent = TaskId::random();
            for (foreign, nowhere) in requests(&task).into_iter().zip(requests(&absent)) {
                let operation = foreign.operation();
                let foreign = ask(&front, who, foreign).await.err();
                let nowhere = ask(&front, who, nowhere).await.err();
                let kind = foreign.as_ref().map(|error| error.kind);
                let expected = Some(ErrorKind::TaskNotFound);
                assert_eq!(kind, expected, "{name}: {operation:?} {who:?}");
                assert_eq!(foreign, nowhere, "{name}: {operation:?} {who:?}");
            }
        }
        let after = ask(&front, OWNER, get(&task)).await;
        assert_eq!(told(before), told(after), "{name}");
    }
}

#[tokio::test]
async fn its_owner_may_do_everything() {
    for front in fronts().await {
        for operation in Operation::ALL {
            if front.dialect.method(*operation).is_none() {
                continue;
            }
            let task = begin(&front, OWNER, "ask which").await;
            let hook = requests(&task).swap_remove(3);
            ask(&front, OWNER, hook)
                .await
                .unwrap_or_else(|error| panic!("{}: {error}", front.name));
            let mut requests = requests(&task).into_iter();
            if let Some(request) = requests.find(|request| request.operation() == *operation) {
                let allowed = ask(&front, OWNER, request).await.err();
                assert_eq!(allowed, None, "{}: {operation:?}", front.name);
            }
        }
    }
}

/// The servers and gateways that have lists.
async fn listing_fronts() -> impl Iterator<Item = Front> {
    let lists = |front: &Front| front.dialect.method(Operation::ListTasks).is_some();
    fronts().await.into_iter().filter(lists)
}

async fn list(front: &Front, who: Who, params: ListTasksRequest) -> ListTasksResponse {
    match ask(front, who, params.into()).await {
        Ok(Answer::Once(Response::ListTasks(page))) => page,
        Ok(_) => panic!("{}: expected a page", front.name),
        Err(error) => panic!("{}: {error}", front.name),
    }
}

#[tokio::test]
async fn a_listing_has_ones_own_tasks_only() {
    for front in listing_fronts().await {
        let everyone = STRANGERS.into_iter().chain([OWNER]);
        let mut own = Vec::new();
        for who in everyone {
            own.push((who, begin(&front, who, "echo x").await));
        }
        for (who, task) in own {
            let page = list(&front, who, ListTasksRequest::default()).await;
            let ids: Vec<_> = page.tasks.iter().map(|task| &task.id).collect();
            assert_eq!(ids, [&task], "{}: {who:?}", front.name);
            assert_eq!(page.total_size, 1, "{}: {who:?}", front.name);
            assert_eq!(page.next_page_token, "", "{}: {who:?}", front.name);
            let conversation = ListTasksRequest {
                context_id: page.tasks[0].context_id.clone(),
                ..ListTasksRequest::default()
            };
            for other in STRANGERS.into_iter().chain([OWNER]) {
                let page = list(&front, other, conversation.clone()).await;
                let expected = u32::from(other == who);
                assert_eq!(page.total_size, expected, "{}: {other:?}", front.name);
                assert_eq!(page.tasks.len() as u32, expected, "{}", front.name);
            }
        }
    }
}

/// A gateway's page may have nothing of what its token counted: the tasks may have gone since.
#[tokio::test]
async fn a_page_without_tasks_is_the_last() {
    let gateways = listing_fronts()
        .await
        .filter(|front| front.name.contains("gateway"));
    let mut count = 0;
    for front in gateways {
        begin(&front, STRANGERS[0], "echo x").await;
        let place = json!({"token": "", "before": 0, "total": 5}).to_string();
        let page = ListTasksRequest {
            page_token: Base64::encode(place).as_text().to_owned(),
            ..ListTasksRequest::default()
        };
        let page = list(&front, OWNER, page).await;
        assert_eq!(page.tasks, [], "{}", front.name);
        assert_eq!(page.next_page_token, "", "{}", front.name);
        count += 1;
    }
    assert!(count > 0, "no gateway has lists");
}

#[tokio::test]
async fn pages_have_ones_own_tasks_once() {
    for front in listing_fronts().await {
        let mut own = Vec::new();
        for _ in 0..5 {
            begin(&front, STRANGERS[0], "echo x").await;
            own.push(begin(&front, OWNER, "echo x").await);
            begin(&front, STRANGERS[2], "echo x").await;
        }
        let mut params = ListTasksRequest {
            page_size: Some(2),
            history_length: Some(1),
            include_artifacts: true,
            ..ListTasksRequest::default()
        };
        let mut found = Vec::new();
        for expected in [2, 2, 1] {
            let page = list(&front, OWNER, params.clone()).await;
            assert_eq!(page.tasks.len(), expected, "{}", front.name);
            assert_eq!(page.total_size, 5, "{}", front.name);
            for task in page.tasks {
                assert_eq!(task.artifacts.len(), 1, "{}", front.name);
                assert_eq!(task.history[0].text(), "echo x", "{}", front.name);
                found.push(task.id);
            }
            params.page_token = page.next_page_token;
        }
        found.sort();
        own.sort();
        assert_eq!(found, own, "{}", front.name);
        assert_eq!(params.page_token, "", "{}", front.name);
    }
}

#[tokio::test]
async fn an_agent_sees_what_its_caller_may_see() {
    for front in fronts().await {
        if !front.refers {
            continue;
        }
        let own = begin(&front, OWNER, "echo x").await;
        let foreign = begin(&front, STRANGERS[0], "echo x").await;
        let message = Message {
            reference_task_ids: vec![own.clone(), foreign, TaskId::random(), own.clone()],
            ..Message::user("look")
        };
        let task = send(&front, OWNER, message).await.unwrap();
        assert_eq!(task.status.state, TaskState::Completed);
        assert_eq!(task.artifacts[0].parts[0].as_text(), Some(own.as_str()));
    }
}

/// A message's id is its owner's: of somebody else it is another message.
#[tokio::test]
async fn message_ids_belong_to_owners() {
    for front in fronts().await {
        let message = Message::user("echo x");
        let first = send(&front, OWNER, message.clone()).await.unwrap();
        for who in STRANGERS {
            let other = send(&front, who, message.clone()).await.unwrap();
            assert_ne!(other.id, first.id, "{}: {who:?}", front.name);
        }
        if front.dialect.rules().names_messages {
            let again = send(&front, OWNER, message.clone()).await.unwrap();
            assert_eq!(again.id, first.id, "{}", front.name);
            assert_eq!(again.history[0].message_id, message.message_id);
        }
    }
}

/// A conversation is its owner's, even if the caller named it: another owner has another conversation.
#[tokio::test]
async fn conversations_belong_to_owners() {
    for front in listing_fronts().await {
        let named = Message {
            context_id: Some("conversation".into()),
            ..Message::user("echo x")
        };
        for message in [Message::user("echo x"), named] {
            let first = send(&front, OWNER, message).await.unwrap();
            let conversation = ListTasksRequest {
                context_id: first.context_id.clone(),
                ..ListTasksRequest::default()
            };
            let next = Message {
                context_id: first.context_id.clone(),
                ..Message::user("echo y")
            };
            for who in STRANGERS.into_iter().chain([OWNER]) {
                let task = send(&front, who, next.clone()).await.unwrap();
                assert_eq!(task.context_id, first.context_id, "{}: {who:?}", front.name);
                let page = list(&front, who, conversation.clone()).await;
                let expected = if who == OWNER { 2 } else { 1 };
                assert_eq!(page.total_size, expected, "{}: {who:?}", front.name);
            }
        }
    }
}

async fn send(front: &Front, who: Who, message: Message) -> Result<Task, A2aError> {
    let request = SendMessageRequest {
        message,
        ..SendMessageRequest::default()
    };
    match ask(front, who, request.into()).await? {
        Answer::Once(Response::SendMessage(SendMessageResponse::Task(task))) => Ok(task),
        _ => panic!("{}: expected a task", front.name),
    }
}

async fn begin(front: &Front, who: Who, text: &str) -> TaskId {
    match send(front, who, Message::user(text)).await {
        Ok(task) => task.id,
        Err(error) => panic!("{}: {error}", front.name),
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
