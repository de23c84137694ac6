//! Limits of a store, and room that removed tasks make.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use a2a_server::{
    Append, DeliveryResult, IdempotencyKey, ListQuery, MemoryStore, NewTask, Outcome, Owner,
    Principal, Retention, SqliteOptions, SqliteStore, Store, StoreError,
};
use a2a_types::{
    AuthenticationInfo, Event, Message, ProtocolVersion, Task, TaskPushNotificationConfig,
    TaskState, TaskStatusUpdateEvent,
};
use rusqlite::Connection;

use crate::stores;

#[tokio::test]
async fn webhooks_are_counted_in_memory() {
    let store = MemoryStore::with_capacity(1000, MIB);
    let mut kept = 0;
    let refused = loop {
        let (task, place) = (format!("{}", kept / 16), kept % 16);
        if place == 0 {
            store.create(&ada(), new(&task)).await.unwrap();
        }
        let config = webhook(&task, &place.to_string(), 60 << 10);
        match store
            .put_config(&ada(), config, ProtocolVersion::V1_0)
            .await
        {
            Ok(()) => kept += 1,
            Err(refused) => break refused,
        }
    };
    assert!(matches!(refused, StoreError::Full), "{refused:?}");
    assert_eq!(kept, 16);
    // There is room for a replacement, and after a deletion.
    let moved = webhook("0", "3", 60 << 10);
    let other = webhook("1", "x", 60 << 10);
    store
        .put_config(&ada(), moved, ProtocolVersion::V1_0)
        .await
        .unwrap();
    let (ada, task, config) = (ada(), "0".into(), "4".into());
    store.delete_config(&ada, &task, &config).await.unwrap();
    store
        .put_config(&ada, other, ProtocolVersion::V1_0)
        .await
        .unwrap();
    // Ended tasks go with their webhooks.
    let end = Append::held(1, 1, vec![status("0", TaskState::Completed)]);
    store.append(&ada, &task, end).await.unwrap();
    let large = webhook("1", "y", 60 << 10);
    store
        .put_config(&ada, large, ProtocolVersion::V1_0)
        .await
        .unwrap();
    assert!(store.snapshot(&ada, &task).await.unwrap().is_none());
}

/// Large tasks that are not among the recent ones are read from the file one after another, each when the one
/// before is not used any more.
#[tokio::test]
async fn large_tasks_in_a_file_are_read_one_after_another() {
    let path = stores::new_file();
    let store = SqliteStore::open(&path).unwrap();
    for id in ["0", "1"] {
        let mut new = new(id);
        let task = Arc::make_mut(&mut new.task);
        task.history = vec![Message::user("x".repeat(40 << 20))];
        store.create(&ada(), new).await.unwrap();
    }
    drop(store);
    let store = SqliteStore::open(&path).unwrap();
    let (ada, id) = (ada(), "0".into());
    let listing = || ListQuery::new(2);
    let page = store.list(&ada, listing()).await.unwrap();
    assert_eq!((page.tasks.len(), page.total, page.more), (1, 2, true));
    tokio::time::pause();
    let other = store.list(&ada, listing()).await;
    assert!(matches!(other, Err(StoreError::Busy)), "{other:?}");
    let task = store.snapshot(&ada, &id).await;
    assert!(matches!(task, Err(StoreError::Busy)), "{task:?}");
    drop(page);
    let task = store.snapshot(&ada, &id).await.unwrap();
    let other = store.list(&ada, listing()).await;
    assert!(matches!(other, Err(StoreError::Busy)), "{other:?}");
    drop(task);
    assert!(store.list(&ada, listing()).await.is_ok());
}

#[tokio::test]
async fn notifications_are_counted_in_memory() {
    let store = MemoryStore::with_capacity(1000, MIB);
    store.create(&ada(), new("t")).await.unwrap();
    for place in 0..16 {
        let config = webhook("t", &place.to_string(), 0);
        store
            .put_config(&ada(), config, ProtocolVersion::V1_0)
            .await
            .unwrap();
    }
    let append_after = |after| {
        let mut append = Append::held(after, 1, vec![status("t", TaskState::Working)]);
        append.notify = true;
        append
    };
    let mut sequence = 1;
    let refused = loop {
        match store
            .append(&ada(), &"t".into(), append_after(sequence))
            .await
        {
            Ok(appended) => sequence = appended.sequence,
            Err(refused) => break refused,
        }
    };
    assert!(matches!(refused, StoreError::Full), "{refused:?}");
    // An event of 256 bytes, and sixteen notifications of as many.
    assert!((200..260).contains(&sequence), "{sequence}");
    for due in store.notifications(100, Duration::ZERO).await.unwrap() {
        store
            .record_delivery(&due, DeliveryResult::Delivered)
            .await
            .unwrap();
    }
    let appended = store
        .append(&ada(), &"t".into(), append_after(sequence))
        .await;
    appended.unwrap();
}

#[tokio::test]
async fn names_of_owners_are_counted_in_memory() {
    let store = MemoryStore::with_capacity(1000, MIB);
    let owner = |number: usize| {
        Owner::new(Some(format!("{number} {}", "x".repeat(64 << 10)).into()))
            .tenant(Some("y".repeat(64 << 10).into()))
    };
    for number in 0..7 {
        store.create(&owner(number), new("t")).await.unwrap();
    }
    let refused = store.create(&owner(7), new("t")).await;
    assert!(matches!(refused, Err(StoreError::Full)), "{refused:?}");
}

#[tokio::test]
async fn the_oldest_receipts_are_evicted_for_new_ones() {
    let file = stores::new_file();
    let mut options = SqliteOptions::default();
    options.receipts = 50;
    let open = |options| SqliteStore::open_with(&file, options).unwrap();
    let store = open(options);
    let answer = |number: usize| (receipt(number), Message::agent(number.to_string()));
    for number in 0..200 {
        let (receipt, answer) = answer(number);
        store.store_response(&ada(), receipt, answer).await.unwrap();
    }
    assert_eq!(
        remembered(&store, 200).await,
        (150..200).collect::<Vec<_>>()
    );
    assert_eq!(rows(&file, "send_dedupe"), 50);
    drop(store);

    // They are found again, whatever the limit was, and a smaller one is kept from then on.
    options.receipts = 10;
    let store = open(options);
    assert_eq!(
        remembered(&store, 200).await,
        (150..200).collect::<Vec<_>>()
    );
    let (again, text) = answer(199);
    let refused = store.store_response(&ada(), again, text).await;
    assert!(
        matches!(refused, Err(StoreError::DuplicateMessage)),
        "{refused:?}"
    );
    store.sweep(Retention::default()).await.unwrap();
    assert_eq!(
        remembered(&store, 200).await,
        (190..200).collect::<Vec<_>>()
    );
    let (forgotten, text) = answer(0);
    store.store_response(&ada(), forgotten, text).await.unwrap();
    assert_eq!(remembered(&store, 1).await, [0]);
    assert_eq!(rows(&file, "send_dedupe"), 10);
}

/// The numbers of the messages that the store remembers.
async fn remembered(store: &SqliteStore, count: usize) -> Vec<usize> {
    let mut known = Vec::new();
    for number in 0..count {
        let name = number.to_string();
        let received = store.received(&ada(), &name.as_str().into()).await.unwrap();
        let Some(received) = received else { continue };
        match received.outcome {
            Outcome::Message(answer) => assert_eq!(answer.text(), name),
            other => panic!("{other:?}"),
        }
        known.push(number);
    }
    known
}

#[tokio::test]
async fn pages_of_what_is_gone_are_used_again_and_given_back() {
    let file = stores::new_file();
    let store = SqliteStore::open(&file).unwrap();
    let fill = async |round: usize| {
        let tasks = (0..2000).map(|number| {
            let store = &store;
            async move {
                let new = ended(&format!("{round} {number}"), 1000);
                store.create(&ada(), new).await.unwrap();
            }
        });
        futures_util::future::join_all(tasks).await;
        (pages(&file), free_pages(&file))
    };
    let keep = |count| {
        let mut retention = Retention::default();
        retention.count = count;
        retention
    };
    let (filled, free) = fill(0).await;
    let held = bytes(&file);
    let used = (filled - free) * 4096;
    assert!(used < 2 * held, "{used} bytes hold {held}");
    assert_eq!(store.sweep(keep(1000)).await.unwrap(), 1000);
    for round in 1..4 {
        let (pages, _) = fill(round).await;
        // The file still has a thousand tasks in addition to the two thousand.
        assert!(pages < 2 * filled, "round {round}: {pages} after {filled}");
        assert_eq!(store.sweep(keep(1000)).await.unwrap(), 2000);
    }
    assert_eq!(store.sweep(keep(0)).await.unwrap(), 1000);
    assert!(free_pages(&file) <= 1024, "{}", free_pages(&file));
}

fn bytes(file: &Path) -> i64 {
    number(file, "select sum(length(body)) from task_event")
}

fn pages(file: &Path) -> i64 {
    number(file, "pragma page_count")
}

fn free_pages(file: &Path) -> i64 {
    number(file, "pragma freelist_count")
}

pub(super) fn rows(file: &Path, table: &str) -> i64 {
    number(file, &format!("select count(*) from {table}"))
}

pub(super) fn number(file: &Path, sql: &str) -> i64 {
    let connection = Connection::open(file).unwrap();
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

pub(super) fn ada() -> Owner {
    Principal::named("ada").into()
}

pub(super) fn new(id: &str) -> NewTask {
    NewTask::new(
        Task::submitted(id.into(), "c".into()).into(),
        ProtocolVersion::V1_0,
        "h".into(),
        HOUR,
    )
}

/// Returns an ended task with a message of `bytes` bytes.
fn ended(id: &str, bytes: usize) -> NewTask {
    let mut task = Task::submitted(id.into(), "c".into());
    task.history.push(Message::user("x".repeat(bytes)));
    let mut new = new(id);
    new.task = task.into();
    new.events = vec![status(id, TaskState::Completed)];
    new.release = true;
    new
}

pub(super) fn status(task: &str, state: TaskState) -> Event {
    Event::StatusUpdate(TaskStatusUpdateEvent {
        task_id: task.into(),
        context_id: Some("c".into()),
        status: state.into(),
        metadata: None,
    })
}

fn receipt(number: usize) -> IdempotencyKey {
    IdempotencyKey::new(number.to_string().into(), [7; 32], HOUR)
}

/// Returns a webhook whose credentials have `bytes` bytes.
pub(super) fn webhook(task: &str, id: &str, bytes: usize) -> TaskPushNotificationConfig {
    TaskPushNotificationConfig {
        tenant: None,
        id: id.into(),
        task_id: task.into(),
        url: "https://example.com/".to_owned(),
        token: None,
        authentication: Some(AuthenticationInfo {
            scheme: "Bearer".to_owned(),
            credentials: Some("x".repeat(bytes)),
        }),
    }
}

const HOUR: Duration = Duration::from_secs(3600);
pub(super) const MIB: usize = 1 << 20;
