//! Followers of many idle tasks.

use std::time::Duration;

use a2a_server::{Append, Store};
use futures_util::future::join_all;
use tokio::time::timeout;

use crate::database::{open, options, shared};
use crate::sample::{ada, chunk, new};

/// More than one statement polls.
const TASKS: usize = 5500;

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_idle_followers_need_no_connections_and_each_is_woken() {
    let (Some(database), Some(options)) = (shared(), options()) else {
        return;
    };
    let here = open(&options.clone().application_name("writes")).await;
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
