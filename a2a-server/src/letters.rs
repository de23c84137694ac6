//! Messages that are sent twice begin nothing twice.

use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use a2a_transport::Context;
use a2a_types::{Error as A2aError, ErrorKind, MessageId, SendMessageRequest};
use ahash::HashMap;
use tokio::sync::OnceCell;

use crate::digest::digest;
use crate::intake::Begun;
use crate::store::{Owner, Receipt};

/// The messages that are being answered: whoever sends one of them again shares what comes of it,
/// however long that takes. What came of earlier ones the store knows for a while.
pub(crate) struct Letters {
    /// How long a message is recognised; no time switches this off.
    window: Duration,
    open: Arc<Open>,
}

type Open = Mutex<HashMap<Key, Weak<Letter>>>;
type Key = (Owner, MessageId);

/// A message, and what it has begun. Open for as long as anybody holds it.
pub(crate) struct Letter {
    pub(crate) receipt: Receipt,
    pub(crate) begun: OnceCell<Begun>,
    key: Key,
    open: Arc<Open>,
}

impl std::fmt::Debug for Letter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Letter")
            .field("message", &self.receipt.message)
            .finish_non_exhaustive()
    }
}

impl Letters {
    pub(crate) fn new(window: Duration) -> Self {
        Self {
            window,
            open: Arc::default(),
        }
    }

    /// The letter that a request is; none where messages are not recognised.
    pub(crate) fn open(
        &self,
        request: &SendMessageRequest,
        context: &Context,
    ) -> Result<Option<Arc<Letter>>, A2aError> {
        let message = &request.message.message_id;
        let known_by_id = context.dialect.rules().names_messages && !message.is_empty();
        if !known_by_id || self.window.is_zero() {
            return Ok(None);
        }
        let key = (Owner::of(context), message.clone());
        let digest = digest(request);
        let new = |key: &Key| {
            Arc::new(Letter {
                receipt: Receipt {
                    message: message.clone(),
                    digest,
                    term: self.window,
                },
                begun: OnceCell::new(),
                key: key.clone(),
                open: Arc::clone(&self.open),
            })
        };
        let letter = match lock(&self.open).entry(key) {
            Entry::Occupied(mut place) => place.get().upgrade().unwrap_or_else(|| {
                let letter = new(place.key());
                place.insert(Arc::downgrade(&letter));
                letter
            }),
            Entry::Vacant(place) => {
                let letter = new(place.key());
                place.insert(Arc::downgrade(&letter));
                letter
            }
        };
        // Not under the lock: if this was the last that held it, it closes.
        letter.receipt.check(digest)?;
        Ok(Some(letter))
    }
}

impl Receipt {
    /// A message that was received before must say the same again.
    pub(crate) fn check(&self, digest: [u8; 32]) -> Result<(), A2aError> {
        if self.digest == digest {
            return Ok(());
        }
        let text = "$.params.message.messageId: a message with this id was received before, and said something else";
        Err(A2aError::new(ErrorKind::InvalidParams, text))
    }
}

impl Drop for Letter {
    fn drop(&mut self) {
        // Another one may have taken its place by now.
        if let Entry::Occupied(place) = lock(&self.open).entry(self.key.clone())
            && place.get().strong_count() == 0
        {
            place.remove();
        }
    }
}

/// Nothing that is done under this lock can panic half-way.
fn lock(open: &Open) -> MutexGuard<'_, HashMap<Key, Weak<Letter>>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}
