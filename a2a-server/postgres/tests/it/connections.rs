//! Connections: fewer than the store may open, and slow ones.

use std::sync::Arc;
use std::time::Duration;

use a2a_postgres::{PostgresOptions, migrate};
use a2a_server::{Append, Owner, Principal, Recovery, Server, Store};
use a2a_types::{Message, Task};
use futures_util::future::try_join_all;
use tokio::time::timeout;

use crate::database::{LONG_WAIT, open, shared};
use crate::sample::{ada, chunk, new};
use crate::worker::{Worker, card};

#[tokio::test(flavor = "multi_thread")]
async fn store_works_with_fewer_connections_than_it_may_open() {
    let Some(database) = shared() else { return };
    migrate(&database.options().schema("few")).await.unwrap();
    database.psql(
        "create role few login connection limit 3; grant usage on schema few to few;
         grant select, insert, update, delete on all tables in schema few to few;
         grant usage on all sequences in schema few to few",
    );
    let url = database.url().replace("a2a@", "few@");
    let store = open(&PostgresOptions::new(&url).unwrap().schema("few")).await;
    let owner = Owner::from(Principal::anonymous());
    let mut left = Task::submitted("t".into(), "c".into());
    left.history.push(Message::user("echo first"));
    let mut abandoned = new("t");
    (abandoned.task, abandoned.term) = (Arc::new(left), Duration::ZERO);
    store.create(&owner, abandoned).await.unwrap();
    let worker = Worker::default();
    let server = Server::builder(card(), worker.clone()).store(store.clone());
    let server = server
        .lease(Duration::from_secs(2))
        .recovery(Recovery::Resume);
    let _server = server.build().unwrap();
    let task = "t".into();
    let recovered = async {
        while worker.runs() == 0 {
            let heads = (0..100).map(|_| store.head(&owner, &task));
            let heads = try_join_all(heads).await;
            heads.expect("statements use the connections that there are");
        }
    };
    let recovered = timeout(Duration::from_secs(30), recovered).await;
    recovered.expect("the abandoned task is recovered");
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_do_not_wait_behind_a_slow_one() {
    let Some(database) = shared() else { return };
    // Two are for all statements.
    let options = database.options().schema("slow").connections(3);
    let options = options
        .statement_timeout(LONG_WAIT)
        .acquire_timeout(LONG_WAIT);
    let store = open(&options.listen(false)).await;
    for id in ["t", "u"] {
        store.create(&ada(), new(id)).await.unwrap();
    }
    let mut blocking = database.connect().await;
    let blocked = blocking.transaction().await.unwrap();
    let lock = "select from slow.task where id = 't' for update";
    blocked.execute(lock, &[]).await.unwrap();
    let slow = tokio::spawn({
        let store = store.clone();
        let append = Append::held(1, 1, vec![chunk("t", "x")]);
        async move { store.append(&ada(), &"t".into(), append).await }
    });
    database.wait_for_locks("slow", 1).await;
    // It counts as slow after a while.
    database.psql("select pg_sleep(0.3)");
    let (owner, task) = (ada(), "u".into());
    let heads = (0..30).map(|_| store.head(&owner, &task));
    let heads = timeout(Duration::from_secs(5), try_join_all(heads)).await;
    heads.expect("another connection is free").unwrap();
    assert!(!slow.is_finished());
    blocked.commit().await.unwrap();
    slow.await.unwrap().unwrap();
}
