//! Mail and reservations: what cannot be read, comes twice, or is too much.

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
    let mail = cancel();
    store.post(mail.clone()).await.map(|()| mail.id)
}

async fn taken(store: &PostgresStore) -> Vec<String> {
    let mail = store.take_commands("h", 1000).await.unwrap();
    mail.into_iter().map(|mail| mail.id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn mail_that_cannot_be_read_is_reported_and_takes_no_other_with_it() {
    let Some(database) = shared() else { return };
    let store = store(database, "unreadable").await;
    let recorder = DebuggingRecorder::new();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let first = post(&store).await.unwrap();
    let broken = "insert into unreadable.mail(id, task, format, body)
      select gen_random_uuid(), seq, 1, '{' from unreadable.task";
    database.psql(broken);
    let last = post(&store).await.unwrap();
    assert_eq!(taken(&store).await, [first, last]);
    let counted = recorder.snapshotter().snapshot().into_vec();
    let unreadable = counted
        .into_iter()
        .find(|(key, ..)| key.key().name() == "a2a_postgres_mail_unreadable_total");
    assert_eq!(unreadable.unwrap().3, DebugValue::Counter(1));
}

#[test]
fn recorder_learns_what_the_metrics_mean() {
    let recorder = DebuggingRecorder::new();
    metrics::with_local_recorder(&recorder, || {
        a2a_postgres::describe_metrics();
        metrics::counter!("a2a_postgres_mail_unreadable_total").increment(1);
    });
    let recorded = recorder.snapshotter().snapshot().into_vec();
    let (_, unit, description, _) = &recorded[0];
    assert_eq!(*unit, Some(metrics::Unit::Count));
    assert!(description.is_some());
}

/// A server of a later release has posted it: another server of that release may take it, or its sender takes it back.
#[tokio::test(flavor = "multi_thread")]
async fn mail_of_a_later_format_is_left_alone() {
    let Some(database) = shared() else { return };
    let store = store(database, "later_format").await;
    let of_later_release = cancel();
    store.post(of_later_release.clone()).await.unwrap();
    database.psql("update later_format.mail set format = 2, body = 'any'");
    let known = post(&store).await.unwrap();
    assert_eq!(taken(&store).await, [known]);
    assert!(store.withdraw(&of_later_release).await.unwrap());
}

/// The answer to a post was lost, and the mail was taken before it is posted again.
#[tokio::test(flavor = "multi_thread")]
async fn mail_that_was_taken_is_not_posted_again() {
    let Some(database) = shared() else { return };
    let store = store(database, "posted_again").await;
    let mail = cancel();
    store.post(mail.clone()).await.unwrap();
    assert_eq!(taken(&store).await, std::slice::from_ref(&mail.id));
    store.post(mail.clone()).await.unwrap();
    assert_eq!(taken(&store).await, Vec::<String>::new());
    assert!(!store.withdraw(&mail).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn old_mail_is_neither_taken_nor_kept() {
    let Some(database) = shared() else { return };
    let store = store(database, "old_mail").await;
    for _ in 0..MAX_COMMANDS {
        post(&store).await.unwrap();
    }
    database.psql("update old_mail.mail set posted = posted - interval '1 hour'");
    assert_eq!(taken(&store).await, Vec::<String>::new());
    assert!(matches!(post(&store).await, Err(StoreError::Full)));
    store.sweep(Default::default()).await.unwrap();
    let posted = post(&store).await.unwrap();
    assert_eq!(taken(&store).await, [posted]);
    assert_eq!(database.psql("select count(*) from old_mail.mail"), "1");
}

#[tokio::test(flavor = "multi_thread")]
async fn mail_is_limited_in_number_and_bytes() {
    let Some(database) = shared() else { return };
    let store = store(database, "much_mail").await;
    let of_others = |count: usize, bytes: usize| {
        database.psql(&format!(
            "insert into much_mail.mail(id, task, format, body)
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
        database.psql("delete from much_mail.mail where task < 0");
        assert!(!is_full().await);
    }
    // The mail of one task has a limit of its own.
    database.psql("update much_mail.mail set body = decode(repeat('00', 20 << 20), 'hex')");
    assert!(is_full().await);
    taken(&store).await;
    assert!(!is_full().await);
}
