//! Files that earlier versions have written.

use std::path::Path;
use std::time::Duration;

use a2a_client::{Client, Error};
use a2a_server::{
    Append, Lease, Listing, Outcome, Owner, Principal, Server, SqliteStore, Store, Tail,
    TraceContext,
};
use a2a_types::{
    Artifact, ErrorKind, Event, Message, Part, Task, TaskArtifactUpdateEvent,
    TaskPushNotificationConfig, TaskState, TaskStatusUpdateEvent,
};
use rusqlite::{Connection, params};

use crate::engine::{Worker, card, task};
use crate::stores;
use crate::waiting::reopened;

#[tokio::test]
async fn files_of_every_earlier_version_are_read_and_written() {
    for version in 1..=3 {
        let file = stores::new_file();
        begin(&file, version);
        let owner = Owner::from(Principal::anonymous());
        let store = SqliteStore::open(&file).unwrap();
        let found = (ended(&store, &owner).await, listed(&store, &owner).await);
        let tasks = vec!["done".to_owned(), "open".to_owned()];
        assert_eq!(found, (TaskState::Completed, tasks), "version {version}");

        let outcome = |received: Option<a2a_server::Received>| received.map(|it| it.outcome);
        let known = store.received(&owner, &"known".into()).await.unwrap();
        assert_eq!(outcome(known), Some(Outcome::Task("done".into())));
        let forgotten = store.received(&owner, &"forgotten".into()).await.unwrap();
        assert_eq!(outcome(forgotten), None);
        due(&store, version).await;

        // The holder of the lease is gone, and the log goes on.
        let orphans = store.orphans(10).await.unwrap();
        let orphans: Vec<_> = orphans.iter().map(|orphan| orphan.task.as_str()).collect();
        assert_eq!(orphans, ["open"], "version {version}");
        let mut end = Append::held(2, 0, vec![status("open", TaskState::Failed)]);
        end.lease = Lease::Taken {
            holder: "another".into(),
            term: HOUR,
        };
        end.release = true;
        let appended = store.append(&owner, &"open".into(), end).await.unwrap();
        assert_eq!((appended.sequence, appended.epoch), (3, 5));
        drop(store);

        let store = SqliteStore::open(&file).unwrap();
        let left = store
            .snapshot(&owner, &"open".into())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(left.sequence, 3, "version {version}");
        assert_eq!(left.task.status.state, TaskState::Failed);
        assert_eq!(ended(&store, &owner).await, TaskState::Completed);
    }
}

/// Receipts of the first release have a digest of JSON text, members in the order of its maps.
#[tokio::test]
async fn receipts_with_the_digest_of_the_first_release_are_recognised() {
    /// As that release computed it for [`message`].
    const DIGEST: &str = "0e6b3b1e63674050b23d14bafbb2940276919c1927f870f81b7c3df3c4602485";
    /// As this version computes it.
    const DIGEST_TODAY: &str = "6d5d82a7258c40f75e9ae74d2ac16f89fe1bf4c0745524fc5d62a1b8e8c4a591";
    fn message(data: serde_json::Value) -> Message {
        Message {
            message_id: "known".into(),
            metadata: Some(serde_json::from_value(serde_json::json!({"k": "v"})).unwrap()),
            parts: vec![Part::text("echo x"), Part::data(data)],
            ..Message::user("")
        }
    }
    let server = async |worker: &Worker, file: &Path| {
        let server = Server::builder(card(), worker.clone()).store(reopened(file).await);
        Client::new(server.build().unwrap())
    };
    let same = serde_json::json!({"b": 1.0, "a": [2]});
    let other = serde_json::json!({"b": 1.5, "a": [2]});

    let old = stores::new_file();
    begin(&old, 3);
    // Ended lately: retention leaves it.
    let tables = Connection::open(&old).unwrap();
    let sql = "update task set ended = ?1 where ended is not null";
    assert_eq!(tables.execute(sql, [FAR]).unwrap(), 1);
    drop(tables);
    let new = stores::new_file();
    let worker = Worker::default();
    let client = server(&worker, &new).await;
    let begun = task(client.send(message(same.clone())).await.unwrap());
    drop(client);
    for (file, expected, digest) in [
        (&old, "done", DIGEST),
        (&new, begun.id.as_str(), DIGEST),
        (&new, begun.id.as_str(), DIGEST_TODAY),
    ] {
        let tables = Connection::open(file).unwrap();
        let sql = "update send_dedupe set digest = unhex(?1) where message_id = 'known'";
        assert_eq!(tables.execute(sql, [digest]).unwrap(), 1);
        drop(tables);
        let client = server(&worker, file).await;
        let known = task(client.send(message(same.clone())).await.unwrap());
        assert_eq!(known.id.as_str(), expected);
        let refused = client.send(message(other.clone())).await;
        assert!(
            matches!(&refused, Err(Error::Agent(error)) if error.kind == ErrorKind::InvalidParams),
            "{refused:?}"
        );
        assert_eq!(worker.runs(), 1, "{expected}");
    }
}

/// Checks an ended task whose log has one row for each event, in addition to a document; returns its state.
async fn ended(store: &SqliteStore, owner: &Owner) -> TaskState {
    let done = store
        .snapshot(owner, &"done".into())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(done.sequence, 3);
    assert_eq!(done.task.artifacts[0].parts, [Part::text("result")]);
    let log = store.events_after(owner, &"done".into(), 1).await.unwrap();
    let Tail::Events(log) = log else {
        panic!("the log is gone")
    };
    let places: Vec<_> = log.iter().map(|logged| logged.sequence).collect();
    assert_eq!(places, [2, 3]);
    done.task.status.state
}

async fn listed(store: &SqliteStore, owner: &Owner) -> Vec<String> {
    let page = store.list(owner, Listing::new(10)).await.unwrap();
    assert_eq!(page.total, page.tasks.len());
    let ids = page.tasks.iter().map(|task| task.id.to_string());
    ids.collect()
}

/// Files of the versions that did not distinguish taken from postponed notifications, or had no traces,
/// can be read.
async fn due(store: &SqliteStore, version: u8) {
    let due = store.notifications(10, HOUR).await.unwrap();
    let due: Vec<_> = due
        .iter()
        .map(|due| (due.sequence, due.attempt, due.trace.clone()))
        .collect();
    let expected = match version {
        // This version does not distinguish them: the notification waits until its term is over.
        1 => vec![],
        2 => vec![(2, 0, None)],
        _ => vec![(2, 0, TraceContext::parse(PARENT, Some("a=1")))],
    };
    assert_eq!(due, expected, "version {version}");
}

/// Writes a file with a task that has ended and one that is active.
fn begin(file: &Path, version: u8) {
    let tables = Connection::open(file).unwrap();
    tables.execute_batch(TABLES).unwrap();
    let done = done();
    let artifact = Event::ArtifactUpdate(TaskArtifactUpdateEvent {
        task_id: done.id.clone(),
        context_id: done.context_id.clone(),
        artifact: done.artifacts[0].clone(),
        append: false,
        last_chunk: true,
        metadata: None,
    });
    let open = Task::submitted("open".into(), "c".into());
    let tasks = [(1, &done, 3, 0, Some(7)), (2, &open, 2, FAR, None)];
    for (seq, task, sequence, leased, ended) in tasks {
        let state = if seq == 1 {
            done.status.state
        } else {
            TaskState::Working
        };
        let sql =
            "insert into task values(?1, '[null,null]', ?2, 'c', '1.0', ?3, ?4, ?5, ?6, ?7, null,
                     1, 300, 'somebody', 4, ?8)";
        let (time, active) = (100 - seq, ended.is_none());
        let values = params![
            seq,
            task.id.as_str(),
            sequence,
            state.as_str(),
            time,
            active,
            ended,
            leased
        ];
        tables.execute(sql, values).unwrap();
    }
    let sql = "insert into task_doc values(?1, ?2, ?3)";
    tables.execute(sql, params![1, 3, json(&done)]).unwrap();
    tables.execute(sql, params![2, 1, json(&open)]).unwrap();
    for (seq, sequence, event) in [
        (1, 2, artifact),
        (1, 3, status("done", TaskState::Completed)),
        (2, 2, status("open", TaskState::Working)),
    ] {
        let sql = "insert into task_event values(?1, ?2, ?3)";
        tables
            .execute(sql, params![seq, sequence, json(&event)])
            .unwrap();
    }
    for (message, expires) in [("known", FAR), ("forgotten", 5)] {
        let sql = "insert into send_dedupe values('[null,null]', ?1, ?2, 'done', null, ?3)";
        tables
            .execute(sql, params![message, [7_u8; 32], expires])
            .unwrap();
    }
    let config = TaskPushNotificationConfig {
        id: "w".into(),
        task_id: "open".into(),
        url: "https://example.com/".to_owned(),
        ..TaskPushNotificationConfig::default()
    };
    let sql = "insert into push_config values(2, 0, 'w', '1.0', ?1)";
    tables.execute(sql, [json(&config)]).unwrap();
    // Taken by a process that is gone.
    let sql = "insert into push_outbox values(2, 'w', 2, 1, ?1, null, 1, ?2, 'a=1')";
    tables.execute(sql, params![FAR, PARENT]).unwrap();
    let without: &[&str] = match version {
        1 => &["taken", "traceparent", "tracestate"],
        2 => &["traceparent", "tracestate"],
        _ => &[],
    };
    for column in without {
        let drop = format!("alter table push_outbox drop column {column}");
        tables.execute_batch(&drop).unwrap();
    }
    tables
        .pragma_update(None, "application_id", 0x4132_4121)
        .unwrap();
    tables.pragma_update(None, "user_version", version).unwrap();
}

fn done() -> Task {
    let mut done = Task::submitted("done".into(), "c".into());
    done.history.push(Message::user("do it"));
    done.status = TaskState::Completed.into();
    done.artifacts.push(Artifact {
        artifact_id: "a".into(),
        parts: vec![Part::text("result")],
        ..Artifact::default()
    });
    done
}

fn status(task: &str, state: TaskState) -> Event {
    Event::StatusUpdate(TaskStatusUpdateEvent {
        task_id: task.into(),
        context_id: Some("c".into()),
        status: state.into(),
        metadata: None,
    })
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap()
}

const PARENT: &str = "00-01010101010101010101010101010101-0202020202020202-01";
const HOUR: Duration = Duration::from_secs(3600);
/// Later than any test.
const FAR: i64 = 1 << 50;

/// The tables of version 3; the versions before lacked columns.
const TABLES: &str = "
create table task(
  seq integer primary key,
  owner text not null, id text not null,
  context_id text,
  dialect text not null,
  generation integer not null,
  state text not null,
  status_time integer not null,
  active integer not null,
  ended integer, waits integer,
  messages integer not null,
  bytes integer not null,
  lease_owner text not null, lease_epoch integer not null, lease_until integer not null,
  unique(owner, id));
create index task_list on task(owner, status_time desc, id);
create index task_lease on task(active, lease_until);
create index task_ended on task(ended) where ended is not null;
create index task_waits on task(waits) where waits is not null;
create table task_doc(task integer primary key, generation integer not null, body blob not null);
create table task_event(
  task integer not null, generation integer not null, body blob not null,
  primary key(task, generation)) without rowid;
create table task_checkpoint(task integer primary key, body blob not null);
create table send_dedupe(
  owner text not null, message_id text not null,
  digest blob not null, task_id text, answer blob, expires integer not null,
  primary key(owner, message_id)) without rowid;
create index send_dedupe_expires on send_dedupe(expires);
create table push_config(
  task integer not null, position integer not null, id text not null,
  dialect text not null, body blob not null,
  primary key(task, id)) without rowid;
create table push_outbox(
  task integer not null, config_id text not null, generation integer not null,
  attempt integer not null, next_at integer not null, dead integer,
  taken integer not null default 0, traceparent text, tracestate text,
  primary key(task, config_id, generation)) without rowid;
create index push_outbox_due on push_outbox(next_at) where dead is null;
create index push_outbox_dead on push_outbox(dead) where dead is not null;
";
