//! Agents that drop the futures of their updates.

use std::time::Duration;

use a2a_client::{Client, Event, Retries, StreamExt};
use a2a_server::{Failure, MemoryStore, Server, Turn};
use a2a_types::{Message, Part, TaskState};
use futures_util::FutureExt;

use crate::engine::{card, task};
use crate::stores;

/// Begins an update, and drops its future unless it completes immediately.
async fn hasten<T>(update: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(Duration::ZERO, update).await.ok()
}

/// Sends a hundred numbers, and drops every other update.
async fn hasty(turn: Turn) -> Result<(), Failure> {
    for number in 0..100 {
        let draft = turn.artifact("number").text(number.to_string()).finish();
        match number % 2 {
            0 => drop(hasten(draft).await),
            _ => draft.await?,
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_dropped_update_is_delivered_once_or_not_at_all() {
    for server in [
        Server::builder(card(), hasty).store(MemoryStore::default()),
        Server::builder(card(), hasty).store(stores::sqlite()),
    ] {
        let client = Client::new(server.build().unwrap());
        let mut updates = client.stream("go").await.unwrap();
        let first = updates.next().await.unwrap().unwrap();
        let (mut parts, mut last) = (Vec::new(), None);
        let mut seen = updates.sequence().unwrap();
        while let Some(event) = updates.next().await {
            seen += 1;
            assert_eq!(updates.sequence(), Some(seen));
            match event.unwrap() {
                Event::ArtifactUpdate(update) => parts.extend(update.artifact.parts),
                event => last = event.status().map(|status| status.state),
            }
        }
        assert_eq!(last, Some(TaskState::Completed));
        let task = client
            .get_task(first.task_id().unwrap().clone(), None)
            .await;
        let kept = task
            .unwrap()
            .artifacts
            .into_iter()
            .flat_map(|artifact| artifact.parts);
        assert_eq!(kept.collect::<Vec<_>>(), parts);
        let numbers: Vec<u32> = parts
            .iter()
            .map(|part| part.as_text().unwrap().parse().unwrap())
            .collect();
        assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
        // The updates that were waited for are all there.
        assert!((1..100).step_by(2).all(|number| numbers.contains(&number)));
    }
}

/// The first update creates the task: it is dropped, too, and the last one is not.
#[tokio::test]
async fn a_task_whose_first_update_was_dropped_completes() {
    let agent = async |turn: Turn| -> Result<(), Failure> {
        hasten(turn.working("perhaps")).await;
        turn.artifact("a").text("certainly").finish().await?;
        Ok(())
    };
    let agent = move |turn| agent(turn);
    for server in [
        Server::builder(card(), agent).store(MemoryStore::default()),
        Server::builder(card(), agent).store(stores::sqlite()),
    ] {
        let client = Client::new(server.build().unwrap());
        let done = task(client.send("go").await.unwrap());
        assert_eq!(done.status.state, TaskState::Completed);
        assert_eq!(done.artifacts.len(), 1);
        assert_eq!(done.artifacts[0].parts, [Part::text("certainly")]);
    }
}

/// Its only update is dropped half-way, and may be written all the same: no caller gets a failure.
#[tokio::test]
async fn a_task_whose_only_update_was_dropped_completes() {
    let agent = async |turn: Turn| -> Result<(), Failure> {
        let update = turn.artifact("a").text("perhaps").complete_task();
        drop(update.now_or_never());
        Ok(())
    };
    for server in [
        Server::builder(card(), agent).store(MemoryStore::default()),
        Server::builder(card(), agent).store(stores::sqlite()),
    ] {
        let client = Client::new(server.build().unwrap()).retries(Retries::none());
        let done = task(client.send("go").await.unwrap());
        assert_eq!(done.status.state, TaskState::Completed);
    }
}

/// Kept text goes with a status that is dropped half-way: text that is added then is not lost with it.
#[tokio::test]
async fn text_after_a_dropped_update_is_kept() {
    let agent = async |turn: Turn| -> Result<(), Failure> {
        let text = turn.artifact("text").text("0").send().await?;
        let text = text.text("a").send().await?;
        hasten(turn.working("perhaps")).await;
        drop(text.text("b").send().await?);
        Ok(())
    };
    for server in [
        Server::builder(card(), agent).store(MemoryStore::default()),
        Server::builder(card(), agent).store(stores::sqlite()),
    ] {
        let client = Client::new(server.build().unwrap());
        let done = task(client.send("go").await.unwrap());
        assert_eq!(done.status.state, TaskState::Completed);
        assert_eq!(done.artifacts[0].parts, ["0", "a", "b"].map(Part::text));
    }
}

/// The task may have been stored half-way: then the answer completes it.
#[tokio::test]
async fn a_reply_after_a_dropped_first_update_completes_the_task() {
    let agent = async |turn: Turn| -> Result<(), Failure> {
        hasten(turn.working("perhaps")).await;
        turn.reply(Message::agent("certainly")).await?;
        Ok(())
    };
    for remembered in [Duration::ZERO, Duration::from_secs(60)] {
        for server in [
            Server::builder(card(), agent).store(MemoryStore::default()),
            Server::builder(card(), agent).store(stores::sqlite()),
        ] {
            let server = server.idempotency_window(remembered);
            let client = Client::new(server.build().unwrap()).retries(Retries::none());
            let done = task(client.send("go").await.unwrap());
            assert_eq!(done.status.state, TaskState::Completed);
            assert_eq!(done.status.message.unwrap().text(), "certainly");
        }
    }
}
