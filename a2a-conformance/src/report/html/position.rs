//! Position of a mismatch in an exchange.

use crate::record::{HttpMessage, Mismatch};

/// Position of a mismatch in one half of an exchange.
#[derive(Debug, PartialEq)]
pub(super) enum MismatchPosition {
    /// The first line.
    Start,
    /// The header of that name.
    Header(String),
    /// A value in the JSON of the body, or of the event of that number, at one of these paths.
    Json {
        event: Option<usize>,
        paths: Vec<String>,
    },
}

impl MismatchPosition {
    /// Parses a place like `step 2, event 3: $.status.state` or `step 1, the task.status`, or else the
    /// found value, if it has a path.
    pub(super) fn of(mismatch: &Mismatch, half: &HttpMessage) -> Option<Self> {
        let place = strip_step(&mismatch.place);
        if place == "HTTP status" {
            return Some(Self::Start);
        }
        if let Some(name) = place.strip_prefix("headers.") {
            return Some(Self::Header(name.to_owned()));
        }
        let (mut event, mut paths) = (None, Vec::new());
        if let Some(rest) = place.strip_prefix("events[") {
            let (index, rest) = rest.split_once(']')?;
            event = match index {
                "last" => Some(half.events.len()),
                index => Some(index.parse::<usize>().ok()? + 1),
            };
            paths = candidates(EVENT, rest);
        } else if let Some((before, path)) = path_in(place) {
            event = number_after("event ", before);
            paths.push(path.to_owned());
        } else if let Some((_, path)) = path_in(&mismatch.found) {
            event = number_after("event ", place);
            paths.push(path.to_owned());
        } else {
            for (words, within) in PARTS {
                if let Some(rest) = place.strip_prefix(words) {
                    paths = candidates(within, rest);
                }
            }
        }
        let in_json = !paths.is_empty();
        in_json.then_some(Self::Json { event, paths })
    }
}

/// Names of the parts of an answer in checks, and the paths where they may be.
#[rustfmt::skip]
const PARTS: &[(&str, &[&str])] = &[
    ("the body",    &[""]),
    ("the result",  &[".result", ""]),
    ("the error",   &[".error", ""]),
    ("the task",    &[".result.task", ".task", ".result", ""]),
    ("the message", &[".result.message", ".message", ".result", ""]),
];

/// Paths where the parts of an event may be.
const EVENT: &[&str] = &[".result", ""];

/// Returns the possible paths of a part of an answer: with or without an envelope, or the whole answer.
fn candidates(within: &[&str], rest: &str) -> Vec<String> {
    within
        .iter()
        .map(|within| format!("${within}{rest}"))
        .collect()
}

fn strip_step(place: &str) -> &str {
    match place.split_once(", ") {
        Some((step, rest)) if step.starts_with("step ") => rest,
        _ => place,
    }
}

/// Splits a text into what precedes the path, and the path.
fn path_in(text: &str) -> Option<(&str, &str)> {
    let is_path = |rest: &str| rest.starts_with("$.") || rest.starts_with("$[") || rest == "$";
    let begins = |(at, _): &(usize, &str)| text.get(*at..).is_some_and(is_path);
    let (at, _) = text.match_indices('$').find(begins)?;
    let (before, rest) = text.split_at(at);
    let end = rest.find([' ', ',']).unwrap_or(rest.len());
    Some((before, rest.get(..end)?.trim_end_matches(':')))
}

fn number_after(words: &str, text: &str) -> Option<usize> {
    let (_, rest) = text.split_once(words)?;
    let digits = rest.split(|character: char| !character.is_ascii_digit());
    digits.into_iter().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(place: &str, found: &str, event: Option<usize>, first: &str) {
        let mismatch = Mismatch {
            place: place.to_owned(),
            found: found.to_owned(),
            ..Mismatch::default()
        };
        let half = HttpMessage {
            events: vec![(0, String::new()); 4],
            ..HttpMessage::default()
        };
        match MismatchPosition::of(&mismatch, &half) {
            Some(MismatchPosition::Json { event: of, paths }) => {
                assert_eq!(
                    (of, paths.first().map(String::as_str)),
                    (event, Some(first))
                );
            }
            other => panic!("{place}: {other:?}"),
        }
    }

    #[test]
    fn places_lead_to_paths() {
        check("step 2: $.error.code", "", None, "$.error.code");
        check("step 2, event 3: $.a[0]", "", Some(3), "$.a[0]");
        check(
            "step 1, the task.status",
            "nothing",
            None,
            "$.result.task.status",
        );
        check(
            "step 1, the body.error.code",
            "-32001",
            None,
            "$.error.code",
        );
        check(
            "step 1, events[last].task",
            "nothing",
            Some(4),
            "$.result.task",
        );
        check(
            "step 1, events[0].task",
            "nothing",
            Some(1),
            "$.result.task",
        );
        check(
            "the answer",
            "$.result.tasks[0].state: \"x\" is not one",
            None,
            "$.result.tasks[0].state",
        );
        check(
            "step 1, the answer",
            "malformed answer: $.a.b: missing",
            None,
            "$.a.b",
        );
        check("event 2", "$.a: is wrong", Some(2), "$.a");
    }

    #[test]
    fn not_every_place_is_in_json() {
        let half = HttpMessage::default();
        let spot = |place: &str| {
            let place = place.to_owned();
            MismatchPosition::of(
                &Mismatch {
                    place,
                    ..Mismatch::default()
                },
                &half,
            )
        };
        assert_eq!(
            spot("step 1, headers.etag"),
            Some(MismatchPosition::Header("etag".to_owned()))
        );
        assert_eq!(spot("step 1, HTTP status"), Some(MismatchPosition::Start));
        assert_eq!(spot("the client"), None);
    }
}
