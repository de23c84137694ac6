//! Server-Sent Events: without end, too large, or not text.

use std::time::Duration;

use a2a_client::{Error, Phase};

use crate::faulty_agents::faulty_agent::ClientCall::Follow;
use crate::faulty_agents::faulty_agent::{FaultyAgent, Reply, faulty_agent};
use crate::faulty_agents::script::*;

pub(crate) fn agents() -> Vec<FaultyAgent> {
    let working = event(&status("t", "WORKING"));
    let done = event(&status("t", "COMPLETED"));
    let second = Duration::from_secs(1);
    let often = Duration::from_millis(50);
    let numbered = |id: &str| format!("id: {id}\n{working}");
    let output =
        |events: &[String]| sends_and_closes(stream(events.iter().cloned().chain([done.clone()])));
    let ids = |ids: &[&str]| output(&ids.iter().map(|id| numbered(id)).collect::<Vec<_>>());
    let with = |by: &[u8]| {
        let text = event(&message("right"));
        let (before, after) = text.split_once("right").expect("it says so");
        sends_and_closes([STREAM.as_bytes(), before.as_bytes(), by, after.as_bytes()].concat())
    };
    let deadline = |faulty_agent: FaultyAgent| faulty_agent.until_the_deadline();
    vec![
        faulty_agent!(
            "a line of 64 MiB",
            Follow,
            sends_repeatedly(format!("{STREAM}data: "), "x", 64 << 20, "\n\n"),
            Err(Error::TooLarge { what: "line", .. })
        ),
        faulty_agent!(
            "a line without end",
            Follow,
            sends_forever(format!("{STREAM}data: "), "x"),
            Err(Error::TooLarge { what: "line", .. })
        ),
        faulty_agent!(
            "a comment without end",
            Follow,
            sends_forever(format!("{STREAM}:"), "x"),
            Err(Error::TooLarge { what: "line", .. })
        ),
        faulty_agent!(
            "an id without end",
            Follow,
            sends_forever(format!("{STREAM}id: "), "1"),
            Err(Error::TooLarge { what: "line", .. })
        ),
        faulty_agent!(
            "a million lines in one event",
            Follow,
            sends_repeatedly(STREAM, "data: x\n", 1_000_000, "\n"),
            Err(Error::TooLarge { what: "event", .. })
        ),
        faulty_agent!(
            "a million empty lines in one event",
            Follow,
            sends_repeatedly(STREAM, "data:\n", 1_000_000, "\n"),
            Err(Error::TooLarge { what: "event", .. })
        ),
        faulty_agent!(
            "an event without end",
            Follow,
            sends_forever(STREAM, "data: {}\nid: 1\nevent: x\n"),
            Err(Error::TooLarge { what: "event", .. })
        ),
        deadline(faulty_agent!(
            "unknown fields without end",
            Follow,
            sends_forever(STREAM, "x: y\n"),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        deadline(faulty_agent!(
            "comments without end",
            Follow,
            sends_forever(STREAM, ": ping\n\n"),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        deadline(faulty_agent!(
            "comments after an event, without end",
            Follow,
            sends_forever(format!("{STREAM}{working}"), ": ping\n\n"),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        deadline(faulty_agent!(
            "line ends without end",
            Follow,
            sends_forever(STREAM, "\r"),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        deadline(faulty_agent!(
            "the same event forever",
            Follow,
            sends_forever(STREAM, working.clone()),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        deadline(faulty_agent!(
            "the same event forever, by one number",
            Follow,
            sends_forever(STREAM, numbered("5")),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        deadline(faulty_agent!(
            "the same artifact forever",
            Follow,
            sends_forever(STREAM, event(&artifact("t", "a", "x", false))),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        deadline(faulty_agent!(
            "a snapshot forever",
            Follow,
            sends_forever(STREAM, event(&task("t", "WORKING"))),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        deadline(faulty_agent!(
            "a stream at one byte a second",
            Follow,
            drips(STREAM, working.clone(), second),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        deadline(faulty_agent!(
            "a stream that drips",
            Follow,
            drips(STREAM, working.clone(), often),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )),
        faulty_agent!(
            "a stream at one byte a second, with a short idle timeout",
            Follow,
            drips(STREAM, working.clone(), second),
            Err(Error::Timeout {
                phase: Phase::Idle,
                ..
            })
        )
        .with_short_timeout(Phase::Idle),
        faulty_agent!(
            "half a character",
            Follow,
            with(b"\xe2\x82"),
            Err(Error::Malformed(_))
        ),
        faulty_agent!("NUL", Follow, with(b"\0"), Err(Error::Malformed(_))),
        faulty_agent!(
            "a line end in a string",
            Follow,
            with(b"\n"),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "only NUL",
            Follow,
            sends_forever(STREAM, "\0"),
            Err(Error::TooLarge { what: "line", .. })
        ),
        faulty_agent!(
            "a byte order mark",
            Follow,
            sends_and_closes(format!("{STREAM}\u{feff}{done}")),
            Ok(Reply::Events(1))
        ),
        faulty_agent!(
            "two byte order marks",
            Follow,
            sends_and_closes(format!("{STREAM}\u{feff}\u{feff}{done}")),
            Err(Error::Unfinished)
        ),
        faulty_agent!(
            "line ends of lone CR",
            Follow,
            sends_and_closes(format!(
                "{STREAM}{}",
                format!("{working}{done}").replace('\n', "\r")
            )),
            Ok(Reply::Events(2))
        ),
        faulty_agent!(
            "JSON that is cut off within an event",
            Follow,
            sends_and_closes(format!("{STREAM}data: {{\"json")),
            Err(Error::Unfinished)
        ),
        faulty_agent!(
            "not JSON",
            Follow,
            sends_and_closes(format!("{STREAM}data: [DONE]\n\n{working}")),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "an empty object",
            Follow,
            sends_and_closes(format!("{STREAM}data: {{}}\n\n{working}")),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "JSON that is too deep",
            Follow,
            sends_and_closes(format!("{STREAM}data: {}\n\n{working}", "[".repeat(50_000))),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "an error after events",
            Follow,
            sends_and_closes(format!(
                "{STREAM}{working}data: {}\n\n",
                error(-32603, "no")
            )),
            Err(Error::Agent(_))
        ),
        faulty_agent!(
            "events after an error",
            Follow,
            sends_forever(
                format!("{STREAM}data: {}\n\n", error(-32603, "no")),
                working.clone()
            ),
            Err(Error::Agent(_))
        ),
        faulty_agent!(
            "a number twice",
            Follow,
            ids(&["1", "1", "1"]),
            Ok(Reply::Events(4))
        ),
        faulty_agent!(
            "numbers that decrease",
            Follow,
            ids(&["9", "5", "1"]),
            Ok(Reply::Events(4))
        ),
        faulty_agent!(
            "numbers that are none",
            Follow,
            ids(&["-1", "1e3", "\u{0}", "x", ""]),
            Ok(Reply::Events(6))
        ),
        faulty_agent!(
            "numbers that are too large",
            Follow,
            ids(&[
                "18446744073709551615",
                "18446744073709551616",
                "18446744073709551615"
            ]),
            Ok(Reply::Events(4))
        ),
    ]
}
