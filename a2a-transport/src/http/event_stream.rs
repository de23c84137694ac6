//! A stream of events on its way in.

use std::time::Duration;

use a2a_types::Event;
use a2a_types::reading::{Repair, WithRepairs};
use futures_util::stream;
use http_body_util::BodyExt;
use tokio_stream::Stream;

use super::budget::{Budget, Exhausted, Share};
use super::wire_observer::ObservedBody;
use crate::binding::EventReader;
use crate::sse::{Bounds, Decoder, ServerSentEvent};
use crate::{Error, Phase, Update};

/// A stream of events on its way in.
pub(super) struct EventStream {
    body: ObservedBody,
    decoder: Decoder,
    ready: std::vec::IntoIter<ServerSentEvent>,
    reader: EventReader,
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
        reader: EventReader,
        bounds: Bounds,
        idle: Duration,
        budget: Budget,
    ) -> impl Stream<Item = Result<Update, Error>> {
        let events = Self {
            body,
            decoder: Decoder::new(bounds),
            ready: Vec::new().into_iter(),
            reader,
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
                return Some(self.read(event));
            }
            if self.ended {
                let is_first = !std::mem::replace(&mut self.finished, true);
                return is_first.then_some(Err(Error::Unfinished));
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
        self.decoder.push(&[])?;
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
                Err(_) => Ok(Vec::new()),
            },
            Ok(Some(Err(error))) => Err(Error::Connection(error.into())),
            Ok(None) => {
                self.ended = true;
                self.broken_off = self.decoder.is_within_data();
                Ok(self.decoder.finish()?.into_iter().collect())
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
        let stop = read.as_ref().map_or(true, |read| read.value.last);
        if stop {
            // Some peers keep the connection open after the last event.
            self.ended = true;
            self.ready = Vec::new().into_iter();
        }
        self.finished |= stop
            || read
                .as_ref()
                .is_ok_and(|read| is_last_word(&read.value.event));
        Ok(Update::new(trace(read?).event, sequence))
    }
}

/// Returns whether an agent may end its stream after this event.
pub(super) fn is_last_word(event: &Event) -> bool {
    let settled = event
        .status()
        .is_some_and(|status| status.state.is_terminal() || status.state.is_interrupted());
    settled || matches!(event, Event::Message(_))
}

/// Logs the repairs of an answer, and returns it.
pub(super) fn trace<T>(read: WithRepairs<T>) -> T {
    for Repair { quirk, path } in &read.repairs {
        tracing::debug!(quirk = quirk.code(), path, "repaired an answer");
    }
    read.value
}
