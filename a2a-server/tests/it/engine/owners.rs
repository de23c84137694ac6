//! A task exists only for its owner: in every operation, for every kind of other caller, in every
//! store, and through a gateway that is the only caller of the server.

use std::sync::Arc;

use a2a_client::{Binding, HttpTransport};
use a2a_gateway::Gateway;
use a2a_server::{GatewayWebhooks, Principal, Transport, WebhookPolicy};
use a2a_transport::{CallRequest, Context, Error, ResponseBody};
use a2a_types::{
    CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, Error as A2aError, ErrorKind,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTasksRequest, ListTasksResponse, Message,
    Operation, ProtocolVersion, Request, Response, SendMessageRequest, SendMessageResponse,
    SubscribeToTaskRequest, Task, TaskId, TaskPushNotificationConfig, TaskState,
};

use crate::engine::{Worker, builders};

/// A caller: a name, and a tenant.
type CallerIdentity = (Option<&'static str>, Option<&'static str>);

const OWNER: CallerIdentity = (Some("alice"), Some("a"));
const STRANGERS: [CallerIdentity; 5] = [
    (Some("mallory"), Some("a")),
    (Some("mallory"), None),
    (Some("alice"), Some("b")),
    (Some("alice"), None),
    (None, None),
];

/// A transport for owners, and its protocol version.
struct OwnerTransport {
    transport: Arc<dyn Transport>,
    name: String,
    /// The version spoken to the server.
    protocol_version: ProtocolVersion,
    /// `true` if messages can refer to tasks on the way to the server: not in 0.1, nor in HTTP+JSON of 0.3.
    refers: bool,
}

/// The ways of speaking to a server that a gateway has.
const BINDINGS: [(ProtocolVersion, Binding); 6] = [
    (ProtocolVersion::V0_1, Binding::JsonRpc),
    (ProtocolVersion::V0_2, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::HttpJson),
    (ProtocolVersion::V1_0, Binding::JsonRpc),
    (ProtocolVersion::V1_0, Binding::HttpJson),
];

/// The servers of all stores, each by itself and behind gateways that speak one version to it.
async fn transports() -> Vec<OwnerTransport> {
    let mut transports = Vec::new();
    for (store, builder) in ["memory", "sqlite"]
        .iter()
        .zip(builders(&Worker::default()))
    {
        let server = builder.build().unwrap();
        transports.push(OwnerTransport {
            transport: Arc::new(server.clone()),
            name: format!("server, {store}"),
            protocol_version: ProtocolVersion::V1_0,
            refers: true,
        });
        let bound = server.bind("127.0.0.1:0").await.unwrap();
        let url = bound.url();
        tokio::spawn(bound.run(std::future::pending()));
        for (protocol_version, binding) in BINDINGS {
            let agent = HttpTransport::new(&url, protocol_version)
                .unwrap()
                .binding(binding);
            let sender = GatewayWebhooks::new(WebhookPolicy::default()).unwrap();
            transports.push(OwnerTransport {
                transport: Arc::new(
                    // No notification is sent.
                    Gateway::new(agent, protocol_version)
                        .relay_webhooks("https://gateway.example", sender),
                ),
                name: format!("gateway in {protocol_version} {binding}, {store}"),
                protocol_version,
                refers: protocol_version != ProtocolVersion::V0_1
                    && (protocol_version, binding) != (ProtocolVersion::V0_3, Binding::HttpJson),
            });
        }
    }
    transports
}

/// The same, and gateways whose agent tells the callers apart.
async fn all_transports() -> Vec<OwnerTransport> {
    let mut transports = transports().await;
    for builder in builders(&Worker::default()) {
        let sender = GatewayWebhooks::new(WebhookPolicy::default()).unwrap();
        let gateway = Gateway::new(builder.build().unwrap(), ProtocolVersion::V1_0).share_tasks();
        transports.push(OwnerTransport {
            transport: Arc::new(gateway.relay_webhooks("https://gateway.example", sender)),
            name: "shared gateway".to_owned(),
            protocol_version: ProtocolVersion::V1_0,
            refers: true,
        });
    }
    transports
}

async fn ask(
    transport: &OwnerTransport,
    (name, tenant): CallerIdentity,
    mut request: Request,
) -> Result<ResponseBody, A2aError> {
    request.set_tenant(tenant.map(str::to_owned));
    let principal = name.map_or_else(Principal::anonymous, Principal::named);
    let context = Context::new(ProtocolVersion::V1_0).principal(principal);
    match transport
        .transport
        .call(CallRequest { request, context })
        .await
    {
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
    // Listing has its own test, and the card is not about a task.
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
async fn tasks_of_other_owners_look_absent() {
    for transport in all_transports().await {
        let name = &transport.name;
        let task = begin(&transport, OWNER, "ask which").await;
        let before = ask(&transport, OWNER, get(&task)).await;
        for who in STRANGERS {
            let absent = TaskId::random();
            for (foreign, nowhere) in requests(&task).into_iter().zip(requests(&absent)) {
                let operation = foreign.operation();
                let foreign = ask(&transport, who, foreign).await.err();
                let nowhere = ask(&transport, who, nowhere).await.err();
                let kind = foreign.as_ref().map(|error| error.kind);
                let expected = Some(ErrorKind::TaskNotFound);
                assert_eq!(kind, expected, "{name}: {operation:?} {who:?}");
                assert_eq!(foreign, nowhere, "{name}: {operation:?} {who:?}");
            }
        }
        let after = ask(&transport, OWNER, get(&task)).await;
        assert_eq!(response_of(before), response_of(after), "{name}");
    }
}

#[tokio::test]
async fn its_owner_may_do_everything() {
    for transport in all_transports().await {
        for operation in Operation::ALL {
            if transport.protocol_version.method(*operation).is_none() {
                continue;
            }
            let task = begin(&transport, OWNER, "ask which").await;
            let hook = requests(&task).swap_remove(3);
            ask(&transport, OWNER, hook)
                .await
                .unwrap_or_else(|error| panic!("{}: {error}", transport.name));
            let mut requests = requests(&task).into_iter();
            if let Some(request) = requests.find(|request| request.operation() == *operation) {
                let allowed = ask(&transport, OWNER, request).await.err();
                assert_eq!(allowed, None, "{}: {operation:?}", transport.name);
            }
        }
    }
}

/// The servers and gateways that have lists.
async fn listing_fronts() -> impl Iterator<Item = OwnerTransport> {
    let lists = |transport: &OwnerTransport| {
        transport
            .protocol_version
            .method(Operation::ListTasks)
            .is_some()
    };
    transports().await.into_iter().filter(lists)
}

async fn list(
    transport: &OwnerTransport,
    who: CallerIdentity,
    params: ListTasksRequest,
) -> ListTasksResponse {
    match ask(transport, who, params.into()).await {
        Ok(ResponseBody::Once(Response::ListTasks(page))) => page,
        Ok(_) => panic!("{}: expected a page", transport.name),
        Err(error) => panic!("{}: {error}", transport.name),
    }
}

#[tokio::test]
async fn a_listing_has_ones_own_tasks_only() {
    for transport in listing_fronts().await {
        let everyone = STRANGERS.into_iter().chain([OWNER]);
        let mut own = Vec::new();
        for who in everyone {
            own.push((who, begin(&transport, who, "echo x").await));
        }
        for (who, task) in own {
            let page = list(&transport, who, ListTasksRequest::default()).await;
            let ids: Vec<_> = page.tasks.iter().map(|task| &task.id).collect();
            assert_eq!(ids, [&task], "{}: {who:?}", transport.name);
            assert_eq!(page.total_size, 1, "{}: {who:?}", transport.name);
            assert_eq!(page.next_page_token, "", "{}: {who:?}", transport.name);
            let conversation = ListTasksRequest {
                context_id: page.tasks[0].context_id.clone(),
                ..ListTasksRequest::default()
            };
            for other in STRANGERS.into_iter().chain([OWNER]) {
                let page = list(&transport, other, conversation.clone()).await;
                let expected = u32::from(other == who);
                assert_eq!(page.total_size, expected, "{}: {other:?}", transport.name);
                assert_eq!(page.tasks.len() as u32, expected, "{}", transport.name);
            }
        }
    }
}

#[tokio::test]
async fn pages_have_ones_own_tasks_once() {
    for transport in listing_fronts().await {
        let mut own = Vec::new();
        for _ in 0..5 {
            begin(&transport, STRANGERS[0], "echo x").await;
            own.push(begin(&transport, OWNER, "echo x").await);
            begin(&transport, STRANGERS[2], "echo x").await;
        }
        let mut params = ListTasksRequest {
            page_size: Some(2),
            history_length: Some(1),
            include_artifacts: true,
            ..ListTasksRequest::default()
        };
        let mut found = Vec::new();
        for expected in [2, 2, 1] {
            let page = list(&transport, OWNER, params.clone()).await;
            assert_eq!(page.tasks.len(), expected, "{}", transport.name);
            assert_eq!(page.total_size, 5, "{}", transport.name);
            for task in page.tasks {
                assert_eq!(task.artifacts.len(), 1, "{}", transport.name);
                assert_eq!(task.history[0].text(), "echo x", "{}", transport.name);
                found.push(task.id);
            }
            params.page_token = page.next_page_token;
        }
        found.sort();
        own.sort();
        assert_eq!(found, own, "{}", transport.name);
        assert_eq!(params.page_token, "", "{}", transport.name);
    }
}

#[tokio::test]
async fn an_agent_sees_what_its_caller_may_see() {
    for transport in transports().await {
        if !transport.refers {
            continue;
        }
        let own = begin(&transport, OWNER, "echo x").await;
        let foreign = begin(&transport, STRANGERS[0], "echo x").await;
        let message = Message {
            reference_task_ids: vec![own.clone(), foreign, TaskId::random(), own.clone()],
            ..Message::user("look")
        };
        let task = send(&transport, OWNER, message).await.unwrap();
        assert_eq!(task.status.state, TaskState::Completed);
        assert_eq!(task.artifacts[0].parts[0].as_text(), Some(own.as_str()));
    }
}

/// Message ids are per owner: the same id from another owner is another message.
#[tokio::test]
async fn message_ids_belong_to_owners() {
    for transport in transports().await {
        let message = Message::user("echo x");
        let first = send(&transport, OWNER, message.clone()).await.unwrap();
        for who in STRANGERS {
            let other = send(&transport, who, message.clone()).await.unwrap();
            assert_ne!(other.id, first.id, "{}: {who:?}", transport.name);
        }
        if transport.protocol_version.rules().names_messages {
            let again = send(&transport, OWNER, message.clone()).await.unwrap();
            assert_eq!(again.id, first.id, "{}", transport.name);
            assert_eq!(again.history[0].message_id, message.message_id);
        }
    }
}

/// A conversation is its owner's, even if the caller named it: another owner has another conversation.
#[tokio::test]
async fn conversations_belong_to_owners() {
    for transport in listing_fronts().await {
        let named = Message {
            context_id: Some("conversation".into()),
            ..Message::user("echo x")
        };
        for message in [Message::user("echo x"), named] {
            let first = send(&transport, OWNER, message).await.unwrap();
            let conversation = ListTasksRequest {
                context_id: first.context_id.clone(),
                ..ListTasksRequest::default()
            };
            let next = Message {
                context_id: first.context_id.clone(),
                ..Message::user("echo y")
            };
            for who in STRANGERS.into_iter().chain([OWNER]) {
                let task = send(&transport, who, next.clone()).await.unwrap();
                assert_eq!(
                    task.context_id, first.context_id,
                    "{}: {who:?}",
                    transport.name
                );
                let page = list(&transport, who, conversation.clone()).await;
                let expected = if who == OWNER { 2 } else { 1 };
                assert_eq!(page.total_size, expected, "{}: {who:?}", transport.name);
            }
        }
    }
}

async fn send(
    transport: &OwnerTransport,
    who: CallerIdentity,
    message: Message,
) -> Result<Task, A2aError> {
    let request = SendMessageRequest {
        message,
        ..SendMessageRequest::default()
    };
    match ask(transport, who, request.into()).await? {
        ResponseBody::Once(Response::SendMessage(SendMessageResponse::Task(task))) => Ok(task),
        _ => panic!("{}: expected a task", transport.name),
    }
}

async fn begin(transport: &OwnerTransport, who: CallerIdentity, text: &str) -> TaskId {
    match send(transport, who, Message::user(text)).await {
        Ok(task) => task.id,
        Err(error) => panic!("{}: {error}", transport.name),
    }
}

fn get(task: &TaskId) -> Request {
    let id = task.clone();
    Request::GetTask(GetTaskRequest {
        id,
        ..GetTaskRequest::default()
    })
}

fn response_of(answer: Result<ResponseBody, A2aError>) -> Response {
    match answer {
        Ok(ResponseBody::Once(response)) => response,
        Ok(ResponseBody::Stream(_)) => panic!("expected one answer"),
        Err(error) => panic!("{error}"),
    }
}
