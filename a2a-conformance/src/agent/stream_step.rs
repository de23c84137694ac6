//! Steps of a case that open or read a stream.

use serde_json::{Value, json};

use super::case_run::{CaseRun, StopReason};
use super::event_stream::EventStream;
use super::expectation::errors;
use super::expectation::{ErrorFormat, describe, is_rejection};
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

impl EventStream {
    /// Returns the error format of a refusal.
    fn error_format(&self) -> ErrorFormat {
        ErrorFormat {
            dialect: self.dialect,
            binding: self.envelope.binding,
            is_coded: self.is_coded,
        }
    }
}

impl<'t> CaseRun<'t> {
    pub(super) async fn stream(&mut self, step: &Step, name: &str) -> Result<(), StopReason> {
        let interface = self.interface_of(step)?;
        let (outgoing, envelope) = self.write(interface, step, name)?;
        let opening = EventStream::open(interface, self.number(), outgoing, envelope, step.caller);
        let mut stream = opening.await;
        let read = self.read_on(step, &mut stream).await;
        match &step.r#as {
            Some(name) => drop(self.streams.insert(name.clone(), stream)),
            None => self.evidence.push(stream.evidence),
        }
        read
    }

    /// Reads on in a stream that an earlier step opened.
    pub(super) async fn next(&mut self, step: &Step, name: &str) -> Result<(), StopReason> {
        let Some(mut stream) = self.streams.remove(name) else {
            return Err(StopReason::InvalidCase(format!(
                "there is no stream `{name}`"
            )));
        };
        let read = self.read_on(step, &mut stream).await;
        self.streams.insert(name.to_owned(), stream);
        read
    }

    async fn read_on(&mut self, step: &Step, stream: &mut EventStream) -> Result<(), StopReason> {
        let until = step.until.clone().unwrap_or(StopCondition::End);
        let (events, problem) = stream.read(self.interface_of(step)?, &until).await;
        let excerpt = StreamExcerpt {
            events,
            folded: serde_json::to_value(&stream.folded).unwrap_or_default(),
            problem,
            until,
        };
        let found = self.judge_step(step, |this, expect| {
            this.check_stream(expect, stream, &excerpt)
        })?;
        self.mismatches.extend(found);
        if let Some(name) = step.r#as.as_ref().or(step.next.as_ref()) {
            let id = stream.folded.as_ref().map(|task| task.id.to_string());
            let value = json!({
                "events": stream.events,
                "task": excerpt.folded,
                "last_id": stream.last_id,
                "last_id_at": stream.last_id_at,
            });
            self.names.put(name, value);
            if let Some(id) = id {
                self.names.put(&format!("{name}_task"), id.into());
            }
        }
        Ok(())
    }

    fn check_stream(
        &self,
        expect: &Expect,
        stream: &EventStream,
        excerpt: &StreamExcerpt,
    ) -> Result<Vec<Mismatch>, StopReason> {
        let mut found = Vec::new();
        let answer = |expected: String, (found, kind): (String, MismatchKind)| {
            Mismatch::new(self.place("the answer"), expected, found).of_kind(kind)
        };
        match (&stream.refused, &expect.error) {
            (Some(ResponseContent::Error { kind, .. }), Some(wanted)) => {
                found.extend(self.check_error(&stream.error_format(), wanted, *kind));
            }
            (Some(ResponseContent::Unreadable(_)), Some(wanted))
                if wanted == "rejection" && is_rejection(stream.status) => {}
            (Some(refused), wanted) => {
                let expected = match wanted {
                    Some(wanted) => errors(wanted),
                    None => "a stream".to_owned(),
                };
                found.push(answer(expected, describe(refused)));
            }
            // `stream.refused-before-start` checks that the error comes instead of a stream.
            (None, Some(wanted)) => match stream.refusal() {
                Some(kind) => found.extend(self.check_error(&stream.error_format(), wanted, kind)),
                None => {
                    let events = Value::from(excerpt.events.as_slice());
                    let stream = (format!("a stream: {events}"), MismatchKind::Result);
                    found.push(answer(errors(wanted), stream));
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
            let place = self.place("the stream");
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
            found.extend(self.against(wanted.as_ref(), Some(value), what)?);
        }
        if let Some(wanted) = expect.closed
            && wanted != stream.closed
        {
            let word = |closed: bool| if closed { "closed" } else { "open" }.to_owned();
            let place = self.place("the stream");
            found.push(Mismatch::new(place, word(wanted), word(stream.closed)));
        }
        Ok(found)
    }
}
