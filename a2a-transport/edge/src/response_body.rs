//! Response bodies under backpressure, and streams of HTTP/2 whose peer does not read.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_util::task::AtomicWaker;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::time::{Instant, sleep_until};

use super::connection_timer::OpenRequest;

pin_project! {
    /// The body of an answer while its request is open.
    pub(super) struct ResponseBody<B> {
        #[pin]
        body: Option<B>,
        // The rest that did not fit into the last frame.
        rest: Bytes,
        // Shared with the task of the HTTP/2 stream that carries it.
        progress: Option<Arc<WriteProgress>>,
        open: OpenRequest,
    }
}

impl<B> ResponseBody<B> {
    /// Creates the body of the answer that this task sends.
    pub(super) fn new(body: B, open: OpenRequest) -> Self {
        Self {
            body: Some(body),
            rest: Bytes::new(),
            progress: TAKING.try_with(Arc::clone).ok(),
            open,
        }
    }

    /// Creates the body of a refusal: a few words, or none.
    pub(super) fn text(text: &'static str, open: OpenRequest) -> Self {
        Self {
            body: None,
            rest: Bytes::from_static(text.as_bytes()),
            progress: None,
            open,
        }
    }
}

impl<B: Body<Data = Bytes>> ResponseBody<B> {
    fn poll_next(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let mut this = self.project();
        if this.rest.is_empty() {
            let Some(body) = this.body.as_mut().as_pin_mut() else {
                return Poll::Ready(None);
            };
            let frame = ready!(body.poll_frame(cx));
            // In HTTP/1.1 hyper writes directly to the socket and buffers no more than that.
            if this.progress.is_none() {
                return Poll::Ready(frame);
            }
            match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => *this.rest = data,
                Some(Ok(Err(frame))) => return Poll::Ready(Some(Ok(frame))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    this.body.set(None);
                    return Poll::Ready(None);
                }
            }
        }
        let length = this.rest.len().min(FRAME);
        let frame = this.rest.split_to(length);
        let frame = match this.progress {
            Some(progress) if length > SMALL => progress.guard(frame),
            _ => frame,
        };
        Poll::Ready(Some(Ok(Frame::data(frame))))
    }
}

impl<B: Body<Data = Bytes>> Body for ResponseBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let next = self.as_mut().poll_next(cx);
        let Some(progress) = &self.progress else {
            return next;
        };
        if matches!(next, Poll::Ready(None)) && progress.poll_taken(cx).is_pending() {
            return Poll::Pending;
        }
        progress.give(matches!(next, Poll::Ready(Some(Ok(_)))));
        next
    }

    /// Returns `false` until all is taken: until then the stream is watched, and its request open.
    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
            && self.body.as_ref().is_none_or(B::is_end_stream)
            && self.progress.as_ref().is_none_or(|it| it.is_taken())
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let Some(body) = &self.body else {
            return SizeHint::with_exact(rest);
        };
        let hint = body.size_hint();
        let mut whole = SizeHint::new();
        whole.set_lower(hint.lower() + rest);
        if let Some(upper) = hint.upper() {
            whole.set_upper(upper + rest);
        }
        whole
    }
}

/// Bytes that hyper gets at once, and keeps of a stream whose peer takes nothing.
const FRAME: usize = 16 * 1024;

/// The end of an answer waits until its last frame is taken, unless that has no more bytes: it takes another
/// frame and another turn of the connection.
const SMALL: usize = 1024;

/// Runs the streams of HTTP/2, and drops each stream whose peer does not read its answer.
///
/// The connection goes on when a peer closes the window of one stream, so no write of it is late.
/// And hyper does not poll a body while it has a frame of it that it cannot send. So the task of a
/// stream is watched from outside: if it waits although its body gave a frame, it waits for the
/// peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Streams {
    limit: Duration,
}

impl Streams {
    /// Creates an executor that drops a stream once a frame has waited for longer than `limit`.
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit }
    }
}

impl<F> hyper::rt::Executor<F> for Streams
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, stream: F) {
        let progress = Arc::new(WriteProgress::default());
        let watched = watch(stream, Arc::clone(&progress), self.limit);
        tokio::spawn(TAKING.scope(progress, watched));
    }
}

/// Runs a stream to its end, or until a frame has waited for longer than `limit`; dropping it resets it.
async fn watch(stream: impl Future, progress: Arc<WriteProgress>, limit: Duration) {
    let mut stream = pin!(stream);
    let mut lying = None;
    let mut sleep = pin!(sleep_until(Instant::now()));
    std::future::poll_fn(|cx| {
        if stream.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let Some(frame) = progress.lying() else {
            return Poll::Pending;
        };
        if lying.replace(frame) != Some(frame) {
            sleep.as_mut().reset(Instant::now() + limit);
        }
        ready!(sleep.as_mut().poll(cx));
        tracing::debug!("a peer did not read its stream in time");
        Poll::Ready(())
    })
    .await;
}

tokio::task_local! {
    /// The stream that this task runs.
    static TAKING: Arc<WriteProgress>;
}

/// State of a stream's body: frames given to hyper and not yet written.
#[derive(Debug, Default)]
struct WriteProgress {
    frames: AtomicUsize,
    is_waiting: AtomicBool,
    /// Frames that the connection has not written yet.
    unwritten: AtomicUsize,
    /// Wakes the stream when they are written.
    waker: AtomicWaker,
}

/// A frame that the connection has not written yet.
struct TrackedFrame {
    frame: Bytes,
    progress: Arc<WriteProgress>,
}

impl AsRef<[u8]> for TrackedFrame {
    fn as_ref(&self) -> &[u8] {
        &self.frame
    }
}

impl Drop for TrackedFrame {
    fn drop(&mut self) {
        self.progress.unwritten.fetch_sub(1, Ordering::Release);
        self.progress.waker.wake();
    }
}

impl WriteProgress {
    /// Returns the frame with a guard that notices when it is dropped: then it is written.
    fn guard(self: &Arc<Self>, frame: Bytes) -> Bytes {
        self.unwritten.fetch_add(1, Ordering::Relaxed);
        let progress = Arc::clone(self);
        Bytes::from_owner(TrackedFrame { frame, progress })
    }

    fn is_taken(&self) -> bool {
        self.unwritten.load(Ordering::Acquire) == 0
    }

    fn poll_taken(&self, cx: &Context<'_>) -> Poll<()> {
        self.waker.register(cx.waker());
        match self.is_taken() {
            true => Poll::Ready(()),
            false => {
                self.is_waiting.store(true, Ordering::Relaxed);
                Poll::Pending
            }
        }
    }

    /// Records that the body was polled, and whether it gave a frame.
    fn give(&self, gave: bool) {
        if gave {
            self.frames.fetch_add(1, Ordering::Relaxed);
        }
        self.is_waiting.store(gave, Ordering::Relaxed);
    }

    /// Returns the number of the frame that the body gave when it was last polled, if it gave one.
    fn lying(&self) -> Option<usize> {
        let is_waiting = self.is_waiting.load(Ordering::Relaxed);
        is_waiting.then(|| self.frames.load(Ordering::Relaxed))
    }
}
