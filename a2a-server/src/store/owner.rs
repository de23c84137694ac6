//! Owner of a task.

use std::collections::HashMap;
use std::sync::Arc;

use a2a_transport::{Context, Principal};
use a2a_types::TaskId;

use super::StoreError;

/// Key of a task: ids are unique within an owner.
pub(crate) type TaskKey = (Owner, TaskId);

/// Map whose keys are names that callers choose. Its hash is keyed, as that of the standard library, and takes a
/// fifth of the time: a send looks up about a dozen names.
pub(crate) type NameMap<K, V> = HashMap<K, V, ahash::RandomState>;

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

    /// Writes the owner as JSON text for a table: unambiguous, legible, and without a NUL.
    pub fn to_json(&self) -> String {
        match (self.principal.as_deref(), self.tenant.as_deref()) {
            (None, None) => "[null,null]".to_owned(),
            (name, tenant) => serde_json::json!([name, tenant]).to_string(),
        }
    }

    /// Reads an owner from the text of a table.
    pub fn from_json(text: &str) -> Result<Self, StoreError> {
        let (name, tenant): (Option<String>, Option<String>) =
            serde_json::from_str(text).map_err(StoreError::failed)?;
        Ok(Self::new(name.map(Into::into)).tenant(tenant.map(Into::into)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owner_is_read_as_it_was_written() {
        let owners = [
            Owner::from(Principal::anonymous()),
            Owner::new(Some("a\0\"b".into())).tenant(Some("tenant".into())),
        ];
        for owner in owners {
            assert_eq!(Owner::from_json(&owner.to_json()).unwrap(), owner);
        }
    }
}
