//! An exchange on the page: request, response, and marked mismatches.

use crate::record::visible::{head, line, visible};
use crate::record::{CheckResult, Evidence, HttpMessage, Mismatch, Run};
use crate::report::curl::curl;
use crate::report::listing::{Line, leading, listing};
use crate::requirement::Role;

use super::position::MismatchPosition;

/// An exchange, as text.
pub(super) struct Exchange {
    pub(super) step: usize,
    /// `true` if it is shown unfolded.
    pub(super) open: bool,
    pub(super) halves: Vec<MessageView>,
    pub(super) failure: Option<String>,
    pub(super) curl: Option<String>,
}

/// One half of an exchange: the request or the response.
pub(super) struct MessageView {
    /// The sender, as in "We sent".
    pub(super) who: &'static str,
    pub(super) start: String,
    /// `true` if the first line has a mismatch.
    pub(super) marked: bool,
    pub(super) headers: Vec<Header>,
    pub(super) body: Vec<Line>,
    pub(super) events: Vec<Event>,
    /// Note on the bytes that are not shown.
    pub(super) left_out: Option<String>,
}

/// A header.
pub(super) struct Header {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) marked: bool,
}

/// An event of a stream.
pub(super) struct Event {
    pub(super) number: usize,
    /// Time since the request, in milliseconds.
    pub(super) at: u64,
    pub(super) lines: Vec<Line>,
}

/// Bytes of a body, or of all events, that are shown; `report.json` has all that is kept.
const SHOWN: usize = 4 * 1024;

pub(super) fn exchange(
    run: &Run,
    result: &CheckResult,
    index: usize,
    evidence: &Evidence,
    open: bool,
) -> Exchange {
    let about = |mismatch: &&Mismatch| mismatch.evidence.unwrap_or(0) == index;
    let marked: Vec<_> = result.mismatches.iter().filter(about).collect();
    // Mismatches belong to the half that the tested side sent.
    let of_client = run.target.role == Some(Role::Client);
    let (sent, answered) = match of_client {
        true => (("It sent", &*marked), ("We answered", &[][..])),
        false => (("We sent", &[][..]), ("It answered", &*marked)),
    };
    let mut halves = vec![side(&evidence.request, sent.0, sent.1)];
    let response = evidence.response.as_ref();
    halves.extend(response.map(|half| side(half, answered.0, answered.1)));
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

fn side(half: &HttpMessage, who: &'static str, marked: &[&Mismatch]) -> MessageView {
    let spots: Vec<_> = marked
        .iter()
        .filter_map(|one| MismatchPosition::of(one, half))
        .collect();
    let is_marked = |name: &str| {
        let same = |spot: &MismatchPosition| matches!(spot, MismatchPosition::Header(marked) if marked.eq_ignore_ascii_case(name));
        spots.iter().any(same)
    };
    let paths = |text: &str, event: Option<usize>| -> Vec<&str> {
        let here = spots.iter().filter_map(|spot| match spot {
            MismatchPosition::Json { event: of, paths } if *of == event => leading(paths, text),
            _ => None,
        });
        here.collect()
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
        let lines = visible_lines(text, &paths(text, Some(number)));
        events.push(Event {
            number,
            at: *at,
            lines,
        });
    }
    let header = |(name, value): &(String, String)| Header {
        marked: is_marked(name),
        name: line(name).into_owned(),
        value: line(value).into_owned(),
    };
    MessageView {
        who,
        start: line(&half.start).into_owned(),
        headers: half.headers.iter().map(header).collect(),
        marked: spots.contains(&MismatchPosition::Start),
        body: visible_lines(body, &paths(body, None)),
        events,
        left_out: (left_out > 0).then(|| format!("{left_out} more bytes are not shown")),
    }
}

fn visible_lines(text: &str, paths: &[&str]) -> Vec<Line> {
    let mut lines = listing(text, paths);
    for line in &mut lines {
        line.text = visible(&line.text).into_owned();
    }
    lines
}
