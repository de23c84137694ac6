//! Key that seals the page tokens of a gateway.

use a2a_types::MessageId;
use sha2::{Digest as _, Sha256};

use crate::owner::{Owner, Scope};

/// Key of this process that seals page tokens: they hold counts of one owner's tasks.
#[derive(Debug)]
pub(crate) struct PageKey([u8; 32]);

impl PageKey {
    pub(crate) fn random() -> Self {
        let [one, other] = [MessageId::random(), MessageId::random()];
        Self(Sha256::digest(format!("{one} {other}")).into())
    }

    /// Returns the seal of a token of this owner: a hash with the key.
    pub(crate) fn seal(&self, owner: &Owner, json: &[u8]) -> [u8; 32] {
        let scope = Scope::of(owner);
        let inner = Sha256::new_with_prefix(self.0)
            .chain_update(scope.to_agent(""))
            .chain_update([0])
            .chain_update(json)
            .finalize();
        let outer = Sha256::new_with_prefix(self.0).chain_update(inner);
        outer.finalize().into()
    }
}
