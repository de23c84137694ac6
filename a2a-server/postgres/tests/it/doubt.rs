//! In-doubt writes: the database's answer is lost.

use std::sync::Arc;
use std::time::Duration;

use a2a_postgres::{PostgresOptions, PostgresStore};
use a2a_server::{Append, IdempotencyKey, LogPage, Outcome, Store, StoreError};
use a2a_types::{Message, Task};

use crate::database::{LONG_WAIT, open, shared};
use crate::proxy::{MARK, Proxy};
use crate::sample::{LONG, ada, chunk, new};

/// A store behind a proxy. Only the test sends statements through it.
async fn store() -> Option<(Proxy, PostgresStore)> {
    let proxy = Proxy::start(shared()?);
    let schema = a2a_types::TaskId::random().to_string();
    let options = PostgresOptions::new(&proxy.url())
        .unwrap()
        .schema(schema)
        .connections(1)
        .listen(false);
    let store = open(&options).await;
    Some((proxy, store))
}

async fn log(store: &PostgresStore) -> usize {
    match store.events_after(&ada(), &"t".into(), 1).await.unwrap() {
        LogPage::Events(events) => events.len(),
        other => panic!("{other:?}"),
    }
}

fn marked() -> Append {
    Append::held(1, 1, vec![chunk("t", MARK)])
}

#[tokio::test(flavor = "multi_thread")]
async fn append_whose_answer_is_lost_is_stored_once() {
    let Some((proxy, store)) = store().await else {
        return;
    };
    store.create(&ada(), new("t")).await.unwrap();
    proxy.lose_answer();
    let appended = store.append(&ada(), &"t".into(), marked()).await.unwrap();
    assert_eq!((appended.sequence, appended.epoch), (2, 1));
    assert_eq!(log(&store).await, 1);
    // Repeating the same append is another write, and is refused.
    let again = store.append(&ada(), &"t".into(), marked()).await;
    assert!(
        matches!(again, Err(StoreError::SequenceConflict(2))),
        "{again:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn append_of_unknown_outcome_is_recognised_when_the_database_is_back() {
    let Some((proxy, store)) = store().await else {
        return;
    };
    store.create(&ada(), new("t")).await.unwrap();
    proxy.lose_answer_and_refuse();
    let lost = store.append(&ada(), &"t".into(), marked()).await;
    assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");
    proxy.let_through();
    let appended = until_back(async || store.append(&ada(), &"t".into(), marked()).await).await;
    assert_eq!(appended.sequence, 2);
    assert_eq!(log(&store).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn task_and_answer_are_stored_once_though_the_answer_is_lost() {
    let Some((proxy, store)) = store().await else {
        return;
    };
    let mut task = Task::submitted("t".into(), "c".into());
    task.history.push(Message::user(MARK));
    let mut begun = new("t");
    begun.task = Arc::new(task);
    begun.receipt = Some(IdempotencyKey::new("m".into(), [1; 32], LONG));
    proxy.lose_answer();
    store.create(&ada(), begun.clone()).await.unwrap();
    let again = store.create(&ada(), begun).await;
    assert!(
        matches!(
            again,
            Err(StoreError::TaskExists | StoreError::DuplicateMessage)
        ),
        "{again:?}"
    );
    let receipt = IdempotencyKey::new("n".into(), [2; 32], LONG);
    let answer = Message::agent(MARK);
    proxy.lose_answer();
    store
        .store_response(&ada(), receipt.clone(), answer.clone())
        .await
        .unwrap();
    let known = store.received(&ada(), &"n".into()).await.unwrap().unwrap();
    assert_eq!(known.outcome, Outcome::Message(Box::new(answer.clone())));
    let again = store.store_response(&ada(), receipt, answer).await;
    assert!(
        matches!(again, Err(StoreError::DuplicateMessage)),
        "{again:?}"
    );
}

/// The connection is lost while the append waits for a lock. It is repeated, and both attempts wait.
#[tokio::test(flavor = "multi_thread")]
async fn append_that_is_repeated_while_its_first_attempt_waits_is_stored_once() {
    let Some(database) = shared() else { return };
    let proxy = Proxy::start(database);
    let schema = "appended_again";
    let options = PostgresOptions::new(&proxy.url())
        .unwrap()
        .schema(schema)
        .statement_timeout(LONG_WAIT)
        .listen(false);
    let store = open(&options).await;
    store.create(&ada(), new("t")).await.unwrap();
    let mut blocking = database.connect().await;
    let blocked = blocking.transaction().await.unwrap();
    blocked
        .execute("select from appended_again.task for update", &[])
        .await
        .unwrap();
    proxy.cut();
    let owner = ada();
    let release = async {
        database.wait_for_locks(schema, 2).await;
        blocked.commit().await.unwrap();
    };
    let task = "t".into();
    let (appended, ()) = tokio::join!(store.append(&owner, &task, marked()), release);
    assert_eq!(appended.unwrap().sequence, 2);
    assert_eq!(log(&store).await, 1);
}

/// A writer whose append is in doubt goes on with its next events.
#[tokio::test(flavor = "multi_thread")]
async fn writer_goes_on_after_an_append_of_unknown_outcome() {
    for repeats in [false, true] {
        let Some((proxy, store)) = store().await else {
            return;
        };
        store.create(&ada(), new("t")).await.unwrap();
        proxy.lose_answer_and_refuse();
        let lost = store.append(&ada(), &"t".into(), marked()).await;
        assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");
        proxy.let_through();
        let mut append = Append::held(1, 1, vec![chunk("t", "more")]);
        if repeats {
            append.events.insert(0, chunk("t", MARK));
        }
        let appended =
            until_back(async || store.append(&ada(), &"t".into(), append.clone()).await).await;
        assert_eq!(appended.sequence, 3);
        assert_eq!(log(&store).await, 2);
        // The doubt is settled.
        let late = store.append(&ada(), &"t".into(), append).await;
        assert!(
            matches!(late, Err(StoreError::SequenceConflict(3))),
            "{late:?}"
        );
    }
}

/// No server works on a task whose creation is in doubt, so its lease is not renewed.
#[tokio::test(flavor = "multi_thread")]
async fn task_whose_creation_is_of_unknown_outcome_is_abandoned() {
    let Some((proxy, store)) = store().await else {
        return;
    };
    let term = Duration::from_millis(200);
    let mut begun = new("t");
    let mut task = Task::submitted("t".into(), "c".into());
    task.history.push(Message::user(MARK));
    (begun.task, begun.term) = (Arc::new(task), term);
    proxy.lose_answer_and_refuse();
    let lost = store.create(&ada(), begun).await;
    assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");
    proxy.let_through();
    let abandoned = async {
        loop {
            until_back(async || store.renew("h", term).await).await;
            if !store.orphans(1).await.unwrap().is_empty() {
                return;
            }
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(30), abandoned);
    found.await.expect("it is abandoned");
}

/// Repeats a call while the store is unavailable.
async fn until_back<T>(ask: impl AsyncFn() -> Result<T, StoreError>) -> T {
    loop {
        match ask().await {
            Ok(done) => return done,
            Err(StoreError::Unavailable(_)) => tokio::task::yield_now().await,
            Err(other) => panic!("{other:?}"),
        }
    }
}
