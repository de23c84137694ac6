//! Followers: many of idle tasks, and notifications between servers.

use std::time::Duration;

use a2a_server::{Append, Store};
use futures_util::future::{join_all, poll_fn};
use tokio::time::timeout;
use tokio_postgres::{AsyncMessage, NoTls};

use crate::database::{LONG_WAIT, open, options, shared};
use crate::sample::{ada, chunk, new};

/// More tasks than one statement polls.
const TASKS: usize = 5500;

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_idle_followers_need_no_connections_and_each_is_woken() {
    let (Some(database), Some(options)) = (shared(), options()) else {
        return;
    };
    // Five hundred writes wait for connections.
    let writes = options.clone().application_name("writes");
    let here = open(&writes.acquire_timeout(LONG_WAIT)).await;
    let there = open(&options.application_name("follows").listen(false)).await;
    let id = |number: usize| format!("t{number}");
    for first in (0..TASKS).step_by(500) {
        let created = (first..first + 500).map(|number| {
            let (store, new) = (here.clone(), new(&id(number)));
            async move { store.create(&ada(), new).await.unwrap() }
        });
        join_all(created).await;
    }
    let mut watches = Vec::new();
    for number in 0..TASKS {
        watches.push(there.watch(&ada(), &id(number).into()).await.unwrap());
    }
    let count = "select count(*) from pg_stat_activity where application_name = 'follows'";
    let connections: usize = database.psql(count).parse().unwrap();
    assert!(connections <= 8, "{connections}");
    for number in [0, TASKS - 1] {
        let task = id(number);
        let append = Append::held(1, 1, vec![chunk(&task, "x")]);
        here.append(&ada(), &task.into(), append).await.unwrap();
        let woken = timeout(
            Duration::from_secs(10),
            watches[number].wait_for(|head| *head == 2),
        );
        woken.await.expect("it is woken").unwrap();
    }
    let others = watches.iter().filter(|watch| *watch.borrow() == 1).count();
    assert_eq!(others, TASKS - 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn store_that_does_not_listen_sends_no_notifications() {
    let Some(database) = shared() else { return };
    let options = database.options().schema("silent");
    let silent = open(&options.listen(false)).await;
    let (client, mut connection) = tokio_postgres::connect(&database.url(), NoTls)
        .await
        .unwrap();
    let appends = async {
        client.batch_execute("listen \"a2a silent\"").await.unwrap();
        silent.create(&ada(), new("t")).await.unwrap();
        for sequence in 1..200 {
            let append = Append::held(sequence, 1, vec![chunk("t", "x")]);
            silent.append(&ada(), &"t".into(), append).await.unwrap();
        }
        client
            .batch_execute("notify \"a2a silent\", 'end'")
            .await
            .unwrap();
        std::future::pending::<()>().await
    };
    let first = async {
        loop {
            let message = poll_fn(|context| connection.poll_message(context)).await;
            if let AsyncMessage::Notification(it) = message.unwrap().unwrap() {
                return it.payload().to_owned();
            }
        }
    };
    tokio::select! {
        () = appends => {}
        first = first => assert_eq!(first, "end"),
    }
}
