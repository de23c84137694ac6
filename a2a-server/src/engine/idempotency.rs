//! Idempotency: messages in flight, by owner and id.

use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use a2a_transport::Context;
use a2a_types::{Error as A2aError, ErrorKind, MessageId, SendMessageRequest};
use tokio::sync::OnceCell;

use crate::engine::message_digest::digest;
use crate::engine::outcome::Accepted;
use crate::engine::run_state::{Progress, RunState};
use crate::engine::store_handle::Reservation;
use crate::store::{IdempotencyKey, NameMap, Owner};

/// The messages that this process is answering: a caller that sends one of them again shares its outcome,
/// however long that takes. The outcomes of others are in the store for a while.
pub(crate) struct InFlightSends(Arc<SendRegistry>);

/// The sends that are in flight.
struct SendRegistry {
    /// Time for which a message is recognised; zero switches this off.
    window: Duration,
    entries: Mutex<Entries>,
}

type Entries = NameMap<(Owner, MessageId), Weak<InFlightSend>>;

/// A message, and what it has begun. In flight for as long as a reference to it exists.
pub(crate) struct InFlightSend {
    key: (Owner, MessageId),
    digest: [u8; 32],
    pub(crate) accepted: OnceCell<Accepted>,
    registry: Arc<SendRegistry>,
    /// Reservation of the message at a store that several servers share.
    reservation: Mutex<Option<Reservation>>,
}

impl std::fmt::Debug for InFlightSend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InFlightSend")
            .field("message", self.message())
            .finish_non_exhaustive()
    }
}

impl InFlightSends {
    pub(crate) fn new(window: Duration) -> Self {
        Self(Arc::new(SendRegistry {
            window,
            entries: Mutex::default(),
        }))
    }

    /// The in-flight send of a message that has an id, or `None` if deduplication is off.
    pub(crate) fn open(
        &self,
        request: &SendMessageRequest,
        context: &Context,
    ) -> Result<Option<Arc<InFlightSend>>, A2aError> {
        let (registry, message) = (&self.0, &request.message.message_id);
        if registry.window.is_zero() {
            return Ok(None);
        }
        let key = (Owner::of(context), message.clone());
        let digest = digest(request);
        let mut entries = registry.entries();
        if let Some(known) = entries.get(&key).and_then(Weak::upgrade) {
            // Dropping the last reference to a send locks the entries.
            drop(entries);
            known.check(digest)?;
            return Ok(Some(known));
        }
        let in_flight = Arc::new(InFlightSend {
            key: key.clone(),
            digest,
            accepted: OnceCell::new(),
            registry: Arc::clone(registry),
            reservation: Mutex::default(),
        });
        entries.insert(key, Arc::downgrade(&in_flight));
        Ok(Some(in_flight))
    }
}

impl InFlightSend {
    pub(crate) fn message(&self) -> &MessageId {
        &self.key.1
    }

    /// Keeps the reservation of the message until the send ends, in place of an earlier one.
    pub(crate) fn keep(&self, reservation: Reservation) {
        if let Some(earlier) = self.reservation().replace(reservation) {
            earlier.end();
        }
    }

    /// Returns whether the message is reserved, and was so recently.
    pub(crate) fn is_reserved(&self) -> bool {
        self.reservation()
            .as_ref()
            .is_some_and(Reservation::is_recent)
    }

    /// No code under this lock panics half-way, so poisoning is ignored.
    fn reservation(&self) -> MutexGuard<'_, Option<Reservation>> {
        self.reservation
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the receipt that the store keeps of it.
    pub(crate) fn receipt(&self) -> IdempotencyKey {
        IdempotencyKey::new(self.message().clone(), self.digest, self.registry.window)
    }

    /// Returns an error unless the message received under this id had the same digest.
    pub(crate) fn check(&self, digest: [u8; 32]) -> Result<(), A2aError> {
        if self.digest == digest {
            return Ok(());
        }
        let text = "$.params.message.messageId: a message with this id was received before, with other content";
        Err(A2aError::new(ErrorKind::InvalidParams, text))
    }
}

impl Drop for InFlightSend {
    fn drop(&mut self) {
        let mut entries = self.registry.entries();
        // Another send of the message may have taken the place.
        if let Entry::Occupied(entry) = entries.entry(self.key.clone())
            && std::ptr::eq(entry.get().as_ptr(), self)
        {
            entry.remove();
        }
        drop(entries);
        let pending = |run: &RunState| matches!(run.progress, Progress::Pending);
        let came_to_nothing = self.accepted.get().is_none_or(|it| it.is(pending));
        if !came_to_nothing && let Some(reservation) = self.reservation().take() {
            reservation.end();
        }
    }
}

impl SendRegistry {
    /// No code under this lock panics half-way, so poisoning is ignored.
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2a_types::{Message, ProtocolVersion};

    fn open(
        in_flight_sends: &InFlightSends,
        id: &str,
        text: &str,
    ) -> Result<Arc<InFlightSend>, A2aError> {
        let request = SendMessageRequest {
            message: Message {
                message_id: id.into(),
                ..Message::user(text)
            },
            ..SendMessageRequest::default()
        };
        let context = Context::new(ProtocolVersion::V1_0);
        let opened = in_flight_sends.open(&request, &context)?;
        Ok(opened.expect("messages are recognised"))
    }

    #[test]
    fn in_flight_send_is_shared_until_its_last_holder_drops_it() {
        let in_flight_sends = InFlightSends::new(Duration::from_secs(1));
        let first = open(&in_flight_sends, "a", "x").unwrap();
        let again = open(&in_flight_sends, "a", "x").unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        assert!(open(&in_flight_sends, "a", "y").is_err());
        let other = open(&in_flight_sends, "b", "x").unwrap();
        assert!(!Arc::ptr_eq(&first, &other));
        drop((first, again));
        let reopened = open(&in_flight_sends, "a", "y").unwrap();
        assert_eq!(in_flight_sends.0.entries().len(), 2);
        drop((other, reopened));
        assert!(in_flight_sends.0.entries().is_empty());
    }
}
