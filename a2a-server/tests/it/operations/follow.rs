//! Streams, and how they end.

use a2a_client::{Client, Event, Retries, StreamExt};
use a2a_server::{Failure, Server, Turn};
use a2a_types::{ErrorKind, Part, ProtocolVersion, TaskState};

use crate::operations::{
    ALL, CommandAgent, SINCE_0_2, assert_kind, card, clients, first, last_state, task, to,
};

#[tokio::test]
async fn a_stream_has_every_event_in_order() {
    for (protocol_version, client) in clients(CommandAgent::default(), ALL).await {
        let mut updates = client
            .stream(first(protocol_version, "count 100"))
            .await
            .unwrap();
        let mut text = String::new();
        let mut chunks = 0;
        let mut last = None;
        while let Some(event) = updates.next().await {
            match event.unwrap() {
                Event::ArtifactUpdate(update) => {
                    assert_eq!(update.append, chunks > 0, "{protocol_version}");
                    chunks += update.artifact.parts.len();
                    let parts = update.artifact.parts.iter();
                    text.extend(parts.filter_map(Part::as_text));
                }
                Event::StatusUpdate(update) => last = Some(update.status.state),
                Event::Task(task) => {
                    assert_eq!(
                        task.status.state,
                        TaskState::Submitted,
                        "{protocol_version}"
                    )
                }
                Event::Message(message) => panic!("{message:?}"),
            }
        }
        assert_eq!(
            text,
            (0..100)
                .map(|number| number.to_string())
                .collect::<String>(),
            "{protocol_version}"
        );
        assert_eq!(chunks, 100, "{protocol_version}");
        assert_eq!(last, Some(TaskState::Completed), "{protocol_version}");
    }
}

#[tokio::test]
async fn an_ended_task_is_followed_as_its_version_says() {
    for (protocol_version, client) in clients(CommandAgent::default(), ALL).await {
        let ended = task(
            client
                .send(first(protocol_version, "echo x"))
                .await
                .unwrap(),
        );
        let followed = client.subscribe(ended.id).await;
        if protocol_version == ProtocolVersion::V1_0 {
            // The error comes before the stream does.
            assert_kind(followed.map(|_| ()), ErrorKind::UnsupportedOperation);
            continue;
        }
        let updates = followed.unwrap();
        let last = last_state(updates).await;
        assert_eq!(last, Some(TaskState::Completed), "{protocol_version}");
    }
}

#[tokio::test]
async fn a_repeated_streamed_message_replays_its_ended_task() {
    for (protocol_version, client) in clients(CommandAgent::default(), SINCE_0_2).await {
        let message = first(protocol_version, "echo x");
        let mut updates = client.stream(message.clone()).await.unwrap();
        while updates.next().await.is_some() {}
        // Its sender may have missed all of that: it gets the task as it stands, or all again.
        let mut again = client.stream(message).await.unwrap();
        let (mut artifacts, mut last) = (0, None);
        while let Some(event) = again.next().await {
            let event = event.unwrap();
            last = event.status().map(|status| status.state).or(last);
            artifacts += match event {
                Event::Task(task) => task.artifacts.len(),
                Event::ArtifactUpdate(_) => 1,
                _ => 0,
            };
        }
        assert_eq!(
            (artifacts, last),
            (1, Some(TaskState::Completed)),
            "{protocol_version}"
        );
    }
}

#[tokio::test]
async fn every_follower_sees_the_same_at_its_own_pace() {
    let agent = CommandAgent::default();
    let server = Server::builder(card(), agent.clone());
    let server = server.merge_chunks(false).build().unwrap();
    let client = Client::new(server).retries(Retries::none());
    let mut first = client.stream("count 1000").await.unwrap();
    let id = first
        .next()
        .await
        .unwrap()
        .unwrap()
        .task_id()
        .unwrap()
        .clone();
    let mut followers = Vec::new();
    for number in 0..32_u32 {
        let (client, id) = (client.clone(), id.clone());
        followers.push(tokio::spawn(async move {
            let Ok(mut updates) = client.subscribe_after(id, Some(1)).await else {
                return None;
            };
            let mut seen = vec![1];
            while let Some(event) = updates.next().await {
                event.unwrap();
                seen.extend(updates.sequence());
                if (seen.len() as u32).is_multiple_of(number + 1) {
                    tokio::task::yield_now().await;
                }
            }
            Some(seen)
        }));
    }
    while first.next().await.is_some() {}
    let all: Vec<u64> = (1..=1002).collect();
    for follower in followers {
        // A follower that came after the end was refused, as 1.0 says.
        if let Some(seen) = follower.await.unwrap() {
            assert_eq!(seen, all);
        }
    }
}

#[tokio::test]
async fn leaving_follower_does_not_stop_the_agent() {
    let agent = CommandAgent::default();
    for (protocol_version, client) in clients(
        agent.clone(),
        &[ProtocolVersion::V0_1, ProtocolVersion::V0_2],
    )
    .await
    {
        let mut updates = client
            .stream(first(protocol_version, "detach"))
            .await
            .unwrap();
        let id = updates
            .next()
            .await
            .unwrap()
            .unwrap()
            .task_id()
            .unwrap()
            .clone();
        drop(updates);
        agent.go_on.notify_one();
        let again = client.subscribe(id).await.unwrap();
        let last = last_state(again).await;
        assert_eq!(last, Some(TaskState::Completed), "{protocol_version}");
    }
}

#[tokio::test]
async fn a_task_is_canceled() {
    for (protocol_version, client) in clients(CommandAgent::default(), ALL).await {
        let mut updates = client
            .stream(first(protocol_version, "wait"))
            .await
            .unwrap();
        let id = updates
            .next()
            .await
            .unwrap()
            .unwrap()
            .task_id()
            .unwrap()
            .clone();
        let canceled = client.cancel_task(id.clone()).await.unwrap();
        assert_eq!(
            canceled.status.state,
            TaskState::Canceled,
            "{protocol_version}"
        );
        let last = last_state(updates).await;
        assert_eq!(
            last,
            Some(TaskState::Canceled),
            "{protocol_version}: every open stream receives it"
        );
        let again = client.cancel_task(id).await;
        assert_kind(again, ErrorKind::TaskNotCancelable);

        let waits = task(client.send(first(protocol_version, "ask ?")).await.unwrap());
        assert_eq!(
            client.cancel_task(waits.id).await.unwrap().status.state,
            TaskState::Canceled
        );
        let ended = task(
            client
                .send(first(protocol_version, "echo x"))
                .await
                .unwrap(),
        );
        assert_kind(
            client.cancel_task(ended.id).await,
            ErrorKind::TaskNotCancelable,
        );
        assert_kind(client.cancel_task("unknown").await, ErrorKind::TaskNotFound);
    }
}

#[tokio::test]
async fn an_agent_that_does_not_stop_is_stopped() {
    let deaf = |turn: Turn| async move {
        turn.working("deaf").await?;
        std::future::pending::<()>().await;
        Ok::<(), Failure>(())
    };
    let server = Server::builder(card(), deaf);
    let server = server
        .cancel_grace(std::time::Duration::from_millis(10))
        .build()
        .unwrap();
    let client = Client::new(server).retries(Retries::none());
    let mut updates = client.stream("go").await.unwrap();
    let id = updates
        .next()
        .await
        .unwrap()
        .unwrap()
        .task_id()
        .unwrap()
        .clone();
    assert_eq!(
        client.cancel_task(id).await.unwrap().status.state,
        TaskState::Canceled
    );
}

#[tokio::test]
async fn a_task_that_waits_for_its_caller_is_followed_to_there_and_in_1_0_to_its_end() {
    for (protocol_version, client) in clients(CommandAgent::default(), ALL).await {
        let asked = task(
            client
                .send(first(protocol_version, "ask which?"))
                .await
                .unwrap(),
        );
        let mut updates = client.subscribe(asked.id.clone()).await.unwrap();
        if protocol_version.rules().follows_waiting_tasks {
            let first = updates.next().await.unwrap().unwrap();
            let state = first.status().map(|status| status.state);
            assert_eq!(state, Some(TaskState::InputRequired), "{protocol_version}");
            client.send(to(&asked, "echo x")).await.unwrap();
            assert_eq!(last_state(updates).await, Some(TaskState::Completed));
            continue;
        }
        let last = last_state(updates).await;
        assert_eq!(last, Some(TaskState::InputRequired), "{protocol_version}");
    }
}

/// A follower that catches up reads on through a question that was answered since.
#[tokio::test]
async fn a_replay_goes_through_questions_to_the_end() {
    let client = Client::new(
        Server::builder(card(), CommandAgent::default())
            .build()
            .unwrap(),
    );
    let asked = task(client.send("ask which?").await.unwrap());
    let mut updates = client.stream(to(&asked, "wait")).await.unwrap();
    updates.next().await.unwrap().unwrap();
    let mut behind = client
        .subscribe_after(asked.id.clone(), Some(1))
        .await
        .unwrap();
    client.cancel_task(asked.id).await.unwrap();
    let mut states = Vec::new();
    while let Some(event) = behind.next().await {
        states.extend(event.unwrap().status().map(|status| status.state));
    }
    use TaskState::{Canceled, InputRequired, Working};
    assert_eq!(states, [InputRequired, Working, Working, Canceled]);
}

/// A stream of an agent that says nothing yet begins with the task all the same.
#[tokio::test]
async fn a_silent_agent_has_a_task() {
    let silent = |turn: Turn| async move {
        turn.canceled().await;
        Ok::<(), Failure>(())
    };
    let server =
        Server::builder(card(), silent).first_event_timeout(std::time::Duration::from_millis(1));
    let client = Client::new(server.build().unwrap());
    let mut updates = client.stream("anything?").await.unwrap();
    let first = updates.next().await.unwrap().unwrap();
    assert!(
        matches!(&first, Event::Task(task) if task.status.state == TaskState::Submitted),
        "{first:?}"
    );
    client
        .cancel_task(first.task_id().unwrap().clone())
        .await
        .unwrap();
}
