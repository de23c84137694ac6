//! Lease renewal while rows of other leases are locked, and after a stall of the database.

use std::time::Duration;

use a2a_client::Client;
use a2a_postgres::PostgresOptions;
use a2a_server::{Append, Server, Store};
use a2a_types::{Message, TaskState};
use tokio::time::timeout;

use crate::database::{Database, LONG_WAIT, open, shared};
use crate::proxy::Proxy;
use crate::sample::{LONG, ada, chunk, new};
use crate::worker::{Worker, card, task};

/// Longer than anything that these tests wait for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns the tasks with renewed leases: new tasks have leases of half that length.
fn renewed(database: &Database, schema: &str) -> String {
    database.psql(&format!(
        "select string_agg(id, ',' order by id) from {schema}.task
         where lease_until > clock_timestamp() + interval '90 minutes'"
    ))
}

#[tokio::test(flavor = "multi_thread")]
async fn locked_row_holds_up_the_renewal_of_no_other_lease() {
    let Some(database) = shared() else { return };
    // One of the two connections is for renewals, the other for all other statements.
    let options = database.options().schema("locked").connections(2);
    let options = options.statement_timeout(LONG_WAIT);
    let store = open(&options.listen(false)).await;
    for id in ["t", "u", "v"] {
        store.create(&ada(), new(id)).await.unwrap();
    }
    let mut blocking = database.connect().await;
    let blocked = blocking.transaction().await.unwrap();
    let lock = "select from locked.task where id = 'u' for update";
    blocked.execute(lock, &[]).await.unwrap();
    let slow = tokio::spawn({
        let store = store.clone();
        let append = Append::held(1, 1, vec![chunk("u", "x")]);
        async move { store.append(&ada(), &"u".into(), append).await }
    });
    database.wait_for_locks("locked", 1).await;
    let done = timeout(Duration::from_secs(5), store.renew("h", 2 * LONG)).await;
    done.expect("it does not wait for the lock").unwrap();
    assert_eq!(renewed(database, "locked"), "t,v");
    assert!(!slow.is_finished());
    blocked.commit().await.unwrap();
    slow.await.unwrap().unwrap();
    store.renew("h", 2 * LONG).await.unwrap();
    assert_eq!(renewed(database, "locked"), "t,u,v");
}

/// The row of a task whose text is streamed is locked most of the time, but never for long.
#[tokio::test(flavor = "multi_thread")]
async fn lease_is_renewed_once_its_row_is_free() {
    let Some(database) = shared() else { return };
    let store = open(&database.options().schema("hot").listen(false)).await;
    store.create(&ada(), new("t")).await.unwrap();
    let mut blocking = database.connect().await;
    let is_renewed = async {
        while renewed(database, "hot") != "t" {
            let blocked = blocking.transaction().await.unwrap();
            let lock = "select from hot.task for update";
            blocked.execute(lock, &[]).await.unwrap();
            let free = async {
                database.wait_for_locks("hot", 1).await;
                blocked.commit().await.unwrap();
            };
            // The renewal gives up if the row is not free in time.
            let renewal = store.renew("h", 2 * LONG);
            tokio::select! {
                biased;
                renewed = renewal => renewed.unwrap(),
                () = async { free.await; std::future::pending().await } => {}
            }
        }
    };
    let is_renewed = timeout(PATIENCE, is_renewed).await;
    is_renewed.expect("the renewal waits for the row");
}

/// The database stalls for longer than leases last, and closes no connection. One server reaches it again earlier.
#[tokio::test(flavor = "multi_thread")]
async fn task_that_is_worked_on_is_not_taken_over_after_a_stall() {
    let Some(database) = shared() else { return };
    let replica = async |name: &str| {
        let proxy = Proxy::start(database);
        let options = PostgresOptions::new(&proxy.url()).unwrap().schema("stall");
        let store = open(&options.application_name(name)).await;
        let worker = Worker::default();
        let server = Server::builder(card(), worker.clone()).store(store);
        let server = server.lease(Duration::from_secs(8)).build().unwrap();
        (proxy, worker, Client::new(server))
    };
    let (near, one, here) = replica("one").await;
    let (far, other, there) = replica("other").await;
    let begun = task(here.send("wait").return_immediately().await.unwrap());
    one.begun.notified().await;
    near.stall();
    far.stall();
    let expired = "select lease_until < clock_timestamp() from stall.task";
    database.until(expired).await;
    let now = database.psql("select clock_timestamp()");
    far.go_on();
    let message = Message {
        task_id: Some(begun.id.clone()),
        ..Message::user("echo more")
    };
    let sending = tokio::spawn(async move { there.send(message).await });
    // The other server has looked for abandoned tasks, and has left the message to the first one.
    let looked = format!(
        "select exists(select from pg_stat_activity where application_name = 'other' and state = 'idle'
           and query like '%order by lease_until%' and state_change > '{now}')"
    );
    database.until(&looked).await;
    database
        .until("select exists(select from stall.command)")
        .await;
    near.go_on();
    let written = "select exists(select from stall.task_event where encode(body, 'escape') like '%echo more%')";
    database.until(written).await;
    one.go_on.notify_one();
    let sent = timeout(PATIENCE, sending).await;
    let done = task(sent.expect("it is worked on").unwrap().unwrap());
    assert_eq!(done.status.state, TaskState::Completed);
    assert_eq!(done.artifacts.len(), 1);
    assert_eq!((one.runs(), other.runs()), (2, 0));
}
