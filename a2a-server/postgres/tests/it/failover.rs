//! Failover to a server that has lost the last writes.

use a2a_postgres::{PostgresOptions, PostgresStore};
use a2a_server::{Append, LogEntry, LogPage, Store};
use a2a_types::{Event, Part};

use crate::database::{Database, open};
use crate::sample::{ada, chunk, new};

fn append(after: u64, text: &str) -> Append {
    Append::held(after, 1, vec![chunk("t", text)])
}

/// Returns the text of the task's artifact.
async fn text(store: &impl Store) -> String {
    let snapshot = store.snapshot(&ada(), &"t".into()).await.unwrap().unwrap();
    let artifact = snapshot.task.artifacts.first().expect("it has text");
    artifact.parts.iter().filter_map(Part::as_text).collect()
}

/// Returns the text of the events after a sequence number.
async fn tail(store: &impl Store, after: u64) -> String {
    let text = |logged: LogEntry| match &*logged.event {
        Event::ArtifactUpdate(it) => it.artifact.parts[0].as_text().map(str::to_owned),
        _ => None,
    };
    match store
        .events_after(&ada(), &"t".into(), after)
        .await
        .unwrap()
    {
        LogPage::Events(events) => events.into_iter().filter_map(text).collect(),
        other => panic!("{other:?}"),
    }
}

/// Stops the server, and starts another one that has the log up to this sequence number. The rows of a task's log
/// are one event each here.
fn fail_over(database: &mut Database, schema: &str, sequence: u64) {
    database.stop();
    database.run();
    lose(database, schema, sequence);
}

fn lose(database: &Database, schema: &str, sequence: u64) {
    database.psql(&format!(
        "delete from {schema}.task_event where sequence > {sequence};
         update {schema}.task set sequence = {sequence}"
    ));
}

/// Returns a store that has written an event that is kept, and one that is lost.
async fn written(options: &PostgresOptions) -> PostgresStore {
    let store = open(options).await;
    store.create(&ada(), new("t")).await.unwrap();
    for (sequence, text) in [(1, "kept "), (2, "lost ")] {
        let event = append(sequence, text);
        store.append(&ada(), &"t".into(), event).await.unwrap();
    }
    store
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_events_are_neither_read_nor_written_again() {
    let Some(mut database) = Database::start() else {
        return;
    };
    let options = database.options().schema("failover").listen(false);
    let (here, there) = (written(&options).await, open(&options).await);
    assert_eq!(text(&here).await, "kept lost ");
    fail_over(&mut database, "failover", 2);
    until_back(&there, append(2, "other ")).await;
    // A reader that continues asks for the length of the log first.
    assert_eq!(here.head(&ada(), &"t".into()).await.unwrap(), 3);
    assert_eq!(tail(&here, 2).await, "other ");
    assert_eq!(text(&here).await, "kept other ");
}

#[tokio::test(flavor = "multi_thread")]
async fn writer_does_not_add_to_lost_events() {
    let Some(mut database) = Database::start() else {
        return;
    };
    let options = database.options().schema("failover").listen(false);
    let (here, there) = (written(&options).await, open(&options).await);
    fail_over(&mut database, "failover", 2);
    until_back(&there, append(2, "other ")).await;
    // Enough events that the document is written.
    for sequence in 3..70 {
        until_back(&here, append(sequence, "x")).await;
    }
    let doc = "select count(*) from failover.task_doc";
    assert_eq!(database.psql(doc), "1");
    let fresh = open(&options.cache_bytes(0)).await;
    let expected = format!("kept other {}", "x".repeat(67));
    assert_eq!(text(&fresh).await, expected);
    assert_eq!(text(&here).await, expected);
}

/// The server is the same as before, as after a crash without `synchronous_commit`.
#[tokio::test(flavor = "multi_thread")]
async fn task_whose_log_is_shorter_than_it_was_is_read_again() {
    let Some(database) = crate::database::shared() else {
        return;
    };
    let store = open(&database.options().schema("shorter").listen(false)).await;
    store.create(&ada(), new("t")).await.unwrap();
    store
        .append(&ada(), &"t".into(), append(1, "kept "))
        .await
        .unwrap();
    store
        .append(&ada(), &"t".into(), append(2, "lost "))
        .await
        .unwrap();
    lose(database, "shorter", 2);
    assert_eq!(text(&store).await, "kept ");
    assert_eq!(text(&store).await, "kept ");
    store
        .append(&ada(), &"t".into(), append(2, "more "))
        .await
        .unwrap();
    assert_eq!(text(&store).await, "kept more ");
    assert_eq!(tail(&store, 1).await, "kept more ");
}

/// Appends once connections to the new server are open.
async fn until_back(store: &impl Store, append: Append) {
    loop {
        match store.append(&ada(), &"t".into(), append.clone()).await {
            Ok(_) => return,
            Err(a2a_server::StoreError::Unavailable(_)) => tokio::task::yield_now().await,
            Err(other) => panic!("{other:?}"),
        }
    }
}
