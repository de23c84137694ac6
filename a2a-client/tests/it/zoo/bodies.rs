//! Bodies of answers: too long, too short, compressed, of another type, or not JSON.

use std::time::Duration;

use a2a_client::{Error, Phase};

use crate::zoo::beast::Ask::{Card, Follow, Send};
use crate::zoo::beast::{Answered, Beast, beast};
use crate::zoo::script::*;

pub(crate) fn beasts() -> Vec<Beast> {
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
        beast!(
            "a body without end",
            Send,
            says_for_ever(ENDLESS, " "),
            Err(Error::TooLarge { what: "body", .. })
        ),
        beast!(
            "a body without end instead of a stream",
            Follow,
            says_for_ever(ENDLESS, "[1,"),
            Err(Error::TooLarge { what: "body", .. })
        ),
        beast!(
            "a card without end",
            Card(false),
            says_for_ever(ENDLESS, "{\"a\":"),
            Err(Error::TooLarge { what: "body", .. })
        ),
        beast!(
            "a card of 64 MiB",
            Card(false),
            says_often(length("67108864"), " ", 64 << 20, ""),
            Err(Error::TooLarge { what: "body", .. })
        ),
        beast!(
            "a length of 2^64",
            Send,
            says(length("18446744073709551616")),
            Err(Error::Connection(_))
        ),
        beast!(
            "a length of 2^63",
            Send,
            says(length("9223372036854775807")),
            Err(Error::TooLarge { what: "body", .. })
        ),
        beast!(
            "a body at one byte a second",
            Send,
            drips(ENDLESS, " ", second),
            Err(Error::Timeout {
                phase: Phase::Idle,
                ..
            })
        )
        .hastily(Phase::Idle),
        beast!(
            "a body that drips",
            Send,
            drips(ENDLESS, " ", often),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        beast!(
            "a body that drips, and no deadline",
            Send,
            drips(ENDLESS, " ", often),
            Err(Error::Timeout {
                phase: Phase::Body,
                ..
            })
        )
        .hastily(Phase::Body),
        beast!(
            "a card that drips",
            Card(false),
            drips(ENDLESS, " ", often),
            Err(Error::Timeout {
                phase: Phase::Body,
                ..
            })
        )
        .hastily(Phase::Body),
        beast!(
            "a body that stops",
            Send,
            says(format!("{ENDLESS}{{")),
            Err(Error::Timeout {
                phase: Phase::Idle,
                ..
            })
        )
        .hastily(Phase::Idle),
        beast!(
            "a card that stops",
            Card(false),
            says(format!("{ENDLESS}{{")),
            Err(Error::Timeout {
                phase: Phase::Idle,
                ..
            })
        )
        .hastily(Phase::Idle),
        beast!(
            "a body that is cut off",
            Send,
            says_and_goes(length("1000") + &right),
            Err(Error::Connection(_))
        ),
        beast!(
            "a card that is cut off",
            Card(false),
            says_and_goes(length("1000") + &card("http://h/", "")),
            Err(Error::Connection(_))
        ),
        beast!("a body that is longer than it says", Send, says(length(&right.len().to_string()) + &right + "more"),
            Ok(Answered::Message(text)) if text == "right"),
        beast!(
            "a body that is longer than it says by a half",
            Send,
            says(length(&(right.len() / 2).to_string()) + &right),
            Err(Error::Malformed(_))
        ),
        beast!(
            "a chunk of no size",
            Send,
            says(format!("{chunks}what\r\n")),
            Err(Error::Connection(_))
        ),
        beast!(
            "a chunk of 2^64",
            Send,
            says(format!("{chunks}fffffffffffffffff\r\n")),
            Err(Error::Connection(_))
        ),
        beast!(
            "a chunk longer than its size",
            Send,
            says(format!("{chunks}1\r\n{right}\r\n")),
            Err(Error::Connection(_))
        ),
        beast!(
            "extensions of chunks without end",
            Send,
            says_for_ever(format!("{chunks}1;"), "a"),
            Err(Error::Connection(_))
        ),
        beast!(
            "trailers without end",
            Send,
            says_for_ever(format!("{chunks}2\r\n{{}}\r\n0\r\n"), "x-a: b\r\n"),
            Err(Error::Connection(_))
        ),
        beast!(
            "chunks of one byte without end",
            Follow,
            says_for_ever(chunks, "1\r\n \r\n"),
            Err(Error::TooLarge { what: "body", .. })
        ),
        beast!(
            "a bomb of gzip",
            Send,
            says_for_ever(gzip, bomb()),
            Err(Error::NotA2a { status: 200, .. })
        ),
        beast!(
            "a bomb of gzip as a card",
            Card(false),
            says_for_ever(gzip, bomb()),
            Err(Error::NotA2a { status: 200, .. })
        ),
        beast!(
            "a bomb of gzip as a stream",
            Follow,
            says_for_ever(gzip, bomb()),
            Err(Error::NotA2a { status: 200, .. })
        ),
        beast!(
            "brotli",
            Send,
            says_for_ever(brotli, "x"),
            Err(Error::NotA2a { status: 200, .. })
        ),
        beast!(
            "a page",
            Send,
            says(http("200 OK", "content-type: text/html\r\n", "<html>")),
            Err(Error::Malformed(_))
        ),
        beast!(
            "a page as a card",
            Card(false),
            says(http("200 OK", "content-type: text/html\r\n", "<html>")),
            Err(Error::Malformed(_))
        ),
        beast!(
            "a page as a stream",
            Follow,
            says(http("200 OK", "content-type: text/html\r\n", "<html>")),
            Err(Error::Malformed(_))
        ),
        beast!(
            "a page of a gateway",
            Send,
            says(http(
                "502 Bad Gateway",
                "content-type: text/html\r\n",
                "<html>"
            )),
            Err(Error::NotA2a { status: 502, .. })
        ),
        beast!("JSON as text", Send, says(http("200 OK", "content-type: text/plain\r\n", &right)),
            Ok(Answered::Message(text)) if text == "right"),
        beast!("JSON as nothing", Send, says(http("200 OK", "", &right)),
            Ok(Answered::Message(text)) if text == "right"),
        beast!(
            "JSON as a stream",
            Follow,
            says_and_goes(format!("{STREAM}{right}\n\n")),
            Err(Error::Unfinished)
        ),
        beast!(
            "204",
            Send,
            says("HTTP/1.1 204 No Content\r\n\r\n"),
            Err(Error::NotA2a { status: 204, .. })
        ),
        beast!(
            "204 as a card",
            Card(false),
            says("HTTP/1.1 204 No Content\r\n\r\n"),
            Err(Error::NotA2a { status: 204, .. })
        ),
        beast!(
            "204 as a stream",
            Follow,
            says("HTTP/1.1 204 No Content\r\n\r\n"),
            Err(Error::NotA2a { status: 204, .. })
        ),
        beast!(
            "304 unasked",
            Card(false),
            says("HTTP/1.1 304 Not Modified\r\n\r\n"),
            Err(Error::NotA2a { status: 304, .. })
        ),
        beast!(
            "half a character",
            Send,
            says(json(
                [&right.as_bytes()[..right.len() - 8], b"\xc3"].concat()
            )),
            Err(Error::Malformed(_))
        ),
        beast!(
            "half a character in a string",
            Send,
            says(json(replaced(&right, b"\xe2\x82"))),
            Err(Error::Malformed(_))
        ),
        beast!(
            "half a character in a card",
            Card(false),
            says(json(replaced(&card("right", ""), b"\xe2\x82"))),
            Err(Error::Malformed(_))
        ),
        beast!(
            "half a surrogate",
            Send,
            says(json(right.replace("right", "\\ud800"))),
            Err(Error::Malformed(_))
        ),
        beast!(
            "NUL in a string",
            Send,
            says(json(replaced(&right, b"\0"))),
            Err(Error::Malformed(_))
        ),
        beast!(
            "only NUL",
            Send,
            says(json([0; 1000])),
            Err(Error::Malformed(_))
        ),
        beast!(
            "a byte order mark",
            Send,
            says(json(format!("\u{feff}{right}"))),
            Err(Error::Malformed(_))
        ),
        beast!(
            "JSON that is too deep",
            Send,
            says(json(result(&deep(100_000)))),
            Err(Error::Malformed(_))
        ),
        beast!(
            "data that is too deep",
            Send,
            says(json(with(&deep(1000)))),
            Err(Error::Malformed(_))
        ),
        beast!(
            "a card that is too deep",
            Card(false),
            says(json(card(
                "http://h/",
                &format!(",\"x\":{}", deep(100_000))
            ))),
            Err(Error::Malformed(_))
        ),
        beast!(
            "a card of many interfaces",
            Card(false),
            says(json(format!(
                "{{\"supportedInterfaces\":[{}{{}}]}}",
                "{},".repeat(100_000)
            ))),
            Err(Error::Malformed(_))
        ),
        beast!(
            "keys that come twice",
            Send,
            says(json(right.replacen("{", "{\"id\":1,", 1))),
            Err(Error::Malformed(_))
        ),
        beast!(
            "keys that come twice in a card",
            Card(false),
            says(json(card("http://h/", ",\"name\":\"m\""))),
            Err(Error::Malformed(_))
        ),
        beast!(
            "a number of 100,000 digits",
            Send,
            says(json(with(&digits))),
            Err(Error::Malformed(_))
        ),
        beast!(
            "1e999999999",
            Send,
            says(json(with("1e999999999"))),
            Err(Error::Malformed(_))
        ),
        beast!(
            "many numbers",
            Send,
            says(json(with(&format!("[{}1]", "1,".repeat(400_000))))),
            Err(Error::Malformed(_))
        ),
        beast!(
            "two documents",
            Send,
            says(json(format!("{right}{right}"))),
            Err(Error::Malformed(_))
        ),
    ]
}

fn replaced(text: &str, by: &[u8]) -> Vec<u8> {
    let (before, after) = text.split_once("right").expect("it says `right`");
    [before.as_bytes(), by, after.as_bytes()].concat()
}

/// 1 MiB of zeros by gzip, in 1 KiB.
fn bomb() -> Vec<u8> {
    let begins =
        b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\xed\xc1\x31\x01\0\0\0\xc2\xa0\xf5\x4f\x6d\x08\x5f";
    let ends = b"\x3e\x03\x1c\xea\x38\xa7\0\0\x10\0";
    [&begins[..], &[0; 1051 - 24 - 10], ends].concat()
}
