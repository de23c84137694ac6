//! Bodies on their way in: their rate, their limit and the budget that they share.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use a2a_edge::budget::{Exhausted, Share, is_slow};
use a2a_edge::discard_small;
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body::{Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::time::Instant;

use crate::Error;

/// Minimum rate of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MinimumRate {
    /// Bytes that must arrive, or the end of the body,
    pub(crate) bytes: usize,
    /// in this time.
    pub(crate) within: Duration,
}

/// Reads a body of at most `limit` bytes that keeps this minimum rate. The bytes that have arrived are charged to `share`.
///
/// While the budget is scarce, a body that is [slow](is_slow) makes room for others.
pub(crate) async fn collect<B>(
    mut body: Pin<&mut B>,
    limit: usize,
    rate: MinimumRate,
    share: &mut Share,
) -> Result<Bytes, BodyError>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    use futures_util::FutureExt;
    use http_body_util::BodyExt;
    if body.size_hint().lower() > limit as u64 {
        return Err(BodyError::TooLarge);
    }
    let mut bytes = BytesMut::new();
    // Time of the first wait for the body.
    let mut start = None;
    // Most bodies arrive with the head, so there is no wait and no deadline.
    let mut deadline = None;
    // Bytes that must have arrived by the next deadline.
    let mut due = rate.bytes;
    loop {
        let mut frame = body.frame().map(|frame| Some(frame?.map_err(Into::into)));
        let frame = match (&mut frame).now_or_never() {
            Some(frame) => frame,
            None => {
                let now = Instant::now();
                start.get_or_insert(now);
                let deadline = *deadline.get_or_insert(now + rate.within);
                // Boxed, so that it does not enlarge the future of every request.
                let frame = Box::pin(tokio::time::timeout_at(deadline, frame)).await;
                frame.map_err(|_| BodyError::Stalled)?
            }
        };
        let Some(frame) = frame else { break };
        let frame = frame.map_err(BodyError::Broken)?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > limit {
            return Err(BodyError::TooLarge);
        }
        let slow = start.is_some_and(|start| is_slow(start, bytes.len()));
        if slow && share.is_scarce() {
            return Err(BodyError::Crowded);
        }
        share
            .grow(data.len())
            .map_err(|Exhausted| BodyError::Crowded)?;
        if bytes.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        bytes.extend_from_slice(&data);
        if bytes.len() >= due {
            deadline = None;
            due = bytes.len() + rate.bytes;
        }
    }
    Ok(bytes.freeze())
}

pin_project! {
    /// A body that knows whether any of it was asked for.
    pub(crate) struct TrackedBody<B> {
        #[pin]
        body: B,
        is_begun: bool,
    }
}

impl<B> TrackedBody<B> {
    pub(crate) fn new(body: B) -> Self {
        Self {
            body,
            is_begun: false,
        }
    }
}

impl<B: http_body::Body<Data = Bytes>> TrackedBody<B> {
    /// Discards a small body that is still unread, before its request is answered.
    pub(crate) async fn discard_unread(self: Pin<&mut Self>, headers: &HeaderMap) {
        if !self.is_begun {
            discard_small(self, headers).await;
        }
    }
}

impl<B: http_body::Body> http_body::Body for TrackedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = self.project();
        *this.is_begun = true;
        this.body.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Reason for which a body was not read to its end.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// It is larger than allowed.
    TooLarge,
    /// The body arrived below the minimum rate.
    Stalled,
    /// The budget of all bodies has no room for it.
    Crowded,
    /// The connection broke.
    Broken(Box<dyn std::error::Error + Send + Sync>),
}

impl BodyError {
    pub(crate) fn into_error(self, limit: usize, budget: usize, idle: Duration) -> Error {
        match self {
            Self::TooLarge => Error::TooLarge {
                what: "body",
                limit,
            },
            Self::Crowded => Error::Crowded { limit: budget },
            Self::Stalled => Error::Timeout {
                phase: crate::Phase::Idle,
                limit: idle,
            },
            Self::Broken(error) => Error::Connection(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::pin::pin;

    use futures_util::stream;
    use http_body_util::StreamBody;
    use tokio::time::Interval;

    use super::*;
    use a2a_edge::budget::Budget;

    /// Reads a body that comes in pieces of 1 KiB, one each second, while others have taken so much of a
    /// budget of 1 MiB.
    async fn drip(kibibytes: usize, taken: usize) -> Result<usize, BodyError> {
        let budget = Budget::new(1 << 20);
        let mut others = budget.share();
        others.grow(taken).unwrap();
        let pieces = VecDeque::from(vec![Bytes::from_static(&[b' '; 1024]); kibibytes]);
        let pause = tokio::time::interval(Duration::from_secs(1));
        let next = |(mut pieces, mut pause): (VecDeque<Bytes>, Interval)| async move {
            pause.tick().await;
            let piece = pieces.pop_front()?;
            Some((Ok::<_, Infallible>(Frame::data(piece)), (pieces, pause)))
        };
        let body = StreamBody::new(stream::unfold((pieces, pause), next));
        let rate = MinimumRate {
            bytes: 1024,
            within: Duration::from_secs(10),
        };
        let mut share = budget.share();
        let read = collect(pin!(body), 1 << 20, rate, &mut share).await;
        read.map(|bytes| bytes.len())
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_makes_room_when_the_budget_is_scarce() {
        assert!(matches!(drip(50, 0).await, Ok(51_200)));
        assert!(matches!(drip(50, 600_000).await, Err(BodyError::Crowded)));
        assert!(matches!(drip(5, 600_000).await, Ok(5120)));
    }
}
