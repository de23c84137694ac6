//! The extended card: one for all principals, or one for each.

use std::sync::Arc;

use a2a_transport::{Answer, Context, Principal, Reply};
use a2a_types::{AgentCard, Error as A2aError, ErrorKind, Response};

use crate::card_security::CardSecurity;
use crate::server::Inner;

/// Source of the card for callers that authenticate.
#[derive(Clone)]
pub(crate) enum ExtendedCard {
    /// The same for all.
    Same(AgentCard),
    /// One for each, with the security that it has to state.
    Each(CardOfPrincipal, Option<CardSecurity>),
}

/// Card of a principal.
pub(crate) type CardOfPrincipal = Arc<dyn Fn(&Principal) -> AgentCard + Send + Sync>;

impl ExtendedCard {
    fn of(&self, principal: &Principal) -> AgentCard {
        match self {
            Self::Same(card) => card.clone(),
            Self::Each(card_of, security) => {
                let mut card = card_of(principal);
                if let Some(security) = security {
                    security.overwrite(&mut card);
                }
                card
            }
        }
    }
}

impl Inner {
    /// Answers with the card for this caller.
    pub(crate) fn extended_card(&self, context: &Context) -> Result<Reply, A2aError> {
        let promised = self.card.capabilities.extended_agent_card == Some(true);
        if (self.extended_card.is_some() || promised) && context.principal.name().is_none() {
            return Err(ErrorKind::Unauthenticated.into());
        }
        match &self.extended_card {
            Some(extended) => {
                let card = extended.of(&context.principal);
                let card = Response::GetExtendedAgentCard(card);
                Ok(Reply::new(Answer::Once(card)))
            }
            None if promised => Err(ErrorKind::ExtendedAgentCardNotConfigured.into()),
            None => Err(ErrorKind::UnsupportedOperation.into()),
        }
    }
}
