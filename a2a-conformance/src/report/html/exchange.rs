//! An exchange on the page: what was sent, what came, and where it is not as required.

use crate::report::curl::curl;
use crate::report::listing::{Line, listing};
use crate::report::visible::{head, line, visible};
use crate::requirement::Role;
use crate::run::{CheckResult, Evidence, Half, Mismatch, Run};

/// An exchange, as text.
pub(super) struct Exchange {
    pub(super) step: usize,
    /// Whether it is shown at once.
    pub(super) open: bool,
    pub(super) halves: Vec<Side>,
    pub(super) failure: Option<String>,
    pub(super) curl: Option<String>,
}

/// One half of it.
pub(super) struct Side {
    /// Who said it.
    pub(super) who: &'static str,
    pub(super) start: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<Line>,
    pub(super) events: Vec<Event>,
    /// What is not shown of it.
    pub(super) left_out: Option<String>,
}

/// An event of a stream.
pub(super) struct Event {
    pub(super) number: usize,
    /// Since the request, in milliseconds.
    pub(super) at: u64,
    pub(super) lines: Vec<Line>,
}

/// How much of a body, or of all events, is shown; all that is kept is in `report.json`.
const SHOWN: usize = 16 * 1024;

pub(super) fn exchange(
    run: &Run,
    result: &CheckResult,
    index: usize,
    evidence: &Evidence,
    open: bool,
) -> Exchange {
    let about = |mismatch: &&Mismatch| mismatch.evidence.unwrap_or(0) == index;
    let spots: Vec<_> = result
        .mismatches
        .iter()
        .filter(about)
        .filter_map(Spot::of)
        .collect();
    // What is tested is what the other side said.
    let of_client = run.target.role == Some(Role::Client);
    let (asked, answered) = match of_client {
        true => (("It sent", &*spots), ("We answered", &[][..])),
        false => (("We sent", &[][..]), ("It answered", &*spots)),
    };
    let mut halves = vec![side(&evidence.request, asked.0, asked.1)];
    halves.extend(
        evidence
            .response
            .as_ref()
            .map(|half| side(half, answered.0, answered.1)),
    );
    Exchange {
        step: evidence.step,
        open,
        halves,
        curl: curl(evidence).map(|line| visible(&line).into_owned()),
        failure: evidence
            .failure
            .as_deref()
            .map(|failure| visible(failure).into_owned()),
    }
}

/// Where in an answer something is not as required.
struct Spot<'a> {
    /// The event of the stream, from 1.
    event: Option<usize>,
    /// The path in the JSON.
    path: &'a str,
}

impl<'a> Spot<'a> {
    /// Reads `step 2, event 3: $.status.state`.
    fn of(mismatch: &'a Mismatch) -> Option<Self> {
        let place = &mismatch.place;
        let (before, path) = place.split_at(place.find('$')?);
        let event = before.split_once("event ").map(|(_, rest)| {
            let digits = rest.split(|character: char| !character.is_ascii_digit());
            digits
                .into_iter()
                .next()
                .and_then(|digits| digits.parse().ok())
        });
        Some(Self {
            event: event.flatten(),
            path,
        })
    }
}

fn side(half: &Half, who: &'static str, spots: &[Spot<'_>]) -> Side {
    let paths = |event: Option<usize>| -> Vec<&str> {
        let here = spots.iter().filter(|spot| spot.event == event);
        here.map(|spot| spot.path).collect()
    };
    let mut left_out = half.left_out;
    let (body, cut) = head(&half.body, SHOWN);
    left_out += cut;
    let mut room = SHOWN;
    let mut events = Vec::new();
    for (index, (at, text)) in half.events.iter().enumerate() {
        let (text, cut) = head(text, room);
        room -= text.len();
        left_out += cut;
        if text.is_empty() && cut > 0 {
            continue;
        }
        let number = index + 1;
        let lines = shown(text, &paths(Some(number)));
        events.push(Event {
            number,
            at: *at,
            lines,
        });
    }
    let seen =
        |(name, value): &(String, String)| (line(name).into_owned(), line(value).into_owned());
    Side {
        who,
        start: line(&half.start).into_owned(),
        headers: half.headers.iter().map(seen).collect(),
        body: shown(body, &paths(None)),
        events,
        left_out: (left_out > 0).then(|| format!("{left_out} more bytes are not shown")),
    }
}

fn shown(text: &str, paths: &[&str]) -> Vec<Line> {
    let mut lines = listing(text, paths);
    for line in &mut lines {
        line.text = visible(&line.text).into_owned();
    }
    lines
}
