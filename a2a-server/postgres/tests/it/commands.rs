//! Commands and reservations: what cannot be read, comes twice, or is too much.

use a2a_postgres::PostgresStore;
use a2a_server::{CommandContent, MAX_COMMANDS, SharedStore, Store, StoreError, TaskCommand};
use a2a_types::TaskId;
use metrics_util::debugging::{DebugValue, DebuggingRecorder};

use crate::database::{Database, open, shared};
use crate::sample::{ada, new};

/// A store with a task `t` that is leased to `h`.
async fn store(database: &Database, schema: &str) -> PostgresStore {
    let store = open(&database.options().schema(schema)).await;
    store.create(&ada(), new("t")).await.unwrap();
    store
}

fn cancel() -> TaskCommand {
    TaskCommand::new(ada(), TaskId::from("t"), CommandContent::Cancel)
}

async fn post(store: &PostgresStore) -> Result<String, StoreError> {
    let command = cancel();
    store.post(command.clone()).await.map(|()| command.id)
}

async fn taken(store: &PostgresStore) -> Vec<String> {
    let command = store.take_commands("h", 1000).await.unwrap();
    command.into_iter().map(|command| command.id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn command_that_cannot_be_read_is_reported_and_takes_no_other_with_it() {
    let Some(database) = shared() else { return };
    let store = store(database, "unreadable").await;
    let recorder = DebuggingRecorder::new();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let first = post(&store).await.unwrap();
    let broken = "insert into unreadable.command(id, task, format, body)
      select gen_random_uuid(), seq, 1, '{' from unreadable.task";
    database.psql(broken);
    let last = post(&store).await.unwrap();
    assert_eq!(taken(&store).await, [first, last]);
    let counted = recorder.snapshotter().snapshot().into_vec();
    let unreadable = counted
        .into_iter()
        .find(|(key, ..)| key.key().name() == "a2a_postgres_command_unreadable_total");
    assert_eq!(unreadable.unwrap().3, DebugValue::Counter(1));
}

#[test]
fn recorder_learns_what_the_metrics_mean() {
    let recorder = DebuggingRecorder::new();
    metrics::with_local_recorder(&recorder, || {
        a2a_postgres::describe_metrics();
        metrics::counter!("a2a_postgres_command_unreadable_total").increment(1);
    });
    let recorded = recorder.snapshotter().snapshot().into_vec();
    let (_, unit, description, _) = &recorded[0];
    assert_eq!(*unit, Some(metrics::Unit::Count));
    assert!(description.is_some());
}

/// A server of a later release has posted it: another server of that release may take it, or its sender takes it back.
#[tokio::test(flavor = "multi_thread")]
async fn command_of_a_later_format_is_left_alone() {
    let Some(database) = shared() else { return };
    let store = store(database, "later_format").await;
    let of_later_release = cancel();
    store.post(of_later_release.clone()).await.unwrap();
    database.psql("update later_format.command set format = 2, body = 'any'");
    let known = post(&store).await.unwrap();
    assert_eq!(taken(&store).await, [known]);
    assert!(store.withdraw(&of_later_release).await.unwrap());
}

/// The answer to a post was lost, and the command was taken before it is posted again.
#[tokio::test(flavor = "multi_thread")]
async fn command_that_was_taken_is_not_posted_again() {
    let Some(database) = shared() else { return };
    let store = store(database, "posted_again").await;
    let command = cancel();
    store.post(command.clone()).await.unwrap();
    assert_eq!(taken(&store).await, std::slice::from_ref(&command.id));
    store.post(command.clone()).await.unwrap();
    assert_eq!(taken(&store).await, Vec::<String>::new());
    assert!(!store.withdraw(&command).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn old_commands_are_neither_taken_nor_kept() {
    let Some(database) = shared() else { return };
    let store = store(database, "old_command").await;
    for _ in 0..MAX_COMMANDS {
        post(&store).await.unwrap();
    }
    database.psql("update old_command.command set posted = posted - interval '1 hour'");
    assert_eq!(taken(&store).await, Vec::<String>::new());
    assert!(matches!(post(&store).await, Err(StoreError::Full)));
    store.sweep(Default::default()).await.unwrap();
    let posted = post(&store).await.unwrap();
    assert_eq!(taken(&store).await, [posted]);
    assert_eq!(
        database.psql("select count(*) from old_command.command"),
        "1"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_are_limited_in_number_and_bytes() {
    let Some(database) = shared() else { return };
    let store = store(database, "many_commands").await;
    let of_others = |count: usize, bytes: usize| {
        database.psql(&format!(
            "insert into many_commands.command(id, task, format, body)
             select gen_random_uuid(), -n, 1, decode(repeat('00', {bytes}), 'hex') from generate_series(1, {count}) n"
        ));
    };
    let is_full = async || {
        store.sweep(Default::default()).await.unwrap();
        match post(&store).await {
            Ok(_) => false,
            Err(StoreError::Full) => true,
            Err(error) => panic!("{error:?}"),
        }
    };
    for (count, bytes) in [(10_000, 1), (6, 50 << 20)] {
        of_others(count, bytes);
        assert!(is_full().await, "{count} of {bytes}");
        database.psql("delete from many_commands.command where task < 0");
        assert!(!is_full().await);
    }
    // The commands of one task have a limit of their own.
    database.psql("update many_commands.command set body = decode(repeat('00', 20 << 20), 'hex')");
    assert!(is_full().await);
    taken(&store).await;
    assert!(!is_full().await);
}
