//! The tenants that an agent serves.

use std::sync::Arc;

use a2a_types::AgentCard;

/// The tenants that requests may name; any by default.
///
/// A caller repeats the tenant of the interface that it found on the card, and names none if the
/// interface has none. Specification 1.0 §8.3.2.
#[derive(Clone, Debug, Default)]
pub struct Tenants(Option<Arc<[String]>>);

impl Tenants {
    /// Returns the tenants of the interfaces that a card names.
    pub fn of(card: &AgentCard) -> Self {
        let interfaces = card.supported_interfaces.iter();
        let tenants = interfaces.filter_map(|interface| interface.tenant.clone());
        Self(Some(tenants.filter(|tenant| !tenant.is_empty()).collect()))
    }

    /// Accepts any tenant.
    pub fn any() -> Self {
        Self(None)
    }

    /// Returns whether a request may name this tenant.
    pub fn has(&self, tenant: &str) -> bool {
        let is = |known: &String| known == tenant;
        self.0.as_ref().is_none_or(|tenants| tenants.iter().any(is))
    }
}
