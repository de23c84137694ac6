//! Concurrent callers of one server, in all versions.

use std::sync::Arc;

use a2a_client::StreamExt;
use a2a_types::TaskState;
use tokio::task::JoinSet;

use crate::interoperability::{
    BINDINGS, PoemAgent, PoemStream, client, first, recited, reciter, task,
};

/// Twelve callers give the agent the same work at once, half of them waiting, half following.
#[tokio::test(flavor = "multi_thread")]
async fn everyone_gets_the_same_text_in_the_same_order() {
    let bound = reciter(PoemAgent::default()).await;
    let url = bound.url();
    tokio::spawn(bound.run(std::future::pending()));
    let mut callers = JoinSet::new();
    for (protocol_version, binding) in BINDINGS {
        let (waiting, following) = (
            client(&url, protocol_version, binding),
            client(&url, protocol_version, binding),
        );
        callers.spawn(async move {
            let done = task(
                waiting
                    .send(first(protocol_version, "recite"))
                    .await
                    .unwrap(),
            );
            assert_eq!(
                done.status.state,
                TaskState::Completed,
                "{protocol_version} {binding}"
            );
            assert_eq!(
                recited(&done),
                crate::interoperability::POEM.concat(),
                "{protocol_version} {binding}"
            );
        });
        callers.spawn(async move {
            let updates = following
                .stream(first(protocol_version, "recite"))
                .await
                .unwrap();
            let streamed = PoemStream::from(updates).await.unwrap();
            assert_eq!(streamed, PoemStream::all(), "{protocol_version} {binding}");
        });
    }
    callers.join_all().await;
}

/// Callers of all protocol versions follow a task of any other and read it in their own.
#[tokio::test(flavor = "multi_thread")]
async fn one_task_is_seen_by_everyone() {
    let agent = PoemAgent::default();
    let bound = reciter(agent.clone()).await;
    let url = bound.url();
    tokio::spawn(bound.run(std::future::pending()));
    for (creator, binding) in BINDINGS {
        let begun = client(&url, creator, binding);
        let mut begun = begun
            .stream(first(creator, "recite on release"))
            .await
            .unwrap();
        let id = begun
            .next()
            .await
            .unwrap()
            .unwrap()
            .task_id()
            .cloned()
            .unwrap();
        let follows = Arc::new(tokio::sync::Barrier::new(BINDINGS.len() + 1));
        let mut callers = JoinSet::new();
        for (protocol_version, binding) in BINDINGS {
            let (client, id) = (client(&url, protocol_version, binding), id.clone());
            let follows = Arc::clone(&follows);
            callers.spawn(async move {
                let mut updates = client.subscribe(id.clone()).await.unwrap();
                let mut streamed = PoemStream::default();
                streamed.add(&updates.next().await.unwrap().unwrap());
                follows.wait().await;
                while let Some(event) = updates.next().await {
                    streamed.add(&event.unwrap());
                }
                assert_eq!(
                    streamed,
                    PoemStream::all(),
                    "{protocol_version} {binding} of {creator}"
                );
                let whole = client.get_task(id.clone(), Some(1)).await.unwrap();
                assert_eq!(whole.id, id);
                assert_eq!(
                    recited(&whole),
                    crate::interoperability::POEM.concat(),
                    "{protocol_version} of {creator}"
                );
                assert_eq!(
                    whole.history.len(),
                    1,
                    "{protocol_version} {binding} of {creator}"
                );
            });
        }
        follows.wait().await;
        agent.go.notify_one();
        callers.join_all().await;
    }
}
