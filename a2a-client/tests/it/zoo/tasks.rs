//! Well-formed events of tasks that break the rules.

use a2a_client::{Error, Phase};

use crate::zoo::beast::Ask::Follow;
use crate::zoo::beast::{Answered, Beast, beast};
use crate::zoo::cage::{Act, Asked};
use crate::zoo::script::*;

pub(crate) fn beasts() -> Vec<Beast> {
    let working = || event(&status("t", "WORKING"));
    let done = || event(&status("t", "COMPLETED"));
    let many = |range: std::ops::Range<usize>| {
        let each = range.map(|n| format!(r#"{{"artifactId":"{n}"}}"#));
        format!("[{}]", each.collect::<Vec<_>>().join(","))
    };
    let (some, others) = (many(0..2000), many(1000..3000));
    let artifacts = (0..100_000).map(|n| event(&artifact("t", &n.to_string(), "x", false)));
    let spoken = spoken(&"x".repeat(10 << 10));
    let few = (0..3000).map(|n| event(&artifact("t", &n.to_string(), "x", false)));
    vec![
        beast!(
            "a chunk of an artifact that nobody knows",
            Follow,
            says_and_goes(stream([
                working(),
                event(&artifact("t", "a", "x", true)),
                done()
            ])),
            Ok(Answered::Events(3))
        ),
        beast!(
            "a chunk of an artifact before all else",
            Follow,
            says_and_goes(stream([event(&artifact("t", "a", "x", true)), done()])),
            Ok(Answered::Events(2))
        ),
        beast!(
            "3,000 artifacts",
            Follow,
            says_and_goes(stream(few.chain([done()]))),
            Ok(Answered::Events(3001))
        ),
        beast!(
            "100,000 artifacts",
            Follow,
            says_and_goes(stream(artifacts.chain([done()]))),
            Err(Error::TooLarge { what: "task", .. })
        ),
        beast!(
            "an artifact that grows without end",
            Follow,
            says_for_ever(STREAM, event(&artifact("t", "a", "x", true))),
            Err(Error::TooLarge { what: "task", .. })
        ),
        beast!(
            "chunks of 40 KiB without end",
            Follow,
            says_for_ever(
                STREAM,
                event(&artifact("t", "a", &"x".repeat(40 << 10), true))
            ),
            Err(Error::TooLarge { what: "task", .. })
        ),
        beast!(
            "statuses with messages without end",
            Follow,
            says_for_ever(
                STREAM,
                event(&spoken) + &event(&spoken.replace("\"m\"", "\"n\""))
            ),
            Err(Error::TooLarge { what: "task", .. })
        ),
        beast!(
            "a task that becomes another",
            Follow,
            says_and_goes(stream([
                event(&task("t", "WORKING")),
                event(&status("u", "WORKING")),
                done()
            ])),
            Ok(Answered::Events(3))
        ),
        beast!(
            "a snapshot of another task",
            Follow,
            says_and_goes(stream([
                event(&task("t", "WORKING")),
                event(&task("u", "COMPLETED"))
            ])),
            Ok(Answered::Events(2))
        ),
        beast!(
            "a status that goes back after the end",
            Follow,
            says_and_goes(stream([working(), done(), working(), done()])),
            Ok(Answered::Events(4))
        ),
        beast!(
            "a status that goes back after the end, and silence",
            Follow,
            says(stream([working(), done(), working()])),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        beast!(
            "the end, and silence",
            Follow,
            says(stream([working(), done()])),
            Ok(Answered::Events(2))
        ),
        beast!(
            "the end without end",
            Follow,
            says_for_ever(stream([working()]), done()),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        beast!(
            "a status that is no state",
            Follow,
            says_and_goes(stream([event(&status("t", "CONFUSED"))])),
            Err(Error::Malformed(_))
        ),
        beast!(
            "a message after the end",
            Follow,
            says_and_goes(stream([done(), event(&message("more"))])),
            Ok(Answered::Events(2))
        ),
        beast!(
            "a storm of streams that are cut after an event",
            Follow,
            cut_after(working()),
            Err(Error::Connection(_))
        )
        .most_visits(20),
        beast!(
            "a storm of streams that are cut before an event",
            Follow,
            cut_after(String::new()),
            Err(Error::Connection(_))
        ),
        beast!(
            "streams that are taken up and drip",
            Follow,
            drips(
                format!("{STREAM}{}", working()),
                ":",
                std::time::Duration::from_millis(50)
            ),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        beast!(
            "a stream that is taken up to tell a task with other artifacts",
            Follow,
            retold(&some, &others),
            Ok(Answered::Events(1002))
        ),
    ]
}

/// Sends the same events after every request, and breaks the connection.
fn cut_after(events: String) -> Act {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 1000000\r\n\r\n";
    says_and_goes(format!("{head}{events}"))
}

/// Sends a task with some artifacts and breaks the connection; then the task with others, and its end.
fn retold(some: &str, others: &str) -> Act {
    let working = |artifacts: &str| {
        event(&format!(
            "{{\"task\":{}}}",
            bare_task("t", "WORKING", artifacts)
        ))
    };
    let (first, then) = (
        stream([working(some)]),
        stream([working(others), event(&status("t", "COMPLETED"))]),
    );
    crate::zoo::cage::act(move |mut visit| {
        let (first, then) = (first.clone(), then.clone());
        async move {
            let asked: Asked = visit.asked().await?;
            match asked.method().as_str() {
                "SendStreamingMessage" => visit.say(first).await,
                _ => visit.say(then).await,
            }
        }
    })
}

/// A status with a message.
fn spoken(text: &str) -> String {
    let message =
        format!(r#"{{"messageId":"m","role":"ROLE_AGENT","parts":[{{"text":"{text}"}}]}}"#);
    format!(
        r#"{{"statusUpdate":{{"taskId":"t","contextId":"c","status":{{"state":"TASK_STATE_WORKING","message":{message}}}}}}}"#
    )
}
