//! Tests for false positives: an agent is not blamed for tasks that others began, nor for answers to requests that
//! are malformed on purpose.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use a2a_client::credentials::Keyring;
use a2a_client::{Client, StreamExt};
use a2a_transport::Binding;
use a2a_types::{Message, ProtocolVersion, TaskState};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::interceptor::{InterceptedRequest, Interceptor};
use super::memory::lock;
use super::proof::options;
use super::running_agent::{AgentSubject, RunningAgent};
use super::wire_mutation::json_document::each;
use a2a_conformance::agent::{Options, Selection, invariants, run};
use a2a_conformance::catalogue::agent_cases;
use a2a_conformance::record::{Run, Verdict};

/// Checks that only see what holds in every exchange.
fn only_invariants() -> BTreeSet<&'static str> {
    let cases = agent_cases().unwrap();
    let is_case = |id: &str| cases.iter().any(|case| case.id == id);
    invariants()
        .map(|(id, ..)| id)
        .filter(|id| !is_case(id))
        .collect()
}

/// The invariants that a run holds against the agent, for people.
fn broken_invariants(run: &Run) -> Vec<String> {
    let invariants = only_invariants();
    let broken_invariants = run
        .checks
        .iter()
        .filter(|result| invariants.contains(result.id.as_str()) && !result.mismatches.is_empty());
    let lines =
        broken_invariants.map(|result| format!("{} {:#?}", result.column(), result.mismatches));
    lines.collect()
}

fn is_failed_check(run: &Run, check: &str) -> bool {
    let mut results = run.checks.iter();
    results.any(|result| result.id == check && result.verdict.is_met())
}

fn of_1_0(stand: &RunningAgent, checks: &[&str]) -> Options {
    Options {
        protocol_versions: vec![ProtocolVersion::V1_0],
        selection: Selection {
            run: checks.iter().map(|&check| check.to_owned()).collect(),
            ..Selection::default()
        },
        ..options(stand, &AgentSubject::Reference)
    }
}

/// Lists the tasks of others in a form that breaks what holds for every task.
#[derive(Debug, Default)]
struct OldTasks {
    of_others: Mutex<BTreeSet<String>>,
    listed: Mutex<BTreeSet<String>>,
}

impl Interceptor for OldTasks {
    fn answer(&self, _: &InterceptedRequest, answer: &mut Response<Bytes>) {
        let Ok(mut json) = serde_json::from_slice::<Value>(answer.body()) else {
            return;
        };
        each(&mut json, &mut |thing| {
            let id = thing.get("id").and_then(Value::as_str).unwrap_or_default();
            if !lock(&self.of_others).contains(id) || !thing.contains_key("status") {
                return;
            }
            lock(&self.listed).insert(id.to_owned());
            thing["status"]["timestamp"] = json!("2026-01-01T00:00:00+02:00");
            let message =
                json!({"messageId": "one", "role": "ROLE_USER", "parts": [], "taskId": "none"});
            thing["status"]["message"] = message.clone();
            thing.insert("history".to_owned(), json!([message, message]));
            thing.insert(
                "artifacts".to_owned(),
                json!([{"artifactId": "", "parts": [{"raw": "?"}]}]),
            );
        });
        *answer.body_mut() = json.to_string().into();
    }
}

/// Begins a task in each state that a task can be in, and returns their ids.
async fn tasks_of_another(url: &str) -> BTreeSet<String> {
    let client = Client::builder(url)
        .protocol_version(ProtocolVersion::V1_0)
        .binding(Binding::JsonRpc);
    let client = client.keyring(Keyring::default().bearer("first"));
    let client = client.connect().await.unwrap();
    let (mut ids, mut states) = (BTreeSet::new(), BTreeSet::new());
    for text in [
        "echo a",
        "chunks 3",
        "ask what?",
        "auth what?",
        "fail no",
        "reject no",
        "crash",
    ] {
        let mut updates = client.send(Message::user(text)).follow();
        while let Some(update) = updates.next().await {
            update.unwrap();
            let state = updates.task().map(|task| task.status.state);
            if state.is_some_and(TaskState::is_settled) {
                break;
            }
        }
        let task = updates.task().unwrap();
        ids.insert(task.id.to_string());
        states.insert(task.status.state.as_str().to_owned());
    }
    for cancels in [true, false] {
        let mut updates = client.send(Message::user("wait")).follow();
        updates.next().await.unwrap().unwrap();
        let id = updates.task().unwrap().id.clone();
        ids.insert(id.to_string());
        let state = match cancels {
            true => client.cancel_task(id).await.unwrap().status.state,
            false => TaskState::Working,
        };
        states.insert(state.as_str().to_owned());
    }
    assert_eq!(states.len(), 7, "{states:?}");
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_that_others_began_are_not_held_against_an_agent() {
    let old = Arc::new(OldTasks::default());
    let wire = Arc::clone(&old) as Arc<dyn Interceptor>;
    let stand = RunningAgent::behind(wire, &AgentSubject::Reference)
        .await
        .unwrap();
    let ids = tasks_of_another(&stand.url).await;
    *lock(&old.of_others) = ids.clone();
    let run = run(&of_1_0(&stand, &["list.*", "task.*", "send.t*"]), |_, _| {})
        .await
        .unwrap();
    assert_eq!(broken_invariants(&run), [""; 0]);
    assert_eq!(*lock(&old.listed), ids, "the suite saw each of them");
    for check in [
        "task.shape",
        "list.sorted",
        "list.artifacts",
        "list.filters",
    ] {
        assert!(is_failed_check(&run, check), "{check}");
    }
}

/// Answers requests that are broken as only a careless server does: with a page, or a result of its own.
#[derive(Debug)]
struct Careless {
    page: bool,
    broken: Mutex<usize>,
}

fn is_broken(request: &InterceptedRequest) -> bool {
    let Some(json) = &request.json else {
        return true;
    };
    let method = json["method"].as_str().and_then(ProtocolVersion::of_method);
    let message = &json["params"]["message"];
    let is_message = ["messageId", "role"]
        .iter()
        .all(|name| message[name].is_string())
        && message["parts"]
            .as_array()
            .is_some_and(|parts| parts.iter().all(Value::is_object));
    let sends = method
        .as_ref()
        .is_some_and(|method| method.operation.name().ends_with("Message"));
    json["jsonrpc"] != "2.0" || method.is_none() || sends && !is_message
}

impl Interceptor for Careless {
    fn instead(&self, request: &InterceptedRequest) -> Option<Response<Bytes>> {
        if request.method != http::Method::POST || !is_broken(request) {
            return None;
        }
        *lock(&self.broken) += 1;
        let task = json!({"id": 7, "state": "odd", "kind": "task", "status": {"state": 7}});
        let (status, kind, body) = match self.page {
            true => (
                StatusCode::BAD_GATEWAY,
                "text/html",
                "<h1>no</h1>".to_owned(),
            ),
            false => (
                StatusCode::IM_A_TEAPOT,
                "text/plain",
                json!({"result": task}).to_string(),
            ),
        };
        let mut answer = Response::new(Bytes::from(body));
        *answer.status_mut() = status;
        answer
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        Some(answer)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_to_broken_requests_are_not_held_against_an_agent() {
    for page in [true, false] {
        let wire = Arc::new(Careless {
            page,
            broken: Mutex::new(0),
        });
        let stand = RunningAgent::behind(Arc::clone(&wire) as _, &AgentSubject::Reference);
        let stand = stand.await.unwrap();
        let mut options = of_1_0(&stand, &["rpc.*", "error.*", "send.task-or-message"]);
        options.bindings = vec![Binding::JsonRpc];
        let run = run(&options, |_, _| {}).await.unwrap();
        assert_eq!(broken_invariants(&run), [""; 0], "page: {page}");
        assert!(
            *lock(&wire.broken) > 10,
            "{} requests were broken",
            lock(&wire.broken)
        );
        assert!(is_failed_check(&run, "rpc.envelope") && is_failed_check(&run, "rpc.content-type"));
    }
}

/// Ends every task of several chunks with its first, which is before a caller of four events can follow it.
#[derive(Debug)]
struct ShortTasks;

impl Interceptor for ShortTasks {
    fn question(&self, request: &mut InterceptedRequest) {
        let text = String::from_utf8_lossy(&request.body);
        request.body = text.replace("chunks 8 250", "chunks 1").into();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn task_that_ended_before_it_was_followed_is_not_held_against_an_agent() {
    let stand = RunningAgent::behind(Arc::new(ShortTasks), &AgentSubject::Reference);
    let stand = stand.await.unwrap();
    let mut options = of_1_0(&stand, &["stream.subscribe-goes-on"]);
    options.protocol_versions.clear();
    options.bindings = vec![Binding::JsonRpc, Binding::HttpJson];
    let run = run(&options, |_, _| {}).await.unwrap();
    assert_eq!(run.checks.len(), 6);
    for result in run.checks {
        assert_eq!(result.verdict, Verdict::NotApplicable, "{result:#?}");
        let reason = result.reason.unwrap_or_default();
        assert!(reason.contains("had ended"), "{reason}");
    }
}

/// Records what is passed on, and what is answered.
#[derive(Debug, Default)]
struct LongBodies {
    /// Lengths of the bodies that were read.
    read: Mutex<Vec<usize>>,
    refusals: Mutex<usize>,
}

impl Interceptor for LongBodies {
    fn question(&self, request: &mut InterceptedRequest) {
        lock(&self.read).push(request.body.len());
    }

    fn answer(&self, request: &InterceptedRequest, answer: &mut Response<Bytes>) {
        if request.body.is_empty() && answer.status().is_client_error() {
            *lock(&self.refusals) += 1;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_bodies_are_passed_on_unread() {
    let wire = Arc::new(LongBodies::default());
    let stand = RunningAgent::behind(Arc::clone(&wire) as _, &AgentSubject::Reference);
    let stand = stand.await.unwrap();
    let mut options = of_1_0(&stand, &["send.size-limited"]);
    options.bindings = vec![Binding::JsonRpc];
    let run = run(&options, |_, _| {}).await.unwrap();
    assert!(is_failed_check(&run, "send.size-limited"));
    assert!(lock(&wire.read).iter().all(|length| *length <= 4 << 20));
    assert_eq!(
        *lock(&wire.refusals),
        1,
        "of the agent, not of the interceptor"
    );
}
