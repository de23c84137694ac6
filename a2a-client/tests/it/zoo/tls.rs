//! Servers at `https://` that do not speak TLS, or not as it should be.

use a2a_client::{Error, Phase};

use crate::zoo::beast::Ask::{Card, Follow, Send};
use crate::zoo::beast::{Beast, beast};
use crate::zoo::cage::{Act, Visit, act};
use crate::zoo::script::{http, says_at_once};

pub(crate) fn beasts() -> Vec<Beast> {
    let alert = [0x15, 3, 3, 0, 2, 2, 40];
    let hello = [&[0x16, 3, 3, 0, 4, 2, 0xff, 0xff, 0xff][..], &[0; 64]].concat();
    let all = vec![
        beast!(
            "nonsense",
            Send,
            says_at_once("nonsense\r\n\r\n"),
            Err(Error::Unreachable(_))
        ),
        beast!(
            "nonsense before a card",
            Card(false),
            says_at_once("nonsense\r\n\r\n"),
            Err(Error::Unreachable(_))
        ),
        beast!(
            "HTTP in the clear",
            Follow,
            says_at_once(http("200 OK", "", "{}")),
            Err(Error::Unreachable(_))
        ),
        beast!(
            "an alert",
            Send,
            says_at_once(alert),
            Err(Error::Unreachable(_))
        ),
        beast!(
            "a greeting of 16 MiB",
            Send,
            says_at_once(hello),
            Err(Error::Unreachable(_))
        ),
        beast!(
            "records without end",
            Send,
            floods(&[0x16, 3, 3, 0, 1, 2]),
            Err(Error::Unreachable(_))
        ),
        beast!(
            "empty records without end",
            Send,
            floods(&[0x16, 3, 3, 0, 0]),
            Err(Error::Unreachable(_))
        ),
        beast!(
            "the end before a greeting",
            Send,
            act(|_| async { Ok(()) }),
            Err(Error::Unreachable(_))
        ),
        beast!(
            "a break before a greeting",
            Send,
            act(|visit| async { visit.reset() }),
            Err(Error::Unreachable(_))
        ),
        beast!(
            "silence before a greeting",
            Card(false),
            act(Visit::hush),
            Err(Error::Timeout {
                phase: Phase::Connect,
                ..
            })
        )
        .hastily(Phase::Connect),
        beast!(
            "silence in a greeting",
            Send,
            says_at_once([0x16, 3, 3]),
            Err(Error::Timeout {
                phase: Phase::Connect,
                ..
            })
        )
        .hastily(Phase::Connect),
    ];
    all.into_iter().map(Beast::over_tls).collect()
}

fn floods(record: &'static [u8]) -> Act {
    act(move |visit| visit.say_for_ever(record))
}
