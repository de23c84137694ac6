//! Comparison of two streams of one task: which events of the earlier stream the later one must carry.
//!
//! Guarantees of the versions for a stream that is opened while its task is working:
//!
//! | version | guarantee | section |
//! |---|---|---|
//! | 1.0 | first the current task, then every later event, in the order of all other streams | §3.1.6, §3.5.2 |
//! | 0.1 to 0.3 | every later event; earlier events may be repeated, all of them, some or none | §7.7, §7.9 |
//!
//! No version defines `Last-Event-ID`. A stream that is requested with it and does not begin with the
//! task continues after that event (WHATWG HTML §9.2): every event after it, and no other. A stream that begins
//! with the task keeps the guarantee of 1.0.
//!
//! All that no text forbids is allowed: in 1.0 a status that the first event already has may be repeated,
//! since it changes nothing. A repeated chunk is appended twice.

use a2a_types::Event;
use serde::Deserialize;
use serde_json::Value;

use super::invariants::unless;
use super::stream::fold;
use crate::case::{equivalent, pattern};
use crate::record::Mismatch;
use crate::wire::exchange::items;

/// Checks the events `later` of a stream against the events `whole` of one that was open from the
/// beginning to the end of the task. `after` is the number of events up to the one that `Last-Event-ID`
/// named, if the later stream was asked for with it.
pub(crate) fn subscription_tail(streams: &Value) -> Vec<Mismatch> {
    let (whole, later) = (items(&streams["whole"]), items(&streams["later"]));
    let after = streams["after"].as_u64();
    subscription(whole, later, after).into_iter().collect()
}

fn subscription(whole: &[Value], later: &[Value], after: Option<u64>) -> Option<Mismatch> {
    match (later.first(), after) {
        (None, _) => unless(false, "the stream", "events", "none"),
        (Some(first), after) => match (&first["task"], after) {
            (Value::Null, None) => unless(false, "event 1", "the task", first),
            (Value::Null, Some(after)) => {
                let start = usize::try_from(after)
                    .unwrap_or(usize::MAX)
                    .min(whole.len());
                differs(&whole[start..], later, 1)
            }
            (snapshot, _) => after_snapshot(whole, snapshot, &later[1..]),
        },
    }
}

/// Checks that events continue a snapshot of the task.
fn after_snapshot(whole: &[Value], snapshot: &Value, tail: &[Value]) -> Option<Mismatch> {
    let Some(start) = whole.len().checked_sub(tail.len()) else {
        return differs(whole, tail, 2);
    };
    if let Some(found) = differs(&whole[start..], tail, 2) {
        return Some(found);
    }
    let states = states(whole);
    let has_artifacts_of = |state: &Value| equivalent(&state["artifacts"], &snapshot["artifacts"]);
    let is_snapshot = |state: &Value| {
        has_artifacts_of(state) && state["status"]["state"] == snapshot["status"]["state"]
    };
    // An earlier status may be repeated: the snapshot may be newer than the status.
    let begins_right = has_artifacts_of(&states[start]) && states[start..].iter().any(is_snapshot);
    if begins_right {
        return None;
    }
    let snapshot_index = states.iter().rposition(is_snapshot);
    let found = match snapshot_index {
        Some(snapshot_index) if snapshot_index < start => {
            let lost = Value::from(&whole[snapshot_index..start]);
            format!("a stream without {lost}")
        }
        Some(snapshot_index) => {
            let again = Value::from(&whole[start..snapshot_index]);
            format!("a stream that repeats what the task of event 1 has: {again}")
        }
        None => format!("a task that it never was: {snapshot}"),
    };
    let expected = "the task, and every event since then";
    unless(false, "the stream", expected, found)
}

/// Checks the events `later` of a stream before 1.0, which may repeat earlier events: `read` is the
/// task as it was read when `later` had begun.
pub(crate) fn resubscription_tail(streams: &Value) -> Vec<Mismatch> {
    resubscription(streams).into_iter().collect()
}

fn resubscription(streams: &Value) -> Option<Mismatch> {
    let is_event = |event: &&Value| event["task"].is_null();
    let events = |name: &str| items(&streams[name]).iter().filter(is_event).cloned();
    let (whole, later): (Vec<_>, Vec<_>) = (events("whole").collect(), events("later").collect());
    let known = text(&streams["read"]).len();
    let states = states(&whole);
    // A store may be one event behind.
    let read = states.iter().rposition(|state| text(state).len() <= known);
    let since = (read.unwrap_or(0) + 1).min(whole.len());
    let Some(before) = later.len().checked_sub(whole.len() - since) else {
        return differs(&whole[since..], &later, 1);
    };
    let (again, tail) = later.split_at(before);
    let mut next = 0;
    for (index, event) in again.iter().enumerate() {
        let is_it = |earlier: &Value| pattern::is_like(earlier, Some(event));
        let same = whole[next..since].iter().position(is_it);
        let same = same.map(|place| next + place + 1);
        // An artifact may come as a whole, in place of the chunks so far.
        let contained = || {
            let mut later = states[next..=since].iter();
            later
                .position(|state| shows(state, event))
                .map(|place| next + place)
        };
        let Some(place) = same.or_else(contained) else {
            let expected = "an event of before, in order, and once";
            return unless(false, &format!("event {}", index + 1), expected, event);
        };
        next = place;
    }
    differs(&whole[since..], tail, before + 1)
}

/// Returns whether an event has an artifact as it is in this state of the task, and replaces it.
fn shows(state: &Value, event: &Value) -> bool {
    let update = &event["artifactUpdate"];
    let mut artifacts = items(&state["artifacts"]).iter();
    update["append"] != true && artifacts.any(|artifact| equivalent(artifact, &update["artifact"]))
}

/// Returns the first place where events are not those expected; the first of them is event `number`.
fn differs(expected: &[Value], found: &[Value], number: usize) -> Option<Mismatch> {
    let count = expected.len().max(found.len());
    (0..count).find_map(|index| {
        let (expected, found) = (expected.get(index), found.get(index));
        let holds = match (expected, found) {
            (Some(expected), Some(_)) => pattern::is_like(expected, found),
            _ => false,
        };
        let text = |event: Option<&Value>| match event {
            Some(event) => event.to_string(),
            None => "the end of the stream".to_owned(),
        };
        let place = format!("event {}", index + number);
        unless(holds, &place, text(expected), text(found))
    })
}

/// Returns the task before the first of these events, and after each of them.
fn states(events: &[Value]) -> Vec<Value> {
    let mut task = None;
    let mut states = vec![Value::Null];
    for event in events {
        if let Ok(event) = Event::deserialize(event) {
            fold(&mut task, &event);
        }
        states.push(serde_json::to_value(&task).unwrap_or_default());
    }
    states
}

/// Returns the text of all artifacts of a task.
fn text(task: &Value) -> String {
    let parts = items(&task["artifacts"]).iter();
    let parts = parts.flat_map(|artifact| items(&artifact["parts"]));
    parts.filter_map(|part| part["text"].as_str()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn status(state: &str) -> Value {
        json!({"statusUpdate": {"taskId": "t", "status": {"state": format!("TASK_STATE_{state}")}}})
    }

    fn chunk(number: usize) -> Value {
        let artifact = json!({"artifactId": "a", "parts": [{"text": format!("{number} ")}]});
        json!({"artifactUpdate": {"taskId": "t", "artifact": artifact, "append": number > 1}})
    }

    fn task(state: &str, chunks: usize) -> Value {
        let parts: Vec<_> = (1..=chunks)
            .map(|number| json!({"text": format!("{number} ")}))
            .collect();
        let mut task = json!({"id": "t", "status": {"state": format!("TASK_STATE_{state}")}});
        if chunks > 0 {
            task["artifacts"] = json!([{"artifactId": "a", "parts": parts}]);
        }
        json!({ "task": task })
    }

    /// Events: the task, working, chunks 1 to 4, completed.
    fn whole() -> Vec<Value> {
        let chunks = (1..=4).map(chunk);
        let begin = [task("SUBMITTED", 0), status("WORKING")].into_iter();
        begin.chain(chunks).chain([status("COMPLETED")]).collect()
    }

    #[track_caller]
    fn check(holds: bool, found: Option<Mismatch>) {
        assert_eq!(found.is_none(), holds, "{found:#?}");
    }

    #[track_caller]
    fn check_tail(holds: bool, later: &[Value], after: Option<u64>) {
        check(holds, subscription(&whole(), later, after));
    }

    #[test]
    fn a_subscription_is_the_task_and_all_that_comes_later() {
        let whole = whole();
        let from = |snapshot: Value, start: usize| [&[snapshot], &whole[start..]].concat();
        check_tail(true, &from(task("SUBMITTED", 0), 1), None);
        check_tail(true, &from(task("WORKING", 0), 2), None);
        check_tail(true, &from(task("WORKING", 2), 4), None);
        check_tail(true, &from(task("COMPLETED", 4), 7), None);
        // The status is repeated, which changes nothing.
        check_tail(true, &from(task("WORKING", 0), 1), None);
        // An event is lost after the snapshot: a chunk, a status, the last one.
        check_tail(false, &from(task("WORKING", 1), 4), None);
        check_tail(false, &from(task("SUBMITTED", 0), 2), None);
        check_tail(false, &from(task("WORKING", 4), 7), None);
        let mut lost = from(task("WORKING", 1), 3);
        lost.remove(2);
        check_tail(false, &lost, None);
        // A chunk that the task already has is repeated.
        check_tail(false, &from(task("WORKING", 2), 3), None);
        // The task differs; the task is missing; there are no events.
        check_tail(false, &from(task("WORKING", 9), 4), None);
        check_tail(false, &whole[3..], None);
        check_tail(false, &[], None);
        // An event of another task, and two in the wrong order.
        let mut id_mismatch = from(task("WORKING", 2), 4);
        id_mismatch[1]["artifactUpdate"]["taskId"] = json!("other");
        check_tail(false, &id_mismatch, None);
        let mut swapped = from(task("WORKING", 2), 4);
        swapped.swap(1, 2);
        check_tail(false, &swapped, None);
    }

    #[test]
    fn a_resumed_stream_is_all_that_came_after_the_event() {
        let whole = whole();
        check_tail(true, &whole[3..], Some(3));
        check_tail(false, &whole[4..], Some(3));
        check_tail(false, &whole[2..], Some(3));
        check_tail(false, &whole[3..6], Some(3));
        check_tail(false, &[], Some(3));
        // The stream does not resume, but keeps the guarantee of any subscription.
        let repeated = [&[task("WORKING", 2)], &whole[4..]].concat();
        check_tail(true, &repeated, Some(3));
        let lost = [&[task("WORKING", 2)], &whole[5..]].concat();
        check_tail(false, &lost, Some(3));
    }

    #[test]
    fn a_resubscription_may_repeat_earlier_events_and_sends_all_later_ones() {
        let whole = whole();
        // When the task was read, it had one chunk: chunks 3 and 4 came later.
        let check_again = |holds: bool, later: &[Value]| {
            let read = &task("WORKING", 1)["task"];
            let streams = json!({"whole": whole, "later": later, "read": read});
            check(holds, resubscription(&streams));
        };
        for start in 1..=4 {
            check_again(true, &whole[start..]);
        }
        check_again(true, &[&[task("WORKING", 2)], &whole[4..]].concat());
        // Some earlier events: working, and chunk 1.
        check_again(true, &[&whole[1..3], &whole[4..]].concat());
        check_again(false, &whole[5..]);
        check_again(false, &[&whole[2..5], &whole[6..]].concat());
        check_again(false, &whole[3..6]);
        // The artifact as a whole, once; with a chunk again that it has.
        let artifact = json!({"artifactId": "a", "parts": [{"text": "1 "}, {"text": "2 "}]});
        let at_once = json!({"artifactUpdate": {"taskId": "t", "artifact": artifact}});
        check_again(
            true,
            &[std::slice::from_ref(&at_once), &whole[4..]].concat(),
        );
        check_again(false, &[&[at_once], &whole[3..]].concat());
        // A chunk twice; two in the wrong order; one that was never sent; nothing.
        check_again(false, &[&whole[2..4], &whole[3..]].concat());
        check_again(
            false,
            &[&[whole[3].clone(), whole[2].clone()], &whole[4..]].concat(),
        );
        check_again(false, &[&[chunk(7)], &whole[4..]].concat());
        check_again(false, &[]);
    }
}
