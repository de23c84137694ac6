//! Retention of tasks and messages.

use std::time::Duration;

use a2a_client::{Client, Error};
use a2a_server::{BuildError, Retention, Server, SqliteStore};
use a2a_types::{ErrorKind, Message, TaskId, TaskState};

use crate::engine::{Worker, builders, card, task};
use crate::stores;
use crate::waiting::{eventually, reopened};

/// A server looks after old tasks when its work begins, and then all the time.
#[tokio::test]
async fn an_old_task_is_not_there_any_more() {
    let worker = Worker::default();
    let file = stores::new_file();
    let builder = |store| Server::builder(card(), worker.clone()).store(store);
    let first = Client::new(builder(SqliteStore::open(&file).unwrap()).build().unwrap());
    let done = task(first.send("echo x").await.unwrap());
    let asked = task(first.send("ask which").await.unwrap());
    drop(first);
    let mut retention = Retention::default();
    retention.age = Duration::from_millis(1);
    let second = builder(reopened(&file).await).retention(retention);
    let second = Client::new(second.build().unwrap());
    gone(&second, &done.id).await;
    let kept = second.get_task(asked.id, None).await.unwrap();
    assert_eq!(kept.status.state, TaskState::InputRequired);
}

/// A message begins nothing twice, though its outcome is not known any more; its sender gets that error,
/// and not one about a missing task that it does not name.
#[tokio::test]
async fn a_message_whose_task_is_gone_is_not_taken_again() {
    let worker = Worker::default();
    let mut retention = Retention::default();
    retention.count = 1;
    for builder in builders(&worker) {
        let client = Client::new(builder.retention(retention).build().unwrap());
        let message = Message::user("echo x");
        let done = task(client.send(message.clone()).await.unwrap());
        client.send("echo the next").await.unwrap();
        gone(&client, &done.id).await;
        let before = worker.runs();
        let again = [
            client.send(message.clone()).await.map(drop),
            client.stream(message).await.map(drop),
        ];
        for refused in again {
            match refused {
                Err(Error::Agent(error)) => {
                    assert_eq!(error.kind, ErrorKind::InvalidParams);
                    assert!(error.message.contains(done.id.as_str()), "{error}");
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(worker.runs(), before);
    }
}

/// A task could be gone before its sender has the answer.
#[tokio::test]
async fn a_server_that_would_keep_no_task_is_not_built() {
    let worker = Worker::default();
    let refused = |change: fn(&mut Retention)| {
        let mut retention = Retention::default();
        change(&mut retention);
        let builder = Server::builder(card(), worker.clone());
        builder.retention(retention).build().err()
    };
    let zero = |name| Some(BuildError::NoRetention(name));
    assert_eq!(refused(|it| it.count = 0), zero("count"));
    assert_eq!(refused(|it| it.age = Duration::ZERO), zero("age"));
    assert_eq!(refused(|it| it.patience = Duration::ZERO), zero("patience"));
    assert_eq!(refused(|it| it.count = 1), None);
}

/// Waits until a task is not there any more.
async fn gone(client: &Client, task: &TaskId) {
    match eventually(async || client.get_task(task.clone(), None).await.err()).await {
        Error::Agent(error) => assert_eq!(error.kind, ErrorKind::TaskNotFound),
        other => panic!("{other:?}"),
    }
}
