//! A stream of events on its way in.

use std::time::Duration;

use a2a_edge::budget::{Budget, Exhausted, Share};
use a2a_types::Event;
use a2a_types::reading::{Deviation, Mode, Quirk, Violation, WithRepairs};
use futures_util::stream;
use http::HeaderMap;
use http_body_util::BodyExt;
use tokio_stream::Stream;

use super::deviation_observer::{DeviationObserver, tell};
use super::wire_observer::ObservedBody;
use crate::binding::EventReader;
use crate::binding::grpc::take_event_id;
use crate::http::message::grpc::GrpcDecoder;
use crate::sse::{Decoder, ServerSentEvent};
use crate::{Error, Phase, Update};

/// Decoder of the events in a body.
pub(super) enum EventDecoder {
    Sse(Decoder),
    #[cfg_attr(
        not(feature = "grpc"),
        expect(dead_code, reason = "nothing is of gRPC")
    )]
    Grpc(GrpcDecoder),
}

impl EventDecoder {
    fn push(&mut self, data: &[u8]) -> Result<Vec<ServerSentEvent>, Error> {
        match self {
            Self::Sse(decoder) => decoder.push(data),
            Self::Grpc(decoder) => Ok(events_of(decoder.push(data)?)),
        }
    }

    /// Takes the trailers of a body.
    fn trailers(&mut self, trailers: &HeaderMap) {
        if let Self::Grpc(decoder) = self {
            decoder.trailers(trailers);
        }
    }

    /// Returns the rest at the end of a body. Errors: also the error in the trailers.
    fn finish(&mut self) -> Result<Vec<ServerSentEvent>, Error> {
        match self {
            Self::Sse(decoder) => Ok(decoder.finish()?.into_iter().collect()),
            Self::Grpc(decoder) => decoder.finish().map(|()| Vec::new()),
        }
    }

    fn is_within_data(&self) -> bool {
        match self {
            Self::Sse(decoder) => decoder.is_within_data(),
            Self::Grpc(_) => false,
        }
    }

    fn buffered(&self) -> usize {
        match self {
            Self::Sse(decoder) => decoder.buffered(),
            Self::Grpc(decoder) => decoder.buffered(),
        }
    }
}

/// Returns messages as events without ids.
fn events_of(messages: Vec<Vec<u8>>) -> Vec<ServerSentEvent> {
    let events = messages.into_iter().map(|data| ServerSentEvent {
        id: None,
        name: None,
        data,
    });
    events.collect()
}

/// A stream of events on its way in.
pub(super) struct EventStream {
    body: ObservedBody,
    decoder: EventDecoder,
    ready: std::vec::IntoIter<ServerSentEvent>,
    reader: EventReader,
    /// Set if events that cannot be read are left out.
    is_tolerant: bool,
    deviations: Option<DeviationObserver>,
    /// The problem of the first event that was left out, until one is read.
    unread: Option<Error>,
    has_read: bool,
    idle: Duration,
    budget: Budget,
    /// Bytes that were received and not read yet.
    share: Share,
    /// `true` once nothing more is read.
    ended: bool,
    /// The last event is not whole.
    broken_off: bool,
    /// An event after which the stream may end has come.
    finished: bool,
}

impl EventStream {
    /// Returns the events of a body, until the peer marks one as the last, or ends the stream. A peer may be
    /// silent for at most `idle`. Bytes that were received and not read yet are charged to `budget`.
    pub(super) fn updates(
        body: ObservedBody,
        (reader, mode): (EventReader, Mode),
        deviations: Option<DeviationObserver>,
        decoder: EventDecoder,
        idle: Duration,
        budget: Budget,
    ) -> impl Stream<Item = Result<Update, Error>> {
        let events = Self {
            body,
            decoder,
            ready: Vec::new().into_iter(),
            reader,
            is_tolerant: mode == Mode::Tolerant,
            deviations,
            unread: None,
            has_read: false,
            idle,
            share: budget.share(),
            budget,
            ended: false,
            broken_off: false,
            finished: false,
        };
        stream::unfold(events, |mut events| async move {
            let item = events.next().await?;
            Some((item, events))
        })
    }

    async fn next(&mut self) -> Option<Result<Update, Error>> {
        loop {
            if let Some(event) = self.ready.next() {
                match self.read(event) {
                    Err(Error::Malformed(violation)) if self.leaves_out() => {
                        self.leave_out(violation);
                        continue;
                    }
                    read => return Some(read),
                }
            }
            if self.ended {
                let is_first = !std::mem::replace(&mut self.finished, true);
                let problem = self.unread.take().unwrap_or(Error::Unfinished);
                return is_first.then_some(Err(problem));
            }
            match self.more().await.and_then(|events| self.charge(events)) {
                Ok(events) => self.ready = events.into_iter(),
                Err(error) => {
                    (self.ended, self.finished) = (true, true);
                    return Some(Err(error));
                }
            }
        }
    }

    async fn more(&mut self) -> Result<Vec<ServerSentEvent>, Error> {
        // An error that came with the last events.
        if let EventDecoder::Sse(decoder) = &mut self.decoder {
            decoder.push(&[])?;
        }
        // A peer that sends much and no event must not starve the other tasks of this thread.
        tokio::task::coop::consume_budget().await;
        let idle = Error::Timeout {
            phase: Phase::Idle,
            limit: self.idle,
        };
        match tokio::time::timeout(self.idle, self.body.frame()).await {
            Err(_) => Err(idle),
            Ok(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => self.decoder.push(&data),
                Err(frame) => {
                    if let Ok(trailers) = frame.into_trailers() {
                        self.decoder.trailers(&trailers);
                    }
                    Ok(Vec::new())
                }
            },
            Ok(Some(Err(error))) => Err(Error::Connection(error.into())),
            Ok(None) => {
                self.ended = true;
                self.broken_off = self.decoder.is_within_data();
                self.decoder.finish()
            }
        }
    }

    /// Charges the bytes that are not read yet to the budget.
    fn charge(&mut self, events: Vec<ServerSentEvent>) -> Result<Vec<ServerSentEvent>, Error> {
        let ready: usize = events.iter().map(|event| event.data.len()).sum();
        match self.share.resize(self.decoder.buffered() + ready) {
            Ok(()) => Ok(events),
            Err(Exhausted) => Err(Error::Crowded {
                limit: self.budget.limit(),
            }),
        }
    }

    fn read(&mut self, event: ServerSentEvent) -> Result<Update, Error> {
        let sequence = event.id.as_deref().and_then(|id| id.parse().ok());
        let read = match self.reader.read(&event.data) {
            // The connection has ended within this event.
            Err(Error::Malformed(_)) if self.broken_off => Err(Error::Unfinished),
            read => read,
        };
        let stop = match &read {
            // Some agents answer by several messages.
            Ok(read) => {
                let is_message = matches!(read.value.event, Event::Message(_));
                read.value.last && !(is_message && self.is_tolerant)
            }
            Err(Error::Malformed(_)) => !self.leaves_out(),
            Err(_) => true,
        };
        if stop {
            // Some peers keep the connection open after the last event.
            self.ended = true;
            self.ready = Vec::new().into_iter();
        }
        self.finished |= stop
            || read
                .as_ref()
                .is_ok_and(|read| is_last_word(&read.value.event));
        let mut item = tell(self.deviations.as_ref(), read?);
        (self.unread, self.has_read) = (None, true);
        let sequence = match self.decoder {
            EventDecoder::Sse(_) => sequence,
            EventDecoder::Grpc(_) => take_event_id(&mut item.event),
        };
        Ok(Update::new(item.event, sequence))
    }

    /// Returns whether an event that cannot be read is left out: the others may have the answer.
    fn leaves_out(&self) -> bool {
        self.is_tolerant && !self.broken_off
    }

    fn leave_out(&mut self, violation: Violation) {
        let mut deviation = Deviation::new(Quirk::NoEvent, &violation.path);
        deviation.found = format!("no event ({})", violation.problem);
        "nothing".clone_into(&mut deviation.read_as);
        tell(
            self.deviations.as_ref(),
            WithRepairs {
                value: (),
                repairs: vec![deviation],
            },
        );
        if !self.has_read {
            self.unread.get_or_insert(Error::Malformed(violation));
        }
    }
}

/// Returns whether an agent may end its stream after this event.
pub(super) fn is_last_word(event: &Event) -> bool {
    let settled = event
        .status()
        .is_some_and(|status| status.state.is_terminal() || status.state.is_interrupted());
    settled || matches!(event, Event::Message(_))
}
