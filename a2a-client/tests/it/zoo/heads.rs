//! Heads of answers in HTTP/1.1: without end, broken, or of something else.

use std::time::Duration;

use a2a_client::{Error, Phase};

use crate::zoo::beast::Ask::{Card, Follow, Send, SendTwice};
use crate::zoo::beast::{Answered, Beast, beast};
use crate::zoo::script::*;

pub(crate) fn beasts() -> Vec<Beast> {
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
        beast!(
            "headers without end",
            Send,
            says_for_ever(begun, "x-a: b\r\n"),
            Err(Error::TooLarge { what: "head", .. })
        ),
        beast!(
            "headers without end before a card",
            Card(false),
            says_for_ever(begun, "x-a: b\r\n"),
            Err(Error::TooLarge { what: "head", .. })
        ),
        beast!(
            "headers without end before a stream",
            Follow,
            says_for_ever(begun, "x-a: b\r\n"),
            Err(Error::TooLarge { what: "head", .. })
        ),
        beast!(
            "100,000 headers",
            Send,
            says(http("200 OK", &many, "{}")),
            Err(Error::TooLarge { what: "head", .. })
        ),
        beast!(
            "a header of 1 MiB",
            Send,
            says(http("200 OK", &long, "{}")),
            Err(Error::TooLarge { what: "head", .. })
        ),
        beast!(
            "a header line without end",
            Send,
            says_for_ever(format!("{begun}x-a: "), "b"),
            Err(Error::TooLarge { what: "head", .. })
        ),
        beast!(
            "a status line without end",
            Send,
            says_for_ever("HTTP/1.1 200 ", "OK"),
            Err(Error::TooLarge { what: "head", .. })
        ),
        beast!(
            "a challenge of 1 MiB",
            Send,
            says(http("401 Unauthorized", &challenge, "")),
            Err(Error::TooLarge { what: "head", .. })
        ),
        beast!(
            "a head at one byte a second",
            Send,
            drips("", begun, second),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .hastily(Phase::FirstByte),
        beast!(
            "a head that drips, of a card",
            Card(false),
            drips(begun, "x-a: b\r\n", often),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .hastily(Phase::FirstByte),
        beast!(
            "a head that drips, of a stream",
            Follow,
            drips(begun, "x-a: b\r\n", often),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .hastily(Phase::FirstByte),
        beast!(
            "a head that drips past the deadline",
            Send,
            drips(begun, "x-a: b\r\n", often),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        beast!(
            "1xx without end",
            Send,
            says_for_ever("", "HTTP/1.1 100 Continue\r\n\r\n"),
            Err(Error::Timeout {
                phase: Phase::FirstByte,
                ..
            })
        )
        .hastily(Phase::FirstByte),
        beast!(
            "1xx without end, and a deadline",
            Follow,
            says_for_ever("", "HTTP/1.1 103 Early Hints\r\n\r\n"),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        beast!("1xx before the answer", Send, says(informed),
            Ok(Answered::Message(text)) if text == "right"),
        beast!(
            "101, and another protocol",
            Send,
            says(
                "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n\u{81}"
            ),
            Err(Error::NotA2a { status: 101, .. })
        ),
        beast!(
            "101 instead of a stream",
            Follow,
            says("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
            Err(Error::NotA2a { status: 101, .. })
        ),
        beast!(
            "101 instead of a card",
            Card(false),
            says("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
            Err(Error::NotA2a { status: 101, .. })
        ),
        beast!(
            "HTTP/0.9",
            Send,
            says_and_goes(result(&message("right"))),
            Err(Error::Connection(_))
        ),
        beast!(
            "HTTP/0.9 as a card",
            Card(false),
            says_and_goes(card("http://h/", "")),
            Err(Error::Connection(_))
        ),
        beast!(
            "HTTP/9.9",
            Send,
            says_and_goes("HTTP/9.9 200 OK\r\n\r\n{}"),
            Err(Error::Connection(_))
        ),
        beast!(
            "SSH",
            Send,
            says("SSH-2.0-OpenSSH_9.6\r\n"),
            Err(Error::Connection(_))
        ),
        beast!(
            "TLS in the clear",
            Send,
            says(b"\x15\x03\x03\x00\x02\x02\x28"),
            Err(Error::Connection(_))
        ),
        beast!(
            "frames of HTTP/2",
            Send,
            says(b"\0\0\0\x04\0\0\0\0\0\0\0\0\x04\x01\0\0\0\0"),
            Err(Error::Connection(_))
        ),
        beast!(
            "NUL in a header",
            Send,
            says(http("200 OK", "x-a: \0\r\n", "{}")),
            Err(Error::Connection(_))
        ),
        beast!(
            "a folded header",
            Send,
            says(http("200 OK", "x-a: b\r\n c\r\n", "{}")),
            Err(Error::Connection(_))
        ),
        beast!(
            "status 000",
            Send,
            says(http("000 None", "", "{}")),
            Err(Error::Connection(_))
        ),
        beast!(
            "status 999",
            Send,
            says(http("999 What", "", "{}")),
            Err(Error::NotA2a { status: 999, .. })
        ),
        beast!(
            "two lengths",
            Send,
            says("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{} "),
            Err(Error::Connection(_))
        ),
        beast!(
            "a length below zero",
            Send,
            says("HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}"),
            Err(Error::Connection(_))
        ),
        beast!("two answers in one", Send, says(glued.clone()),
            Ok(Answered::Message(text)) if text == "right"),
        beast!("two answers in one, and another question", SendTwice, says(glued),
            Ok(Answered::Message(text)) if text == "right"),
    ]
}
