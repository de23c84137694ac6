//! The card of the agent that a command calls, for hints.

use std::sync::{Arc, Mutex, PoisonError};

use a2a_types::AgentCard;

static CARD: Mutex<Option<Arc<AgentCard>>> = Mutex::new(None);

/// Remembers the card of the agent that is called.
pub(crate) fn remember(card: &Arc<AgentCard>) {
    *CARD.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(card));
}

/// Returns the card of the agent that is called, once it is known.
pub(crate) fn card() -> Option<Arc<AgentCard>> {
    let card = CARD.lock().unwrap_or_else(PoisonError::into_inner);
    card.clone()
}
