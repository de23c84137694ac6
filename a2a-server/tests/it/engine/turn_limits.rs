//! More turns than the limits allow.

use std::pin::pin;
use std::time::Duration;

use a2a_client::{Client, Error, Retries, StreamExt};
use a2a_server::{Server, TurnLimits};
use a2a_types::{ErrorKind, Message, TaskState};
use futures_util::poll;

use crate::engine::{Worker, card, task};

fn narrow(worker: &Worker, limits: TurnLimits) -> Client {
    let server = Server::builder(card(), worker.clone()).turns(limits);
    Client::new(server.build().unwrap())
}

#[tokio::test]
async fn one_turn_waits_for_another() {
    let worker = Worker::default();
    let mut limits = TurnLimits::default();
    limits.running = 1;
    let client = narrow(&worker, limits);
    let first = tokio::spawn({
        let client = client.clone();
        async move { client.send("wait").await.unwrap() }
    });
    worker.begun.notified().await;
    let second = tokio::spawn(async move { client.send("echo x").await.unwrap() });
    tokio::task::yield_now().await;
    assert_eq!(worker.runs(), 1);
    worker.go_on.open();
    for send in [first, second] {
        let done = task(send.await.unwrap());
        assert_eq!(done.status.state, TaskState::Completed);
    }
}

#[tokio::test(start_paused = true)]
async fn turns_beyond_the_queue_or_the_queue_timeout_are_refused() {
    let worker = Worker::default();
    let mut limits = TurnLimits::default();
    limits.running = 1;
    limits.waiting = 1;
    limits.patience = Duration::from_secs(10);
    let client = narrow(&worker, limits);
    let first = tokio::spawn({
        let client = client.clone();
        async move { client.send("wait").await.unwrap() }
    });
    worker.begun.notified().await;
    let begun = tokio::time::Instant::now();
    let (second, third) = tokio::join!(client.send("echo x"), client.send("echo y"));
    for refused in [second, third] {
        match refused {
            Err(Error::Agent(error)) => {
                assert_eq!(error.kind, ErrorKind::Unavailable);
                assert!(error.message.contains("busy"), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(begun.elapsed() >= limits.patience);
    assert_eq!(worker.runs(), 1);
    worker.go_on.open();
    first.await.unwrap();
}

/// A timeout of `Duration::MAX` means no timeout.
#[tokio::test]
async fn unlimited_timeouts_are_accepted() {
    let server = Server::builder(card(), Worker::default())
        .blocking_timeout(Duration::MAX)
        .first_event_timeout(Duration::MAX)
        .idempotency_window(Duration::MAX)
        .lease(Duration::MAX);
    let client = Client::new(server.build().unwrap());
    let done = task(client.send("echo x").await.unwrap());
    assert_eq!(done.status.state, TaskState::Completed);
    let mut updates = client.send("echo y").follow();
    let first = updates.next().await.unwrap();
    assert!(first.is_ok(), "{first:?}");
}

/// A message that waits for room when the server closes is refused: nothing would stop its turn.
#[tokio::test(start_paused = true)]
async fn a_queued_message_is_refused_at_shutdown() {
    let worker = Worker::default();
    let mut limits = TurnLimits::default();
    limits.running = 1;
    limits.patience = Duration::from_secs(3600);
    let server = Server::builder(card(), worker.clone()).turns(limits);
    let server = server.build().unwrap();
    let client = Client::new(server.clone()).retries(Retries::none());
    let asked = task(client.send("ask which").await.unwrap());
    let mut running = pin!(client.send("wait").into_future());
    assert!(poll!(&mut running).is_pending());
    worker.begun.notified().await;
    let answer = Message {
        task_id: Some(asked.id.clone()),
        ..Message::user("wait")
    };
    let mut waiting = pin!(client.send("wait").into_future());
    let mut answering = pin!(client.send(answer).into_future());
    assert!(poll!(&mut waiting).is_pending());
    assert!(poll!(&mut answering).is_pending());
    let closed = server.shutdown(Duration::from_secs(1));
    let closed = tokio::time::timeout(Duration::from_secs(60), closed);
    let (closed, waited, answered) = tokio::join!(closed, waiting, answering);
    closed.expect("an end");
    for refused in [waited, answered] {
        match refused {
            Err(Error::Agent(error)) => {
                assert_eq!(error.kind, ErrorKind::Unavailable);
                assert!(error.message.contains("shutting down"), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(worker.runs(), 2);
}

/// The messages that turns answer, or that wait for one, have a bound in bytes together.
#[tokio::test]
async fn messages_beyond_the_bytes_for_turns_are_refused_until_one_is_answered() {
    let worker = Worker::default();
    let mut limits = TurnLimits::default();
    limits.message_bytes = 64 << 10;
    let client = narrow(&worker, limits).retries(Retries::none());
    let large = |command: &str| format!("{command} {}", "x".repeat(40 << 10));
    let first = tokio::spawn({
        let (client, message) = (client.clone(), large("wait"));
        async move { client.send(message).await.unwrap() }
    });
    worker.begun.notified().await;
    match client.send(large("echo")).await {
        Err(Error::Agent(error)) => {
            assert_eq!(error.kind, ErrorKind::Unavailable);
            assert!(error.message.contains("bytes"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    let small = task(client.send("echo x").await.unwrap());
    assert_eq!(small.status.state, TaskState::Completed);
    worker.go_on.open();
    first.await.unwrap();
    let done = task(client.send(large("echo")).await.unwrap());
    assert_eq!(done.status.state, TaskState::Completed);
}
