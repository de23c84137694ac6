//! How a receiver is put together.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use a2a_transport::webhook::Secret;

use super::checks::{Checks, credentials};
use super::receiver::{Handler, Settings};
use super::seen::Seen;
use super::{Receiver, Tokens};

/// What a [`Receiver`] is made of.
#[must_use = "only `build` makes a receiver"]
pub struct ReceiverBuilder {
    handler: Arc<Handler>,
    checks: Checks,
    empty: bool,
    challenge: bool,
    limit: usize,
    body_timeout: Duration,
    handler_timeout: Duration,
    remembered: usize,
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl ReceiverBuilder {
    pub(super) fn new(handler: Arc<Handler>) -> Self {
        Self {
            handler,
            checks: Checks::default(),
            empty: false,
            challenge: false,
            limit: 4 << 20,
            body_timeout: Duration::from_secs(10),
            handler_timeout: Duration::from_secs(10),
            remembered: 65_536,
            clock: Arc::new(SystemTime::now),
        }
    }

    /// Senders must show the token of their config, in `X-A2A-Notification-Token` or
    /// `A2A-Notification-Token`. Several are good if this is called several times.
    pub fn token(mut self, token: impl AsRef<str>) -> Self {
        self.empty |= token.as_ref().is_empty();
        self.checks.tokens.add(token.as_ref());
        self
    }

    /// Senders must show this `Authorization`, like `Bearer abc`. Several are good if this is called
    /// several times.
    pub fn authorization(mut self, value: impl AsRef<str>) -> Self {
        let value = credentials(value.as_ref());
        self.empty |= value.is_empty();
        self.checks.authorization.add(&value);
        self
    }

    /// Senders must show a JSON Web Token like these.
    pub fn tokens(mut self, tokens: Tokens) -> Self {
        self.checks.jwt = Some(tokens);
        self
    }

    /// Senders must sign by Standard Webhooks. Any of the keys is good if this is called several
    /// times: the old and the new one, while they change.
    pub fn secret(mut self, secret: Secret) -> Self {
        self.checks.secrets.push(secret);
        self
    }

    /// Answers the challenge of 0.1 agents, `GET …?validationToken=x`, by `x`. Not unless this is
    /// called.
    pub fn challenge(mut self) -> Self {
        self.challenge = true;
        self
    }

    /// How large a body may be; 4 MiB by default.
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// How long a body may take to come; 10 s by default.
    pub fn body_timeout(mut self, limit: Duration) -> Self {
        self.body_timeout = limit;
        self
    }

    /// How long the function may take; 10 s by default, as senders wait for some 15 s. It is dropped
    /// then, as it is when the sender goes away.
    pub fn handler_timeout(mut self, limit: Duration) -> Self {
        self.handler_timeout = limit;
        self
    }

    /// How many names of deliveries that were handled are remembered, about 100 bytes each; 65,536
    /// by default. A delivery has up to two names. So that nothing can be replayed, they should be
    /// those of the last five minutes, in which a signature is good, and of as long as the sender
    /// tries again.
    pub fn remembered(mut self, names: usize) -> Self {
        self.remembered = names;
        self
    }

    /// Reads another clock than the system's, for tests.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// The receiver, unless the parts contradict each other.
    pub fn build(self) -> Result<Receiver, Contradiction> {
        if self.empty {
            return Err(Contradiction::Empty);
        }
        if self.checks.jwt.is_some() && !self.checks.authorization.is_empty() {
            return Err(Contradiction::TwoAuthorizations);
        }
        if self
            .checks
            .jwt
            .as_ref()
            .is_some_and(|jwt| !jwt.is_protected())
        {
            return Err(Contradiction::KeysInClear);
        }
        Ok(Receiver::of(Settings {
            handler: self.handler,
            checks: self.checks,
            seen: Seen::new(self.remembered),
            challenge: self.challenge,
            limit: self.limit,
            body_timeout: self.body_timeout,
            handler_timeout: self.handler_timeout,
            clock: self.clock,
        }))
    }
}

/// Why there is no such receiver.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Contradiction {
    /// Anybody can show nothing.
    #[error("an empty token or Authorization keeps nobody out")]
    Empty,
    /// The header has room for one.
    #[error("Authorization cannot have a fixed value and a JSON Web Token at once")]
    TwoAuthorizations,
    /// Anybody on the way can replace the keys.
    #[error("the agent's keys come without TLS: expected an `https` URL, or `JwksUrl::allow_http`")]
    KeysInClear,
}
