//! Outcomes of messages.

use std::sync::Arc;

use a2a_client::{Client, Event, SendMessageResponse, StreamExt};
use a2a_server::{Failure, Server, Turn};
use a2a_types::{
    ErrorKind, Message, Part, ProtocolVersion, SendMessageConfiguration, SendMessageRequest,
    TaskState,
};
use tokio::sync::Notify;

use crate::operations::{
    ALL, CommandAgent, SINCE_0_2, assert_kind, card, clients, first, last_state, task, to,
};
use crate::waiting::eventually;

#[tokio::test]
async fn a_message_is_answered_by_a_task() {
    for (protocol_version, client) in clients(CommandAgent::default(), ALL).await {
        let task = task(
            client
                .send(first(protocol_version, "echo hello"))
                .await
                .unwrap(),
        );
        assert_eq!(
            task.status.state,
            TaskState::Completed,
            "{protocol_version}"
        );
        assert_eq!(
            task.artifacts[0].parts,
            [Part::text("hello")],
            "{protocol_version}"
        );
        let kept = usize::from(protocol_version != ProtocolVersion::V0_1);
        assert_eq!(task.history.len(), kept, "{protocol_version}");

        let whole = client.get_task(task.id.clone(), Some(10)).await.unwrap();
        assert_eq!(whole.history[0].text(), "echo hello", "{protocol_version}");
        let none = client.get_task(task.id.clone(), Some(0)).await.unwrap();
        assert!(none.history.is_empty(), "{protocol_version}");
        assert_kind(
            client.get_task("unknown", None).await,
            ErrorKind::TaskNotFound,
        );
    }
}

#[tokio::test]
async fn a_message_is_answered_by_a_message() {
    for (protocol_version, client) in clients(CommandAgent::default(), ALL).await {
        let message = match client
            .send(first(protocol_version, "reply hello"))
            .await
            .unwrap()
        {
            SendMessageResponse::Message(message) => message,
            // 0.1 knows no direct answer.
            SendMessageResponse::Task(task) => {
                assert_eq!(
                    (protocol_version, task.status.state),
                    (ProtocolVersion::V0_1, TaskState::Completed)
                );
                *task.status.message.unwrap()
            }
        };
        assert_eq!(message.text(), "hello", "{protocol_version}");
        let mut updates = client
            .stream(first(protocol_version, "reply hello"))
            .await
            .unwrap();
        let mut last = None;
        while let Some(event) = updates.next().await {
            last = Some(event.unwrap());
        }
        let message = match last.unwrap() {
            Event::Message(message) => message,
            Event::StatusUpdate(update) => *update.status.message.unwrap(),
            other => panic!("{other:?}"),
        };
        assert_eq!(message.text(), "hello", "{protocol_version}");
    }
}

#[tokio::test]
async fn an_agent_asks_back() {
    for (protocol_version, client) in clients(CommandAgent::default(), ALL).await {
        let asked = task(
            client
                .send(first(protocol_version, "ask which phone?"))
                .await
                .unwrap(),
        );
        assert_eq!(
            asked.status.state,
            TaskState::InputRequired,
            "{protocol_version}"
        );
        assert_eq!(
            asked.status.message.as_ref().unwrap().text(),
            "which phone?"
        );
        let done = task(client.send(to(&asked, "echo android")).await.unwrap());
        assert_eq!(
            (&done.id, done.status.state),
            (&asked.id, TaskState::Completed),
            "{protocol_version}"
        );
        let whole = client.get_task(done.id, Some(10)).await.unwrap();
        let said: Vec<_> = whole.history.iter().map(Message::text).collect();
        assert_eq!(
            said,
            ["ask which phone?", "which phone?", "echo android"],
            "{protocol_version}"
        );

        let mut stranger = to(&asked, "echo x");
        stranger.context_id = Some("another".into());
        assert_kind(client.send(stranger).await, ErrorKind::InvalidParams);
    }
}

#[tokio::test]
async fn an_ended_task_takes_no_message_but_in_0_1() {
    for (protocol_version, client) in clients(CommandAgent::default(), ALL).await {
        let ended = task(
            client
                .send(first(protocol_version, "echo one"))
                .await
                .unwrap(),
        );
        let again = client.send(to(&ended, "echo two")).await;
        if protocol_version == ProtocolVersion::V0_1 {
            let again = task(again.unwrap());
            assert_eq!(again.status.state, TaskState::Completed);
            assert_eq!(again.artifacts.len(), 2);
        } else {
            assert_kind(again, ErrorKind::UnsupportedOperation);
            let unknown = Message {
                task_id: Some("unknown".into()),
                ..Message::user("echo x")
            };
            assert_kind(client.send(unknown).await, ErrorKind::TaskNotFound);
        }
    }
}

#[tokio::test]
async fn a_send_with_return_immediately_does_not_wait() {
    for (protocol_version, client) in clients(CommandAgent::default(), SINCE_0_2).await {
        let at_once = SendMessageRequest {
            message: Message::user("wait"),
            configuration: Some(SendMessageConfiguration {
                return_immediately: true,
                ..SendMessageConfiguration::default()
            }),
            ..SendMessageRequest::default()
        };
        let task = task(client.send(at_once).await.unwrap());
        assert!(!task.status.state.is_terminal(), "{protocol_version}");
        client.cancel_task(task.id).await.unwrap();
    }
}

#[tokio::test]
async fn an_agent_lets_waiting_callers_go() {
    let agent = CommandAgent::default();
    for (protocol_version, client) in clients(
        agent.clone(),
        &[ProtocolVersion::V0_1, ProtocolVersion::V0_2],
    )
    .await
    {
        let message = first(protocol_version, "detach");
        let working = task(client.send(message.clone()).await.unwrap());
        assert_eq!(
            working.status.state,
            TaskState::Working,
            "{protocol_version}"
        );
        if protocol_version == ProtocolVersion::V0_2 {
            // A sender that repeats it is let go, too.
            let again = task(client.send(message).await.unwrap());
            assert_eq!(
                (again.id, again.status),
                (working.id.clone(), working.status)
            );
        }
        let mut updates = client.subscribe(working.id.clone()).await.unwrap();
        assert!(updates.next().await.unwrap().is_ok());
        agent.go_on.notify_one();
        let last = last_state(updates).await;
        assert_eq!(last, Some(TaskState::Completed), "{protocol_version}");
    }
}

/// Begins by asking back or by nothing, and holds until it is let go; then answers what waited.
async fn busy(turn: Turn, go_on: Arc<Notify>) -> Result<(), Failure> {
    let text = turn.text();
    if text.starts_with("begin") {
        turn.working("busy").await?;
        if text == "begin and ask" {
            turn.ask("more?").await?;
        }
        turn.respond_early().await?;
        go_on.notified().await;
        return Ok(());
    }
    turn.artifact("answer").text(text).finish().await?;
    Ok(())
}

#[tokio::test]
async fn a_message_to_a_busy_agent_is_its_next_turn() {
    for protocol_version in [ProtocolVersion::V0_1, ProtocolVersion::V0_2] {
        for begin in ["begin", "begin and ask"] {
            let go_on = Arc::new(Notify::new());
            let release = Arc::clone(&go_on);
            let server = Server::builder(card(), move |turn| busy(turn, Arc::clone(&go_on)))
                .build()
                .unwrap();
            let bound = server
                .bind("127.0.0.1:0")
                .await
                .unwrap()
                .default_version(protocol_version);
            let client = Client::at(&bound.url(), protocol_version).unwrap();
            tokio::spawn(bound.run(std::future::pending()));

            let begun = task(client.send(first(protocol_version, begin)).await.unwrap());
            let second = tokio::spawn({
                let (client, message) = (client.clone(), to(&begun, "second"));
                async move { client.send(message).await }
            });
            // It waits when it is in the history.
            eventually(async || {
                let task = client.get_task(begun.id.clone(), Some(10)).await.unwrap();
                (task.history.last()?.text() == "second").then_some(())
            })
            .await;
            release.notify_one();
            let answered = task(second.await.unwrap().unwrap());
            let answer = (
                answered.status.state,
                answered
                    .artifacts
                    .first()
                    .map(|artifact| &artifact.parts[..]),
            );
            assert_eq!(
                answer,
                (TaskState::Completed, Some(&[Part::text("second")][..])),
                "{protocol_version} {begin}"
            );
        }
    }
}

#[tokio::test]
async fn a_failure_is_opaque() {
    for (protocol_version, client) in clients(CommandAgent::default(), ALL).await {
        for command in ["fail", "panic"] {
            let failed = task(client.send(first(protocol_version, command)).await.unwrap());
            assert_eq!(
                failed.status.state,
                TaskState::Failed,
                "{protocol_version} {command}"
            );
            let message = format!("{failed:?}");
            assert!(
                !message.contains("secret") && message.contains("Correlation id"),
                "{message}"
            );
        }
        let rejected = task(
            client
                .send(first(protocol_version, "reject no"))
                .await
                .unwrap(),
        );
        assert_eq!(
            rejected.status.state,
            TaskState::Rejected,
            "{protocol_version}"
        );
        let late = task(client.send(first(protocol_version, "late")).await.unwrap());
        assert_eq!(
            late.status.state,
            TaskState::Completed,
            "{protocol_version}"
        );
    }
}

/// 0.1 reopens an ended task, also while the agent still tidies up after its last word.
#[tokio::test]
async fn a_tidying_agent_is_waited_for() {
    let go_on = Arc::new(Notify::new());
    let release = Arc::clone(&go_on);
    let tidy = move |turn: Turn| {
        let go_on = Arc::clone(&go_on);
        async move {
            turn.artifact("answer").text(turn.text()).finish().await?;
            turn.complete().await?;
            go_on.notified().await;
            Ok::<(), Failure>(())
        }
    };
    let server = Server::builder(card(), tidy).build().unwrap();
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let client = Client::at(&bound.url(), ProtocolVersion::V0_1).unwrap();
    tokio::spawn(bound.run(std::future::pending()));
    let done = task(
        client
            .send(first(ProtocolVersion::V0_1, "one"))
            .await
            .unwrap(),
    );
    let again = tokio::spawn({
        let (client, message) = (client.clone(), to(&done, "two"));
        async move { client.send(message).await }
    });
    release.notify_one();
    let again = task(again.await.unwrap().unwrap());
    assert_eq!(
        (again.status.state, again.artifacts.len()),
        (TaskState::Completed, 2)
    );
}
