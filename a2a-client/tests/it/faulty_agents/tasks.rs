//! Well-formed events of tasks that break the rules.

use a2a_client::{Error, Phase};

use crate::faulty_agents::faulty_agent::ClientCall::Follow;
use crate::faulty_agents::faulty_agent::{FaultyAgent, Reply, faulty_agent};
use crate::faulty_agents::script::*;
use crate::faulty_agents::test_server::{Behaviour, ReceivedRequest};

pub(crate) fn agents() -> Vec<FaultyAgent> {
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
        faulty_agent!(
            "a chunk of an unknown artifact",
            Follow,
            sends_and_closes(stream([
                working(),
                event(&artifact("t", "a", "x", true)),
                done()
            ])),
            Ok(Reply::Events(3))
        ),
        faulty_agent!(
            "a chunk of an artifact before all else",
            Follow,
            sends_and_closes(stream([event(&artifact("t", "a", "x", true)), done()])),
            Ok(Reply::Events(2))
        ),
        faulty_agent!(
            "3,000 artifacts",
            Follow,
            sends_and_closes(stream(few.chain([done()]))),
            Ok(Reply::Events(3001))
        ),
        faulty_agent!(
            "100,000 artifacts",
            Follow,
            sends_and_closes(stream(artifacts.chain([done()]))),
            Err(Error::TooLarge { what: "task", .. })
        ),
        faulty_agent!(
            "an artifact that grows without end",
            Follow,
            sends_forever(STREAM, event(&artifact("t", "a", "x", true))),
            Err(Error::TooLarge { what: "task", .. })
        ),
        faulty_agent!(
            "chunks of 40 KiB without end",
            Follow,
            sends_forever(
                STREAM,
                event(&artifact("t", "a", &"x".repeat(40 << 10), true))
            ),
            Err(Error::TooLarge { what: "task", .. })
        ),
        faulty_agent!(
            "statuses with messages without end",
            Follow,
            sends_forever(
                STREAM,
                event(&spoken) + &event(&spoken.replace("\"m\"", "\"n\""))
            ),
            Err(Error::TooLarge { what: "task", .. })
        ),
        faulty_agent!(
            "a task that becomes another",
            Follow,
            sends_and_closes(stream([
                event(&task("t", "WORKING")),
                event(&status("u", "WORKING")),
                done()
            ])),
            Ok(Reply::Events(3))
        ),
        faulty_agent!(
            "a snapshot of another task",
            Follow,
            sends_and_closes(stream([
                event(&task("t", "WORKING")),
                event(&task("u", "COMPLETED"))
            ])),
            Ok(Reply::Events(2))
        ),
        faulty_agent!(
            "a status that goes back after the end",
            Follow,
            sends_and_closes(stream([working(), done(), working(), done()])),
            Ok(Reply::Events(4))
        ),
        faulty_agent!(
            "a status that goes back after the end, and silence",
            Follow,
            sends(stream([working(), done(), working()])),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        faulty_agent!(
            "the end, and silence",
            Follow,
            sends(stream([working(), done()])),
            Ok(Reply::Events(2))
        ),
        faulty_agent!(
            "the end without end",
            Follow,
            sends_forever(stream([working()]), done()),
            Err(Error::Timeout {
                phase: Phase::Deadline,
                ..
            })
        )
        .until_the_deadline(),
        faulty_agent!(
            "a status with an unknown state",
            Follow,
            sends_and_closes(stream([event(&status("t", "CONFUSED"))])),
            Err(Error::Malformed(_))
        ),
        faulty_agent!(
            "a message after the end",
            Follow,
            sends_and_closes(stream([done(), event(&message("more"))])),
            Ok(Reply::Events(2))
        ),
        faulty_agent!(
            "a storm of streams that are cut after an event",
            Follow,
            cut_after(working()),
            Err(Error::Connection(_))
        )
        .max_connections(20),
        faulty_agent!(
            "a storm of streams that are cut before an event",
            Follow,
            cut_after(String::new()),
            Err(Error::Connection(_))
        ),
        faulty_agent!(
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
        faulty_agent!(
            "a stream that is resumed with a task of other artifacts",
            Follow,
            retold(&some, &others),
            Ok(Reply::Events(1002))
        ),
    ]
}

/// Sends the same events after every request, and breaks the connection.
fn cut_after(events: String) -> Behaviour {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 1000000\r\n\r\n";
    sends_and_closes(format!("{head}{events}"))
}

/// Sends a task with some artifacts and breaks the connection; then the task with others, and its end.
fn retold(some: &str, others: &str) -> Behaviour {
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
    crate::faulty_agents::test_server::behaviour(move |mut connection| {
        let (first, then) = (first.clone(), then.clone());
        async move {
            let asked: ReceivedRequest = connection.read_request().await?;
            match asked.method().as_str() {
                "SendStreamingMessage" => connection.send(first).await,
                _ => connection.send(then).await,
            }
        }
    })
}

/// Returns a status with a message.
fn spoken(text: &str) -> String {
    let message =
        format!(r#"{{"messageId":"m","role":"ROLE_AGENT","parts":[{{"text":"{text}"}}]}}"#);
    format!(
        r#"{{"statusUpdate":{{"taskId":"t","contextId":"c","status":{{"state":"TASK_STATE_WORKING","message":{message}}}}}}}"#
    )
}
