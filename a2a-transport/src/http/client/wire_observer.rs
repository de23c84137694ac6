//! Observers of requests and answers on the wire.

use std::fmt;
use std::fmt::Debug;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use http::{HeaderMap, request, response};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;

/// Observer of the wire: a recorder, a log, a display.
///
/// Values of secret headers are marked as sensitive; a URL or a body may hold secrets, too.
pub trait WireObserver: Debug + Send + Sync + 'static {
    /// Observes a request that is sent. Returns the observer of its answer.
    fn request(&self, head: &request::Parts, body: &Bytes) -> Box<dyn ResponseObserver>;
}

/// Observer of the answer to one request: its head, its bytes as they come, its trailers, its end. Dropped before the
/// end if the caller stops reading.
pub trait ResponseObserver: Send + Sync {
    /// Observes the head.
    fn head(&mut self, head: &response::Parts);

    /// Observes some bytes of the body.
    fn data(&mut self, data: &Bytes);

    /// Observes the trailers, if there are any: gRPC has its status there. They are ignored by default.
    fn trailers(&mut self, _: &HeaderMap) {}

    /// Observes the end of the answer, or the failure.
    fn end(&mut self, failure: Option<&(dyn std::error::Error + 'static)>);
}

/// Body of an answer with its observers.
pub(super) struct ObservedBody {
    body: Incoming,
    observers: Vec<Box<dyn ResponseObserver>>,
}

impl ObservedBody {
    pub(super) fn new(body: Incoming, observers: Vec<Box<dyn ResponseObserver>>) -> Self {
        Self { body, observers }
    }

    pub(super) fn unobserved(body: Incoming) -> Self {
        Self::new(body, Vec::new())
    }

    fn end(&mut self, failure: Option<&(dyn std::error::Error + 'static)>) {
        for mut observer in self.observers.drain(..) {
            observer.end(failure);
        }
    }
}

impl http_body::Body for ObservedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            None => self.end(None),
            Some(Err(error)) => self.end(Some(error)),
            Some(Ok(frame)) => {
                let observers = self.observers.iter_mut();
                if let Some(data) = frame.data_ref() {
                    observers.for_each(|observer| observer.data(data));
                } else if let Some(trailers) = frame.trailers_ref() {
                    observers.for_each(|observer| observer.trailers(trailers));
                }
                if self.body.is_end_stream() {
                    self.end(None);
                }
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A caller may stop reading at the last event. Trailers that have come with it are observed: gRPC has its status there.
impl Drop for ObservedBody {
    fn drop(&mut self) {
        if !self.observers.is_empty() {
            let mut cx = Context::from_waker(Waker::noop());
            let _ = http_body::Body::poll_frame(Pin::new(self), &mut cx);
        }
    }
}

impl Debug for ObservedBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.body.fmt(f)
    }
}
