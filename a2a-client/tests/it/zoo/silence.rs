//! Servers that say nothing, or leave, or break the connection, at each phase of a call.

use a2a_client::{Error, Phase};

use crate::zoo::beast::Ask::{Card, Follow, Send};
use crate::zoo::beast::{Beast, beast};
use crate::zoo::cage::{Act, Visit, act};
use crate::zoo::script::*;

pub(crate) fn beasts() -> Vec<Beast> {
    let part = format!("{ENDLESS}{{\"jsonrpc\":");
    let begun = format!("{STREAM}{}", event(&status("t", "WORKING")));
    let within = format!("{begun}data: {{\"jsonrpc\":");
    let long = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{";
    vec![
        beast!(
            "silence on connecting",
            Send,
            act(Visit::hush),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .hastily(Phase::FirstByte),
        beast!(
            "silence, and nobody reads",
            Send,
            nobody_reads(),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .hastily(Phase::FirstByte),
        beast!(
            "silence on asking for a card",
            Card(false),
            says(""),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .hastily(Phase::FirstByte),
        beast!(
            "silence on asking",
            Send,
            says(""),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .hastily(Phase::FirstByte),
        beast!(
            "silence on asking, and a deadline",
            Send,
            says(""),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        beast!(
            "silence on asking for a stream",
            Follow,
            says(""),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .hastily(Phase::FirstByte),
        beast!(
            "silence in the head",
            Send,
            says("HTTP/1.1 200 OK\r\ncontent-"),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .hastily(Phase::FirstByte),
        beast!(
            "silence after the head",
            Send,
            says(long),
            Err(Error::Timeout {
                phase: Phase::Idle,
                ..
            })
        )
        .hastily(Phase::Idle),
        beast!(
            "silence after the head, and a deadline",
            Send,
            says(long),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        beast!(
            "silence after the head of a stream",
            Follow,
            says(STREAM),
            Err(Error::Timeout {
                phase: Phase::Idle,
                ..
            })
        )
        .hastily(Phase::Idle),
        beast!(
            "silence in a stream",
            Follow,
            says(begun.clone()),
            Err(Error::Timeout {
                phase: Phase::Idle,
                ..
            })
        )
        .hastily(Phase::Idle),
        beast!(
            "silence in a stream, and a deadline",
            Follow,
            says(begun.clone()),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        beast!(
            "silence within an event",
            Follow,
            says(within.clone()),
            Err(Error::Timeout {
                phase: Phase::Idle,
                ..
            })
        )
        .hastily(Phase::Idle),
        beast!(
            "the end on connecting",
            Send,
            leaves(),
            Err(Error::Connection(_))
        ),
        beast!(
            "the end on asking",
            Send,
            says_and_goes(""),
            Err(Error::Connection(_))
        ),
        beast!(
            "the end on asking for a card",
            Card(false),
            says_and_goes(""),
            Err(Error::Connection(_))
        ),
        beast!(
            "the end on asking for a stream",
            Follow,
            says_and_goes(""),
            Err(Error::Connection(_))
        ),
        beast!(
            "the end in the head",
            Send,
            says_and_goes("HTTP/1.1 200 OK\r\ncontent-"),
            Err(Error::Connection(_))
        ),
        beast!(
            "the end in the body",
            Send,
            says_and_goes(long),
            Err(Error::Connection(_))
        ),
        beast!(
            "the end in a body without a length",
            Send,
            says_and_goes(part.clone()),
            Err(Error::Malformed(_))
        ),
        beast!(
            "the end before an event",
            Follow,
            says_and_goes(STREAM),
            Err(Error::Unfinished)
        ),
        beast!(
            "the end after an event",
            Follow,
            says_and_goes(begun.clone()),
            Err(Error::Malformed(_))
        ),
        beast!(
            "a break on connecting",
            Send,
            breaks(),
            // A reset may be there before the connection is.
            Err(Error::Connection(_) | Error::Unreachable(_))
        ),
        beast!(
            "a break on asking",
            Send,
            says_and_breaks(""),
            Err(Error::Connection(_))
        ),
        beast!(
            "a break on asking for a card",
            Card(false),
            says_and_breaks(""),
            Err(Error::Connection(_))
        ),
        beast!(
            "a break in the head",
            Send,
            says_and_breaks("HTTP/1.1 200 OK\r\ncontent-"),
            Err(Error::Connection(_))
        ),
        beast!(
            "a break in the body",
            Send,
            says_and_breaks(long),
            Err(Error::Connection(_))
        ),
        beast!(
            "a break in the body of a card",
            Card(false),
            says_and_breaks(long),
            Err(Error::Connection(_))
        ),
        beast!(
            "a break before an event",
            Follow,
            says_and_breaks(STREAM),
            Err(Error::Connection(_))
        ),
        beast!(
            "a break after an event",
            Follow,
            says_and_breaks(begun),
            Err(Error::Connection(_))
        ),
        beast!(
            "a break within an event",
            Follow,
            says_and_breaks(within),
            Err(Error::Connection(_))
        ),
    ]
}

/// Reads nothing, and knows of the client's end only by that.
fn nobody_reads() -> Act {
    act(|visit| async move {
        visit.stream.readable().await?;
        visit.hush().await
    })
}

fn leaves() -> Act {
    act(|_| async { Ok(()) })
}

fn breaks() -> Act {
    act(|visit| async { visit.reset() })
}
