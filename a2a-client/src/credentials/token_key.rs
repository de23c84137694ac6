//! The terms on which tokens are requested.

use super::origin_policy::OriginPolicy;

/// The endpoints, scopes and limits of a token request: the key under which tokens are kept.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct TokenKey {
    pub(super) policy: OriginPolicy,
    pub(super) location: ServerLocation,
    /// Separated by blanks, as they are sent.
    pub(super) scopes: String,
}

/// Location of an authorization server.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum ServerLocation {
    /// Its endpoints.
    Known(Endpoints),
    /// URL of its metadata (OpenID Connect Discovery 1.0 §4, RFC 8414 §3).
    Described(String),
}

/// The endpoints of an authorization server.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Endpoints {
    pub(super) token: String,
    pub(super) refresh: Option<String>,
    pub(super) device: Option<String>,
}

impl TokenKey {
    /// Returns the form with the scopes added, if there are any.
    pub(super) fn scoped<'a>(&'a self, form: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        let mut form = form.to_vec();
        if !self.scopes.is_empty() {
            form.push(("scope", &self.scopes));
        }
        form
    }
}
