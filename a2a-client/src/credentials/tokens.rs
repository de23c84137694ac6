//! Cache of a token that is renewed before it expires.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a_transport::{BoxFuture, Error};
use http::header::HeaderValue;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::challenge::Challenge;
use super::secret::Secret;
use super::token::Token;

/// Source of tokens.
pub(super) trait Source: Send + Sync + 'static {
    /// Fetches a new token; with the refresh token, if there is one. Errors are for people.
    fn fetch(&self, refresh: Option<Secret>) -> BoxFuture<'_, Result<Token, String>>;
}

/// A cached token, renewed before it expires, by one fetch for all callers.
///
/// ```text
/// fetched ──────────── good ────────────┬────── aging ──────┬── too old ──► end of its life
///          it is sent                   │ sent, and another │ waits for
///                                       │ is fetched        │ the other
/// ```
/// It ages for the last 30 s or the last tenth of its life, whichever is longer, though never for more
/// than half of it. In the last sixth of that time it is too old to send.
pub(super) struct Tokens {
    source: Arc<dyn Source>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    cached: Option<CachedToken>,
    refresh: Option<Secret>,
    fetch: Option<Fetch>,
    /// Time before which no early fetch is tried again after a failure.
    rests_until: Option<Instant>,
    /// Time when the last refused token was dropped.
    given_up: Option<Instant>,
}

struct CachedToken {
    header: HeaderValue,
    aging: Option<Instant>,
    too_old: Option<Instant>,
}

/// A fetch in a task of its own: it continues when a caller that waits for it is dropped.
struct Fetch {
    outcome: watch::Receiver<Option<Outcome>>,
    task: AbortHandle,
}

/// A token and the time of its request, or an error.
type Outcome = Result<(Token, Instant), String>;

/// Next step of a call.
enum Next {
    Send(HeaderValue),
    Wait(watch::Receiver<Option<Outcome>>),
}

impl Tokens {
    pub(super) fn from(source: impl Source) -> Self {
        Self {
            source: Arc::new(source),
            state: Mutex::default(),
        }
    }

    /// Returns the value of `Authorization`. Waits for a fetch if no valid token is cached.
    pub(super) async fn bearer(&self) -> Result<HeaderValue, Error> {
        let mut outcome = match self.state().next(&self.source) {
            Next::Send(header) => return Ok(header),
            Next::Wait(outcome) => outcome,
        };
        let outcome = match outcome.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone(),
            Err(_) => None,
        };
        self.state().land();
        match outcome {
            Some(Ok((token, _))) => Ok(token.header),
            Some(Err(problem)) => Err(Error::Credentials(problem)),
            None => Err(Error::Credentials(
                "what fetches tokens ended without one".to_owned(),
            )),
        }
    }

    /// Drops the token of this `Authorization` header, which an agent refused, unless another has
    /// replaced it. Returns whether another one exists or may be fetched.
    pub(super) fn refused(&self, sent: Option<&HeaderValue>, challenge: Option<&str>) -> bool {
        let challenges = challenge.map(Challenge::parse).unwrap_or_default();
        let bearer = challenges.iter().find(|challenge| challenge.is("Bearer"));
        let problem = bearer.and_then(Challenge::error);
        if problem.is_some_and(|problem| problem != "invalid_token") {
            return false;
        }
        let mut state = self.state();
        state.land();
        let cached = state.cached.as_ref();
        if cached.is_none_or(|cached| Some(&cached.header) != sent) {
            return true;
        }
        let now = Instant::now();
        // An agent that refuses every token does not cause a token request with each call.
        if state.given_up.is_some_and(|at| now < at + PATIENCE) {
            return false;
        }
        state.cached = None;
        state.given_up = Some(now);
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No update leaves the state inconsistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next(&mut self, source: &Arc<dyn Source>) -> Next {
        self.land();
        let now = Instant::now();
        let passed = |time: Option<Instant>| time.is_some_and(|time| time <= now);
        let good = self
            .cached
            .as_ref()
            .filter(|cached| !passed(cached.too_old));
        let Some(cached) = good else {
            return Next::Wait(self.fetch(source));
        };
        let header = cached.header.clone();
        if passed(cached.aging) && self.rests_until.is_none_or(|until| until <= now) {
            self.fetch(source);
        }
        Next::Send(header)
    }

    /// Starts a fetch unless one is in progress.
    fn fetch(&mut self, source: &Arc<dyn Source>) -> watch::Receiver<Option<Outcome>> {
        let (source, refresh) = (Arc::clone(source), self.refresh.clone());
        let fetch = self.fetch.get_or_insert_with(|| {
            let (sender, outcome) = watch::channel(None);
            let task = tokio::spawn(async move {
                let requested_at = Instant::now();
                let fetched = source.fetch(refresh).await;
                sender.send_replace(Some(fetched.map(|token| (token, requested_at))));
            });
            let task = task.abort_handle();
            Fetch { outcome, task }
        });
        fetch.outcome.clone()
    }

    /// Stores the outcome of the fetch, if it has ended.
    fn land(&mut self) {
        let Some(fetch) = &self.fetch else { return };
        // The order matters: a fetch that ends after the first line is stored at the next call.
        let has_ended = fetch.outcome.has_changed().is_err();
        let outcome = fetch.outcome.borrow().clone();
        if outcome.is_none() && !has_ended {
            return;
        }
        self.fetch = None;
        match outcome {
            Some(Ok((token, requested_at))) => {
                self.cached = Some(CachedToken::of(&token, requested_at));
                self.refresh = token.refresh.or(self.refresh.take());
                self.rests_until = None;
            }
            Some(Err(problem)) => {
                tracing::debug!(problem, "could not get a token");
                self.rests_until = Some(Instant::now() + PATIENCE);
            }
            None => {}
        }
    }
}

impl CachedToken {
    fn of(token: &Token, requested_at: Instant) -> Self {
        let before = |time: Duration| Some(requested_at + token.life?.saturating_sub(time));
        let ages = token.life.map_or(MIN_REMAINING_AGE, |life| {
            MIN_REMAINING_AGE.max(life / 10).min(life / 2)
        });
        Self {
            header: token.header.clone(),
            aging: before(ages),
            too_old: before(ages / 6),
        }
    }
}

/// Shortest time before expiry at which a token is renewed.
const MIN_REMAINING_AGE: Duration = Duration::from_secs(30);

/// Time after a failed fetch or a refused token for which a cached token is not replaced.
const PATIENCE: Duration = Duration::from_secs(10);

impl Drop for Fetch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens")
            .field("has_one", &self.state().cached.is_some())
            .finish()
    }
}
