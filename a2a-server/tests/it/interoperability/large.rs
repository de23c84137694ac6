//! Tasks of tens of MiB, followed and read by a client with its default limits.

use std::sync::Arc;

use a2a_client::{Client, StreamExt};
use a2a_server::{Agent, Failure, Server, Turn};
use a2a_types::{AgentCard, Event, Task, TaskState};
use tokio::sync::Notify;

use crate::interoperability::recited;

/// Makes an artifact of large pieces, and completes the task when it may.
struct LargeArtifactAgent {
    go: Arc<Notify>,
}

const PIECE: usize = 6 << 20;
const PIECES: usize = 3;

impl Agent for LargeArtifactAgent {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        let mut copy = turn.artifact("copy");
        for _ in 0..PIECES {
            copy = copy.text("\n".repeat(PIECE)).send().await?;
        }
        copy.finish().await?;
        turn.working("copied").await?;
        self.go.notified().await;
        Ok(())
    }
}

fn length(task: &Task) -> usize {
    recited(task).len()
}

#[tokio::test]
async fn a_large_task_is_followed_to_its_end() {
    let go = Arc::new(Notify::new());
    let agent = LargeArtifactAgent {
        go: Arc::clone(&go),
    };
    let server = Server::builder(AgentCard::new("LargeArtifactAgent", "Copies"), agent);
    let server = server.build().unwrap().bind("127.0.0.1:0").await.unwrap();
    let url = server.url().to_owned();
    let running = tokio::spawn(server.run(std::future::pending::<()>()));

    let client = Client::connect(&url).await.unwrap();
    let mut updates = client.send("copy").follow();
    // Up to the status that follows the last piece: its event is larger than a MiB, as JSON twice
    // as large as the text.
    while let Some(event) = updates.next().await {
        let said = event.unwrap();
        let said = said.status().and_then(|status| status.message.as_deref());
        if said.is_some_and(|said| said.text() == "copied") {
            break;
        }
    }
    let id = updates.task().unwrap().id.clone();
    let mut subscribed = client.subscribe(id.clone()).await.unwrap();
    match subscribed.next().await {
        Some(Ok(Event::Task(task))) => assert_eq!(length(&task), PIECES * PIECE),
        other => panic!(
            "expected the whole task, got {:?}",
            other.map(|event| event.is_ok())
        ),
    }
    go.notify_one();
    for mut updates in [updates, subscribed] {
        while let Some(event) = updates.next().await {
            event.unwrap();
        }
        let task = updates.task().unwrap();
        assert_eq!(task.status.state, TaskState::Completed);
        assert_eq!(length(task), PIECES * PIECE);
        assert_eq!(updates.reconnections(), 0);
    }
    assert_eq!(
        length(&client.get_task(id, Some(0)).await.unwrap()),
        PIECES * PIECE
    );
    running.abort();
}
