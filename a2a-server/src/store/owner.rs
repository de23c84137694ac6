//! Who a task belongs to.

use std::sync::Arc;

use a2a_transport::{Context, Principal};

/// Who a task belongs to: a caller, within a tenant. Nobody else can see it, and neither can the
/// same caller in another tenant. Specification 1.0 §13.1.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Owner {
    /// The caller.
    pub principal: Principal,
    /// The tenant that it named; none if it named none.
    pub tenant: Option<Arc<str>>,
}

impl Owner {
    /// Whoever asks.
    pub(crate) fn of(context: &Context) -> Self {
        Self {
            principal: context.principal.clone(),
            tenant: context.tenant.clone(),
        }
    }
}

impl From<Principal> for Owner {
    /// A caller that names no tenant.
    fn from(principal: Principal) -> Self {
        Self {
            principal,
            tenant: None,
        }
    }
}
