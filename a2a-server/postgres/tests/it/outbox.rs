//! Outbox: long backlogs, and notifications that are added while others are taken.

use std::collections::BTreeSet;
use std::time::Duration;

use a2a_postgres::PostgresStore;
use a2a_server::{Append, DeliveryResult, Store};
use a2a_types::{ProtocolVersion, TaskPushNotificationConfig};
use tokio::time::timeout;

use crate::database::{open, shared};
use crate::sample::{LONG, ada, chunk, new};

/// Creates a task with a webhook.
async fn watched(store: &PostgresStore, task: &str) {
    store.create(&ada(), new(task)).await.unwrap();
    let config = TaskPushNotificationConfig {
        id: "w".into(),
        task_id: task.into(),
        url: "https://receiver.example/".into(),
        ..TaskPushNotificationConfig::default()
    };
    let owner = ada();
    let put = store.put_config(&owner, config, ProtocolVersion::V1_0);
    put.await.unwrap();
}

/// Appends an event to the log of a task whose last sequence number is `after`.
async fn notify(store: &PostgresStore, task: &str, after: u64) {
    let mut append = Append::held(after, 1, vec![chunk(task, "x")]);
    append.notify = true;
    store.append(&ada(), &task.into(), append).await.unwrap();
}

/// The database counts the rows that it reads.
#[tokio::test(flavor = "multi_thread")]
async fn backlog_of_a_receiver_that_does_not_answer_is_not_read() {
    let Some(database) = shared() else { return };
    let store = open(&database.options().schema("backlog")).await;
    watched(&store, "dead").await;
    notify(&store, "dead", 1).await;
    let dead = store.notifications(10, LONG).await.unwrap();
    let later = DeliveryResult::Retry(LONG);
    store.record_delivery(&dead[0], later).await.unwrap();
    database.psql(
        "insert into backlog.push_outbox(task, config, sequence)
           select task, config, n from backlog.push_config, generate_series(3, 20000) n;
         analyze backlog.push_outbox",
    );
    watched(&store, "live").await;
    notify(&store, "live", 1).await;
    let statistics =
        "from pg_stat_user_tables where schemaname = 'backlog' and relname = 'push_outbox'";
    // The database counts a while after a statement.
    let counted = async |updates: i64| {
        let counted = format!("select n_tup_upd >= {updates} {statistics}");
        database.until(&counted).await;
    };
    let read = || {
        let rows = database.psql(&format!("select seq_tup_read + idx_tup_fetch {statistics}"));
        rows.parse::<i64>().unwrap()
    };
    counted(2).await;
    let before = read();
    let live = store.notifications(10, LONG).await.unwrap();
    assert_eq!(live.len(), 1);
    assert_eq!(live[0].config.task_id.as_str(), "live");
    counted(3).await;
    let rows = read() - before;
    assert!(rows < 100, "{rows} rows were read");
}

/// Each notification is added while the one before is settled, and the webhook is found to have no more.
#[tokio::test(flavor = "multi_thread")]
async fn no_notification_is_forgotten_that_is_added_while_others_are_taken() {
    let Some(database) = shared() else { return };
    let options = database.options().schema("added");
    let (one, other) = (open(&options).await, open(&options).await);
    let tasks = ["a", "b", "c", "d"];
    for task in tasks {
        watched(&one, task).await;
    }
    let (delivered, mut outcomes) = tokio::sync::mpsc::unbounded_channel();
    let mut workers = tokio::task::JoinSet::new();
    for store in [one.clone(), other] {
        let delivered = delivered.clone();
        workers.spawn(async move {
            loop {
                for notification in store.notifications(2, LONG).await.unwrap() {
                    let settled = store.record_delivery(&notification, DeliveryResult::Delivered);
                    settled.await.unwrap();
                    let task = notification.config.task_id.to_string();
                    delivered.send((task, notification.sequence)).unwrap();
                }
            }
        });
    }
    for task in tasks {
        let store = one.clone();
        workers.spawn(async move {
            for after in 1..=EVENTS {
                notify(&store, task, after).await;
            }
            std::future::pending::<()>().await;
        });
    }
    let expected = tasks.len() as u64 * EVENTS;
    let mut found = BTreeSet::new();
    while (found.len() as u64) < expected {
        let next = timeout(Duration::from_secs(20), outcomes.recv()).await;
        let next = next.expect("all are delivered").unwrap();
        assert!(found.insert(next), "one was delivered twice");
    }
}

const EVENTS: u64 = 300;
