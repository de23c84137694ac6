//! A gateway keeps the rules of its callers' versions before an agent of another one.

use std::future::ready;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a_gateway::Gateway;
use a2a_transport::{
    BoxFuture, CallRequest, CallResponse, Context, Error, Principal, ResponseBody, Transport,
    Update,
};
use a2a_types::{
    AgentCard, Artifact, ArtifactId, CancelTaskRequest, ContextId,
    DeleteTaskPushNotificationConfigRequest, ErrorKind, Event,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTasksRequest, ListTasksResponse, Message, Part, ProtocolVersion, Request, Response,
    SendMessageConfiguration, SendMessageRequest, SendMessageResponse, SubscribeToTaskRequest,
    Task, TaskId, TaskPushNotificationConfig, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
use futures_util::StreamExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// An agent whose answers a test gives.
struct ScriptedAgent(UnboundedSender<ScriptedRequest>);

/// A request, and where its answer goes.
type ScriptedRequest = (Request, oneshot::Sender<Result<CallResponse, Error>>);

impl Transport for ScriptedAgent {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        let (answer, answered) = oneshot::channel();
        self.0.send((call.request, answer)).unwrap();
        Box::pin(async { answered.await.expect("the test answers") })
    }
}

/// A gateway to an agent of this version, and the requests that the agent gets.
fn scripted(
    version: ProtocolVersion,
) -> (
    Arc<Gateway<ScriptedAgent>>,
    UnboundedReceiver<ScriptedRequest>,
) {
    let (agent, requests) = unbounded_channel();
    (
        Arc::new(Gateway::new(ScriptedAgent(agent), version)),
        requests,
    )
}

/// An agent that answers at once.
struct PromptAgent<F>(F);

impl<F> Transport for PromptAgent<F>
where
    F: Fn(Request) -> Result<CallResponse, Error> + Send + Sync + 'static,
{
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        Box::pin(ready((self.0)(call.request)))
    }
}

async fn call<T: Transport>(
    gateway: &Gateway<T>,
    protocol_version: ProtocolVersion,
    request: impl Into<Request>,
) -> Result<ResponseBody, a2a_types::Error> {
    let context = Context::new(protocol_version).principal(Principal::named("alice"));
    let request = request.into();
    let reply = gateway.call(CallRequest { request, context }).await;
    match reply {
        Ok(reply) => Ok(reply.answer),
        Err(Error::Agent(error)) => Err(error),
        Err(other) => panic!("{other}"),
    }
}

/// Makes a call that goes on while the test answers for the agent.
fn spawn(
    gateway: &Arc<Gateway<ScriptedAgent>>,
    protocol_version: ProtocolVersion,
    request: impl Into<Request>,
) -> tokio::task::JoinHandle<Result<Task, a2a_types::Error>> {
    let (gateway, request) = (Arc::clone(gateway), request.into());
    tokio::spawn(async move { call(&gateway, protocol_version, request).await.map(task) })
}

#[track_caller]
fn task(answer: ResponseBody) -> Task {
    match answer {
        ResponseBody::Once(
            Response::SendMessage(SendMessageResponse::Task(task))
            | Response::GetTask(task)
            | Response::CancelTask(task),
        ) => task,
        ResponseBody::Once(other) => panic!("expected a task, got {other:?}"),
        ResponseBody::Stream(_) => panic!("expected a task, got a stream"),
    }
}

fn task_in(state: TaskState) -> Task {
    Task {
        id: "agent-1".into(),
        context_id: Some("c".into()),
        status: TaskStatus::from(state),
        ..Task::default()
    }
}

fn sent(task: Task) -> Result<CallResponse, Error> {
    Ok(CallResponse::once(Response::SendMessage(
        SendMessageResponse::Task(task),
    )))
}

fn read(task: Task) -> Result<CallResponse, Error> {
    Ok(CallResponse::once(Response::GetTask(task)))
}

fn streamed(events: Vec<Result<Event, Error>>) -> Result<CallResponse, Error> {
    let updates = events
        .into_iter()
        .map(|event| event.map(|event| Update::new(event, None)));
    Ok(CallResponse::stream(tokio_stream::iter(
        updates.collect::<Vec<_>>(),
    )))
}

fn message() -> SendMessageRequest {
    "hi".into()
}

fn immediate() -> SendMessageRequest {
    SendMessageRequest {
        configuration: Some(SendMessageConfiguration {
            return_immediately: true,
            ..SendMessageConfiguration::default()
        }),
        ..message()
    }
}

fn get(id: &str) -> GetTaskRequest {
    GetTaskRequest {
        id: id.into(),
        ..GetTaskRequest::default()
    }
}

fn cancel(id: &str) -> CancelTaskRequest {
    CancelTaskRequest {
        id: id.into(),
        ..CancelTaskRequest::default()
    }
}

fn subscribe(id: &str) -> Request {
    Request::SubscribeToTask(SubscribeToTaskRequest {
        id: id.into(),
        ..SubscribeToTaskRequest::default()
    })
}

/// 1.0 §3.2.2; 0.2 and 0.3 ask for it.
#[tokio::test(start_paused = true)]
async fn a_blocking_send_waits_for_an_agent_that_does_not() {
    for caller in [
        ProtocolVersion::V0_2,
        ProtocolVersion::V0_3,
        ProtocolVersion::V1_0,
    ] {
        let (gateway, mut requests) = scripted(ProtocolVersion::V0_1);
        let sending = spawn(&gateway, caller, message());
        let (_, answer) = requests.recv().await.unwrap();
        answer.send(sent(task_in(TaskState::Submitted))).unwrap();
        for state in [TaskState::Working, TaskState::InputRequired] {
            let (request, answer) = requests.recv().await.unwrap();
            assert!(matches!(&request, Request::GetTask(get) if get.id.as_str() == "agent-1"));
            answer.send(read(task_in(state))).unwrap();
        }
        let task = sending.await.unwrap().unwrap();
        assert_eq!(task.status.state, TaskState::InputRequired, "{caller}");

        let sending = spawn(&gateway, caller, immediate());
        let (_, answer) = requests.recv().await.unwrap();
        answer.send(sent(task_in(TaskState::Submitted))).unwrap();
        let task = sending.await.unwrap().unwrap();
        assert_eq!(task.status.state, TaskState::Submitted, "{caller}");
        assert!(requests.try_recv().is_err(), "no call waits");
    }
}

/// Only 1.0 makes it a duty: an agent of 0.3 may answer its callers sooner.
#[tokio::test(start_paused = true)]
async fn an_agent_that_knows_the_wish_to_wait_is_believed_but_for_callers_of_1_0() {
    for (caller, waits) in [
        (ProtocolVersion::V0_3, false),
        (ProtocolVersion::V1_0, true),
    ] {
        let agent = PromptAgent(|request| match request {
            Request::SendMessage(_) => sent(task_in(TaskState::Working)),
            _ => read(task_in(TaskState::Completed)),
        });
        let gateway = Gateway::new(agent, ProtocolVersion::V0_3);
        let task = task(call(&gateway, caller, message()).await.unwrap());
        let is_completed = task.status.state == TaskState::Completed;
        assert_eq!(is_completed, waits, "{caller}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_waited_long_gets_the_task_as_it_stands() {
    for fails in [false, true] {
        let agent = PromptAgent(move |request| match request {
            Request::SendMessage(_) => sent(task_in(TaskState::Submitted)),
            _ if fails => Err(ErrorKind::TaskNotFound.into()),
            _ => read(task_in(TaskState::Working)),
        });
        let limit = Duration::from_secs(10);
        let gateway = Gateway::new(agent, ProtocolVersion::V0_1).blocking_timeout(limit);
        let begun = tokio::time::Instant::now();
        let task = task(
            call(&gateway, ProtocolVersion::V1_0, message())
                .await
                .unwrap(),
        );
        let (state, waited) = match fails {
            // The agent's answer is passed on.
            true => (TaskState::Submitted, Duration::ZERO),
            false => (TaskState::Working, limit),
        };
        assert_eq!((task.status.state, begun.elapsed()), (state, waited));
    }
}

/// In 0.1 the caller knows the name of its task before the agent does.
#[tokio::test(start_paused = true)]
async fn a_task_is_found_by_its_name_while_its_message_is_on_its_way() {
    for version in [
        ProtocolVersion::V0_2,
        ProtocolVersion::V0_3,
        ProtocolVersion::V1_0,
    ] {
        for shared in [false, true] {
            let (agent, mut requests) = unbounded_channel();
            let gateway = Gateway::new(ScriptedAgent(agent), version);
            let gateway = Arc::new(match shared {
                false => gateway,
                true => gateway.share_tasks(),
            });
            let mut request = message();
            request.message.task_id = Some("mine".into());
            let sending = spawn(&gateway, ProtocolVersion::V0_1, request);
            let (request, send) = requests.recv().await.unwrap();
            let Request::SendMessage(params) = request else {
                panic!("{request:?}");
            };
            assert_eq!(params.message.task_id, None, "the agent names the task");
            assert!(params.configuration.unwrap().return_immediately);

            let reading = spawn(&gateway, ProtocolVersion::V0_1, get("mine"));
            let absent = spawn(&gateway, ProtocolVersion::V0_1, get("other"));
            if shared {
                // The agent is asked: it may have begun under that name before.
                let (_, answer) = requests.recv().await.unwrap();
                answer.send(Err(ErrorKind::TaskNotFound.into())).unwrap();
            }
            let absent = absent.await.unwrap().unwrap_err();
            assert_eq!(absent.kind, ErrorKind::TaskNotFound);
            send.send(sent(task_in(TaskState::Submitted))).unwrap();
            // The send reads its task, and so does the caller.
            for _ in 0..2 {
                let (request, answer) = requests.recv().await.unwrap();
                assert_eq!(request.task_id(), Some(&"agent-1".into()));
                answer.send(read(task_in(TaskState::Working))).unwrap();
            }
            let found = reading.await.unwrap().unwrap();
            assert_eq!(found.id.as_str(), "mine");

            let canceling = spawn(&gateway, ProtocolVersion::V0_1, cancel("mine"));
            let canceled = loop {
                match requests.recv().await.unwrap() {
                    (Request::CancelTask(params), answer) => break (params, answer),
                    (_, answer) => answer.send(read(task_in(TaskState::Working))).unwrap(),
                }
            };
            assert_eq!(canceled.0.id.as_str(), "agent-1");
            let task = task_in(TaskState::Canceled);
            let reply = Ok(CallResponse::once(Response::CancelTask(task.clone())));
            canceled.1.send(reply).unwrap();
            assert_eq!(canceling.await.unwrap().unwrap().id.as_str(), "mine");
            let (_, answer) = requests.recv().await.unwrap();
            answer.send(read(task)).unwrap();
            let task = sending.await.unwrap().unwrap();
            assert_eq!(
                (task.id.as_str(), task.status.state),
                ("mine", TaskState::Canceled)
            );
        }
    }
}

/// An agent of 0.1 takes the name, so that the gateway knows its id at once.
#[tokio::test]
async fn a_name_that_the_agent_takes_is_known_before_its_answer() {
    let (gateway, mut requests) = scripted(ProtocolVersion::V0_1);
    let mut request = message();
    request.message.task_id = Some("mine".into());
    let sending = spawn(&gateway, ProtocolVersion::V0_1, request);
    let (request, _send) = requests.recv().await.unwrap();
    let id = request.task_id().cloned().unwrap();
    let canceling = spawn(&gateway, ProtocolVersion::V0_1, cancel("mine"));
    let (request, answer) = requests.recv().await.unwrap();
    assert_eq!(request.task_id(), Some(&id));
    let task = Task {
        id,
        ..task_in(TaskState::Canceled)
    };
    let reply = Ok(CallResponse::once(Response::CancelTask(task)));
    answer.send(reply).unwrap();
    assert_eq!(canceling.await.unwrap().unwrap().id.as_str(), "mine");
    sending.abort();
}

/// A second message to a name that is on its way continues the same task.
#[tokio::test(start_paused = true)]
async fn two_messages_to_one_new_name_are_of_one_task() {
    let (gateway, mut requests) = scripted(ProtocolVersion::V1_0);
    let mut request = message();
    request.message.task_id = Some("mine".into());
    let first = spawn(&gateway, ProtocolVersion::V0_1, request.clone());
    let (_, answer) = requests.recv().await.unwrap();
    let second = spawn(&gateway, ProtocolVersion::V0_1, request);
    answer.send(sent(task_in(TaskState::Completed))).unwrap();
    assert_eq!(first.await.unwrap().unwrap().id.as_str(), "mine");
    let (request, answer) = requests.recv().await.unwrap();
    assert_eq!(request.task_id(), Some(&"agent-1".into()));
    answer.send(sent(task_in(TaskState::Completed))).unwrap();
    assert_eq!(second.await.unwrap().unwrap().id.as_str(), "mine");
}

/// 1.0 §3.3.4, and -32004 before it.
#[tokio::test]
async fn an_agent_without_streaming_is_said_to_be_one() {
    let silent = || Err(ErrorKind::Internal.into());
    let mut card = AgentCard::new("a", "b");
    card.capabilities.streaming = None;
    for &caller in ProtocolVersion::ALL {
        let gateway =
            Gateway::new(PromptAgent(move |_| silent()), ProtocolVersion::V0_2).agent_card(&card);
        let refused = call(&gateway, caller, Request::SendStreamingMessage(message())).await;
        let refused = refused.err().unwrap();
        assert_eq!(refused.kind.code_in(caller), -32004, "{refused}");
        assert!(refused.message.contains("does not stream"), "{refused}");
    }
    card.capabilities.streaming = Some(true);
    let gateway =
        Gateway::new(PromptAgent(move |_| silent()), ProtocolVersion::V0_2).agent_card(&card);
    let streamed = Request::SendStreamingMessage(message());
    let refused = call(&gateway, ProtocolVersion::V1_0, streamed)
        .await
        .err()
        .unwrap();
    assert_eq!(refused.kind, ErrorKind::Internal, "the agent's own");
}

/// Agents say in many ways that they lack an operation; a caller's version has it.
#[tokio::test]
async fn an_operation_that_the_agent_lacks_is_unsupported() {
    let operations: [(Request, &[ProtocolVersion]); 3] = [
        (
            Request::SendStreamingMessage(message()),
            ProtocolVersion::ALL,
        ),
        (
            ListTasksRequest::default().into(),
            &[ProtocolVersion::V0_3, ProtocolVersion::V1_0],
        ),
        (
            Request::GetExtendedAgentCard(Default::default()),
            &[ProtocolVersion::V0_3, ProtocolVersion::V1_0],
        ),
    ];
    for (request, callers) in operations {
        let operation = request.operation();
        let refusals: [fn(a2a_types::Operation) -> Error; 5] = [
            |operation| Error::NotSupported {
                operation,
                protocol_version: ProtocolVersion::V0_1,
            },
            |_| ErrorKind::MethodNotFound.into(),
            |_| Error::NotA2a {
                status: 404,
                problem: "no body".to_owned(),
            },
            |_| Error::NotA2a {
                status: 405,
                problem: "no body".to_owned(),
            },
            |_| ErrorKind::UnsupportedOperation.into(),
        ];
        for refusal in refusals {
            for by_stream in [false, true] {
                if by_stream && !operation.is_stream() {
                    continue;
                }
                for &caller in callers {
                    let agent = PromptAgent(move |request: Request| match by_stream {
                        true => streamed(vec![Err(refusal(request.operation()))]),
                        false => Err(refusal(request.operation())),
                    });
                    let gateway = Gateway::new(agent, ProtocolVersion::V0_1).share_tasks();
                    let refused = call(&gateway, caller, request.clone()).await;
                    let refused = refused.err().unwrap();
                    assert_eq!(refused.kind.code_in(caller), -32004, "{refused}");
                    assert!(!refused.message.is_empty());
                }
            }
        }
    }
}

#[tokio::test]
async fn a_list_of_an_agent_without_lists_has_a_reason() {
    let agent = PromptAgent(|request: Request| {
        Err(Error::NotSupported {
            operation: request.operation(),
            protocol_version: ProtocolVersion::V0_2,
        })
    });
    let gateway = Gateway::new(agent, ProtocolVersion::V0_2);
    let list = ListTasksRequest::default();
    let refused = call(&gateway, ProtocolVersion::V1_0, list)
        .await
        .err()
        .unwrap();
    assert_eq!(refused.kind, ErrorKind::UnsupportedOperation);
    assert!(refused.message.contains("speaks 0.2"), "{refused}");
}

/// `tasks/send` of 0.1 is answered at the end of the task: the caller would not learn its id until then.
#[tokio::test]
async fn a_send_that_does_not_wait_is_a_stream_to_an_agent_of_0_1() {
    let mut card = AgentCard::new("Old", "Streams");
    card.capabilities.streaming = Some(true);
    for first in [
        Event::Task(task_in(TaskState::Submitted)),
        Event::StatusUpdate(TaskStatusUpdateEvent {
            task_id: "agent-1".into(),
            status: TaskStatus::from(TaskState::Submitted),
            context_id: None,
            metadata: None,
        }),
    ] {
        let (agent, mut requests) = unbounded_channel();
        let gateway = Gateway::new(ScriptedAgent(agent), ProtocolVersion::V0_1).agent_card(&card);
        let sending = spawn(&Arc::new(gateway), ProtocolVersion::V1_0, immediate());
        let (request, answer) = requests.recv().await.unwrap();
        let Request::SendStreamingMessage(params) = request else {
            panic!("{request:?}");
        };
        // The agent would leave it out.
        let configuration = params.configuration.unwrap();
        assert_eq!(configuration.history_length, Some(i32::MAX as u32));
        let is_task = matches!(first, Event::Task(_));
        // The stream does not end.
        let updates = tokio_stream::iter([Ok(Update::new(first, None))]);
        let updates = updates.chain(tokio_stream::pending());
        assert!(answer.send(Ok(CallResponse::stream(updates))).is_ok());
        if !is_task {
            let (request, answer) = requests.recv().await.unwrap();
            assert!(matches!(request, Request::GetTask(_)), "{request:?}");
            assert!(answer.send(read(task_in(TaskState::Working))).is_ok());
        }
        let task = sending.await.unwrap().unwrap();
        assert!(!task.status.state.is_terminal());
    }
}

/// The agent may have deleted the tasks that a page's token counted.
#[tokio::test]
async fn a_page_without_tasks_is_the_last() {
    let (sent_tasks, lists) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let agent = PromptAgent(move |request: Request| {
        let numbered = |count: usize| Task {
            id: format!("agent-{count}").as_str().into(),
            ..task_in(TaskState::Completed)
        };
        match request {
            Request::SendMessage(_) => sent(numbered(sent_tasks.fetch_add(1, SeqCst))),
            Request::GetTask(params) => read(Task {
                id: params.id,
                ..task_in(TaskState::Completed)
            }),
            // The first page is read twice: to count, and for the place of the next one.
            Request::ListTasks(_) if lists.fetch_add(1, SeqCst) < 2 => {
                Ok(CallResponse::once(Response::ListTasks(ListTasksResponse {
                    tasks: vec![numbered(0), numbered(1)],
                    next_page_token: "more".to_owned(),
                    ..ListTasksResponse::default()
                })))
            }
            _ => Ok(CallResponse::once(Response::ListTasks(
                ListTasksResponse::default(),
            ))),
        }
    });
    let gateway = Gateway::new(agent, ProtocolVersion::V1_0);
    for _ in 0..2 {
        call(&gateway, ProtocolVersion::V1_0, message())
            .await
            .unwrap();
    }
    let list = async |page_token: String| {
        let request = ListTasksRequest {
            page_size: Some(1),
            page_token,
            ..ListTasksRequest::default()
        };
        match call(&gateway, ProtocolVersion::V1_0, request)
            .await
            .unwrap()
        {
            ResponseBody::Once(Response::ListTasks(list)) => list,
            _ => panic!("expected a list"),
        }
    };
    let first = list(String::new()).await;
    assert_eq!((first.tasks.len(), first.total_size), (1, 2));
    assert_ne!(first.next_page_token, "");
    let second = list(first.next_page_token).await;
    assert_eq!(
        (second.tasks.len(), second.next_page_token),
        (0, String::new())
    );
}

fn config() -> TaskPushNotificationConfig {
    TaskPushNotificationConfig {
        task_id: "agent-1".into(),
        url: "https://caller.example/".to_owned(),
        ..TaskPushNotificationConfig::default()
    }
}

/// The agent's card offers no notifications, and neither does the gateway's, since versions may differ.
#[tokio::test]
async fn webhooks_are_refused_if_the_agent_sends_none() {
    let mut sent = message();
    sent.configuration = Some(SendMessageConfiguration {
        task_push_notification_config: Some(Box::new(config())),
        ..SendMessageConfiguration::default()
    });
    let requests = [
        Request::SendMessage(sent.clone()),
        Request::SendStreamingMessage(sent),
        config().into(),
        GetTaskPushNotificationConfigRequest::default().into(),
        ListTaskPushNotificationConfigsRequest::default().into(),
        DeleteTaskPushNotificationConfigRequest::default().into(),
    ];
    let mut card = AgentCard::new("a", "b").at("https://agent.example/");
    card.capabilities.push_notifications = Some(true);
    let agent = || PromptAgent(|request| panic!("the agent is asked: {request:?}"));
    let without = AgentCard::new("a", "b").at("https://agent.example/");
    for &caller in ProtocolVersion::ALL {
        for request in &requests {
            let gateway = Gateway::new(agent(), ProtocolVersion::V0_3).agent_card(&without);
            let refused = call(&gateway, caller, request.clone()).await.err().unwrap();
            assert_eq!(refused.kind.code_in(caller), -32003, "{caller} {request:?}");
        }
    }
    let gateway = Gateway::new(agent(), ProtocolVersion::V0_3);
    assert_eq!(gateway.public_card(), None);
    let shown = gateway.agent_card(&card).public_card().unwrap();
    assert_eq!(shown.capabilities.push_notifications, Some(false));
    assert!(shown.supported_interfaces.is_empty());

    let extended = card.clone();
    let agent = PromptAgent(move |_| {
        Ok(CallResponse::once(Response::GetExtendedAgentCard(
            extended.clone(),
        )))
    });
    let gateway = Gateway::new(agent, ProtocolVersion::V0_3);
    let request = Request::GetExtendedAgentCard(Default::default());
    match call(&gateway, ProtocolVersion::V1_0, request)
        .await
        .unwrap()
    {
        ResponseBody::Once(Response::GetExtendedAgentCard(card)) => assert_eq!(card, shown),
        _ => panic!("expected a card"),
    }
}

fn artifact(id: &str, text: &str) -> Artifact {
    Artifact {
        artifact_id: ArtifactId::from(id),
        parts: vec![Part::text(text)],
        ..Artifact::default()
    }
}

fn artifact_event(artifact: Artifact) -> Event {
    Event::ArtifactUpdate(a2a_types::TaskArtifactUpdateEvent {
        task_id: "agent-1".into(),
        context_id: Some(ContextId::from("c")),
        artifact,
        append: false,
        last_chunk: true,
        metadata: None,
    })
}

/// Python's SDK ends the stream of a canceled task without a last event.
#[tokio::test(start_paused = true)]
async fn a_stream_without_a_last_event_ends_with_the_state_of_the_task() {
    for version in [
        ProtocolVersion::V0_2,
        ProtocolVersion::V0_3,
        ProtocolVersion::V1_0,
    ] {
        for &caller in ProtocolVersion::ALL {
            for error in [
                Some(Error::Unfinished),
                Some(Error::Connection("reset".into())),
                None,
            ] {
                let reads = Arc::new(Mutex::new(vec![TaskState::Canceled, TaskState::Working]));
                let events = vec![
                    Ok(Event::Task(task_in(TaskState::Working))),
                    Ok(artifact_event(artifact("seen", "1"))),
                ];
                let ended = error.map(Err);
                let events = Mutex::new(Some(events.into_iter().chain(ended).collect()));
                let agent = PromptAgent(move |request| match request {
                    Request::SendStreamingMessage(_) => {
                        streamed(events.lock().unwrap().take().unwrap())
                    }
                    Request::GetTask(_) => read(Task {
                        artifacts: vec![artifact("seen", "1"), artifact("unseen", "2")],
                        ..task_in(reads.lock().unwrap().pop().unwrap())
                    }),
                    other => panic!("{other:?}"),
                });
                let gateway = Gateway::new(agent, version);
                let request = Request::SendStreamingMessage(message());
                let ResponseBody::Stream(updates) = call(&gateway, caller, request).await.unwrap()
                else {
                    panic!("expected a stream");
                };
                let events: Vec<_> = updates.map(|update| update.unwrap().event).collect().await;
                let ids = events.iter().filter_map(|event| match &**event {
                    Event::ArtifactUpdate(update) => Some(update.artifact.artifact_id.as_str()),
                    _ => None,
                });
                assert_eq!(ids.collect::<Vec<_>>(), ["seen", "unseen"], "{caller}");
                let last = events.last().unwrap();
                assert!(
                    matches!(&**last, Event::StatusUpdate(update) if update.status.state == TaskState::Canceled),
                    "{caller} {version}: {last:?}"
                );
            }
        }
    }
}

/// A subscription that ends at once is answered by the task.
#[tokio::test(start_paused = true)]
async fn a_subscription_without_events_yields_the_task() {
    let agent = PromptAgent(|request| match request {
        Request::SendMessage(_) => sent(task_in(TaskState::Working)),
        Request::SubscribeToTask(_) => streamed(Vec::new()),
        _ => read(task_in(TaskState::Completed)),
    });
    let gateway = Gateway::new(agent, ProtocolVersion::V1_0);
    call(&gateway, ProtocolVersion::V1_0, immediate())
        .await
        .unwrap();
    let answer = call(&gateway, ProtocolVersion::V1_0, subscribe("agent-1")).await;
    let ResponseBody::Stream(updates) = answer.unwrap() else {
        panic!("expected a stream");
    };
    let events: Vec<_> = updates.map(|update| update.unwrap().event).collect().await;
    assert_eq!(events.len(), 1);
    assert!(
        matches!(&*events[0], Event::Task(task) if task.status.state == TaskState::Completed),
        "{events:?}"
    );
}

/// The task continues, and its end cannot be reported.
#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_off_for_good_is_unavailable() {
    let agent = PromptAgent(|request| match request {
        Request::SendStreamingMessage(_) => {
            streamed(vec![Ok(Event::Task(task_in(TaskState::Working)))])
        }
        _ => read(task_in(TaskState::Working)),
    });
    let gateway = Gateway::new(agent, ProtocolVersion::V1_0);
    let request = Request::SendStreamingMessage(message());
    let answer = call(&gateway, ProtocolVersion::V1_0, request).await;
    let ResponseBody::Stream(mut updates) = answer.unwrap() else {
        panic!("expected a stream");
    };
    assert!(updates.next().await.unwrap().is_ok());
    let error = updates.next().await.unwrap().unwrap_err();
    assert_eq!(error.into_answer().kind, ErrorKind::Unavailable);
    assert!(updates.next().await.is_none());
}

/// 1.0 §3.2.4, whatever the agent sends.
#[tokio::test]
async fn histories_are_as_long_as_the_caller_wants() {
    let agent = |request| {
        let task = Task {
            history: vec![Message::user("1"), Message::agent("2"), Message::user("3")],
            ..task_in(TaskState::Completed)
        };
        match request {
            Request::SendMessage(_) => sent(task),
            Request::SendStreamingMessage(_) => streamed(vec![Ok(Event::Task(task))]),
            _ => read(task),
        }
    };
    for &caller in ProtocolVersion::ALL {
        let gateway = Gateway::new(PromptAgent(agent), ProtocolVersion::V0_3);
        let unasked = match caller.rules().history_when_not_asked {
            true => 3,
            false => 0,
        };
        for (length, expected) in [(None, unasked), (Some(0), 0), (Some(2), 2), (Some(9), 3)] {
            let mut request = message();
            request.configuration = Some(SendMessageConfiguration {
                history_length: length,
                ..SendMessageConfiguration::default()
            });
            let sent = task(call(&gateway, caller, request.clone()).await.unwrap());
            assert_eq!(sent.history.len(), expected, "{caller} {length:?}");
            let last = sent.history.last().map(Message::text);
            assert!(last.is_none_or(|last| last == "3"));
            let request = Request::SendStreamingMessage(request);
            let ResponseBody::Stream(mut updates) = call(&gateway, caller, request).await.unwrap()
            else {
                panic!("expected a stream");
            };
            let first = updates.next().await.unwrap().unwrap();
            assert!(
                matches!(&*first.event, Event::Task(task) if task.history.len() == expected),
                "{caller} {length:?}: {first:?}"
            );
            let request = GetTaskRequest {
                history_length: length,
                ..get("agent-1")
            };
            let got = task(call(&gateway, caller, request).await.unwrap());
            assert_eq!(got.history.len(), expected, "{caller} {length:?}");
        }
    }
}

/// Agents take ids of 1 KiB, and the gateway's prefix is not the caller's.
#[tokio::test]
async fn ids_of_any_length_that_agents_take_pass() {
    let agent = PromptAgent(|request| {
        let Request::SendMessage(params) = request else {
            panic!("{request:?}");
        };
        let mut message = params.message;
        for id in [
            message.message_id.as_str(),
            message.context_id.as_ref().unwrap().as_str(),
        ] {
            assert!(id.len() <= 1024, "{}", id.len());
        }
        message.task_id = Some(TaskId::from("agent-1"));
        sent(Task {
            context_id: message.context_id.clone(),
            history: vec![message],
            ..task_in(TaskState::InputRequired)
        })
    });
    let gateway = Gateway::new(agent, ProtocolVersion::V1_0);
    let mut seen = Vec::new();
    for length in [1, 990, 991, 992, 1_000, 1_024] {
        let mut request = message();
        request.message.message_id = "m".repeat(length).into();
        request.message.context_id = Some("c".repeat(length).into());
        let (message_id, context) = (
            request.message.message_id.clone(),
            request.message.context_id.clone(),
        );
        let task = task(
            call(&gateway, ProtocolVersion::V1_0, request)
                .await
                .unwrap(),
        );
        assert_eq!(task.context_id, context, "{length}");
        assert_eq!(task.history[0].message_id, message_id, "{length}");
        assert_eq!(task.history[0].context_id, context, "{length}");
        seen.push(task);
    }
    assert_eq!(seen.len(), 6);
}
