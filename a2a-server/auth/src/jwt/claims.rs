//! Claims of a token.

use std::fmt;

use a2a_transport::Principal;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Claims of an accepted token.
#[derive(Deserialize)]
pub struct TokenClaims {
    iss: String,
    sub: Option<String>,
    aud: Strings,
    exp: f64,
    nbf: Option<f64>,
    scope: Option<Strings>,
    scp: Option<Strings>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// A text, or a list of texts.
#[derive(Deserialize)]
#[serde(untagged)]
enum Strings {
    One(String),
    Many(Vec<String>),
}

impl Strings {
    fn iter(&self) -> impl Iterator<Item = &str> {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
        .iter()
        .map(String::as_str)
    }
}

impl TokenClaims {
    /// Returns the issuer.
    pub fn issuer(&self) -> &str {
        &self.iss
    }

    /// Returns the subject that the token is about.
    pub fn subject(&self) -> Option<&str> {
        self.sub.as_deref()
    }

    /// Returns the audiences.
    pub fn audiences(&self) -> impl Iterator<Item = &str> {
        self.aud.iter()
    }

    /// Returns the scopes: the words of `scope` and `scp`, each of which is a text or a list.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        let claims = self.scope.iter().chain(&self.scp);
        claims
            .flat_map(Strings::iter)
            .flat_map(str::split_whitespace)
    }

    /// Returns another claim, like `client_id`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.others.get(name)
    }

    /// Returns the expiry, in seconds of Unix time.
    pub(super) fn expires(&self) -> f64 {
        self.exp
    }

    pub(super) fn not_before(&self) -> Option<f64> {
        self.nbf
    }

    /// Returns the principal that a token stands for by default.
    pub(super) fn principal(&self) -> Option<Principal> {
        let subject = self.subject().filter(|subject| !subject.is_empty())?;
        let name = format!("{}#{subject}", self.iss);
        Some(Principal::named(name).with_scopes(self.scopes()))
    }
}

/// Leaves out personal data in the claims.
impl fmt::Debug for TokenClaims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenClaims")
            .field("iss", &self.iss)
            .field("exp", &self.exp)
            .finish_non_exhaustive()
    }
}
