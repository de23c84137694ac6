//! Questions of an agent that a test plays: without timestamps, which are optional.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a_client::Client;
use a2a_mcp::Bridge;
use a2a_transport::{BoxFuture, CallRequest, CallResponse, Error, Transport, Update};
use a2a_types::{
    AgentCard, Event, Message, Request, Response, SendMessageResponse, Task, TaskState, TaskStatus,
};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::editor::{Editor, LIMIT, everything, text};

/// Agent with one task, whose states the test tells.
struct ScriptedAgent {
    task: Mutex<Task>,
    told: broadcast::Sender<Task>,
    messages: AtomicUsize,
    /// Ends each stream after the current state.
    ends_early: bool,
}

impl ScriptedAgent {
    fn start(ends_early: bool, state: TaskState, text: &str) -> Arc<Self> {
        let agent = Self {
            task: Mutex::new(task(state, text)),
            told: broadcast::channel(8).0,
            messages: AtomicUsize::new(0),
            ends_early,
        };
        Arc::new(agent)
    }

    fn tell(&self, state: TaskState, text: &str) {
        let task = task(state, text);
        *self.task.lock().unwrap() = task.clone();
        // An error says that the task is not followed.
        let _ = self.told.send(task);
    }

    /// Waits until the task is followed.
    async fn is_followed(&self) {
        let followed = async {
            while self.told.receiver_count() == 0 {
                tokio::task::yield_now().await;
            }
        };
        let followed = tokio::time::timeout(LIMIT, followed).await;
        followed.expect("the task is followed");
    }

    fn stream(&self) -> CallResponse {
        let told = self.told.subscribe();
        let now = stream::iter([self.task.lock().unwrap().clone()]);
        let later = stream::unfold(told, async |mut told| Some((told.recv().await.ok()?, told)));
        let tasks = match self.ends_early {
            true => now.left_stream(),
            false => now.chain(later).right_stream(),
        };
        CallResponse::stream(tasks.map(|task| Ok(Update::new(Event::Task(task), None))))
    }
}

impl Transport for ScriptedAgent {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        let task = self.task.lock().unwrap().clone();
        let response = match call.request {
            Request::SendStreamingMessage(_) => {
                self.messages.fetch_add(1, Ordering::SeqCst);
                self.stream()
            }
            Request::SendMessage(_) => {
                self.messages.fetch_add(1, Ordering::SeqCst);
                CallResponse::once(Response::SendMessage(SendMessageResponse::Task(task)))
            }
            Request::SubscribeToTask(_) => self.stream(),
            _ => CallResponse::once(Response::GetTask(task)),
        };
        Box::pin(std::future::ready(Ok(response)))
    }
}

fn task(state: TaskState, text: &str) -> Task {
    let mut status = TaskStatus::from(state);
    status.message = Some(Message::agent(text).into());
    Task {
        id: "t".into(),
        context_id: Some("c".into()),
        status,
        ..Task::default()
    }
}

/// Starts an editor with the agent.
fn editor(agent: &Arc<ScriptedAgent>, capabilities: Value) -> Editor {
    let mut card = AgentCard::new("Scripted", "Does what a test tells");
    card.capabilities.streaming = Some(true);
    let client = Client::with_card(Arc::clone(agent), card.into());
    let bridge = Bridge::builder().agent("agent", move || {
        let client = client.clone();
        async move { Ok(client) }
    });
    Editor::start(bridge.grace(Duration::from_millis(20)), capabilities)
}

fn call() -> Value {
    json!({"name": "scripted_main", "arguments": {"message": "begin"}})
}

/// Returns the key of the question that a result asks.
#[track_caller]
fn key(result: &Value) -> String {
    let requests = result["inputRequests"].as_object();
    let requests = requests.unwrap_or_else(|| panic!("no question: {result}"));
    requests.keys().next().unwrap().clone()
}

#[tokio::test]
async fn an_answer_is_sent_once_and_the_question_may_be_asked_again() {
    let agent = ScriptedAgent::start(false, TaskState::Working, "thinking");
    let mut editor = editor(&agent, everything());
    let begun = editor.request("tools/call", call()).await;
    let id = json!({"taskId": begun["result"]["taskId"]});
    agent.tell(TaskState::InputRequired, "Go on?");
    let state = editor.request("tasks/get", id.clone()).await;
    let key = key(&state["result"]);

    let answer = json!({"action": "accept", "content": {"answer": "yes"}});
    let mut update = id.clone();
    update["inputResponses"] = json!({key: answer});
    // The agent holds the answer back, so that the task still has the question.
    for _ in 0..2 {
        let updated = editor.request("tasks/update", update.clone()).await;
        assert!(updated.get("result").is_some(), "{updated}");
        assert_eq!(agent.messages.load(Ordering::SeqCst), 2);
    }

    let asked = editor.begin("tasks/get", id).await;
    agent.is_followed().await;
    agent.tell(TaskState::Working, "thinking");
    agent.tell(TaskState::InputRequired, "Go on?");
    let state = editor.end(asked).await;
    assert_eq!(state["result"]["status"], "input_required", "{state}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_a_login_is_told_as_progress() {
    let page = "Log in at https://login.example/x.";
    let agent = ScriptedAgent::start(true, TaskState::AuthRequired, page);
    let mut editor = editor(&agent, json!({"elicitation": {"url": {}}}));
    let asked = editor.request("tools/call", call()).await;
    let mut call = call();
    call["inputResponses"] = json!({key(&asked["result"]): {"action": "accept"}});
    call["requestState"] = asked["result"]["requestState"].clone();
    call["_meta"] = json!({"progressToken": "p"});
    let called = editor.begin("tools/call", call).await;
    let told = editor.receive().await;
    assert_eq!(told["params"]["progressToken"], "p", "{told}");
    agent.tell(TaskState::Completed, "welcome");
    let result = editor.end(called).await;
    assert!(text(&result["result"]).starts_with("welcome"), "{result}");
}
