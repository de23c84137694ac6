//! A discovered card.

use std::sync::Arc;

#[cfg(feature = "card-signature")]
use a2a_transport::card_signature::Verification;
use a2a_types::AgentCard;

/// A card, and the signature that verified it if one was required.
#[derive(Clone, Debug)]
pub(crate) struct FoundCard {
    pub(crate) card: Arc<AgentCard>,
    #[cfg(feature = "card-signature")]
    pub(crate) verification: Option<Arc<Verification>>,
}

impl From<Arc<AgentCard>> for FoundCard {
    fn from(card: Arc<AgentCard>) -> Self {
        Self {
            card,
            #[cfg(feature = "card-signature")]
            verification: None,
        }
    }
}
