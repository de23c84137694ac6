//! Events that are written together, and updates that are streamed before an agent goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_client::{Client, Event, StreamExt};
use a2a_server::{Agent, Failure, MemoryStore, Server, Turn};
use a2a_types::{Part, TaskState};

use crate::engine::metrics_recorder::MetricsRecorder;
use crate::engine::{card, task};
use crate::stores;

fn clients(agent: impl Agent + Clone) -> [Client; 2] {
    let in_memory = Server::builder(card(), agent.clone()).store(MemoryStore::default());
    let in_a_file = Server::builder(card(), agent).store(stores::sqlite());
    [in_memory, in_a_file].map(|server| Client::new(server.build().unwrap()))
}

#[tokio::test]
async fn an_artifact_completes_its_task() {
    let agent = async |turn: Turn| -> Result<(), Failure> {
        let draft = turn.artifact("answer").text("4").send().await?;
        Ok(draft.text("2").complete_task().await?)
    };
    for client in clients(agent) {
        let done = task(client.send("go").await.unwrap());
        assert_eq!(done.status.state, TaskState::Completed);
        assert_eq!(done.artifacts[0].parts, [Part::text("4"), Part::text("2")]);
        let mut updates = client.stream("go").await.unwrap();
        let (mut changes, mut places) = (Vec::new(), Vec::new());
        while let Some(event) = updates.next().await {
            places.extend(updates.sequence());
            changes.push(match event.unwrap() {
                Event::ArtifactUpdate(update) => (update.last_chunk, None),
                event => (false, event.status().map(|status| status.state)),
            });
        }
        let (submitted, completed) = (TaskState::Submitted, TaskState::Completed);
        let expected = [
            (false, Some(submitted)),
            (false, None),
            (true, None),
            (false, Some(completed)),
        ];
        assert_eq!((changes, places), (expected.to_vec(), vec![1, 2, 3, 4]));
    }
}

/// A task that ends as soon as it begins is written once.
#[test]
fn an_immediate_answer_is_written_by_one_append() {
    MetricsRecorder::run(async |recorder| {
        let agent = async |turn: Turn| -> Result<(), Failure> {
            Ok(turn.artifact("answer").text("42").complete_task().await?)
        };
        let server = Server::builder(card(), agent).store(MemoryStore::default());
        let client = Client::new(server.build().unwrap());
        let done = task(client.send("go").await.unwrap());
        assert_eq!(done.status.state, TaskState::Completed);
        let writes = recorder.changes().filter(|(name, call)| {
            let writes = ["create", "append"].iter().any(|it| call.starts_with(it));
            name == "a2a_server_store_duration_seconds" && writes
        });
        let writes: Vec<_> = writes.map(|(_, call)| call).collect();
        assert_eq!(writes, ["create ok 1"]);
    });
}

#[tokio::test]
async fn an_artifact_that_comes_too_late_is_not_there() {
    let agent = async |turn: Turn| -> Result<(), Failure> {
        turn.artifact("first").text("1").complete_task().await?;
        let late = turn.artifact("second").text("2").complete_task().await;
        assert!(late.is_err(), "it has ended");
        Ok(())
    };
    for client in clients(agent) {
        let done = task(client.send("go").await.unwrap());
        assert_eq!(done.status.state, TaskState::Completed);
        let names: Vec<_> = done.artifacts.iter().map(|it| it.name.as_deref()).collect();
        assert_eq!(names, [Some("first")]);
    }
}

/// Nothing is left to send, but the task is completed.
#[tokio::test]
async fn an_artifact_that_was_sent_completes_its_task() {
    let agent = async |turn: Turn| -> Result<(), Failure> {
        let sent = turn.artifact("answer").text("42").send().await?;
        Ok(sent.complete_task().await?)
    };
    for client in clients(agent) {
        let done = task(client.send("go").await.unwrap());
        assert_eq!(done.status.state, TaskState::Completed);
        assert_eq!(done.artifacts[0].parts, [Part::text("42")]);
    }
}

/// Returns the number of updates that an agent that never waits has given when its stream begins.
async fn updates_given_before_the_first_event<A, F>(agent: A) -> usize
where
    A: Fn(Turn, Arc<AtomicUsize>) -> F + Send + Sync + 'static,
    F: Future<Output = Result<(), Failure>> + Send + 'static,
{
    let given = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&given);
    let agent = move |turn: Turn| agent(turn, Arc::clone(&count));
    let server = Server::builder(card(), agent).store(MemoryStore::default());
    let client = Client::new(server.build().unwrap());
    let mut updates = client.stream("go").await.unwrap();
    updates.next().await.unwrap().unwrap();
    given.load(Ordering::Relaxed)
}

/// An agent that never waits does not keep its followers from what it has begun with.
#[tokio::test]
async fn the_first_event_is_streamed_before_a_busy_agent_continues() {
    let artifacts =
        updates_given_before_the_first_event(async |turn: Turn, given: Arc<AtomicUsize>| {
            for _ in 0..100 {
                turn.artifact("number").text("1").finish().await?;
                given.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        });
    assert!(artifacts.await <= 3);
    // Its text is collected, and written a moment later.
    let words =
        updates_given_before_the_first_event(async |turn: Turn, given: Arc<AtomicUsize>| {
            let mut draft = turn.artifact("words");
            for _ in 0..100 {
                draft = draft.text("word ").send().await?;
                given.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        });
    assert!(words.await <= 3);
    // An agent that sends a status means to take a while.
    let status =
        updates_given_before_the_first_event(async |turn: Turn, given: Arc<AtomicUsize>| {
            turn.working("a moment").await?;
            given.fetch_add(1, Ordering::Relaxed);
            Ok(turn.artifact("number").text("1").finish().await?)
        });
    assert_eq!(status.await, 0);
}
