//! What is forgotten.

use std::time::Duration;

use a2a_client::{Client, Error};
use a2a_server::{Retention, Server, SqliteStore};
use a2a_types::{ErrorKind, TaskState};

use crate::{Worker, card, stores, task};

/// A server looks after old tasks when its work begins, and then every minute.
#[tokio::test]
async fn an_old_task_is_not_there_any_more() {
    let worker = Worker::default();
    let file = stores::new_file();
    let builder = |store| Server::builder(card(), worker.clone()).store(store);
    let first = Client::new(builder(SqliteStore::open(&file).unwrap()).build().unwrap());
    let done = task(first.send("echo x").await.unwrap());
    let asked = task(first.send("ask which").await.unwrap());
    drop(first);
    let retention = Retention {
        age: Duration::ZERO,
        count: 0,
        ..Retention::default()
    };
    let second = builder(reopened(&file).await).retention(retention);
    let second = Client::new(second.build().unwrap());
    let gone = async {
        loop {
            match second.get_task(done.id.clone(), None).await {
                Ok(_) => tokio::task::yield_now().await,
                Err(error) => return error,
            }
        }
    };
    let patience = Duration::from_secs(20);
    match tokio::time::timeout(patience, gone).await.unwrap() {
        Error::Agent(error) => assert_eq!(error.kind, ErrorKind::TaskNotFound),
        other => panic!("{other:?}"),
    }
    let kept = second.get_task(asked.id, None).await.unwrap();
    assert_eq!(kept.status.state, TaskState::InputRequired);
}

/// Opens a file once the server that had it has let it go.
async fn reopened(file: &std::path::Path) -> SqliteStore {
    let reopened = async {
        loop {
            match SqliteStore::open(file) {
                Ok(store) => return store,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    let patience = Duration::from_secs(20);
    tokio::time::timeout(patience, reopened).await.unwrap()
}
