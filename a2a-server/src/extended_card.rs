//! The extended card: one for all principals, or one for each.

use std::sync::Arc;

use a2a_transport::{CallResponse, Context, Principal};
use a2a_types::{AgentCard, Error as A2aError, ErrorKind, ProtocolVersion, Response};

use crate::card_security::CardSecurity;

/// Source of the card for callers that authenticate.
#[derive(Clone)]
pub(crate) enum ExtendedCard {
    /// The same card for all callers.
    Same(AgentCard),
    /// A card for each caller, with the security that it has to state.
    Each(CardOfPrincipal, Option<CardSecurity>),
}

/// Card of a principal.
pub(crate) type CardOfPrincipal = Arc<dyn Fn(&Principal) -> AgentCard + Send + Sync>;

impl ExtendedCard {
    pub(crate) fn of(&self, principal: &Principal) -> AgentCard {
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

/// Returns the card for a caller, if that caller has one.
pub(crate) fn answer(
    extended: Option<&ExtendedCard>,
    is_promised: bool,
    context: &Context,
) -> Result<CallResponse, A2aError> {
    if (extended.is_some() || is_promised) && context.principal.name().is_none() {
        return Err(ErrorKind::Unauthenticated.into());
    }
    match extended {
        Some(extended) => {
            let mut card = extended.of(&context.principal);
            // Signatures are over the members of 1.0, which the card of an earlier version does not have.
            if context.protocol_version != ProtocolVersion::LATEST {
                card.signatures.clear();
                name_skill_modes(&mut card);
            }
            Ok(CallResponse::once(Response::GetExtendedAgentCard(card)))
        }
        None if is_promised => Err(ErrorKind::ExtendedAgentCardNotConfigured.into()),
        None => Err(ErrorKind::UnsupportedOperation.into()),
    }
}

/// Copies the media types of the card to each skill that names none. Readers of earlier versions insist
/// on these members.
pub(crate) fn name_skill_modes(card: &mut AgentCard) {
    for skill in &mut card.skills {
        for (modes, fallback) in [
            (&mut skill.input_modes, &card.default_input_modes),
            (&mut skill.output_modes, &card.default_output_modes),
        ] {
            if modes.is_empty() {
                modes.clone_from(fallback);
            }
        }
    }
}
