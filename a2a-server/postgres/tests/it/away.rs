//! Outages of the database.

use std::time::Duration;

use a2a_client::{Client, Error};
use a2a_server::{Server, Store, StoreError};
use a2a_types::{ErrorKind, TaskState};
use tokio::time::{Instant, timeout};
use tokio_stream::StreamExt;

use crate::database::{Database, open};
use crate::worker::{Worker, card, task};

#[tokio::test(flavor = "multi_thread")]
async fn streams_stay_open_and_senders_are_asked_to_retry() {
    let Some(mut database) = Database::start() else {
        return;
    };
    let options = database.options();
    let worker = Worker::default();
    let server = Server::builder(card(), worker.clone()).store(open(&options).await);
    let client = Client::new(server.build().unwrap());
    let begun = task(client.send("wait").return_immediately().await.unwrap());
    worker.begun.notified().await;
    let mut updates = client.subscribe(begun.id.clone()).await.unwrap();
    updates.next().await.unwrap().unwrap();
    database.stop();
    for _ in 0..3 {
        match timeout(Duration::from_secs(8), client.send("echo x")).await {
            Ok(Err(Error::Agent(error))) => assert_eq!(error.kind, ErrorKind::Unavailable),
            other => panic!("{other:?}"),
        }
    }
    // The turn ends while nothing can be stored.
    worker.go_on.notify_one();
    database.run();
    let back = Instant::now();
    loop {
        match client.send("echo x").await {
            Ok(_) => break,
            Err(Error::Agent(error)) => assert_eq!(error.kind, ErrorKind::Unavailable),
            Err(error) => panic!("{error:?}"),
        }
        assert!(
            back.elapsed() < Duration::from_secs(30),
            "it does not come back"
        );
        tokio::task::yield_now().await;
    }
    println!(
        "served again {:?} after the database was back",
        back.elapsed()
    );
    let ended = async {
        loop {
            let update = updates
                .next()
                .await
                .expect("the stream stays open")
                .unwrap();
            if update
                .status()
                .is_some_and(|it| it.state == TaskState::Completed)
            {
                return;
            }
        }
    };
    timeout(Duration::from_secs(30), ended)
        .await
        .expect("the end of the task");
}

/// Updates that agents make while the database is away are stored when it is back.
#[tokio::test(flavor = "multi_thread")]
async fn turns_wait_for_the_database() {
    let Some(mut database) = Database::start() else {
        return;
    };
    let options = database.options();
    let worker = Worker::default();
    let server = Server::builder(card(), worker.clone()).store(open(&options).await);
    let client = Client::new(server.build().unwrap());
    let sends = ["wait and write", "late x"].map(|text| {
        let client = client.clone();
        tokio::spawn(async move { client.send(text).await })
    });
    for _ in 0..2 {
        worker.begun.notified().await;
    }
    database.stop();
    for _ in 0..2 {
        worker.go_on.notify_one();
        match timeout(Duration::from_secs(8), client.send("echo x")).await {
            Ok(Err(Error::Agent(error))) => assert_eq!(error.kind, ErrorKind::Unavailable),
            other => panic!("{other:?}"),
        }
    }
    database.run();
    for sent in sends {
        let sent = timeout(Duration::from_secs(60), sent).await;
        let done = task(sent.expect("the turn ends").unwrap().unwrap());
        assert_eq!(done.status.state, TaskState::Completed, "{done:?}");
        assert_eq!(done.artifacts.len(), 1);
    }
    assert_eq!(worker.runs(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_method_fails_within_seconds() {
    let Some(mut database) = Database::start() else {
        return;
    };
    let store = open(&database.options()).await;
    database.stop();
    for _ in 0..20 {
        let failed = timeout(Duration::from_secs(8), store.undelivered()).await;
        assert!(
            matches!(failed, Ok(Err(StoreError::Unavailable(_)))),
            "{failed:?}"
        );
    }
}
