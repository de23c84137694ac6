//! Servers at `https://` that do not speak TLS, or not as it should be.

use a2a_client::{Error, Phase};

use crate::faulty_agents::faulty_agent::ClientCall::{Card, Follow, Send};
use crate::faulty_agents::faulty_agent::{FaultyAgent, faulty_agent};
use crate::faulty_agents::script::{http, sends_immediately};
use crate::faulty_agents::test_server::{Behaviour, Connection, behaviour};

pub(crate) fn agents() -> Vec<FaultyAgent> {
    let alert = [0x15, 3, 3, 0, 2, 2, 40];
    let hello = [&[0x16, 3, 3, 0, 4, 2, 0xff, 0xff, 0xff][..], &[0; 64]].concat();
    let all = vec![
        faulty_agent!(
            "nonsense",
            Send,
            sends_immediately("nonsense\r\n\r\n"),
            Err(Error::Unreachable(_))
        ),
        faulty_agent!(
            "nonsense before a card",
            Card(false),
            sends_immediately("nonsense\r\n\r\n"),
            Err(Error::Unreachable(_))
        ),
        faulty_agent!(
            "HTTP in the clear",
            Follow,
            sends_immediately(http("200 OK", "", "{}")),
            Err(Error::Unreachable(_))
        ),
        faulty_agent!(
            "an alert",
            Send,
            sends_immediately(alert),
            Err(Error::Unreachable(_))
        ),
        faulty_agent!(
            "a greeting of 16 MiB",
            Send,
            sends_immediately(hello),
            Err(Error::Unreachable(_))
        ),
        faulty_agent!(
            "records without end",
            Send,
            floods(&[0x16, 3, 3, 0, 1, 2]),
            Err(Error::Unreachable(_))
        ),
        faulty_agent!(
            "empty records without end",
            Send,
            floods(&[0x16, 3, 3, 0, 0]),
            Err(Error::Unreachable(_))
        ),
        faulty_agent!(
            "the end before a greeting",
            Send,
            behaviour(|_| async { Ok(()) }),
            Err(Error::Unreachable(_))
        ),
        faulty_agent!(
            "a break before a greeting",
            Send,
            behaviour(|connection| async { connection.reset() }),
            Err(Error::Unreachable(_))
        ),
        faulty_agent!(
            "silence before a greeting",
            Card(false),
            behaviour(Connection::wait_for_close),
            Err(Error::Timeout {
                phase: Phase::Connect,
                ..
            })
        )
        .with_short_timeout(Phase::Connect),
        faulty_agent!(
            "silence in a greeting",
            Send,
            sends_immediately([0x16, 3, 3]),
            Err(Error::Timeout {
                phase: Phase::Connect,
                ..
            })
        )
        .with_short_timeout(Phase::Connect),
    ];
    all.into_iter().map(FaultyAgent::over_tls).collect()
}

fn floods(record: &'static [u8]) -> Behaviour {
    behaviour(move |connection| connection.send_forever(record))
}
