//! Bodies of answers: too long, too short, compressed, of another type, or not JSON.

use std::time::Duration;

use a2a_client::{Error, Phase};

use crate::faulty_agents::faulty_agent::ClientCall::{Card, Follow, Send};
use crate::faulty_agents::faulty_agent::{FaultyAgent, Reply, faulty_agent};
use crate::faulty_agents::script::*;

pub(crate) fn agents() -> Vec<FaultyAgent> {
    let right = result(&message("right"));
    let (second, often) = (Duration::from_secs(1), Duration::from_millis(50));
    let length = |length: &str| format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
    let chunks = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let gzip =
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n\r\n";
    let brotli = "HTTP/1.1 200 OK\r\ncontent-encoding: br\r\n\r\n";
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let with = |data: &str| {
        result(&message("right").replace("\"text\":\"right\"", &format!("\"data\":{data}")))
    };
    let digits = "9".repeat(100_000);
    vec![
        faulty_agent!(
            "a body without end",
            Send,
            sends_forever(ENDLESS, " "),
            Err(Error::TooLarge { what: "body", .. })
        ),
        faulty_agent!(
            "a body without end instead of a stream",
            Follow,
            sends_forever(ENDLESS, "[1,"),
            Err(Error::TooLarge { what: "body", .. })
        ),
        faulty_agent!(
            "a card without end",
            Card(false),
            sends_forever(ENDLESS, "{\"a\":"),
            Err(Error::TooLarge { what: "body", .. })
        ),
        faulty_agent!(
            "a card of 64 MiB",
            Card(false),
            sends_repeatedly(length("67108864"), " ", 64 << 20, ""),
            Err(Error::TooLarge { what: "body", .. })
        ),
        faulty_agent!(
            "a length of 2^64",
            Send,
            sends(length("18446744073709551616")),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "a length of 2^63",
            Send,
            sends(length("9223372036854775807")),
            Err(Error::TooLarge { what: "body", .. })
        ),
        faulty_agent!(
            "a body at one byte a second",
            Send,
            drips(ENDLESS, " ", second),
            Err(Error::Timeout {
                phase: Phase::Idle,
                ..
            })
        )
        .with_short_timeout(Phase::Idle),
        faulty_agent!(
            "a body that drips",
            Send,
            drips(ENDLESS, " ", often),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        faulty_agent!(
            "a body that drips, and no deadline",
            Send,
            drips(ENDLESS, " ", often),
            Err(Error::Timeout {
                phase: Phase::Body,
                ..
            })
        )
        .with_short_timeout(Phase::Body),
        faulty_agent!(
            "a card that drips",
            Card(false),
            drips(ENDLESS, " ", often),
            Err(Error::Timeout {
                phase: Phase::Body,
                ..
            })
        )
        .with_short_timeout(Phase::Body),
        faulty_agent!(
            "a body that stops",
            Send,
            sends(format!("{ENDLESS}{{")),
            Err(Error::Timeout {
                phase: Phase::Idle,
                ..
            })
        )
        .with_short_timeout(Phase::Idle),
        faulty_agent!(
            "a card that stops",
            Card(false),
            sends(format!("{ENDLESS}{{")),
            Err(Error::Timeout {
                phase: Phase::Idle,
                ..
            })
        )
        .with_short_timeout(Phase::Idle),
        faulty_agent!(
            "a body that is cut off",
            Send,
            sends_and_closes(length("1000") + &right),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "a card that is cut off",
            Card(false),
            sends_and_closes(length("1000") + &card("http://h/", "")),
            Err(Error::Connection(_))
        ),
        faulty_agent!("a body that is longer than it says", Send, sends(length(&right.len().to_string()) + &right + "more"),
            Ok(Reply::Message(text)) if text == "right"),
        faulty_agent!(
            "a body that is longer than it says by a half",
            Send,
            sends(length(&(right.len() / 2).to_string()) + &right),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "a chunk of no size",
            Send,
            sends(format!("{chunks}what\r\n")),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "a chunk of 2^64",
            Send,
            sends(format!("{chunks}fffffffffffffffff\r\n")),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "a chunk longer than its size",
            Send,
            sends(format!("{chunks}1\r\n{right}\r\n")),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "extensions of chunks without end",
            Send,
            sends_forever(format!("{chunks}1;"), "a"),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "trailers without end",
            Send,
            sends_forever(format!("{chunks}2\r\n{{}}\r\n0\r\n"), "x-a: b\r\n"),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
            "chunks of one byte without end",
            Follow,
            sends_forever(chunks, "1\r\n \r\n"),
            Err(Error::TooLarge { what: "body", .. })
        ),
        faulty_agent!(
            "a bomb of gzip",
            Send,
            sends_forever(gzip, bomb()),
            Err(Error::NotA2a { status: 200, .. })
        ),
        faulty_agent!(
            "a bomb of gzip as a card",
            Card(false),
            sends_forever(gzip, bomb()),
            Err(Error::NotA2a { status: 200, .. })
        ),
        faulty_agent!(
            "a bomb of gzip as a stream",
            Follow,
            sends_forever(gzip, bomb()),
            Err(Error::NotA2a { status: 200, .. })
        ),
        faulty_agent!(
            "brotli",
            Send,
            sends_forever(brotli, "x"),
            Err(Error::NotA2a { status: 200, .. })
        ),
        faulty_agent!(
            "a page",
            Send,
            sends(http("200 OK", "content-type: text/html\r\n", "<html>")),
            Err(Error::NotA2a { status: 200, .. })
        ),
        faulty_agent!(
            "a page as a card",
            Card(false),
            sends(http("200 OK", "content-type: text/html\r\n", "<html>")),
            Err(Error::NotA2a { status: 200, .. })
        ),
        faulty_agent!(
            "a page as a stream",
            Follow,
            sends(http("200 OK", "content-type: text/html\r\n", "<html>")),
            Err(Error::NotA2a { status: 200, .. })
        ),
        faulty_agent!(
            "a page of a gateway",
            Send,
            sends(http(
                "502 Bad Gateway",
                "content-type: text/html\r\n",
                "<html>"
            )),
            Err(Error::NotA2a { status: 502, .. })
        ),
        faulty_agent!("JSON as text", Send, sends(http("200 OK", "content-type: text/plain\r\n", &right)),
            Ok(Reply::Message(text)) if text == "right"),
        faulty_agent!("JSON as nothing", Send, sends(http("200 OK", "", &right)),
            Ok(Reply::Message(text)) if text == "right"),
        faulty_agent!(
            "JSON as a stream",
            Follow,
            sends_and_closes(format!("{STREAM}{right}\n\n")),
            Err(Error::Unfinished)
        ),
        faulty_agent!(
            "204",
            Send,
            sends("HTTP/1.1 204 No Content\r\n\r\n"),
            Err(Error::NotA2a { status: 204, .. })
        ),
        faulty_agent!(
            "204 as a card",
            Card(false),
            sends("HTTP/1.1 204 No Content\r\n\r\n"),
            Err(Error::NotA2a { status: 204, .. })
        ),
        faulty_agent!(
            "204 as a stream",
            Follow,
            sends("HTTP/1.1 204 No Content\r\n\r\n"),
            Err(Error::NotA2a { status: 204, .. })
        ),
        faulty_agent!(
            "304 unasked",
            Card(false),
            sends("HTTP/1.1 304 Not Modified\r\n\r\n"),
            Err(Error::NotA2a { status: 304, .. })
        ),
        faulty_agent!(
            "half a character",
            Send,
            sends(json(
                [&right.as_bytes()[..right.len() - 8], b"\xc3"].concat()
            )),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "half a character in a string",
            Send,
            sends(json(replaced(&right, b"\xe2\x82"))),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "half a character in a card",
            Card(false),
            sends(json(replaced(&card("right", ""), b"\xe2\x82"))),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "half a surrogate",
            Send,
            sends(json(right.replace("right", "\\ud800"))),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "NUL in a string",
            Send,
            sends(json(replaced(&right, b"\0"))),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "only NUL",
            Send,
            sends(json([0; 1000])),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "a byte order mark",
            Send,
            sends(json(format!("\u{feff}{right}"))),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "JSON that is too deep",
            Send,
            sends(json(result(&deep(100_000)))),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "data that is too deep",
            Send,
            sends(json(with(&deep(1000)))),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "a card that is too deep",
            Card(false),
            sends(json(card(
                "http://h/",
                &format!(",\"x\":{}", deep(100_000))
            ))),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "a card of many interfaces",
            Card(false),
            sends(json(format!(
                "{{\"supportedInterfaces\":[{}{{}}]}}",
                "{},".repeat(100_000)
            ))),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "keys that come twice",
            Send,
            sends(json(right.replacen("{", "{\"id\":1,", 1))),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "keys that come twice in a card",
            Card(false),
            sends(json(card("http://h/", ",\"name\":\"m\""))),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "a number of 100,000 digits",
            Send,
            sends(json(with(&digits))),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "1e999999999",
            Send,
            sends(json(with("1e999999999"))),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "many numbers",
            Send,
            sends(json(with(&format!("[{}1]", "1,".repeat(400_000))))),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "two documents",
            Send,
            sends(json(format!("{right}{right}"))),
            Err(Error::Malformed(_))
        ),
    ]
}

fn replaced(text: &str, by: &[u8]) -> Vec<u8> {
    let (before, after) = text.split_once("right").expect("it says `right`");
    [before.as_bytes(), by, after.as_bytes()].concat()
}

/// Returns 1 MiB of zeros, compressed by gzip to 1 KiB.
fn bomb() -> Vec<u8> {
    let begins =
        b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\xed\xc1\x31\x01\0\0\0\xc2\xa0\xf5\x4f\x6d\x08\x5f";
    let ends = b"\x3e\x03\x1c\xea\x38\xa7\0\0\x10\0";
    [&begins[..], &[0; 1051 - 24 - 10], ends].concat()
}
