//! State of the peer of a connection, and its deadlines.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use futures_util::task::AtomicWaker;
use http::Version;
use tokio::time::{Instant, sleep_until};

use super::budget::{Exhausted, Share};
use super::request_budget::{HeadSize, RequestBudget};
use super::serve_options::ServeOptions;

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
    /// Budget of the requests of all connections.
    requests: RequestBudget,
    header_timeout: Duration,
    idle_timeout: Duration,
}

struct State {
    phase: Phase,
    since: Instant,
    /// `true` in HTTP/2, whose connections carry traffic of their own in addition to requests.
    is_http2: bool,
    /// `true` if the server has no place for the connection: it is open for one refusal, or one probe.
    is_surplus: bool,
    /// Number of requests that the connection may have open in HTTP/2.
    streams: u32,
}

impl ConnectionTimer {
    pub(super) fn new(options: &ServeOptions, requests: RequestBudget) -> Self {
        Self {
            state: Mutex::new(State {
                phase: Phase::Head,
                since: Instant::now(),
                is_http2: false,
                is_surplus: false,
                streams: options.streams,
            }),
            waker: AtomicWaker::new(),
            requests,
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

    /// Marks the connection as one that the server has no place for.
    pub(super) fn mark_surplus(&self) {
        self.state().is_surplus = true;
    }

    /// Returns whether the server has no place for the connection.
    pub(super) fn is_surplus(&self) -> bool {
        self.state().is_surplus
    }

    /// Sets the number of HTTP/2 requests that the connection may have open, from the number of connections.
    pub(super) fn share_streams(&self, connections: usize) {
        let mut state = self.state();
        state.streams = self.requests.streams(connections, state.streams);
    }

    /// Returns the number of requests that the connection may have open in HTTP/2.
    pub(super) fn streams(&self) -> u32 {
        self.state().streams
    }

    /// Counts a request, which is open until the returned guard is dropped.
    pub(super) fn begin_request(self: &Arc<Self>, version: Version) -> OpenRequest {
        let mut state = self.state();
        state.is_http2 = version == Version::HTTP_2;
        state.phase = match state.phase {
            Phase::Active(others) => Phase::Active(others + 1),
            Phase::Head | Phase::Idle | Phase::Displaced => Phase::Active(1),
        };
        OpenRequest {
            is_alone: state.phase == Phase::Active(1),
            timer: Arc::clone(self),
            share: Share::unlimited(),
        }
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
        let (header_timeout, idle_timeout) = match state.is_surplus {
            true => (self.header_timeout.min(SURPLUS_TIMEOUT), Duration::ZERO),
            false => (self.header_timeout, self.idle_timeout),
        };
        match state.phase {
            Phase::Active(_) => None,
            Phase::Head => Some((state.since + header_timeout, ExpiredTimeout::Head)),
            Phase::Displaced => Some((state.since, ExpiredTimeout::Head)),
            Phase::Idle => Some((state.since + idle_timeout, ExpiredTimeout::Idle)),
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

/// Time for the only request of a connection that the server has no place for.
const SURPLUS_TIMEOUT: Duration = Duration::from_secs(5);

/// A request that is open.
pub(super) struct OpenRequest {
    timer: Arc<ConnectionTimer>,
    /// `true` if the connection had no other open request when it began.
    is_alone: bool,
    /// Its share of the budget of all requests.
    share: Share,
}

impl OpenRequest {
    /// Charges the request to the budget of all requests, until it is dropped.
    pub(super) fn charge(&mut self, size: HeadSize) -> Result<(), Exhausted> {
        self.share = self.timer.requests.admit(size, self.is_alone)?;
        Ok(())
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let mut state = self.timer.state();
        match state.phase {
            Phase::Active(several @ 2..) => state.phase = Phase::Active(several - 1),
            _ => {
                state.phase = Phase::Idle;
                state.since = Instant::now();
                // In HTTP/1.1 the task of the connection ends its requests itself and then checks
                // the deadline.
                let is_elsewhere = state.is_http2;
                drop(state);
                if is_elsewhere {
                    self.timer.waker.wake();
                }
            }
        }
    }
}
