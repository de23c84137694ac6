//! OAuth 2.0 client registration of the caller.

use super::origin_policy::{OriginPolicy, origin};
use super::secret::Secret;
use crate::Origin;

/// A client of OAuth 2.0 (RFC 6749 §2), as an authorization server knows the caller.
///
/// The caller decides where its secret goes: a card may name a token endpoint of the agent's own
/// origin; any other must be named here.
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
    /// Creates a client that has a secret.
    pub fn new(id: impl Into<String>, secret: impl Into<String>) -> Self {
        Self {
            secret: Some(Secret::new(secret)),
            ..Self::public(id)
        }
    }

    /// Creates a client that has no secret, like a program on a user's machine.
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

    /// Requests this scope instead of the scopes that a card names. May be called several times.
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scopes.push(scope.into());
        self
    }

    /// Sets the token endpoint, whatever a card says.
    pub fn token_url(mut self, url: impl Into<String>) -> Self {
        self.token_url = Some(url.into());
        self
    }

    /// Sets the device authorization endpoint, whatever a card says.
    pub fn device_url(mut self, url: impl Into<String>) -> Self {
        self.device_url = Some(url.into());
        self
    }

    /// Allows the secret to go to endpoints of this origin that a card names, like
    /// `https://login.example`, and to endpoints that the metadata of this origin names. May be called
    /// several times.
    pub fn allow_issuer(mut self, origin: impl Into<String>) -> Self {
        self.issuers.push(origin.into());
        self
    }

    /// Allows the secret to be sent without TLS. The local machine needs no such permission.
    pub fn allow_http(mut self) -> Self {
        self.allow_http = true;
        self
    }

    /// Sends the secret in the request body. By default it is sent in `Authorization`, and in the body
    /// only if the server asks for it there.
    pub fn secret_in_body(mut self) -> Self {
        self.secret_in_body = true;
        self
    }

    /// Adds a parameter to token requests, as some servers want: `audience`, or `resource` (RFC 8707).
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.parameters.push((name.into(), Secret::new(value)));
        self
    }

    pub(super) fn policy(&self, agent: &Origin) -> Result<OriginPolicy, String> {
        let named = self.issuers.iter().map(|issuer| origin(issuer));
        Ok(OriginPolicy {
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
