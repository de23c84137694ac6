//! Builder of a webhook receiver.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use a2a_transport::webhook::Secret;

use super::checks::{Checks, credentials};
use super::receiver::{Handler, Settings};
use super::recent_deliveries::RecentDeliveries;
use super::{BoxError, JwtVerifier, Notification, Receiver, ReceiverConfigError};

/// Builder of a [`Receiver`].
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

impl Receiver {
    /// Builds a receiver that hands notifications to `handler`. It accepts them from anybody unless
    /// checks are added.
    pub fn builder<F, R, E>(handler: F) -> ReceiverBuilder
    where
        F: Fn(Notification) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<BoxError>,
    {
        ReceiverBuilder::new(Arc::new(move |notification| {
            let handled = handler(notification);
            Box::pin(async move { handled.await.map_err(Into::into) })
        }))
    }
}

impl ReceiverBuilder {
    fn new(handler: Arc<Handler>) -> Self {
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

    /// Requires the token of the sender's config, in `X-A2A-Notification-Token` or
    /// `A2A-Notification-Token`. Any of several is accepted if this is called several times.
    pub fn token(mut self, token: impl AsRef<str>) -> Self {
        self.empty |= token.as_ref().is_empty();
        self.checks.tokens.add(token.as_ref());
        self
    }

    /// Requires this `Authorization`, like `Bearer abc`. Any of several is accepted if this is called
    /// several times.
    pub fn authorization(mut self, value: impl AsRef<str>) -> Self {
        let value = credentials(value.as_ref());
        self.empty |= value.is_empty();
        self.checks.authorization.add(&value);
        self
    }

    /// Requires a JSON Web Token that `tokens` accepts.
    pub fn tokens(mut self, tokens: JwtVerifier) -> Self {
        self.checks.jwt = Some(tokens);
        self
    }

    /// Requires a signature by Standard Webhooks. Any of several keys is accepted if this is called
    /// several times: the old and the new one during a rotation.
    pub fn secret(mut self, secret: Secret) -> Self {
        self.checks.secrets.push(secret);
        self
    }

    /// Answers the challenge of 0.1 agents, `GET …?validationToken=x`, by `x`. Off by default.
    pub fn challenge(mut self) -> Self {
        self.challenge = true;
        self
    }

    /// Limits the bytes of a body; 4 MiB by default.
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Limits the time to receive a body; 10 s by default.
    pub fn body_timeout(mut self, limit: Duration) -> Self {
        self.body_timeout = limit;
        self
    }

    /// Limits the time of the function; 10 s by default, as senders wait for some 15 s. Its future is
    /// dropped then, and also when the sender disconnects.
    pub fn handler_timeout(mut self, limit: Duration) -> Self {
        self.handler_timeout = limit;
        self
    }

    /// Sets the number of names of handled deliveries that are kept, about 100 bytes each; 65,536 by
    /// default. A delivery has up to two names. To exclude replays, keep names for as long as
    /// the sender retries, and at least for the five minutes in which a signature is valid.
    pub fn remembered(mut self, names: usize) -> Self {
        self.remembered = names;
        self
    }

    /// Replaces the system clock, for tests.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Builds the receiver. Errors: settings that contradict each other.
    pub fn build(self) -> Result<Receiver, ReceiverConfigError> {
        if self.empty {
            return Err(ReceiverConfigError::Empty);
        }
        if self.checks.jwt.is_some() && !self.checks.authorization.is_empty() {
            return Err(ReceiverConfigError::TwoAuthorizations);
        }
        if self
            .checks
            .jwt
            .as_ref()
            .is_some_and(|jwt| !jwt.is_protected())
        {
            return Err(ReceiverConfigError::KeysInClear);
        }
        Ok(Receiver::of(Settings {
            handler: self.handler,
            checks: self.checks,
            seen: RecentDeliveries::new(self.remembered),
            challenge: self.challenge,
            limit: self.limit,
            body_timeout: self.body_timeout,
            handler_timeout: self.handler_timeout,
            clock: self.clock,
        }))
    }
}
