//! Appends per second through the store, compared with the bare statement on as many connections of the same database.
//!
//! `cargo run --release -p agent2agent-postgres --example appends -- postgres://user@host/database`
//!
//! It creates the schemas `a2a_bench` and `a2a_bare`, and drops them at the end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use a2a_postgres::{PostgresOptions, PostgresStore};
use a2a_server::{Append, NewTask, Owner, Principal, Store};
use a2a_types::{Artifact, Event, Part, ProtocolVersion, Task, TaskArtifactUpdateEvent, TaskId};
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

type Failure = Box<dyn std::error::Error + Send + Sync>;

const CONNECTIONS: usize = 16;
const FOR: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let url = std::env::args()
        .nth(1)
        .ok_or("expected the URL of a database")?;
    println!("{CONNECTIONS} connections; {FOR:?} each");
    println!("writers | bare statement/s | store/s | ratio");
    for writers in [8, 32, 128] {
        let bare = bare(&url, writers).await?;
        let store = store(&url, writers).await?;
        println!(
            "{writers:7} | {bare:16.0} | {store:7.0} | {:.2}",
            store / bare
        );
    }
    let client = connect(&url).await?;
    client
        .batch_execute("drop schema a2a_bench cascade; drop schema a2a_bare cascade")
        .await?;
    Ok(())
}

async fn connect(url: &str) -> Result<Client, Failure> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Returns the appends per second of `writers` writers, each with a task of its own.
async fn store(url: &str, writers: usize) -> Result<f64, Failure> {
    let options = PostgresOptions::new(url)?
        .schema("a2a_bench")
        .connections(CONNECTIONS);
    let store = Arc::new(PostgresStore::open(options).await?);
    let owner = Owner::from(Principal::named("ada"));
    let begun = Instant::now();
    let writing = (0..writers).map(|_| {
        let (store, owner) = (Arc::clone(&store), owner.clone());
        tokio::spawn(async move {
            let id = TaskId::random();
            let task = Arc::new(Task::submitted(id.clone(), "c".into()));
            let term = Duration::from_secs(3600);
            store
                .create(
                    &owner,
                    NewTask::new(task, ProtocolVersion::LATEST, "h".into(), term),
                )
                .await?;
            let mut sequence = 1;
            while begun.elapsed() < FOR {
                let append = Append::held(sequence, 1, vec![chunk(&id, sequence)]);
                sequence = store.append(&owner, &id, append).await?.sequence;
            }
            Ok::<_, Failure>(sequence - 1)
        })
    });
    count(writing, begun).await
}

fn chunk(task: &TaskId, number: u64) -> Event {
    Event::ArtifactUpdate(TaskArtifactUpdateEvent {
        task_id: task.clone(),
        context_id: Some("c".into()),
        artifact: Artifact {
            artifact_id: "answer".into(),
            parts: vec![Part::text(format!(
                "{number} chunks of text that a model has written"
            ))],
            ..Artifact::default()
        },
        append: true,
        last_chunk: false,
        metadata: None,
    })
}

const TABLES: &str = "
drop schema if exists a2a_bare cascade; create schema a2a_bare; set search_path = a2a_bare;
create table task(id uuid primary key, generation bigint not null default 1, state smallint not null,
  lease_epoch bigint not null default 1, updated timestamptz not null default clock_timestamp()) with (fillfactor = 80);
create table task_event(task_id uuid not null, generation bigint not null, body bytea not null,
  primary key(task_id, generation));
create table push_config(task_id uuid, id text, primary key(task_id, id));
create table push_outbox(task_id uuid, generation bigint, config_id text, primary key(task_id, generation, config_id));";

const APPEND: &str = "
with u as (update a2a_bare.task set generation = generation + 1, state = $3, updated = clock_timestamp()
  where id = $1 and lease_epoch = $2 and state < 10 returning id, generation),
e as (insert into a2a_bare.task_event(task_id, generation, body) select id, generation, $4 from u),
o as (insert into a2a_bare.push_outbox(task_id, generation, config_id)
  select u.id, u.generation, c.id from u join a2a_bare.push_config c on c.task_id = u.id)
select generation from u";

/// Returns the rate of the bare statement, with a body as large as the store's.
async fn bare(url: &str, writers: usize) -> Result<f64, Failure> {
    connect(url).await?.batch_execute(TABLES).await?;
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        let client = connect(url).await?;
        let append = client.prepare(APPEND).await?;
        clients.push(Arc::new((client, append)));
    }
    let begun = Instant::now();
    let writing = (0..writers).map(|number| {
        let client = Arc::clone(&clients[number % CONNECTIONS]);
        tokio::spawn(async move {
            let (client, append) = &*client;
            let id = Uuid::new_v4();
            let new = "insert into a2a_bare.task(id, state) values ($1, 1)";
            client.execute(new, &[&id]).await?;
            let body = serde_json::to_vec(&chunk(&TaskId::random(), 1000))?;
            let mut count = 0;
            while begun.elapsed() < FOR {
                client
                    .query_one(append, &[&id, &1_i64, &1_i16, &body])
                    .await?;
                count += 1;
            }
            Ok::<_, Failure>(count)
        })
    });
    count(writing, begun).await
}

/// Returns the sum of the writers' appends per second.
async fn count(
    writing: impl Iterator<Item = tokio::task::JoinHandle<Result<u64, Failure>>>,
    begun: Instant,
) -> Result<f64, Failure> {
    let writing: Vec<_> = writing.collect();
    let mut all = 0;
    for written in writing {
        all += written.await??;
    }
    Ok(all as f64 / begun.elapsed().as_secs_f64())
}
