//! Body of an answer on its way through a proxy.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use a2a_client::ResponseObserver;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use tokio::time::{Sleep, sleep};

use super::Proxy;
use super::fault::FaultKind;
use crate::wire::{EventBoundary, Recording};

/// Body of an answer, passed on as it comes and recorded as the caller gets it. Faults of streams happen here.
pub(crate) struct ProxiedBody {
    upstream: UnsyncBoxBody<Bytes, hyper::Error>,
    proxy: Arc<Proxy>,
    recording: Recording,
    events: Option<Events>,
}

/// Events of a stream that have passed.
#[derive(Default)]
struct Events {
    boundary: EventBoundary,
    passed: u64,
    /// Bytes that have come and have not been passed on.
    rest: Bytes,
    /// Bytes of the event that may be sent twice.
    copy: Vec<u8>,
    /// Copy of an event, to be sent next.
    again: Option<Bytes>,
    /// Ends when the stream is to be cut.
    cut: Option<Pin<Box<Sleep>>>,
}

/// End of a body before its time.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    /// A fault.
    #[error("cut by the proxy after {0} events")]
    Cut(u64),
    /// The agent, or the connection to it.
    #[error("the agent's answer broke off")]
    Upstream(#[source] hyper::Error),
}

/// Time that the last events have to leave before a stream is cut: HTTP/2 drops what it has not sent when a stream
/// is reset, and does not report when it has sent everything.
const FLUSH_TIME: Duration = Duration::from_millis(50);

/// Bytes of an event that can be sent twice.
const MAX_COPY_BYTES: usize = 4 << 20;

impl ProxiedBody {
    pub(crate) fn new(
        upstream: UnsyncBoxBody<Bytes, hyper::Error>,
        proxy: Arc<Proxy>,
        recording: Recording,
        is_stream: bool,
    ) -> Self {
        Self {
            upstream,
            proxy,
            recording,
            events: is_stream.then(Events::default),
        }
    }

    fn pass(&mut self, data: Bytes) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.recording.data(&data);
        Poll::Ready(Some(Ok(Frame::data(data))))
    }
}

impl Events {
    /// Returns the next piece of what has come: up to the end of an event, or all of it.
    fn piece(&mut self, proxy: &Proxy) -> Bytes {
        let Some(end) = self.boundary.next(&self.rest) else {
            let piece = std::mem::take(&mut self.rest);
            self.keep(&piece, proxy);
            return piece;
        };
        let piece = self.rest.split_to(end.offset);
        self.keep(&piece, proxy);
        let copy = std::mem::take(&mut self.copy);
        if end.is_event {
            self.passed += 1;
            let passed = self.passed;
            let is_due = |kind| kind == FaultKind::Duplicate { event: passed };
            if !copy.is_empty() && proxy.take_fault(is_due).is_some() {
                self.again = Some(copy.into());
            }
        }
        piece
    }

    /// Keeps a piece of the event that is to be sent twice.
    fn keep(&mut self, piece: &[u8], proxy: &Proxy) {
        let next = self.passed + 1;
        let is_due = proxy.has_fault(FaultKind::Duplicate { event: next });
        match is_due && self.copy.len() + piece.len() <= MAX_COPY_BYTES {
            true => self.copy.extend_from_slice(piece),
            false => self.copy.clear(),
        }
    }
}

impl Body for ProxiedBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        loop {
            if let Some(events) = &mut this.events {
                if let Some(cut) = &mut events.cut {
                    ready!(cut.as_mut().poll(cx));
                    let error = BodyError::Cut(events.passed);
                    this.recording.end(Some(&error));
                    return Poll::Ready(Some(Err(error)));
                }
                if let Some(again) = events.again.take() {
                    return this.pass(again);
                }
                let passed = events.passed;
                let is_due = |kind| matches!(kind, FaultKind::Cut { after_events } if passed >= after_events);
                if this.proxy.take_fault(is_due).is_some() {
                    events.cut = Some(Box::pin(sleep(FLUSH_TIME)));
                    continue;
                }
                if !events.rest.is_empty() {
                    let piece = events.piece(&this.proxy);
                    return this.pass(piece);
                }
            }
            let frame = ready!(Pin::new(&mut this.upstream).poll_frame(cx));
            let frame = match frame {
                None => {
                    this.recording.finish(None);
                    return Poll::Ready(None);
                }
                Some(Err(error)) => {
                    let error = BodyError::Upstream(error);
                    this.recording.end(Some(&error));
                    return Poll::Ready(Some(Err(error)));
                }
                Some(Ok(frame)) => frame,
            };
            match (frame.into_data(), &mut this.events) {
                (Ok(data), Some(events)) => events.rest = data,
                (Ok(data), None) => return this.pass(data),
                (Err(trailers), _) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.events.is_none() && self.upstream.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match self.events {
            Some(_) => SizeHint::default(),
            None => self.upstream.size_hint(),
        }
    }
}
