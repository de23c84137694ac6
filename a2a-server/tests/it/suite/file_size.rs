//! Limit on the size of a file: whatever fills it, it grows no larger, and says that it is full.

use std::path::{Path, PathBuf};

use a2a_server::{
    Append, DeliveryResult, Owner, Principal, SqliteOptions, SqliteStore, Store, StoreError,
};
use a2a_transport::TraceContext;
use a2a_types::{ProtocolVersion, TaskState};

use super::capacity::{MIB, ada, new, number, rows, status, webhook};
use crate::stores;

#[tokio::test]
async fn a_file_grows_no_larger_than_it_may() {
    let file = stores::new_file();
    let mut options = SqliteOptions::default();
    options.bytes = 4 * MIB as u64;
    let store = SqliteStore::open_with(&file, options).unwrap();
    let mut kept = 0;
    let refused = loop {
        let task = kept.to_string();
        let owner = Owner::from(Principal::named(format!("{kept} {}", "x".repeat(4 << 10))));
        let mut new = new(&task);
        new.config = Some(webhook(&task, "c", 32 << 10));
        match store.create(&owner, new).await {
            Ok(()) => kept += 1,
            Err(refused) => break refused,
        }
    };
    assert!(matches!(refused, StoreError::Full), "{refused:?}");
    assert!(kept > 20, "{kept}");
    drop(store);
    let length = std::fs::metadata(&file).unwrap().len();
    assert!(length <= 4 * MIB as u64, "{length}");
}

/// Sixteen webhooks that no sender notifies fill the file with pending notifications, long before the events of
/// their task do.
#[tokio::test]
async fn notifications_alone_fill_a_file() {
    let (file, store) = small();
    store.create(&ada(), new("t")).await.unwrap();
    for place in 0..16 {
        let config = webhook("t", &place.to_string(), 0);
        let put = store
            .put_config(&ada(), config, ProtocolVersion::V1_0)
            .await;
        put.unwrap();
    }
    let (sequence, refused) = fill_with_events(&store, 1000).await;
    assert!(matches!(refused, Some(StoreError::Full)), "{refused:?}");
    assert_eq!(rows(&file, "push_outbox"), 16 * (sequence as i64 - 1));
    let events = number(&file, "select sum(length(body)) from task_event");
    assert!(events < LIMIT / 10, "{events} bytes of events");
    assert_is_small(&file);
    // Delivered notifications make room.
    let due = store.notifications(100, std::time::Duration::ZERO).await;
    for due in due.unwrap() {
        store
            .record_delivery(&due, DeliveryResult::Delivered)
            .await
            .unwrap();
    }
    let appended = store
        .append(&ada(), &"t".into(), append_after(sequence))
        .await;
    appended.unwrap();
    drop(store);
    assert_is_small(&file);

    // Twice as many events alone fit.
    let (file, store) = small();
    store.create(&ada(), new("t")).await.unwrap();
    let (_, refused) = fill_with_events(&store, 2 * sequence).await;
    assert!(refused.is_none(), "{refused:?}");
    assert_eq!(rows(&file, "push_outbox"), 0);
}

/// Appends events to the task `t` up to this length of its log, or the first error.
async fn fill_with_events(store: &SqliteStore, last: u64) -> (u64, Option<StoreError>) {
    let mut sequence = 1;
    while sequence < last {
        match store
            .append(&ada(), &"t".into(), append_after(sequence))
            .await
        {
            Ok(appended) => sequence = appended.sequence,
            Err(refused) => return (sequence, Some(refused)),
        }
    }
    (sequence, None)
}

/// An event of which webhooks are notified, in a trace with all the state that it may have.
fn append_after(after: u64) -> Append {
    let mut append = Append::held(after, 1, vec![status("t", TaskState::Working)]);
    append.notify = true;
    let trace = TraceContext::new([1; 16], [2; 8], true).unwrap();
    append.trace = Some(trace.with_state(&format!("a={}", "x".repeat(250))));
    append
}

/// Owners with long names fill the file, long before as many tasks of one owner do.
#[tokio::test]
async fn names_of_owners_alone_fill_a_file() {
    let (file, store) = small();
    let long = |number: usize| {
        let name = format!("{number} {}", "x".repeat(8 << 10));
        Owner::new(Some(name.into())).tenant(Some("y".repeat(8 << 10).into()))
    };
    let (mut owners, mut refused) = (0, None);
    while refused.is_none() && owners < 1000 {
        match store.create(&long(owners), new("t")).await {
            Ok(()) => owners += 1,
            Err(error) => refused = Some(error),
        }
    }
    assert!(matches!(refused, Some(StoreError::Full)), "{refused:?}");
    assert_eq!(rows(&file, "task"), owners as i64);
    assert_is_small(&file);
    // The tasks stay readable, and their owners are distinguished.
    let found = store.snapshot(&long(0), &"t".into()).await.unwrap();
    assert!(found.is_some());
    let other = store.snapshot(&long(owners), &"t".into()).await.unwrap();
    assert!(other.is_none());
    drop(store);
    assert_is_small(&file);

    let (_, store) = small();
    for number in 0..4 * owners {
        let created = store.create(&ada(), new(&number.to_string())).await;
        created.unwrap();
    }
}

/// A store whose file may have [`LIMIT`] bytes.
fn small() -> (PathBuf, SqliteStore) {
    let file = stores::new_file();
    let mut options = SqliteOptions::default();
    options.bytes = LIMIT as u64;
    let store = SqliteStore::open_with(&file, options).unwrap();
    (file, store)
}

#[track_caller]
fn assert_is_small(file: &Path) {
    let length = std::fs::metadata(file).unwrap().len();
    let pages = number(file, "pragma page_count");
    assert!(
        length <= LIMIT as u64 && pages <= LIMIT / 4096,
        "{length} bytes, {pages} pages"
    );
}

const LIMIT: i64 = MIB as i64;
