//! Peers of every kind, over sockets.

use std::time::Duration;

use a2a_client::{Error, Event, ProtocolVersion, Retries, StreamExt, TaskEventStream};
use a2a_types::{ErrorKind, Message, Operation, Response, SendMessageResponse, TaskState};

use tokio::time::timeout;

use crate::streams::scripted_agent::{
    Answer, ScriptedAgent, StreamEnd, chunk, events, in_short, looked, message, refused, snapshot,
    status, task,
};
use Operation::{GetTask, SendMessage, SendStreamingMessage, SubscribeToTask};
use TaskState::{Completed, Submitted, Working};

const SINCE_0_2: &[ProtocolVersion] = &[
    ProtocolVersion::V0_2,
    ProtocolVersion::V0_3,
    ProtocolVersion::V1_0,
];

/// Reads to the end and returns a summary of every event, and the error if there is one. The client's
/// task must end like the last event.
pub(crate) async fn collect(updates: &mut TaskEventStream) -> (Vec<String>, Option<Error>) {
    let mut events = Vec::new();
    let limit = Duration::from_secs(30);
    loop {
        let next = timeout(limit, updates.next()).await;
        let next = next.unwrap_or_else(|_| panic!("nothing came after {events:?}"));
        let Some(event) = next else {
            return (events, None);
        };
        match event {
            Ok(event) => events.push(in_short(&event)),
            Err(error) => return (events, Some(error)),
        }
    }
}

/// Follows a message in each protocol version through a script. Checks the events, the requests, and the
/// resulting task.
async fn check(
    protocol_versions: &[ProtocolVersion],
    script: impl Fn() -> Vec<Answer>,
    expected: &[&str],
    asked: &[Operation],
) {
    for &protocol_version in protocol_versions {
        let agent = ScriptedAgent::new(protocol_version, script()).await;
        let mut updates = agent.client().send(message(protocol_version)).follow();
        let (events, error) = collect(&mut updates).await;
        assert_eq!(events, expected, "{protocol_version}: {error:?}");
        assert!(error.is_none(), "{protocol_version}: {error:?}");
        assert_eq!(agent.operations(), asked, "{protocol_version}");
        let folded = in_short(&Event::Task(updates.task().unwrap().clone()));
        assert_eq!(folded, "Completed[123]", "{protocol_version}");
    }
}

fn numbered(first: u64, events: impl IntoIterator<Item = Event>, end: StreamEnd) -> Answer {
    Answer::Events((first..).map(Some).zip(events).collect(), end)
}

#[tokio::test]
async fn a_peer_with_ids_goes_on_after_the_last() {
    for &protocol_version in SINCE_0_2 {
        let agent = ScriptedAgent::new(
            protocol_version,
            [
                numbered(1, [snapshot(Submitted, &[]), chunk("1")], StreamEnd::Broken),
                numbered(3, [chunk("2")], StreamEnd::Broken),
                numbered(4, [chunk("3"), status(Completed)], StreamEnd::Clean),
            ],
        )
        .await;
        let mut updates = agent.client().send("go").follow();
        let (events, error) = collect(&mut updates).await;
        assert_eq!(
            events,
            ["Submitted[]", "=1", "+2", "+3", "Completed"],
            "{error:?}"
        );
        let asked = agent.asked();
        let places = asked.iter().map(|asked| asked.last_event_id.as_deref());
        assert_eq!(places.collect::<Vec<_>>(), [None, Some("2"), Some("3")]);
        assert_eq!((updates.reconnections(), updates.sequence()), (2, Some(5)));
        assert!(
            matches!(updates.last_disconnect_error(), Some(Error::Unfinished)),
            "{protocol_version}"
        );
    }
}

#[tokio::test]
async fn a_peer_without_ids_begins_with_the_task() {
    let script = || {
        vec![
            events([snapshot(Submitted, &[]), chunk("1")], StreamEnd::Broken),
            events(
                [snapshot(Working, &["1", "2"]), chunk("3")],
                StreamEnd::Broken,
            ),
            events([snapshot(Completed, &["1", "2", "3"])], StreamEnd::Clean),
        ]
    };
    check(
        SINCE_0_2,
        script,
        &["Submitted[]", "=1", "+2", "Working", "+3", "Completed"],
        &[SendStreamingMessage, SubscribeToTask, SubscribeToTask],
    )
    .await;
}

/// The first events of a new stream may already be in the task that is read meanwhile.
#[tokio::test]
async fn a_peer_that_tells_no_task_is_asked_for_it() {
    let script = || {
        vec![
            events([status(Working), chunk("1")], StreamEnd::Broken),
            events([chunk("3"), status(Completed)], StreamEnd::Clean),
            looked(Completed, &["1", "2", "3"]),
        ]
    };
    check(
        ProtocolVersion::ALL,
        script,
        &["Working", "=1", "+23", "Completed"],
        &[SendStreamingMessage, SubscribeToTask, GetTask],
    )
    .await;
}

#[tokio::test]
async fn a_silent_stream_is_gone_on_with_after_a_look() {
    let script = || {
        vec![
            events([status(Working), chunk("1")], StreamEnd::Broken),
            events([], StreamEnd::Open),
            looked(Completed, &["1", "2", "3"]),
        ]
    };
    check(
        ProtocolVersion::ALL,
        script,
        &["Working", "=1", "+23", "Completed"],
        &[SendStreamingMessage, SubscribeToTask, GetTask],
    )
    .await;
}

/// 0.2 and 0.3 send a subscriber of an ended task only its last status.
#[tokio::test]
async fn the_last_status_does_not_come_before_what_was_missed() {
    let script = || {
        vec![
            events([status(Working), chunk("1")], StreamEnd::Broken),
            events([status(Completed)], StreamEnd::Clean),
            looked(Completed, &["1", "2", "3"]),
        ]
    };
    check(
        ProtocolVersion::ALL,
        script,
        &["Working", "=1", "+23", "Completed"],
        &[SendStreamingMessage, SubscribeToTask, GetTask],
    )
    .await;
}

#[tokio::test]
async fn a_peer_that_takes_up_no_stream_is_asked_from_time_to_time() {
    for kind in [ErrorKind::MethodNotFound, ErrorKind::UnsupportedOperation] {
        let script = || {
            vec![
                events([status(Working), chunk("1")], StreamEnd::Broken),
                refused(kind),
                looked(Working, &["1", "2"]),
                looked(Completed, &["1", "2", "3"]),
            ]
        };
        check(
            ProtocolVersion::ALL,
            script,
            &["Working", "=1", "+2", "+3", "Completed"],
            &[SendStreamingMessage, SubscribeToTask, GetTask, GetTask],
        )
        .await;
    }
}

#[tokio::test]
async fn a_stream_that_ends_early_is_taken_up_and_then_asked_for() {
    let script = || {
        vec![
            events([status(Working), chunk("1")], StreamEnd::Clean),
            events([], StreamEnd::Clean),
            looked(Working, &["1", "2"]),
            events([], StreamEnd::Clean),
            looked(Working, &["1", "2"]),
            looked(Completed, &["1", "2", "3"]),
        ]
    };
    check(
        ProtocolVersion::ALL,
        script,
        &["Working", "=1", "+2", "+3", "Completed"],
        &[
            SendStreamingMessage,
            SubscribeToTask,
            GetTask,
            SubscribeToTask,
            GetTask,
            GetTask,
        ],
    )
    .await;
}

#[tokio::test]
async fn streams_that_break_before_any_event_are_taken_up_again() {
    let script = || {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let broken = || [Answer::Raw(head), looked(Working, &["1", "2"])];
        let mut script = vec![events([status(Working), chunk("1")], StreamEnd::Broken)];
        script.extend((0..3).flat_map(|_| broken()));
        let rest = [
            snapshot(Working, &["1", "2"]),
            chunk("3"),
            status(Completed),
        ];
        script.push(events(rest, StreamEnd::Clean));
        script
    };
    let asked = [
        &[SendStreamingMessage][..],
        &[SubscribeToTask, GetTask].repeat(3),
        &[SubscribeToTask],
    ];
    check(
        &[ProtocolVersion::V1_0],
        script,
        &["Working", "=1", "+2", "+3", "Completed"],
        &asked.concat(),
    )
    .await;
}

#[tokio::test]
async fn a_peer_that_cannot_stream_is_sent_the_message_and_asked() {
    let script = || {
        let sent = SendMessageResponse::Task(task(Working, &["1"]));
        vec![
            refused(ErrorKind::UnsupportedOperation),
            Answer::Once(SendMessage, Ok(Response::SendMessage(sent))),
            looked(Completed, &["1", "2", "3"]),
        ]
    };
    let (events, asked) = (
        ["Working[1]", "+23", "Completed"],
        [SendStreamingMessage, SendMessage, GetTask],
    );
    check(ProtocolVersion::ALL, script, &events, &asked).await;

    let agent = ScriptedAgent::new(ProtocolVersion::V1_0, script()).await;
    collect(&mut agent.client().send("go").follow()).await;
    let params = &agent.asked()[1].params;
    assert_eq!(params["configuration"]["returnImmediately"], true);
    assert_eq!(
        params["message"]["messageId"],
        agent.asked()[0].params["message"]["messageId"]
    );
}

#[tokio::test]
async fn one_answer_to_a_question_for_a_stream_is_its_first_event() {
    let script = || {
        let sent = SendMessageResponse::Task(task(Working, &["1"]));
        vec![
            Answer::Once(SendMessage, Ok(Response::SendMessage(sent))),
            refused(ErrorKind::MethodNotFound),
            looked(Completed, &["1", "2", "3"]),
        ]
    };
    check(
        SINCE_0_2,
        script,
        &["Working[1]", "+23", "Completed"],
        &[SendStreamingMessage, SubscribeToTask, GetTask],
    )
    .await;
}

#[tokio::test]
async fn a_message_is_the_whole_answer() {
    for &protocol_version in SINCE_0_2 {
        let answer = Event::Message(Message::agent("hello"));
        let agent =
            ScriptedAgent::new(protocol_version, [events([answer], StreamEnd::Clean)]).await;
        let mut updates = agent.client().send("go").follow();
        let (events, error) = collect(&mut updates).await;
        assert!(
            events == ["hello"] && error.is_none(),
            "{events:?} {error:?}"
        );
        assert!(updates.task().is_none());
        assert_eq!(agent.operations(), [SendStreamingMessage]);
    }
}

#[tokio::test]
async fn a_refusal_is_reported_with_its_error_kind() {
    for &protocol_version in ProtocolVersion::ALL {
        let agent = ScriptedAgent::new(protocol_version, [refused(ErrorKind::InvalidParams)]).await;
        match agent
            .client()
            .stream(message(protocol_version))
            .await
            .map(drop)
        {
            Err(Error::Agent(error)) => assert_eq!(error.kind, ErrorKind::InvalidParams),
            other => panic!("{protocol_version}: {other:?}"),
        }
        assert_eq!(agent.operations(), [SendStreamingMessage]);
    }
}

/// It is unknown whether the agent received the message.
#[tokio::test]
async fn a_message_is_not_sent_twice_unasked() {
    for &protocol_version in ProtocolVersion::ALL {
        for answer in [events([], StreamEnd::Broken), Answer::Raw("")] {
            let agent = ScriptedAgent::new(protocol_version, [answer]).await;
            let (events, error) =
                collect(&mut agent.client().send(message(protocol_version)).follow()).await;
            assert!(
                events.is_empty() && error.is_some(),
                "{protocol_version}: {events:?}"
            );
            assert_eq!(
                agent.operations(),
                [SendStreamingMessage],
                "{protocol_version}"
            );
        }
    }
}

#[tokio::test]
async fn a_message_that_the_agent_recognises_is_sent_again_with_its_id() {
    for &protocol_version in SINCE_0_2 {
        let whole = events([snapshot(Completed, &["1"])], StreamEnd::Clean);
        let agent = ScriptedAgent::new(
            protocol_version,
            [Answer::Raw(""), events([], StreamEnd::Broken), whole],
        )
        .await;
        let client = agent
            .client()
            .retries(Retries::default().resend_messages(true));
        let (events, error) = collect(&mut client.send("go").follow()).await;
        assert_eq!(events, ["Completed[1]"], "{protocol_version}: {error:?}");
        let asked = agent.asked();
        let ids = asked
            .iter()
            .map(|asked| &asked.params["message"]["messageId"]);
        let ids: Vec<_> = ids.collect();
        assert!(
            ids.len() == 3 && ids.iter().all(|id| *id == ids[0]),
            "{ids:?}"
        );
    }
}

/// Returns the last event ids that a peer was asked to resume from.
fn places(agent: &ScriptedAgent) -> Vec<Option<String>> {
    let asked = agent.asked().into_iter();
    asked.map(|asked| asked.last_event_id).collect()
}

/// The peer has ids, but does not resume after the last one.
#[tokio::test]
async fn a_place_that_is_passed_is_forgotten() {
    for &protocol_version in SINCE_0_2 {
        let script = [
            numbered(1, [snapshot(Working, &[]), chunk("1")], StreamEnd::Broken),
            numbered(9, [chunk("3")], StreamEnd::Broken),
            looked(Working, &["1", "2", "3"]),
            events([snapshot(Completed, &["1", "2", "3"])], StreamEnd::Clean),
        ];
        let agent = ScriptedAgent::new(protocol_version, script).await;
        let (events, error) = collect(&mut agent.client().send("go").follow()).await;
        let expected = ["Working[]", "=1", "+23", "Completed"];
        assert_eq!(events, expected, "{protocol_version}: {error:?}");
        let place = Some("2".to_owned());
        assert_eq!(
            places(&agent),
            [None, place, None, None],
            "{protocol_version}"
        );
    }
}

/// Some peers number their events as they like.
#[tokio::test]
async fn ids_that_do_not_grow_are_not_positions() {
    let same = |events: Vec<Event>, end| {
        Answer::Events(
            events.into_iter().map(|event| (Some(1), event)).collect(),
            end,
        )
    };
    let script = || {
        vec![
            same(vec![status(Working), chunk("1")], StreamEnd::Broken),
            same(vec![chunk("3"), status(Completed)], StreamEnd::Clean),
            looked(Completed, &["1", "2", "3"]),
        ]
    };
    check(
        SINCE_0_2,
        script,
        &["Working", "=1", "+23", "Completed"],
        &[SendStreamingMessage, SubscribeToTask, GetTask],
    )
    .await;
}

#[tokio::test]
async fn numbers_that_do_not_grow_are_not_sent_back() {
    let first = [(Some(1), status(Working)), (Some(1), chunk("1"))];
    let whole = events([snapshot(Completed, &["1"])], StreamEnd::Clean);
    let agent = ScriptedAgent::new(
        ProtocolVersion::V1_0,
        [Answer::Events(first.into(), StreamEnd::Broken), whole],
    )
    .await;
    collect(&mut agent.client().send("go").follow()).await;
    assert_eq!(places(&agent), [None, None]);
}

#[tokio::test]
async fn a_task_of_a_peer_that_cannot_stream_is_followed() {
    for &protocol_version in ProtocolVersion::ALL {
        let script = [
            refused(ErrorKind::UnsupportedOperation),
            looked(Working, &["1"]),
            looked(Completed, &["1", "2"]),
        ];
        let agent = ScriptedAgent::new(protocol_version, script).await;
        let mut updates = agent.client().subscribe("t").await.unwrap();
        let (events, error) = collect(&mut updates).await;
        assert_eq!(
            events,
            ["Working[1]", "+2", "Completed"],
            "{protocol_version}: {error:?}"
        );
    }
}

#[tokio::test]
async fn a_follower_receives_the_task_first() {
    for &protocol_version in ProtocolVersion::ALL {
        let script = [
            events([chunk("3"), status(Completed)], StreamEnd::Clean),
            looked(Completed, &["1", "2", "3"]),
        ];
        let agent = ScriptedAgent::new(protocol_version, script).await;
        let mut updates = agent.client().subscribe("t").await.unwrap();
        let (events, error) = collect(&mut updates).await;
        assert_eq!(events, ["Completed[123]"], "{protocol_version}: {error:?}");
        assert_eq!(
            agent.operations(),
            [SubscribeToTask, GetTask],
            "{protocol_version}"
        );
    }
}

#[tokio::test]
async fn without_retries_a_disconnect_is_reported() {
    for &protocol_version in ProtocolVersion::ALL {
        let agent = ScriptedAgent::new(
            protocol_version,
            [events([status(Working)], StreamEnd::Broken)],
        )
        .await;
        let client = agent.client().retries(Retries::none());
        let (events, error) = collect(&mut client.send(message(protocol_version)).follow()).await;
        assert_eq!(events, ["Working"]);
        assert!(
            matches!(error, Some(Error::Unfinished)),
            "{protocol_version}: {error:?}"
        );
        assert_eq!(agent.operations(), [SendStreamingMessage]);
    }
}
