//! Keys that the agent's cards are signed with.

use a2a_transport::card_signature::{SignError, sign};
use a2a_transport::webhook::{Jwks, SigningKey};
use a2a_types::AgentCard;
use serde_json::json;

/// The keys that the agent's cards are signed with (1.0 §8.4). The public halves are published at
/// `/.well-known/jwks.json`, together with the keys of webhooks.
///
/// ```
/// use a2a_server::{Algorithm, CardKeys, SigningKey};
///
/// let keys = CardKeys::new(SigningKey::generate(Algorithm::Es256)?)
///     .url("https://agent.example/.well-known/jwks.json");
/// # Ok::<_, a2a_server::InvalidKey>(())
/// ```
#[derive(Clone, Debug)]
pub struct CardKeys {
    keys: Vec<SigningKey>,
    url: Option<String>,
}

impl CardKeys {
    /// Signs with this key.
    pub fn new(key: SigningKey) -> Self {
        Self {
            keys: vec![key],
            url: None,
        }
    }

    /// Signs with this key, too, as during a rotation.
    pub fn and(mut self, key: SigningKey) -> Self {
        self.keys.push(key);
        self
    }

    /// Names the URL of the public keys in every signature (`jku`). Verifiers that trust it fetch the keys there.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Adds signatures to a card, for every verifier.
    pub(crate) fn sign(&self, card: &mut AgentCard) -> Result<(), SignError> {
        let document = json!(card);
        for key in &self.keys {
            let signatures = sign(&document, key, self.url.as_deref())?;
            card.signatures.extend(signatures);
        }
        Ok(())
    }

    pub(crate) fn published(&self) -> Jwks {
        Jwks::of(&self.keys)
    }
}
