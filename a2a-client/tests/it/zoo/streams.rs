//! Server-Sent Events: without end, too large, or not text.

use std::time::Duration;

use a2a_client::{Error, Phase};

use crate::zoo::beast::Ask::Follow;
use crate::zoo::beast::{Answered, Beast, beast};
use crate::zoo::script::*;

pub(crate) fn beasts() -> Vec<Beast> {
    let working = event(&status("t", "WORKING"));
    let done = event(&status("t", "COMPLETED"));
    let second = Duration::from_secs(1);
    let often = Duration::from_millis(50);
    let numbered = |id: &str| format!("id: {id}\n{working}");
    let told =
        |events: &[String]| says_and_goes(stream(events.iter().cloned().chain([done.clone()])));
    let ids = |ids: &[&str]| told(&ids.iter().map(|id| numbered(id)).collect::<Vec<_>>());
    let with = |by: &[u8]| {
        let text = event(&message("right"));
        let (before, after) = text.split_once("right").expect("it says so");
        says_and_goes([STREAM.as_bytes(), before.as_bytes(), by, after.as_bytes()].concat())
    };
    let deadline = |beast: Beast| beast.until_the_deadline();
    vec![
        beast!(
            "a line of 64 MiB",
            Follow,
            says_often(format!("{STREAM}data: "), "x", 64 << 20, "\n\n"),
            Err(Error::TooLarge { what: "line", .. })
        ),
        beast!(
            "a line without end",
            Follow,
            says_for_ever(format!("{STREAM}data: "), "x"),
            Err(Error::TooLarge { what: "line", .. })
        ),
        beast!(
            "a comment without end",
            Follow,
            says_for_ever(format!("{STREAM}:"), "x"),
            Err(Error::TooLarge { what: "line", .. })
        ),
        beast!(
            "an id without end",
            Follow,
            says_for_ever(format!("{STREAM}id: "), "1"),
            Err(Error::TooLarge { what: "line", .. })
        ),
        beast!(
            "a million lines in one event",
            Follow,
            says_often(STREAM, "data: x\n", 1_000_000, "\n"),
            Err(Error::TooLarge { what: "event", .. })
        ),
        beast!(
            "a million empty lines in one event",
            Follow,
            says_often(STREAM, "data:\n", 1_000_000, "\n"),
            Err(Error::TooLarge { what: "event", .. })
        ),
        beast!(
            "an event without end",
            Follow,
            says_for_ever(STREAM, "data: {}\nid: 1\nevent: x\n"),
            Err(Error::TooLarge { what: "event", .. })
        ),
        deadline(beast!(
            "fields that nobody knows, without end",
            Follow,
            says_for_ever(STREAM, "x: y\n"),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        deadline(beast!(
            "comments without end",
            Follow,
            says_for_ever(STREAM, ": ping\n\n"),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        deadline(beast!(
            "comments after an event, without end",
            Follow,
            says_for_ever(format!("{STREAM}{working}"), ": ping\n\n"),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        deadline(beast!(
            "line ends without end",
            Follow,
            says_for_ever(STREAM, "\r"),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        deadline(beast!(
            "the same event for ever",
            Follow,
            says_for_ever(STREAM, working.clone()),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        deadline(beast!(
            "the same event for ever, by one number",
            Follow,
            says_for_ever(STREAM, numbered("5")),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        deadline(beast!(
            "the same artifact for ever",
            Follow,
            says_for_ever(STREAM, event(&artifact("t", "a", "x", false))),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        deadline(beast!(
            "a snapshot for ever",
            Follow,
            says_for_ever(STREAM, event(&task("t", "WORKING"))),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        deadline(beast!(
            "a stream at one byte a second",
            Follow,
            drips(STREAM, working.clone(), second),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        deadline(beast!(
            "a stream that drips",
            Follow,
            drips(STREAM, working.clone(), often),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        beast!(
            "a stream at one byte a second, in haste",
            Follow,
            drips(STREAM, working.clone(), second),
            Err(Error::Timeout {
                phase: Phase::Idle,
                ..
            })
        )
        .hastily(Phase::Idle),
        beast!(
            "half a character",
            Follow,
            with(b"\xe2\x82"),
            Err(Error::Malformed(_))
        ),
        beast!("NUL", Follow, with(b"\0"), Err(Error::Malformed(_))),
        beast!(
            "a line end in a string",
            Follow,
            with(b"\n"),
            Err(Error::Malformed(_))
        ),
        beast!(
            "only NUL",
            Follow,
            says_for_ever(STREAM, "\0"),
            Err(Error::TooLarge { what: "line", .. })
        ),
        beast!(
            "a byte order mark",
            Follow,
            says_and_goes(format!("{STREAM}\u{feff}{done}")),
            Ok(Answered::Events(1))
        ),
        beast!(
            "two byte order marks",
            Follow,
            says_and_goes(format!("{STREAM}\u{feff}\u{feff}{done}")),
            Err(Error::Unfinished)
        ),
        beast!(
            "line ends of lone CR",
            Follow,
            says_and_goes(format!(
                "{STREAM}{}",
                format!("{working}{done}").replace('\n', "\r")
            )),
            Ok(Answered::Events(2))
        ),
        beast!(
            "JSON that is cut off within an event",
            Follow,
            says_and_goes(format!("{STREAM}data: {{\"json")),
            Err(Error::Unfinished)
        ),
        beast!(
            "not JSON",
            Follow,
            says_and_goes(format!("{STREAM}data: [DONE]\n\n{working}")),
            Err(Error::Malformed(_))
        ),
        beast!(
            "an empty object",
            Follow,
            says_and_goes(format!("{STREAM}data: {{}}\n\n{working}")),
            Err(Error::Malformed(_))
        ),
        beast!(
            "JSON that is too deep",
            Follow,
            says_and_goes(format!("{STREAM}data: {}\n\n{working}", "[".repeat(50_000))),
            Err(Error::Malformed(_))
        ),
        beast!(
            "an error after events",
            Follow,
            says_and_goes(format!(
                "{STREAM}{working}data: {}\n\n",
                error(-32603, "no")
            )),
            Err(Error::Agent(_))
        ),
        beast!(
            "events after an error",
            Follow,
            says_for_ever(
                format!("{STREAM}data: {}\n\n", error(-32603, "no")),
                working.clone()
            ),
            Err(Error::Agent(_))
        ),
        beast!(
            "a number twice",
            Follow,
            ids(&["1", "1", "1"]),
            Ok(Answered::Events(4))
        ),
        beast!(
            "numbers that decrease",
            Follow,
            ids(&["9", "5", "1"]),
            Ok(Answered::Events(4))
        ),
        beast!(
            "numbers that are none",
            Follow,
            ids(&["-1", "1e3", "\u{0}", "x", ""]),
            Ok(Answered::Events(6))
        ),
        beast!(
            "numbers that are too large",
            Follow,
            ids(&[
                "18446744073709551615",
                "18446744073709551616",
                "18446744073709551615"
            ]),
            Ok(Answered::Events(4))
        ),
    ]
}
