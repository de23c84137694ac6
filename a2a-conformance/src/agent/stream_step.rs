//! Steps of a case that open or read a stream.

use serde_json::{Value, json};

use super::call_step::write;
use super::case_run::{CaseRun, StopReason};
use super::event_stream::EventStream;
use super::expectation::{
    self, ErrorFormat, against, describe, errors, is_rejection, other_answer,
};
use crate::case::{Expect, Step, StopCondition};
use crate::record::{Mismatch, MismatchKind};
use crate::wire::exchange::{Problem, ResponseContent};

/// The part of a stream that was read in a step.
struct StreamExcerpt {
    events: Vec<Value>,
    folded: Value,
    problem: Option<Problem>,
    until: StopCondition,
}

/// Opens a stream, and reads the part of it that the step is about.
pub(super) async fn open(run: &mut CaseRun<'_>, step: &Step, name: &str) -> Result<(), StopReason> {
    let interface = run.interface_of(step)?;
    let (outgoing, envelope) = write(run, interface, step, name)?;
    let opening = EventStream::open(interface, run.number(), outgoing, envelope, step.caller);
    let mut stream = opening.await;
    let read = read_on(run, step, &mut stream).await;
    match &step.r#as {
        Some(name) => drop(run.streams.insert(name.clone(), stream)),
        None => run.evidence.push(stream.evidence),
    }
    read
}

/// Reads on in a stream that an earlier step opened.
pub(super) async fn next(run: &mut CaseRun<'_>, step: &Step, name: &str) -> Result<(), StopReason> {
    let Some(mut stream) = run.streams.remove(name) else {
        return Err(StopReason::InvalidCase(format!(
            "there is no stream `{name}`"
        )));
    };
    let read = read_on(run, step, &mut stream).await;
    run.streams.insert(name.to_owned(), stream);
    read
}

async fn read_on(
    run: &mut CaseRun<'_>,
    step: &Step,
    stream: &mut EventStream,
) -> Result<(), StopReason> {
    let until = step.until.clone().unwrap_or(StopCondition::End);
    let (events, problem) = stream.read(run.interface_of(step)?, &until).await;
    let excerpt = StreamExcerpt {
        events,
        folded: serde_json::to_value(&stream.record.folded).unwrap_or_default(),
        problem,
        until,
    };
    let found = run.judge_step(step, |run, expect| {
        mismatches(run, expect, stream, &excerpt)
    })?;
    run.mismatches.extend(found);
    if let Some(name) = step.r#as.as_ref().or(step.next.as_ref()) {
        let record = &stream.record;
        let id = record.folded.as_ref().map(|task| task.id.to_string());
        let value = json!({
            "events": record.events,
            "task": excerpt.folded,
            "last_id": record.last_id,
            "last_id_at": record.last_id_at,
        });
        run.put_result(name, value, id.map(Value::from));
    }
    Ok(())
}

/// Returns every mismatch of a part of a stream with what a step expects.
fn mismatches(
    run: &CaseRun<'_>,
    expect: &Expect,
    stream: &EventStream,
    excerpt: &StreamExcerpt,
) -> Result<Vec<Mismatch>, StopReason> {
    let mut found = Vec::new();
    let error = |wanted, kind| {
        let format = ErrorFormat {
            protocol_version: stream.record.envelope.protocol_version,
            binding: stream.record.envelope.binding,
            is_coded: stream.record.is_coded,
        };
        expectation::error(run, &format, wanted, kind)
    };
    match (&stream.refused, &expect.error) {
        (Some(ResponseContent::Error { kind, .. }), Some(wanted)) => {
            found.extend(error(wanted, *kind));
        }
        (Some(ResponseContent::Unreadable(_)), Some(wanted))
            if wanted == "rejection" && is_rejection(stream.status) => {}
        (Some(refused), wanted) => {
            let expected = match wanted {
                Some(wanted) => errors(wanted),
                None => "a stream".to_owned(),
            };
            found.push(other_answer(run, expected, describe(refused)));
        }
        // `stream.refused-before-start` checks that the error comes instead of a stream.
        (None, Some(wanted)) => match stream.refusal() {
            Some(kind) => found.extend(error(wanted, kind)),
            None => {
                let events = Value::from(excerpt.events.as_slice());
                let stream = (format!("a stream: {events}"), MismatchKind::Result);
                found.push(other_answer(run, errors(wanted), stream));
            }
        },
        (None, None) => {}
    }
    if let (Some(problem), None) = (&excerpt.problem, &stream.refused) {
        let expected = match &excerpt.until {
            StopCondition::Events(count) => format!("{count} events more"),
            StopCondition::Status(state) => format!("the state {state}"),
            StopCondition::End => "the end".to_owned(),
        };
        let place = run.place("the stream");
        found.push(Mismatch::new(place, expected, &*problem.text).of_kind(problem.kind));
    }
    let events = Value::from(excerpt.events.as_slice());
    let status = stream.status.into();
    for (what, wanted, value) in [
        ("events", &expect.events, &events),
        ("the assembled task", &expect.folded, &excerpt.folded),
        ("HTTP status", &expect.status, &status),
        ("headers", &expect.headers, &stream.headers),
    ] {
        found.extend(against(run, wanted.as_ref(), Some(value), what)?);
    }
    if let Some(wanted) = expect.closed
        && wanted != stream.closed
    {
        let word = |closed: bool| if closed { "closed" } else { "open" }.to_owned();
        let place = run.place("the stream");
        found.push(Mismatch::new(place, word(wanted), word(stream.closed)));
    }
    Ok(found)
}
