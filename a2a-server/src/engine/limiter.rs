//! Limits on concurrent turns, waiting turns and bytes of messages.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use a2a_types::{Error as A2aError, ErrorKind};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::store::{NameMap, Owner};

/// Limits on turns that run at once and on turns that wait. They are made with [`Default`], and their
/// fields are set.
///
/// ```
/// let mut limits = a2a_server::TurnLimits::default();
/// limits.running = 100;
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct TurnLimits {
    /// Turns at once; 10,000 by default.
    pub running: usize,
    /// Turns at once for one caller with a name; 1,000 by default. Callers without a name are not
    /// distinguished.
    pub running_per_caller: usize,
    /// Turns that wait; 1,000 by default. Further messages are refused as *unavailable*.
    pub waiting: usize,
    /// Time that a turn waits before its message is refused as *unavailable*; 10 s by default.
    pub patience: Duration,
    /// Bytes of all messages that are being answered or wait for a turn; 128 MiB by default. Further
    /// messages are refused as *unavailable*.
    pub message_bytes: usize,
}

impl Default for TurnLimits {
    fn default() -> Self {
        Self {
            running: 10_000,
            running_per_caller: 1000,
            waiting: 1000,
            patience: Duration::from_secs(10),
            message_bytes: 128 << 20,
        }
    }
}

/// Lets turns begin, not too many at once.
pub(crate) struct Limiter {
    limits: TurnLimits,
    running: Arc<Semaphore>,
    waiting: Semaphore,
    /// One permit for each [`UNIT`] of a message.
    bytes: Arc<Semaphore>,
    callers: Mutex<NameMap<Arc<str>, Weak<Semaphore>>>,
}

/// A message's share of [`TurnLimits::message_bytes`]; given back when dropped.
#[derive(Debug)]
pub(crate) struct HeldBytes {
    _permits: OwnedSemaphorePermit,
}

/// The right to run turns; given back when dropped.
pub(crate) struct TurnPermit {
    _running: OwnedSemaphorePermit,
    _of_caller: Option<OwnedSemaphorePermit>,
}

/// Returns a semaphore with as many permits as one can have at most.
fn semaphore(permits: usize) -> Semaphore {
    Semaphore::new(permits.min(Semaphore::MAX_PERMITS))
}

impl Limiter {
    pub(crate) fn new(limits: TurnLimits) -> Self {
        Self {
            limits,
            running: Arc::new(semaphore(limits.running)),
            waiting: semaphore(limits.waiting),
            bytes: Arc::new(semaphore(limits.message_bytes.div_ceil(UNIT))),
            callers: Mutex::default(),
        }
    }

    /// Takes a share for a message of `bytes` bytes, until it is answered.
    pub(crate) fn hold(&self, bytes: usize) -> Result<HeldBytes, A2aError> {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let permits = Arc::clone(&self.bytes).try_acquire_many_owned(units);
        let _permits = permits.map_err(|_| {
            let most = self.limits.message_bytes;
            busy(&format!(
                "a message of {bytes} bytes exceeds what is left of the {most} bytes for messages that wait"
            ))
        })?;
        Ok(HeldBytes { _permits })
    }

    /// Lets a turn begin if that needs no waiting.
    fn try_enter(&self, owner: &Owner) -> Option<TurnPermit> {
        let of_caller = owner.principal.as_ref().map(|name| self.caller(name));
        let of_caller = of_caller.map(Semaphore::try_acquire_owned);
        Some(TurnPermit {
            _of_caller: of_caller.transpose().ok()?,
            _running: Arc::clone(&self.running).try_acquire_owned().ok()?,
        })
    }

    /// Waits until a turn may begin, if there is room to wait and it does not take too long.
    pub(crate) async fn enter(&self, owner: &Owner) -> Result<TurnPermit, A2aError> {
        match self.try_enter(owner) {
            Some(permit) => Ok(permit),
            // Rare. Boxed, so that it does not enlarge the future of every message.
            None => Box::pin(self.wait_in_line(owner)).await,
        }
    }

    async fn wait_in_line(&self, owner: &Owner) -> Result<TurnPermit, A2aError> {
        let Ok(_place) = self.waiting.try_acquire() else {
            return Err(busy("too many messages wait"));
        };
        let of_caller = owner.principal.as_ref().map(|name| self.caller(name));
        let in_time = tokio::time::timeout(self.limits.patience, self.wait(of_caller));
        match in_time.await {
            Ok(Some(permit)) => Ok(permit),
            _ => Err(busy("the message has waited too long")),
        }
    }

    /// Waits as long as it takes.
    pub(crate) async fn wait(&self, of_caller: Option<Arc<Semaphore>>) -> Option<TurnPermit> {
        // The limit of the caller comes first, because a message that waits there delays no other
        // caller.
        let of_caller = match of_caller {
            Some(semaphore) => Some(semaphore.acquire_owned().await.ok()?),
            None => None,
        };
        Some(TurnPermit {
            _of_caller: of_caller,
            _running: Arc::clone(&self.running).acquire_owned().await.ok()?,
        })
    }

    /// Returns the semaphore of a caller. It does not depend on the tenant, since the caller may name
    /// any tenant.
    fn caller(&self, name: &Arc<str>) -> Arc<Semaphore> {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = callers.get(name).and_then(Weak::upgrade) {
            return known;
        }
        if callers.len() >= 64 && callers.len().is_power_of_two() {
            callers.retain(|_, semaphore| semaphore.strong_count() > 0);
        }
        let semaphore = Arc::new(semaphore(self.limits.running_per_caller));
        callers.insert(Arc::clone(name), Arc::downgrade(&semaphore));
        semaphore
    }
}

/// Bytes of a message that one permit stands for.
const UNIT: usize = 1024;

fn busy(reason: &str) -> A2aError {
    let text = format!("this agent is busy: {reason} for a turn to begin; try again later");
    A2aError::new(ErrorKind::Unavailable, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_tenants_that_a_caller_names_share_its_places() {
        let limiter = Limiter::new(TurnLimits {
            running_per_caller: 1,
            waiting: 0,
            ..TurnLimits::default()
        });
        let owner =
            |name: &str, tenant: &str| Owner::new(Some(name.into())).tenant(Some(tenant.into()));
        let permit = limiter.enter(&owner("a", "x")).await.ok().unwrap();
        assert!(limiter.enter(&owner("a", "y")).await.is_err());
        assert!(limiter.enter(&owner("b", "y")).await.is_ok());
        drop(permit);
        assert!(limiter.enter(&owner("a", "y")).await.is_ok());
    }
}
