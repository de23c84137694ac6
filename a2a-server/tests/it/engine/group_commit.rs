//! Writes that are committed together, and their acknowledgement.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use a2a_server::{
    IdempotencyKey, ListQuery, NewTask, Owner, Principal, SqliteOptions, SqliteStore, Store,
    StoreError,
};
use a2a_types::{ProtocolVersion, Task};
use futures_util::future::{join, join_all};

use crate::stores;

/// An acknowledged write is found. A refused write leaves nothing in memory or in the file, and uses no
/// capacity.
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_write_leaves_nothing() {
    let file = stores::new_file();
    let mut options = SqliteOptions::default();
    options.unfinished = PLACES;
    drop(SqliteStore::open(&file).unwrap());
    // A message is noted when its task and log are written already.
    let tables = rusqlite::Connection::open(&file).unwrap();
    let spoil =
        "create trigger spoil before insert on send_dedupe when new.message_id like 'spoilt%'
                 begin select raise(abort, 'this cannot be'); end;";
    tables.execute_batch(spoil).unwrap();
    drop(tables);

    let owner = Owner::from(Principal::anonymous());
    let store = SqliteStore::open_with(&file, options).unwrap();
    let names = (0..PLACES).map(|number| match number % 10 {
        9 => format!("spoilt {number}"),
        _ => format!("whole {number}"),
    });
    let asked = names.map(|name| async {
        let created = store.create(&owner, new(&name)).await;
        (name, created.is_ok())
    });
    let outcomes = join_all(asked).await;
    assert!(
        outcomes
            .iter()
            .all(|(name, done)| !(*done && name.starts_with("spoilt")))
    );
    assert_eq!(wrong(&store, &owner, &outcomes).await, Vec::<String>::new());
    let written = outcomes.iter().filter(|(_, done)| *done).count();

    for number in written..PLACES {
        let name = format!("later {number}");
        store.create(&owner, new(&name)).await.unwrap();
    }
    let full = store.create(&owner, new("too many")).await;
    assert!(matches!(full, Err(StoreError::Full)), "{full:?}");
    drop(store);

    let store = SqliteStore::open(&file).unwrap();
    assert_eq!(wrong(&store, &owner, &outcomes).await, Vec::<String>::new());
    let page = store.list(&owner, ListQuery::new(1)).await.unwrap();
    assert_eq!(page.total, PLACES);
}

/// Returns the names whose answer contradicts the content of the store.
async fn wrong(store: &SqliteStore, owner: &Owner, outcomes: &[(String, bool)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, done) in outcomes {
        let task = store.snapshot(owner, &name.as_str().into()).await.unwrap();
        let message = store.received(owner, &name.as_str().into()).await.unwrap();
        if (task.is_some(), message.is_some()) != (*done, *done) {
            wrong.push(name.clone());
        }
    }
    wrong
}

/// The runtime in which the callers asked ends before they get their answers.
#[test]
fn a_waiting_caller_gets_its_answer_after_its_runtime_has_ended() {
    let store = SqliteStore::open(stores::new_file()).unwrap();
    let owner = Owner::from(Principal::anonymous());
    for number in 0..50 {
        let [one, two] = ["one", "two"].map(|name| format!("{name} {number}"));
        let mut both = Box::pin(join(
            store.create(&owner, new(&one)),
            store.create(&owner, new(&two)),
        ));
        let first = runtime();
        let asked = first.block_on(poll_fn(|context| Poll::Ready(both.as_mut().poll(context))));
        drop(first);
        let (one, two) = match asked {
            Poll::Ready(both) => both,
            Poll::Pending => runtime().block_on(both),
        };
        one.unwrap();
        two.unwrap();
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread();
    { runtime }.enable_all().build().unwrap()
}

fn new(name: &str) -> NewTask {
    let task = Task::submitted(name.into(), "c".into()).into();
    let mut new = NewTask::new(task, ProtocolVersion::V1_0, "owner".into(), HOUR);
    new.receipt = Some(IdempotencyKey::new(name.into(), [7; 32], HOUR));
    new
}

const PLACES: usize = 60;
const HOUR: Duration = Duration::from_secs(3600);
