//! Agents that panic when their future is dropped.

use std::time::Duration;

use a2a_client::{Client, StreamExt};
use a2a_server::{Failure, MemoryStore, Server, Turn};
use a2a_types::TaskState;

use crate::engine::{card, task};
use crate::stores;
use crate::waiting::soon;

/// Goes off when it is dropped.
struct PanicOnDrop;

impl Drop for PanicOnDrop {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Answers `echo`, and otherwise waits for ever; either way it drops a bomb.
async fn fragile(turn: Turn) -> Result<(), Failure> {
    let _bomb = PanicOnDrop;
    match turn.text().as_str() {
        "echo" => turn.artifact("echo").text("x").finish().await?,
        _ => {
            turn.working("waiting").await?;
            std::future::pending::<()>().await;
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_turn_outlives_what_its_agent_leaves_behind() {
    for builder in [
        Server::builder(card(), fragile).store(MemoryStore::default()),
        Server::builder(card(), fragile).store(stores::sqlite()),
    ] {
        let server = builder.cancel_grace(Duration::ZERO).build().unwrap();
        let client = Client::new(server.clone());
        // The agent panics when it is dropped in the middle of a turn.
        let mut updates = client.stream("wait").await.unwrap();
        let first = updates.next().await.unwrap().unwrap();
        let id = first.task_id().unwrap().clone();
        let canceled = soon(client.cancel_task(id)).await.unwrap();
        assert_eq!(canceled.status.state, TaskState::Canceled);
        // … and when it returns.
        let failed = task(client.send("echo").await.unwrap());
        assert_eq!(failed.status.state, TaskState::Failed);
        assert_eq!(failed.artifacts.len(), 1);
        // No turn is left that the server would wait for.
        soon(server.shutdown(Duration::from_secs(3600))).await;
    }
}
