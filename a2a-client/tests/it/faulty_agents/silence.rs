//! Servers that send nothing, close or break the connection, at each phase of a call.

use a2a_client::{Error, Phase};

use crate::faulty_agents::faulty_agent::ClientCall::{Card, Follow, Send};
use crate::faulty_agents::faulty_agent::{FaultyAgent, faulty_agent};
use crate::faulty_agents::script::*;
use crate::faulty_agents::test_server::{Behaviour, Connection, behaviour};

pub(crate) fn agents() -> Vec<FaultyAgent> {
    let part = format!("{ENDLESS}{{\"jsonrpc\":");
    let begun = format!("{STREAM}{}", event(&status("t", "WORKING")));
    let within = format!("{begun}data: {{\"jsonrpc\":");
    let long = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{";
    vec![
        faulty_agent!(
            "silence on connecting",
            Send,
            behaviour(Connection::wait_for_close),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .with_short_timeout(Phase::FirstByte),
        faulty_agent!(
            "silence, and the agent reads nothing",
            Send,
            reads_nothing(),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .with_short_timeout(Phase::FirstByte),
        faulty_agent!(
            "silence on asking for a card",
            Card(false),
            sends(""),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .with_short_timeout(Phase::FirstByte),
        faulty_agent!(
            "silence on asking",
            Send,
            sends(""),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .with_short_timeout(Phase::FirstByte),
        faulty_agent!(
            "silence on asking, and a deadline",
            Send,
            sends(""),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        faulty_agent!(
            "silence on asking for a stream",
            Follow,
            sends(""),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .with_short_timeout(Phase::FirstByte),
        faulty_agent!(
            "silence in the head",
            Send,
            sends("HTTP/1.1 200 OK\r\ncontent-"),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .with_short_timeout(Phase::FirstByte),
        faulty_agent!(
            "silence after the head",
            Send,
            sends(long),
            Err(Error::Timeout {
                phase: Phase::Idle,
                ..
            })
        )
        .with_short_timeout(Phase::Idle),
        faulty_agent!(
            "silence after the head, and a deadline",
            Send,
            sends(long),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        faulty_agent!(
            "silence after the head of a stream",
            Follow,
            sends(STREAM),
            Err(Error::Timeout {
                phase: Phase::Idle,
                ..
            })
        )
        .with_short_timeout(Phase::Idle),
        faulty_agent!(
            "silence in a stream",
            Follow,
            sends(begun.clone()),
            Err(Error::Timeout {
                phase: Phase::Idle,
                ..
            })
        )
        .with_short_timeout(Phase::Idle),
        faulty_agent!(
            "silence in a stream, and a deadline",
            Follow,
            sends(begun.clone()),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        faulty_agent!(
            "silence within an event",
            Follow,
            sends(within.clone()),
            Err(Error::Timeout {
                phase: Phase::Idle,
                ..
            })
        )
        .with_short_timeout(Phase::Idle),
        faulty_agent!(
            "the end on connecting",
            Send,
            leaves(),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "the end on asking",
            Send,
            sends_and_closes(""),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "the end on asking for a card",
            Card(false),
            sends_and_closes(""),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "the end on asking for a stream",
            Follow,
            sends_and_closes(""),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "the end in the head",
            Send,
            sends_and_closes("HTTP/1.1 200 OK\r\ncontent-"),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "the end in the body",
            Send,
            sends_and_closes(long),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "the end in a body without a length",
            Send,
            sends_and_closes(part.clone()),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "the end before an event",
            Follow,
            sends_and_closes(STREAM),
            Err(Error::Unfinished)
        ),
        faulty_agent!(
            "the end after an event",
            Follow,
            sends_and_closes(begun.clone()),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "a break on connecting",
            Send,
            breaks(),
            // A reset may be there before the connection is.
            Err(Error::Connection(_) | Error::Unreachable(_))
        ),
        faulty_agent!(
            "a break on asking",
            Send,
            sends_and_resets(""),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "a break on asking for a card",
            Card(false),
            sends_and_resets(""),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "a break in the head",
            Send,
            sends_and_resets("HTTP/1.1 200 OK\r\ncontent-"),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "a break in the body",
            Send,
            sends_and_resets(long),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "a break in the body of a card",
            Card(false),
            sends_and_resets(long),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "a break before an event",
            Follow,
            sends_and_resets(STREAM),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "a break after an event",
            Follow,
            sends_and_resets(begun),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "a break within an event",
            Follow,
            sends_and_resets(within),
            Err(Error::Connection(_))
        ),
    ]
}

/// Reads nothing, and knows of the client's end only by that.
fn reads_nothing() -> Behaviour {
    behaviour(|connection| async move {
        connection.stream.readable().await?;
        connection.wait_for_close().await
    })
}

fn leaves() -> Behaviour {
    behaviour(|_| async { Ok(()) })
}

fn breaks() -> Behaviour {
    behaviour(|connection| async { connection.reset() })
}
