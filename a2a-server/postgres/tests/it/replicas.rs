//! Two servers, each with a store of its own on one database.

use std::sync::Arc;
use std::time::Duration;

use a2a_client::{Client, SendMessageResponse};
use a2a_postgres::PostgresOptions;
use a2a_server::{Append, NewTask, Owner, Principal, Recovery, Server, ServerBuilder, Store};
use a2a_types::{Event, Message, Part, ProtocolVersion, Task, TaskId, TaskState};

use crate::database::{LONG_WAIT, open, options};
use crate::worker::{Worker, card, task};

/// Longer than any of these tests takes: none may depend on its expiry.
const LONG: Duration = Duration::from_secs(3600);

async fn builder(worker: &Worker, options: &PostgresOptions) -> ServerBuilder {
    Server::builder(card(), worker.clone())
        .store(open(options).await)
        .lease(LONG)
        .cancel_grace(LONG)
}

/// Returns two servers with an agent each, or `None` without a database.
async fn replicas() -> Option<[(Worker, Client); 2]> {
    // A thousand messages wait for connections.
    let options = options()?.acquire_timeout(LONG_WAIT);
    let mut replicas = Vec::new();
    for _ in 0..2 {
        let worker = Worker::default();
        let server = builder(&worker, &options).await.build().unwrap();
        replicas.push((worker, Client::new(server)));
    }
    replicas.try_into().ok()
}

fn to(task: &Task, text: &str) -> Message {
    Message {
        task_id: Some(task.id.clone()),
        ..Message::user(text)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_messages_that_both_get_are_worked_on_once() {
    let Some([(one, here), (other, there)]) = replicas().await else {
        return;
    };
    let sends = (0..1000).map(|number| {
        let command = if number % 2 == 0 { "echo" } else { "reply" };
        let message = Message::user(format!("{command} {number}"));
        let mut both = [here.clone(), there.clone()];
        // Each server is the first to get half of the messages.
        both.rotate_left(number / 2 % 2);
        tokio::spawn(async move {
            let both = both.map(|client| {
                let message = message.clone();
                tokio::spawn(async move { client.send(message).await.unwrap() })
            });
            let [first, second] = both;
            let (first, second) = (first.await.unwrap(), second.await.unwrap());
            match (&first, &second) {
                (SendMessageResponse::Task(first), SendMessageResponse::Task(second)) => {
                    assert_eq!(first.id, second.id);
                }
                _ => assert_eq!(first, second),
            }
        })
    });
    for send in sends.collect::<Vec<_>>() {
        send.await.unwrap();
    }
    assert_eq!(one.runs() + other.runs(), 1000);
    assert!(one.runs() > 0 && other.runs() > 0, "one has done it all");
}

/// Waits until the message is in the history of its task.
async fn until_stored(client: &Client, message: &Message) {
    let is_stored = async || {
        let id = message.task_id.clone().unwrap();
        let task = client.get_task(id, None).await.unwrap();
        task.history
            .iter()
            .any(|it| it.message_id == message.message_id)
    };
    while !is_stored().await {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_reaches_a_task_that_the_other_works_on() {
    let Some([(one, here), (other, there)]) = replicas().await else {
        return;
    };
    let begun = task(here.send("wait").return_immediately().await.unwrap());
    one.begun.notified().await;
    let sent = to(&begun, "echo more");
    let again = sent.clone();
    let sending = tokio::spawn(async move { there.send(again).await.unwrap() });
    until_stored(&here, &sent).await;
    one.go_on.notify_one();
    let done = task(sending.await.unwrap());
    assert_eq!(done.status.state, TaskState::Completed);
    assert_eq!(done.artifacts.len(), 1);
    assert_eq!((one.runs(), other.runs()), (2, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_canceled_that_the_other_works_on() {
    let Some([(one, here), (_, there)]) = replicas().await else {
        return;
    };
    let begun = task(here.send("wait").return_immediately().await.unwrap());
    one.begun.notified().await;
    let canceled = there.cancel_task(begun.id.clone()).await.unwrap();
    assert_eq!(canceled.status.state, TaskState::Canceled);
    let read = here.get_task(begun.id, None).await.unwrap();
    assert_eq!(read.status.state, TaskState::Canceled);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_one_is_answered_at_the_other() {
    let Some([(one, here), (other, there)]) = replicas().await else {
        return;
    };
    let asked = task(here.send("ask which").await.unwrap());
    assert_eq!(asked.status.state, TaskState::InputRequired);
    let done = task(there.send(to(&asked, "echo this")).await.unwrap());
    assert_eq!(done.status.state, TaskState::Completed);
    assert_eq!(one.runs() + other.runs(), 2);
}

/// The lease of a stopped server is not renewed.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_worked_on_though_the_server_of_its_task_is_gone() {
    let Some(options) = options() else {
        return;
    };
    let store = open(&options).await;
    let owner = Owner::from(Principal::anonymous());
    let mut left = Task::submitted("t".into(), "c".into());
    left.history.push(Message::user("wait first"));
    let term = Duration::from_secs(1);
    let new = NewTask::new(Arc::new(left), ProtocolVersion::V1_0, "gone".into(), term);
    store.create(&owner, new).await.unwrap();
    let worker = Worker::default();
    let server = builder(&worker, &options)
        .await
        .lease(Duration::from_secs(3));
    let client = Client::new(server.recovery(Recovery::Resume).build().unwrap());
    let message = Message {
        task_id: Some("t".into()),
        ..Message::user("echo second")
    };
    let (sender, sent) = (client.clone(), message.clone());
    let sending = tokio::spawn(async move { sender.send(sent).await.unwrap() });
    until_stored(&client, &message).await;
    worker.go_on.notify_one();
    let done = task(sending.await.unwrap());
    assert_eq!(done.status.state, TaskState::Completed);
    assert_eq!(done.artifacts.len(), 1);
}

/// The server that had accepted the messages is gone.
#[tokio::test(flavor = "multi_thread")]
async fn queued_messages_get_their_turns_at_the_server_that_takes_over() {
    let Some(options) = options() else {
        return;
    };
    let store = open(&options).await;
    let owner = Owner::from(Principal::anonymous());
    let mut left = Task::submitted("queue".into(), "c".into());
    left.history.push(Message::user("echo first"));
    let term = Duration::from_secs(1);
    let new = NewTask::new(Arc::new(left), ProtocolVersion::V1_0, "gone".into(), term);
    store.create(&owner, new).await.unwrap();
    let task_id = TaskId::from("queue");
    for (sequence, text) in [(1, "echo second"), (2, "echo third")] {
        let queued = Event::Message(Message::user(text));
        let append = Append::held(sequence, 1, vec![queued]);
        let appended = store.append(&owner, &task_id, append).await.unwrap();
        assert_eq!(appended.messages as u64, sequence + 1);
    }
    let worker = Worker::default();
    let server = builder(&worker, &options)
        .await
        .lease(Duration::from_secs(3));
    let client = Client::new(server.recovery(Recovery::Resume).build().unwrap());
    let completed = async {
        loop {
            let task = client.get_task(task_id.clone(), None).await.unwrap();
            if task.status.state == TaskState::Completed {
                return task;
            }
            tokio::task::yield_now().await;
        }
    };
    let done = tokio::time::timeout(LONG_WAIT, completed).await.unwrap();
    let texts = done.artifacts.iter().flat_map(|it| &it.parts);
    let texts: Vec<_> = texts.filter_map(Part::as_text).collect();
    assert_eq!(texts, ["first", "second", "third"]);
    assert_eq!(worker.runs(), 3);
}
