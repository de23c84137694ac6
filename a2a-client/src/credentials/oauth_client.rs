//! What an authorization server knows the caller as.

use super::secret::Secret;
use super::trust::{Trust, origin};
use crate::Origin;

/// What an authorization server knows the caller as: a client of OAuth 2.0 (RFC 6749 §2).
///
/// Where its secret goes is said by whoever owns it: a card may name a token endpoint of the agent's
/// own origin, and everything else has to be named here.
#[derive(Clone, Debug)]
pub struct OAuthClient {
    pub(super) id: String,
    pub(super) secret: Option<Secret>,
    pub(super) scopes: Vec<String>,
    pub(super) token_url: Option<String>,
    pub(super) device_url: Option<String>,
    pub(super) secret_in_body: bool,
    pub(super) parameters: Vec<(String, Secret)>,
    issuers: Vec<String>,
    allow_http: bool,
}

impl OAuthClient {
    /// A client that has a secret.
    pub fn new(id: impl Into<String>, secret: impl Into<String>) -> Self {
        Self {
            secret: Some(Secret::new(secret)),
            ..Self::public(id)
        }
    }

    /// A client that has no secret, like a program on a user's machine.
    pub fn public(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            secret: None,
            scopes: Vec::new(),
            token_url: None,
            device_url: None,
            secret_in_body: false,
            parameters: Vec::new(),
            issuers: Vec::new(),
            allow_http: false,
        }
    }

    /// Asks for this scope, and no longer for those that a card names. May be called several times.
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scopes.push(scope.into());
        self
    }

    /// Has its tokens from here, whatever a card says.
    pub fn token_url(mut self, url: impl Into<String>) -> Self {
        self.token_url = Some(url.into());
        self
    }

    /// Has the codes of its device from here, whatever a card says.
    pub fn device_url(mut self, url: impl Into<String>) -> Self {
        self.device_url = Some(url.into());
        self
    }

    /// Shows its secret also to endpoints of this origin that a card names, like
    /// `https://login.example`, and to those that this origin names where it describes itself. May be
    /// called several times.
    pub fn allow_issuer(mut self, origin: impl Into<String>) -> Self {
        self.issuers.push(origin.into());
        self
    }

    /// Shows its secret also where no TLS protects it. The own machine needs no such permission.
    pub fn allow_http(mut self) -> Self {
        self.allow_http = true;
        self
    }

    /// Shows its secret in the body of a request. By default it stands in `Authorization`, and in the
    /// body only where the server says that it wants it there.
    pub fn secret_in_body(mut self) -> Self {
        self.secret_in_body = true;
        self
    }

    /// Says more when it asks for a token, as some servers want: `audience`, or `resource` (RFC 8707).
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.parameters.push((name.into(), Secret::new(value)));
        self
    }

    pub(super) fn trust(&self, agent: &Origin) -> Result<Trust, String> {
        let named = self.issuers.iter().map(|issuer| origin(issuer));
        Ok(Trust {
            agent: agent.clone(),
            named: named.collect::<Result<_, _>>()?,
            cleartext: self.allow_http,
        })
    }
}

/// A client without a secret.
impl From<&str> for OAuthClient {
    fn from(id: &str) -> Self {
        Self::public(id)
    }
}
