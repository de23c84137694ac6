//! A store that is unavailable for a while, like a database that cannot be reached.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use a2a_client::{Client, Retries, StreamExt};
use a2a_server::{Failure, Server, Turn};
use a2a_types::{ErrorKind, Message, TaskState};

use super::faulty_store::{FaultyStore, server};
use super::{card, task};
use crate::waiting::soon;

/// Followers get the events that they missed, and no error.
#[tokio::test(start_paused = true)]
async fn a_stream_outlasts_a_store_that_is_away() {
    let store = FaultyStore::default();
    let is_away_for = Arc::clone(&store.is_away_for);
    let agent = move |turn: Turn| {
        let is_away_for = Arc::clone(&is_away_for);
        async move {
            turn.working("waiting").await?;
            turn.artifact("answer").text("42").finish().await?;
            is_away_for.store(40, Ordering::Relaxed);
            Ok::<_, Failure>(())
        }
    };
    let server = Server::builder(card(), agent).store(store.clone());
    let client = Client::new(server.build().unwrap()).retries(Retries::default().attempts(1));
    let updates = client.stream("begin").await.unwrap();
    let all: Vec<_> = soon(updates.collect()).await;
    let last = all.into_iter().map(Result::unwrap).last();
    let state = last.and_then(|event| Some(event.status()?.state));
    assert_eq!(state, Some(TaskState::Completed));
    assert_eq!(store.is_away_for.load(Ordering::Relaxed), 0);
}

/// A sender gets `Unavailable`, and may send again.
#[tokio::test]
async fn a_sender_gets_an_error_while_the_store_is_unavailable() {
    let store = FaultyStore::default();
    let client = Client::new(server(&store)).retries(Retries::default().attempts(1));
    let asked = task(client.send("how many?").await.unwrap());
    store.is_away_for.store(1, Ordering::Relaxed);
    let answer = Message {
        task_id: Some(asked.id),
        ..Message::user("42")
    };
    match client.send(answer).await {
        Err(a2a_client::Error::Agent(error)) => assert_eq!(error.kind, ErrorKind::Unavailable),
        other => panic!("{other:?}"),
    }
}
