//! Owner of the tasks that a gateway begins, and the ids that keep owners apart at the agent.

use std::sync::Arc;

use a2a_transport::binding::MAX_NAME_BYTES;
use a2a_transport::{Context, Principal};
use a2a_types::Request;
use sha2::{Digest as _, Sha256};

/// A principal within a tenant.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Owner {
    pub(crate) principal: Principal,
    tenant: Option<Arc<str>>,
}

impl Owner {
    /// Returns the one owner of all tasks, where callers share them.
    pub(crate) fn everyone() -> Self {
        Self {
            principal: Principal::anonymous(),
            tenant: None,
        }
    }

    pub(crate) fn of(request: &Request, context: &Context) -> Self {
        let tenant = request.tenant().filter(|tenant| !tenant.is_empty());
        Self {
            principal: context.principal.clone(),
            tenant: tenant.map(Into::into),
        }
    }

    /// Bytes of the names.
    pub(crate) fn size(&self) -> usize {
        let names = [self.principal.name(), self.tenant.as_deref()];
        names.into_iter().flatten().map(str::len).sum()
    }
}

/// Prefix of every id that callers choose, as the agent sees it.
///
/// The agent has one caller, the gateway, so ids of two owners would meet there. The prefix is a hash
/// of the owner: nothing has to be remembered to put it on or take it off, a message sent again after
/// a restart has the same id, and no caller can write an id that has another owner's prefix, because
/// its own goes before whatever it writes. Where all tasks are shared there is no prefix.
///
/// An id that would be longer than agents take is replaced by its hash, behind the prefix.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope(String);

impl Scope {
    pub(crate) fn of(owner: &Owner) -> Self {
        let mut hash = Sha256::new();
        for name in [owner.principal.name(), owner.tenant.as_deref()] {
            match name {
                None => hash.update([0]),
                Some(name) => {
                    hash.update([1]);
                    hash.update((name.len() as u64).to_le_bytes());
                    hash.update(name);
                }
            }
        }
        let mut prefix = hexadecimal(&hash.finalize()[..PREFIX / 2]);
        prefix.push('-');
        Self(prefix)
    }

    /// Returns the caller's id as the agent sees it.
    pub(crate) fn to_agent(&self, id: &str) -> String {
        match self.is_long(id) {
            true => format!("{}{}", self.0, Self::hashed(id)),
            false => format!("{}{id}", self.0),
        }
    }

    /// Returns whether an id is replaced by its hash, because it is too long with the prefix.
    pub(crate) fn is_long(&self, id: &str) -> bool {
        !self.0.is_empty() && self.0.len() + id.len() > MAX_NAME_BYTES
    }

    /// Returns the replacement of a long id.
    pub(crate) fn hashed(id: &str) -> String {
        format!("sha256-{}", hexadecimal(&Sha256::digest(id)))
    }

    /// Returns the agent's id as the caller wrote it, a long one as its hash, or `None` if it is not one of the
    /// caller's.
    pub(crate) fn to_caller<'a>(&self, id: &'a str) -> Option<&'a str> {
        id.strip_prefix(&self.0)
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Length of the hash in hexadecimal: 128 bits, so that no second owner with the same hash can be
/// found.
const PREFIX: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(name: Option<&str>, tenant: Option<&str>) -> Owner {
        Owner {
            principal: name.map_or_else(Principal::anonymous, Principal::named),
            tenant: tenant.map(Into::into),
        }
    }

    #[test]
    fn owners_have_prefixes_of_their_own() {
        let owners = [
            owner(None, None),
            owner(Some(""), None),
            owner(None, Some("")),
            owner(Some("a"), None),
            owner(None, Some("a")),
            owner(Some("a"), Some("b")),
            owner(Some("ab"), None),
        ];
        let scopes: Vec<_> = owners.iter().map(Scope::of).collect();
        for (index, scope) in scopes.iter().enumerate() {
            let id = scope.to_agent("m");
            for (other, reader) in scopes.iter().enumerate() {
                let read = reader.to_caller(&id);
                assert_eq!(read, (index == other).then_some("m"));
            }
        }
    }

    #[test]
    fn prefix_is_the_same_in_every_process() {
        let scope = Scope::of(&owner(Some("alice"), Some("a")));
        assert_eq!(scope.to_agent("m"), "1786f0b5c882ece5dc17e8f3d5557820-m");
    }
}
