//! Recovery of tasks whose process has ended.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use a2a_client::{Client, Error, Retries, StreamExt};
use a2a_server::{
    Agent, DeliveryResult, Failure, NewTask, Principal, Recovery, Server, ServerBuilder,
    SqliteStore, Store, TraceContext, Turn,
};
use a2a_types::{
    ErrorKind, Event, Message, Part, ProtocolVersion, SendMessageConfiguration, SendMessageRequest,
    Task, TaskId, TaskPushNotificationConfig, TaskState, TaskStatusUpdateEvent,
};

use tokio::sync::Notify;

use crate::engine::{Worker, card, task, until};
use crate::stores;

fn builder(worker: &Worker, file: &Path) -> ServerBuilder {
    Server::builder(card(), worker.clone()).store(SqliteStore::open(file).unwrap())
}

/// A runtime in place of a process: when it ends, every task in it stops where it is.
fn process<T>(life: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(life)
}

fn at_once(text: &str) -> SendMessageRequest {
    SendMessageRequest {
        message: Message::user(text),
        configuration: Some(SendMessageConfiguration {
            return_immediately: true,
            ..SendMessageConfiguration::default()
        }),
        ..SendMessageRequest::default()
    }
}

/// Begins something, and dies half-way.
fn die_during(file: &Path, text: &str) -> TaskId {
    process(async {
        let worker = Worker::default();
        let client = Client::new(builder(&worker, file).build().unwrap());
        let begun = task(client.send(at_once(text)).await.unwrap());
        worker.begun.notified().await;
        begun.id
    })
}

#[test]
fn an_abandoned_task_has_failed_and_says_so() {
    let file = stores::new_file();
    let id = die_during(&file, "wait");
    process(async {
        let worker = Worker::default();
        let client = Client::new(builder(&worker, &file).build().unwrap());
        let failed = until(&client, &id, TaskState::Failed).await;
        let message = failed.status.message.as_ref().unwrap().text();
        assert!(message.contains("ended before"), "{message}");
        assert_eq!(failed.history.len(), 2, "{failed:?}");
        assert_eq!(worker.runs(), 0);
    });
}

#[test]
fn an_abandoned_task_is_resumed_where_it_was_left() {
    let file = stores::new_file();
    let id = die_during(&file, "remember this");
    process(async {
        let worker = Worker::default();
        let server = builder(&worker, &file).recovery(Recovery::Resume);
        let client = Client::new(server.build().unwrap());
        let done = until(&client, &id, TaskState::Completed).await;
        assert_eq!(done.artifacts[0].parts, [Part::text(r#"{"note":"this"}"#)]);
        assert_eq!(worker.runs(), 1);
    });
}

/// Counts to three, and is killed after two in its first process.
async fn count(turn: Turn, begun: &Notify) -> Result<(), Failure> {
    let (mut numbers, written) = turn.resume_artifact("numbers").await?;
    assert_eq!(turn.resumed().is_some(), !written.is_empty());
    for number in written.lines().count() + 1..=3 {
        if number == 3 && turn.resumed().is_none() {
            begun.notify_one();
            std::future::pending::<()>().await;
        }
        numbers = numbers.text(format!("{number}\n")).send().await?;
    }
    Ok(numbers.complete_task().await?)
}

#[test]
fn a_resumed_turn_goes_on_with_its_artifact() {
    let file = stores::new_file();
    let server = |begun: Arc<Notify>| {
        let agent = move |turn: Turn| {
            let begun = Arc::clone(&begun);
            async move { count(turn, &begun).await }
        };
        let store = SqliteStore::open(&file).unwrap();
        let builder = Server::builder(card(), agent).store(store);
        Client::new(builder.recovery(Recovery::Resume).build().unwrap())
    };
    let id = process(async {
        let begun = Arc::new(Notify::new());
        let sent = server(Arc::clone(&begun))
            .send(at_once("go"))
            .await
            .unwrap();
        begun.notified().await;
        task(sent).id
    });
    process(async {
        let client = server(Arc::default());
        let done = until(&client, &id, TaskState::Completed).await;
        let [numbers] = &*done.artifacts else {
            panic!("expected one artifact: {done:?}");
        };
        assert_eq!(numbers.text(), "1\n2\n3\n");
    });
}

#[test]
fn a_message_to_an_abandoned_task_comes_after_what_becomes_of_it() {
    for recovery in [Recovery::Fail, Recovery::Resume] {
        let file = stores::new_file();
        let id = die_during(&file, "remember until there is more");
        process(async {
            let worker = Worker::default();
            let server = builder(&worker, &file).recovery(recovery);
            let client = Client::new(server.build().unwrap());
            let more = a2a_types::Message {
                task_id: Some(id.clone()),
                ..Message::user("echo more")
            };
            // The server's first request: it has not looked for abandoned tasks yet.
            let answer = client.send(more).await;
            let left = client.get_task(id, None).await.unwrap();
            let parts = left.artifacts.iter().flat_map(|artifact| &artifact.parts);
            let texts: Vec<_> = parts.filter_map(Part::as_text).collect();
            match recovery {
                Recovery::Fail => {
                    assert_kind(answer, ErrorKind::UnsupportedOperation);
                    assert_eq!(left.status.state, TaskState::Failed);
                    assert_eq!((texts, worker.runs()), (vec![], 0));
                }
                _ => {
                    assert_eq!(task(answer.unwrap()).status.state, TaskState::Completed);
                    assert_eq!(texts, [r#"{"note":"until there is more"}"#, "more"]);
                    assert_eq!(worker.runs(), 2);
                }
            }
        });
    }
}

/// Sends a message that waits behind the running turn; returns once it is in the history.
async fn queue(client: &Client, task: &TaskId, text: &str) {
    let mut request = at_once(text);
    request.message.task_id = Some(task.clone());
    client.send(request).await.unwrap();
}

/// Returns the texts of the artifacts, in order.
fn texts(task: &Task) -> Vec<&str> {
    let parts = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
    parts.filter_map(Part::as_text).collect()
}

#[test]
fn queued_messages_get_their_turns_after_a_kill_in_order_and_once() {
    let file = stores::new_file();
    let id = process(async {
        let worker = Worker::default();
        let client = Client::new(builder(&worker, &file).build().unwrap());
        let begun = task(client.send(at_once("remember this")).await.unwrap());
        worker.begun.notified().await;
        for text in ["echo b", "echo c", "remember that", "echo d"] {
            queue(&client, &begun.id, text).await;
        }
        begun.id
    });
    // Dies again in the turn of the third message of the queue.
    process(async {
        let worker = Worker::default();
        let server = builder(&worker, &file).recovery(Recovery::Resume);
        let client = Client::new(server.build().unwrap());
        worker.begun.notified().await;
        let left = client.get_task(id.clone(), None).await.unwrap();
        assert_eq!(texts(&left), [r#"{"note":"this"}"#, "b", "c"]);
        assert_eq!(worker.runs(), 4);
    });
    process(async {
        let worker = Worker::default();
        let server = builder(&worker, &file).recovery(Recovery::Resume);
        let client = Client::new(server.build().unwrap());
        let done = until(&client, &id, TaskState::Completed).await;
        let found = [r#"{"note":"this"}"#, "b", "c", r#"{"note":"that"}"#, "d"];
        assert_eq!(texts(&done), found);
        assert_eq!(worker.runs(), 2);
    });
}

#[test]
fn queued_message_gets_its_turn_though_the_turn_before_has_asked() {
    for recovery in [Recovery::Fail, Recovery::Resume] {
        let file = stores::new_file();
        let id = process(async {
            let worker = Worker::default();
            let client = Client::new(builder(&worker, &file).build().unwrap());
            let begun = task(client.send(at_once("wait and ask")).await.unwrap());
            worker.begun.notified().await;
            queue(&client, &begun.id, "echo b").await;
            worker.go_on.open();
            until(&client, &begun.id, TaskState::InputRequired).await;
            begun.id
        });
        process(async {
            let worker = Worker::default();
            let server = builder(&worker, &file).recovery(recovery);
            let client = Client::new(server.build().unwrap());
            let done = until(&client, &id, TaskState::Completed).await;
            assert_eq!((texts(&done), worker.runs()), (vec!["b"], 1));
        });
    }
}

#[test]
fn failed_task_says_how_many_messages_were_not_worked_on() {
    let file = stores::new_file();
    let id = process(async {
        let worker = Worker::default();
        let client = Client::new(builder(&worker, &file).build().unwrap());
        let begun = task(client.send(at_once("wait")).await.unwrap());
        worker.begun.notified().await;
        for text in ["echo b", "echo c"] {
            queue(&client, &begun.id, text).await;
        }
        begun.id
    });
    process(async {
        let worker = Worker::default();
        let client = Client::new(builder(&worker, &file).build().unwrap());
        let failed = until(&client, &id, TaskState::Failed).await;
        let message = failed.status.message.as_ref().unwrap().text();
        assert!(
            message.ends_with("The last 2 messages were not worked on."),
            "{message}"
        );
        assert_eq!(worker.runs(), 0);
    });
}

#[test]
fn server_that_closes_in_a_turn_leaves_its_queue_to_the_next() {
    let file = stores::new_file();
    let id = process(async {
        let worker = Worker::default();
        let server = builder(&worker, &file).build().unwrap();
        let client = Client::new(server.clone());
        let begun = task(client.send(at_once("remember this")).await.unwrap());
        worker.begun.notified().await;
        for text in ["echo b", "echo c"] {
            queue(&client, &begun.id, text).await;
        }
        server.shutdown(Duration::ZERO).await;
        begun.id
    });
    process(async {
        let worker = Worker::default();
        let server = builder(&worker, &file).recovery(Recovery::Resume);
        let client = Client::new(server.build().unwrap());
        let done = until(&client, &id, TaskState::Completed).await;
        assert_eq!(texts(&done), [r#"{"note":"this"}"#, "b", "c"]);
        assert_eq!(worker.runs(), 3);
    });
}

#[test]
fn resumed_turn_replaces_artifacts_of_the_same_name() {
    let file = stores::new_file();
    let id = die_during(&file, "draft twice");
    process(async {
        let worker = Worker::default();
        let server = builder(&worker, &file).recovery(Recovery::Resume);
        let client = Client::new(server.build().unwrap());
        queue(&client, &id, "echo b").await;
        let done = until(&client, &id, TaskState::Completed).await;
        let names: Vec<_> = done.artifacts.iter().map(|it| it.name.as_deref()).collect();
        assert_eq!(names, [Some("draft"), Some("draft"), Some("echo")]);
        assert_eq!(texts(&done), ["twice", "again", "b"]);
    });
}

#[track_caller]
fn assert_kind<T: std::fmt::Debug>(result: Result<T, Error>, kind: ErrorKind) {
    match result {
        Err(Error::Agent(error)) => assert_eq!(error.kind, kind, "{error}"),
        other => panic!("expected {kind:?}, got {other:?}"),
    }
}

#[test]
fn task_that_waits_for_its_caller_is_left_alone() {
    let file = stores::new_file();
    let id = process(async {
        let client = Client::new(builder(&Worker::default(), &file).build().unwrap());
        task(client.send("ask which").await.unwrap()).id
    });
    process(async {
        let worker = Worker::default();
        let client = Client::new(builder(&worker, &file).build().unwrap());
        // The first request begins the look for abandoned tasks; this one is not among them.
        let other = state_after_echo(&client).await;
        assert_eq!(other, TaskState::Completed);
        let known = client.get_task(id.clone(), None).await.unwrap();
        assert_eq!(known.status.state, TaskState::InputRequired);
        let answer = a2a_types::Message {
            task_id: Some(id),
            ..Message::user("echo this")
        };
        let done = task(client.send(answer).await.unwrap());
        assert_eq!(done.status.state, TaskState::Completed);
    });
}

async fn state_after_echo(client: &Client) -> TaskState {
    task(client.send("echo x").await.unwrap()).status.state
}

#[test]
fn a_follower_goes_on_where_it_was_cut_off() {
    let file = stores::new_file();
    let (id, seen) = process(async {
        let worker = Worker::default();
        let client = Client::new(builder(&worker, &file).build().unwrap());
        let mut updates = client.stream("wait").await.unwrap();
        let first = updates.next().await.unwrap().unwrap();
        let seen = updates.sequence().unwrap();
        (first.task_id().unwrap().clone(), seen)
    });
    process(async {
        let client = Client::new(builder(&Worker::default(), &file).build().unwrap());
        let failed = until(&client, &id, TaskState::Failed).await;
        let mut rest = client.subscribe_after(id, Some(seen)).await.unwrap();
        let mut states = Vec::new();
        while let Some(event) = rest.next().await {
            states.extend(event.unwrap().status().map(|status| status.state));
        }
        assert_eq!(states, [TaskState::Working, TaskState::Failed]);
        assert_eq!(failed.status.state, TaskState::Failed);
    });
}

/// The process that had taken it is gone, and an attempt of unknown outcome does not count. Notifications
/// that were put off stay so, and all of them part of their trace.
#[tokio::test]
async fn a_notification_that_a_process_has_taken_with_it_is_due_again() {
    let file = stores::new_file();
    let owner = Principal::anonymous().into();
    let store = SqliteStore::open(&file).unwrap();
    let webhooks = [
        ("taken", None),
        ("put off", Some(DeliveryResult::Retry(HOUR))),
        ("not tried", Some(DeliveryResult::Deferred(HOUR))),
    ];
    for (id, _) in webhooks {
        let task = Task::submitted(id.into(), "c".into());
        store.create(&owner, watched(task)).await.unwrap();
    }
    let due = store.notifications(10, HOUR).await.unwrap();
    assert_eq!(due.len(), webhooks.len());
    for due in &due {
        let id = due.config.task_id.as_str();
        let settled = webhooks.iter().find(|(known, _)| *known == id);
        if let Some(settlement) = settled.unwrap().1 {
            store.record_delivery(due, settlement).await.unwrap();
        }
    }
    drop(store);

    let store = SqliteStore::open(&file).unwrap();
    let due = store.notifications(10, HOUR).await.unwrap();
    let due: Vec<_> = due
        .iter()
        .map(|due| (due.config.task_id.as_str(), due.attempt, due.trace.clone()))
        .collect();
    assert_eq!(due, vec![("taken", 0, Some(trace()))]);
}

/// A task that has a webhook, and a notification for it.
fn watched(task: Task) -> NewTask {
    let config = TaskPushNotificationConfig {
        id: "w".into(),
        task_id: task.id.clone(),
        url: "https://example.com/".to_owned(),
        ..TaskPushNotificationConfig::default()
    };
    let working = Event::StatusUpdate(TaskStatusUpdateEvent {
        task_id: task.id.clone(),
        context_id: task.context_id.clone(),
        status: TaskState::Working.into(),
        metadata: None,
    });
    let mut new = NewTask::new(task.into(), ProtocolVersion::V1_0, "owner".into(), HOUR);
    new.config = Some(config);
    new.events = vec![working];
    new.notify = true;
    new.trace = Some(trace());
    new
}

fn trace() -> TraceContext {
    TraceContext::new([1; 16], [2; 8], true)
        .unwrap()
        .with_state("a=1,b=2")
}

const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn a_file_belongs_to_one_process() {
    let file = stores::new_file();
    let first = SqliteStore::open(&file).unwrap();
    let second = SqliteStore::open(&file).unwrap_err();
    let cause = std::error::Error::source(&second).unwrap().to_string();
    assert!(cause.contains("in use by another process"), "{cause}");
    drop(first);
    SqliteStore::open(&file).unwrap();
}

#[test]
fn a_file_of_something_else_is_left_alone() {
    let file = stores::new_file();
    std::fs::write(
        &file,
        "this is not a database, and it is longer than the head of one",
    )
    .unwrap();
    SqliteStore::open(&file).unwrap_err();
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept.starts_with("this is not a database"));
}

#[tokio::test]
async fn a_server_that_closes_takes_no_more_and_ends_streams() {
    for builder in crate::engine::builders(&Worker::default()) {
        let server = builder.build().unwrap();
        let client = Client::new(server.clone()).retries(Retries::none());
        let mut updates = client.stream("wait").await.unwrap();
        let first = updates.next().await.unwrap().unwrap();
        server.shutdown(Duration::from_millis(10)).await;
        // It ends without an error, and without a last state that no agent has set.
        let mut states = Vec::new();
        while let Some(event) = updates.next().await {
            states.extend(event.unwrap().status().map(|status| status.state));
        }
        assert!(
            !states.iter().any(|state| state.is_terminal()),
            "{states:?}"
        );
        match client.send("echo x").await {
            Err(Error::Agent(error)) => assert_eq!(error.kind, ErrorKind::Unavailable),
            other => panic!("{other:?}"),
        }
        let id = first.task_id().unwrap().clone();
        let left = client.get_task(id, None).await.unwrap();
        assert!(!left.status.state.is_terminal());
    }
}

#[tokio::test]
async fn a_turn_that_ends_in_time_is_waited_for() {
    let worker = Worker::default();
    for builder in crate::engine::builders(&worker) {
        let server = builder.build().unwrap();
        let client = Client::new(server.clone());
        let waiting = tokio::spawn(async move { client.send("wait").await.unwrap() });
        worker.begun.notified().await;
        let closing = tokio::spawn(async move { server.shutdown(Duration::from_secs(60)).await });
        worker.go_on.open();
        closing.await.unwrap();
        let done = task(waiting.await.unwrap());
        assert_eq!(done.status.state, TaskState::Completed);
    }
}

/// Answers by a message, and works on.
struct Lingering;

impl Agent for Lingering {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        turn.reply(Message::agent("that is all")).await?;
        std::future::pending().await
    }
}

#[test]
fn server_closes_although_its_agent_works_on_after_its_message() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let closed = runtime.block_on(async {
        let server = Server::builder(card(), Lingering).build().unwrap();
        Client::new(server.clone()).send("hello").await.unwrap();
        let closing = server.shutdown(Duration::from_millis(10));
        tokio::time::timeout(Duration::from_secs(30), closing).await
    });
    // A turn that does not end would keep the runtime, too.
    runtime.shutdown_background();
    closed.expect("an end");
}
