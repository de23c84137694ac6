//! State of the peer of a connection, and its deadlines.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use futures_util::task::AtomicWaker;
use http::Version;
use tokio::time::{Instant, sleep_until};

use super::ServeOptions;

/// State of the peer of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Phase {
    /// A request has begun to arrive, or is expected.
    Head,
    /// Number of open requests.
    Active(usize),
    /// No request is open.
    Idle,
    /// The connection is to close: another one needs its place.
    Displaced,
}

/// Deadline that has passed.
#[derive(Clone, Copy)]
pub(super) enum ExpiredTimeout {
    Head,
    Idle,
}

/// State of the peer of a connection, from which its deadline follows.
pub(super) struct ConnectionTimer {
    state: Mutex<State>,
    /// Wakes the connection when its deadline changes.
    waker: AtomicWaker,
    header_timeout: Duration,
    idle_timeout: Duration,
}

struct State {
    phase: Phase,
    since: Instant,
    /// `true` in HTTP/2, whose connection has traffic of its own beside requests.
    is_http2: bool,
}

impl ConnectionTimer {
    pub(super) fn new(options: &ServeOptions) -> Self {
        Self {
            state: Mutex::new(State {
                phase: Phase::Head,
                since: Instant::now(),
                is_http2: false,
            }),
            waker: AtomicWaker::new(),
            header_timeout: options.header_timeout,
            idle_timeout: options.idle_timeout,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, phase: Phase) {
        let mut state = self.state();
        state.phase = phase;
        state.since = Instant::now();
    }

    /// Counts a request, which is open until the returned guard is dropped.
    pub(super) fn begin_request(self: &Arc<Self>, version: Version) -> OpenRequest {
        let mut state = self.state();
        state.is_http2 = version == Version::HTTP_2;
        state.phase = match state.phase {
            Phase::Active(others) => Phase::Active(others + 1),
            Phase::Head | Phase::Idle | Phase::Displaced => Phase::Active(1),
        };
        OpenRequest(Arc::clone(self))
    }

    /// Returns the begin of idleness; `None` if a request is open, or the connection is displaced.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.state();
        matches!(state.phase, Phase::Head | Phase::Idle).then_some(state.since)
    }

    /// Closes the connection, unless a request has come at this moment; returns whether it does.
    pub(super) fn displace(&self) -> bool {
        let mut state = self.state();
        let is_idle = matches!(state.phase, Phase::Head | Phase::Idle);
        if is_idle {
            tracing::debug!("an idle connection makes room for another one");
            state.phase = Phase::Displaced;
            drop(state);
            self.waker.wake();
        }
        is_idle
    }

    /// Notes that bytes have come or gone.
    pub(super) fn moved(&self, phase: Phase) {
        let mut state = self.state();
        if state.phase == Phase::Idle && !state.is_http2 {
            state.phase = phase;
            state.since = Instant::now();
        }
    }

    /// Returns the next deadline and its kind.
    fn deadline(&self) -> Option<(Instant, ExpiredTimeout)> {
        let state = self.state();
        match state.phase {
            Phase::Active(_) => None,
            Phase::Head => Some((state.since + self.header_timeout, ExpiredTimeout::Head)),
            Phase::Displaced => Some((state.since, ExpiredTimeout::Head)),
            Phase::Idle => Some((state.since + self.idle_timeout, ExpiredTimeout::Idle)),
        }
    }

    /// Resolves when a deadline has passed.
    pub(super) async fn is_late(&self) -> ExpiredTimeout {
        let mut sleep = pin!(sleep_until(Instant::now()));
        std::future::poll_fn(|cx| {
            self.waker.register(cx.waker());
            let Some((at, late)) = self.deadline() else {
                return Poll::Pending;
            };
            if sleep.deadline() != at {
                sleep.as_mut().reset(at);
            }
            sleep.as_mut().poll(cx).map(|()| late)
        })
        .await
    }
}

/// A request that is open.
pub(super) struct OpenRequest(Arc<ConnectionTimer>);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let mut state = self.0.state();
        match state.phase {
            Phase::Active(several @ 2..) => state.phase = Phase::Active(several - 1),
            _ => {
                state.phase = Phase::Idle;
                state.since = Instant::now();
                // The task of a connection of HTTP/1.1 ends its requests itself, and then looks.
                let is_elsewhere = state.is_http2;
                drop(state);
                if is_elsewhere {
                    self.0.waker.wake();
                }
            }
        }
    }
}
