//! Events of a task, for one caller.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::Stream;
use futures_util::stream::{Map, StreamExt};
use tokio::sync::mpsc::UnboundedReceiver;
use tonic::Status;

use crate::v1_0::stream_response::Payload;

/// Stream of the events that have happened, then of those to come.
pub(crate) struct Events {
    pub(crate) past: VecDeque<Payload>,
    /// `None` if nothing more is to come.
    pub(crate) future: Option<UnboundedReceiver<Payload>>,
}

impl Events {
    /// Converts each event to a response of a protocol version.
    pub(crate) fn responses<T>(self, convert: Convert<T>) -> Responses<T> {
        self.map(convert)
    }
}

impl From<Payload> for Events {
    fn from(event: Payload) -> Self {
        Self {
            past: VecDeque::from([event]),
            future: None,
        }
    }
}

impl Stream for Events {
    type Item = Payload;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Payload>> {
        if let Some(event) = self.past.pop_front() {
            return Poll::Ready(Some(event));
        }
        let Some(future) = &mut self.future else {
            return Poll::Ready(None);
        };
        let event = ready!(future.poll_recv(cx));
        if event.is_none() {
            self.future = None;
        }
        Poll::Ready(event)
    }
}

/// Conversion of an event to a response.
pub(crate) type Convert<T> = fn(Payload) -> Result<T, Status>;

/// Events as responses of a protocol version.
pub(crate) type Responses<T> = Map<Events, Convert<T>>;
