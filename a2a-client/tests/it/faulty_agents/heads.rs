//! Heads of answers in HTTP/1.1: without end, broken, or of something else.

use std::time::Duration;

use a2a_client::{Error, Phase};

use crate::faulty_agents::faulty_agent::ClientCall::{Card, Follow, Send, SendTwice};
use crate::faulty_agents::faulty_agent::{FaultyAgent, Reply, faulty_agent};
use crate::faulty_agents::script::*;

pub(crate) fn agents() -> Vec<FaultyAgent> {
    let begun = "HTTP/1.1 200 OK\r\n";
    let second = Duration::from_secs(1);
    let often = Duration::from_millis(50);
    let right = json(result(&message("right")));
    let many = "x-a: b\r\n".repeat(100_000);
    let long = format!("x-a: {}\r\n", "b".repeat(1 << 20));
    let challenge = format!("www-authenticate: {}\r\n", "Bearer ".repeat(150_000));
    let glued = [right.clone(), json(result(&message("glued")))].concat();
    let informed = [
        "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(3).into(),
        right.clone(),
    ]
    .concat();
    vec![
        faulty_agent!(
            "headers without end",
            Send,
            sends_forever(begun, "x-a: b\r\n"),
            Err(Error::TooLarge { what: "head", .. })
        ),
        faulty_agent!(
            "headers without end before a card",
            Card(false),
            sends_forever(begun, "x-a: b\r\n"),
            Err(Error::TooLarge { what: "head", .. })
        ),
        faulty_agent!(
            "headers without end before a stream",
            Follow,
            sends_forever(begun, "x-a: b\r\n"),
            Err(Error::TooLarge { what: "head", .. })
        ),
        faulty_agent!(
            "100,000 headers",
            Send,
            sends(http("200 OK", &many, "{}")),
            Err(Error::TooLarge { what: "head", .. })
        ),
        faulty_agent!(
            "a header of 1 MiB",
            Send,
            sends(http("200 OK", &long, "{}")),
            Err(Error::TooLarge { what: "head", .. })
        ),
        faulty_agent!(
            "a header line without end",
            Send,
            sends_forever(format!("{begun}x-a: "), "b"),
            Err(Error::TooLarge { what: "head", .. })
        ),
        faulty_agent!(
            "a status line without end",
            Send,
            sends_forever("HTTP/1.1 200 ", "OK"),
            Err(Error::TooLarge { what: "head", .. })
        ),
        faulty_agent!(
            "a challenge of 1 MiB",
            Send,
            sends(http("401 Unauthorized", &challenge, "")),
            Err(Error::TooLarge { what: "head", .. })
        ),
        faulty_agent!(
            "a head at one byte a second",
            Send,
            drips("", begun, second),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .with_short_timeout(Phase::FirstByte),
        faulty_agent!(
            "a head that drips, of a card",
            Card(false),
            drips(begun, "x-a: b\r\n", often),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .with_short_timeout(Phase::FirstByte),
        faulty_agent!(
            "a head that drips, of a stream",
            Follow,
            drips(begun, "x-a: b\r\n", often),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .with_short_timeout(Phase::FirstByte),
        faulty_agent!(
            "a head that drips past the deadline",
            Send,
            drips(begun, "x-a: b\r\n", often),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        faulty_agent!(
            "1xx without end",
            Send,
            sends_forever("", "HTTP/1.1 100 Continue\r\n\r\n"),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .with_short_timeout(Phase::FirstByte),
        faulty_agent!(
            "1xx without end, and a deadline",
            Follow,
            sends_forever("", "HTTP/1.1 103 Early Hints\r\n\r\n"),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        faulty_agent!("1xx before the answer", Send, sends(informed),
            Ok(Reply::Message(text)) if text == "right"),
        faulty_agent!(
            "101, and another protocol",
            Send,
            sends(
                "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n\u{81}"
            ),
            Err(Error::NotA2a { status: 101, .. })
        ),
        faulty_agent!(
            "101 instead of a stream",
            Follow,
            sends("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
            Err(Error::NotA2a { status: 101, .. })
        ),
        faulty_agent!(
            "101 instead of a card",
            Card(false),
            sends("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
            Err(Error::NotA2a { status: 101, .. })
        ),
        faulty_agent!(
            "HTTP/0.9",
            Send,
            sends_and_closes(result(&message("right"))),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "HTTP/0.9 as a card",
            Card(false),
            sends_and_closes(card("http://h/", "")),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "HTTP/9.9",
            Send,
            sends_and_closes("HTTP/9.9 200 OK\r\n\r\n{}"),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "SSH",
            Send,
            sends("SSH-2.0-OpenSSH_9.6\r\n"),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "TLS in the clear",
            Send,
            sends(b"\x15\x03\x03\x00\x02\x02\x28"),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "frames of HTTP/2",
            Send,
            sends(b"\0\0\0\x04\0\0\0\0\0\0\0\0\x04\x01\0\0\0\0"),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "NUL in a header",
            Send,
            sends(http("200 OK", "x-a: \0\r\n", "{}")),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "a folded header",
            Send,
            sends(http("200 OK", "x-a: b\r\n c\r\n", "{}")),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "status 000",
            Send,
            sends(http("000 None", "", "{}")),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "status 999",
            Send,
            sends(http("999 What", "", "{}")),
            Err(Error::NotA2a { status: 999, .. })
        ),
        faulty_agent!(
            "two lengths",
            Send,
            sends("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{} "),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "a length below zero",
            Send,
            sends("HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}"),
            Err(Error::Connection(_))
        ),
        faulty_agent!("two answers in one", Send, sends(glued.clone()),
            Ok(Reply::Message(text)) if text == "right"),
        faulty_agent!("two answers in one, and another question", SendTwice, sends(glued),
            Ok(Reply::Message(text)) if text == "right"),
    ]
}
