//! A gateway keeps its callers apart before an agent that takes them for one.

use std::sync::{Arc, Mutex};

use a2a_gateway::Gateway;
use a2a_transport::{
    BoxFuture, CallRequest, CallResponse, Context, Error, Principal, ResponseBody,
};
use a2a_transport::{Transport, Update};
use a2a_types::{
    ContextId, ErrorKind, Event, GetTaskRequest, Message, MessageId, ProtocolVersion, Request,
    Response, SendMessageRequest, SendMessageResponse, Task, TaskId, TaskState, TaskStatus,
};
use futures_util::StreamExt;

/// An agent that recognises messages by their ids, gives tasks numbers unless they are named, and
/// records its requests.
#[derive(Clone, Default)]
struct Agent {
    requests: Arc<Mutex<Vec<Request>>>,
    tasks: Arc<Mutex<Vec<(MessageId, Task)>>>,
    /// Every message is answered with this task.
    only: Option<TaskId>,
}

impl Agent {
    fn send(&self, mut message: Message) -> Task {
        let mut tasks = self.tasks.lock().unwrap();
        if let Some((_, task)) = tasks.iter().find(|(id, _)| *id == message.message_id) {
            return task.clone();
        }
        let message_id = message.message_id.clone();
        let new = || TaskId::from(format!("task-{}", tasks.len()));
        let id = message.task_id.clone().or_else(|| self.only.clone());
        let id = id.unwrap_or_else(new);
        let new = || ContextId::from(format!("context-{}", tasks.len()));
        message.task_id = Some(id.clone());
        message.context_id = message.context_id.or_else(|| Some(new()));
        let task = Task {
            id,
            context_id: message.context_id.clone(),
            status: TaskStatus::from(TaskState::InputRequired),
            history: vec![message],
            ..Task::default()
        };
        tasks.push((message_id, task.clone()));
        task
    }

    fn last_message(&self) -> SendMessageRequest {
        match self.requests.lock().unwrap().last() {
            Some(Request::SendMessage(params)) => params.clone(),
            other => panic!("expected a message, got {other:?}"),
        }
    }

    fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

impl Transport for Agent {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        self.requests.lock().unwrap().push(call.request.clone());
        let reply = match call.request {
            Request::SendMessage(params) => Ok(CallResponse::once(Response::SendMessage(
                SendMessageResponse::Task(self.send(params.message)),
            ))),
            Request::SendStreamingMessage(params) => {
                let event = Event::Task(self.send(params.message));
                Ok(CallResponse::stream(tokio_stream::once(Ok(Update::new(
                    event, None,
                )))))
            }
            Request::GetTask(params) => {
                let tasks = self.tasks.lock().unwrap();
                let task = tasks.iter().find(|(_, task)| task.id == params.id);
                let task = task.map(|(_, task)| task.clone());
                let reply = task.map(|task| CallResponse::once(Response::GetTask(task)));
                reply.ok_or_else(|| ErrorKind::TaskNotFound.into())
            }
            other => panic!("not asked by these tests: {other:?}"),
        };
        Box::pin(std::future::ready(reply))
    }
}

async fn ask(
    gateway: &Gateway<Agent>,
    (name, protocol_version): (&str, ProtocolVersion),
    request: impl Into<Request>,
) -> Result<ResponseBody, ErrorKind> {
    let context = Context::new(protocol_version).principal(Principal::named(name));
    let request = request.into();
    match gateway.call(CallRequest { request, context }).await {
        Ok(reply) => Ok(reply.answer),
        Err(Error::Agent(error)) => Err(error.kind),
        Err(other) => panic!("{other}"),
    }
}

async fn send(
    gateway: &Gateway<Agent>,
    caller: (&str, ProtocolVersion),
    request: SendMessageRequest,
) -> Result<Task, ErrorKind> {
    match ask(gateway, caller, request).await? {
        ResponseBody::Once(Response::SendMessage(SendMessageResponse::Task(task))) => Ok(task),
        _ => panic!("expected a task"),
    }
}

async fn get(
    gateway: &Gateway<Agent>,
    caller: (&str, ProtocolVersion),
    id: &TaskId,
) -> Result<Task, ErrorKind> {
    let request = GetTaskRequest {
        id: id.clone(),
        ..GetTaskRequest::default()
    };
    match ask(gateway, caller, request).await? {
        ResponseBody::Once(Response::GetTask(task)) => Ok(task),
        _ => panic!("expected a task"),
    }
}

fn message(id: &str, task: Option<&TaskId>) -> SendMessageRequest {
    SendMessageRequest {
        message: Message {
            message_id: id.into(),
            task_id: task.cloned(),
            ..Message::user("hi")
        },
        ..SendMessageRequest::default()
    }
}

const ALICE: (&str, ProtocolVersion) = ("alice", ProtocolVersion::V1_0);
const BOB: (&str, ProtocolVersion) = ("bob", ProtocolVersion::V1_0);

#[tokio::test]
async fn ids_of_two_owners_do_not_meet_at_the_agent() {
    let agent = Agent::default();
    let gateway = Gateway::new(agent.clone(), ProtocolVersion::V1_0);
    let alices = send(&gateway, ALICE, message("m", None)).await.unwrap();
    let sent = agent.last_message().message.message_id;
    let bobs = send(&gateway, BOB, message("m", None)).await.unwrap();
    assert_ne!(bobs.id, alices.id);
    assert_ne!(agent.last_message().message.message_id, sent);
    // Another owner cannot forge the message id that the agent was sent.
    let forged = send(&gateway, BOB, message(sent.as_str(), None)).await;
    assert_ne!(forged.unwrap().id, alices.id);

    let again = send(&gateway, ALICE, message("m", None)).await.unwrap();
    assert_eq!(again, alices);
    assert_eq!(alices.history[0].message_id.as_str(), "m");
    assert_eq!(alices.history[0].context_id, alices.context_id);
    // The agent has named the conversation: it is hers under that name, and another one of his.
    let conversation = |id: &str| {
        let mut request = message(id, None);
        request.message.context_id.clone_from(&alices.context_id);
        request
    };
    let next = send(&gateway, ALICE, conversation("n")).await.unwrap();
    assert_eq!(agent.last_message().message.context_id, alices.context_id);
    assert_eq!(next.context_id, alices.context_id);
    let bobs = send(&gateway, BOB, conversation("n")).await.unwrap();
    assert_ne!(agent.last_message().message.context_id, alices.context_id);
    assert_eq!(bobs.context_id, alices.context_id, "as he calls it");
}

#[tokio::test]
async fn a_message_reaches_its_owners_tasks_only() {
    let agent = Agent::default();
    let gateway = Gateway::new(agent.clone(), ProtocolVersion::V1_0);
    let alices = send(&gateway, ALICE, message("a", None)).await.unwrap();
    let bobs = send(&gateway, BOB, message("b", None)).await.unwrap();
    let before = agent.count();
    let refused = send(&gateway, BOB, message("c", Some(&alices.id))).await;
    assert_eq!(refused, Err(ErrorKind::TaskNotFound));
    assert_eq!(
        get(&gateway, BOB, &alices.id).await,
        Err(ErrorKind::TaskNotFound)
    );
    assert_eq!(agent.count(), before, "the agent is not asked");

    let mut request = message("d", Some(&bobs.id));
    request.message.reference_task_ids = vec![alices.id.clone(), bobs.id.clone(), "none".into()];
    send(&gateway, BOB, request).await.unwrap();
    let sent = agent.last_message();
    assert_eq!(
        sent.message.reference_task_ids,
        std::slice::from_ref(&bobs.id)
    );
}

/// An agent that takes all callers for one may go on with the task of another.
#[tokio::test]
async fn an_answer_about_another_owners_task_is_refused() {
    let agent = Agent {
        only: Some("only".into()),
        ..Agent::default()
    };
    let gateway = Gateway::new(agent, ProtocolVersion::V1_0);
    send(&gateway, ALICE, message("a", None)).await.unwrap();
    let refused = send(&gateway, BOB, message("b", None)).await;
    assert_eq!(refused, Err(ErrorKind::InvalidAgentResponse));
    let streamed = Request::SendStreamingMessage(message("c", None));
    let Ok(ResponseBody::Stream(mut updates)) = ask(&gateway, BOB, streamed).await else {
        panic!("expected a stream");
    };
    let first = updates.next().await.unwrap();
    assert!(
        matches!(&first, Err(Error::Agent(error)) if error.kind == ErrorKind::InvalidAgentResponse),
        "{first:?}"
    );
    assert_eq!(
        get(&gateway, BOB, &"only".into()).await,
        Err(ErrorKind::TaskNotFound)
    );
}

/// In 0.1 callers name tasks, and two may choose the same name.
#[tokio::test]
async fn tasks_that_two_owners_name_alike_are_two() {
    let agent = Agent::default();
    let gateway = Gateway::new(agent.clone(), ProtocolVersion::V0_1);
    let (alice, bob) = (
        ("alice", ProtocolVersion::V0_1),
        ("bob", ProtocolVersion::V0_1),
    );
    let name = TaskId::from("T");
    for (caller, id) in [(alice, "a"), (bob, "b"), (alice, "c")] {
        let task = send(&gateway, caller, message(id, Some(&name)))
            .await
            .unwrap();
        assert_eq!(task.id, name);
    }
    let requests = agent.requests.lock().unwrap().clone();
    let ids: Vec<_> = requests.iter().map(|request| request.task_id()).collect();
    assert_eq!(ids[0], ids[2]);
    assert_ne!(ids[0], ids[1]);
    assert_eq!(get(&gateway, bob, &name).await.unwrap().id, name);
}

/// A gateway loses its tasks when it ends; after that they belong to no caller.
#[tokio::test]
async fn after_a_restart_tasks_are_absent_until_their_message_comes_again() {
    let agent = Agent::default();
    let before = Gateway::new(agent.clone(), ProtocolVersion::V1_0);
    let task = send(&before, ALICE, message("m", None)).await.unwrap();
    let after = Gateway::new(agent, ProtocolVersion::V1_0);
    for caller in [ALICE, BOB] {
        let absent = get(&after, caller, &task.id).await;
        assert_eq!(absent, Err(ErrorKind::TaskNotFound));
    }
    send(&after, BOB, message("m", None)).await.unwrap();
    assert_eq!(send(&after, ALICE, message("m", None)).await.unwrap(), task);
    assert_eq!(get(&after, ALICE, &task.id).await.unwrap(), task);
    assert_eq!(
        get(&after, BOB, &task.id).await,
        Err(ErrorKind::TaskNotFound)
    );
}

#[tokio::test]
async fn shared_tasks_are_found_by_every_caller_under_the_agents_ids() {
    let agent = Agent::default();
    let gateway = Gateway::new(agent.clone(), ProtocolVersion::V1_0).share_tasks();
    let task = send(&gateway, ALICE, message("m", None)).await.unwrap();
    assert_eq!(agent.last_message().message.message_id.as_str(), "m");
    let again = Gateway::new(agent, ProtocolVersion::V1_0).share_tasks();
    for (gateway, caller) in [(&gateway, BOB), (&again, ALICE), (&again, BOB)] {
        assert_eq!(get(gateway, caller, &task.id).await.unwrap(), task);
    }
}
