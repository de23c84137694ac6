//! Owner of a task.

use std::sync::Arc;

use a2a_transport::{Context, Principal};
use a2a_types::TaskId;

/// Key of a task: ids are unique within an owner.
pub(crate) type TaskKey = (Owner, TaskId);

/// Owner of a task: a caller, within a tenant. No other caller can see the task, and neither can the same
/// caller in another tenant. Specification 1.0 §13.1.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct Owner {
    /// The caller's name; none for the anonymous caller.
    pub principal: Option<Arc<str>>,
    /// The tenant that it named; none if it named none.
    pub tenant: Option<Arc<str>>,
}

impl Owner {
    /// Makes the owner that is the caller of this name, without a tenant.
    pub const fn new(principal: Option<Arc<str>>) -> Self {
        Self {
            principal,
            tenant: None,
        }
    }

    /// Sets the tenant.
    pub fn tenant(mut self, tenant: Option<Arc<str>>) -> Self {
        self.tenant = tenant;
        self
    }

    /// Returns the caller of a request as an owner.
    pub(crate) fn of(context: &Context) -> Self {
        Self::new(context.principal.shared_name()).tenant(context.tenant.clone())
    }
}

impl From<Principal> for Owner {
    /// A caller that names no tenant.
    fn from(principal: Principal) -> Self {
        Self::new(principal.shared_name())
    }
}
