//! The agent that a command calls, for hints.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use a2a_types::AgentCard;

static CARD: Mutex<Option<Arc<AgentCard>>> = Mutex::new(None);
static SENDS_STORED_TOKEN: AtomicBool = AtomicBool::new(false);
static SENDS_CARD_CREDENTIALS: AtomicBool = AtomicBool::new(false);

/// Remembers the card of the agent that is called.
pub(crate) fn remember(card: &Arc<AgentCard>) {
    *CARD.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(card));
}

/// Returns the card of the agent that is called, once it is known.
pub(crate) fn card() -> Option<Arc<AgentCard>> {
    let card = CARD.lock().unwrap_or_else(PoisonError::into_inner);
    card.clone()
}

/// Remembers that a stored token is sent.
pub(crate) fn sends_stored_token() {
    SENDS_STORED_TOKEN.store(true, Ordering::Relaxed);
}

/// Returns whether a stored token is sent.
pub(crate) fn has_stored_token() -> bool {
    SENDS_STORED_TOKEN.load(Ordering::Relaxed)
}

/// Remembers that credentials are sent for the card.
pub(crate) fn sends_card_credentials() {
    SENDS_CARD_CREDENTIALS.store(true, Ordering::Relaxed);
}

/// Returns whether credentials are sent for the card.
pub(crate) fn has_card_credentials() -> bool {
    SENDS_CARD_CREDENTIALS.load(Ordering::Relaxed)
}
