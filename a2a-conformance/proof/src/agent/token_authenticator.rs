//! Authentication by JSON Web Tokens, correct or with a bug.

use std::sync::Arc;

use a2a_auth::{AnyOf, ConfigError, JwtBearer, OperationScopes};
use a2a_server::{AuthError, Authenticator, Principal};
use a2a_transport::http::{DynAuthorizer, Security};
use a2a_types::Operation;
use http::header::{AUTHORIZATION, HeaderValue};
use http::request::Parts;
use serde_json::Value;

use super::bug::Bug;
use super::issuer::{Issuer, OTHER_AGENT, SCOPES};
use a2a_conformance::token::{decoded, hmac_signed};

/// Authenticator of an issuer's tokens that may have a bug.
pub(super) struct TokenAuthenticator {
    correct: AnyOf,
    bug: Option<Bug>,
    issuer: Arc<Issuer>,
}

impl TokenAuthenticator {
    /// Errors: the URL of the issuer is wrong.
    pub(super) fn new(issuer: &Arc<Issuer>, bug: Option<Bug>) -> Result<Self, ConfigError> {
        let tokens = JwtBearer::discover(&issuer.url, &issuer.audience)?;
        let tokens = match bug {
            Some(Bug::AdmitsOtherAudience) => tokens.audience(OTHER_AGENT),
            _ => tokens,
        };
        Ok(Self {
            correct: AnyOf::new(("login", tokens)),
            bug,
            issuer: Arc::clone(issuer),
        })
    }

    /// Returns the principal that the bug admits; `None` if it does not admit this request.
    fn admitted(&self, bug: Bug, head: &Parts) -> Option<Principal> {
        let shown = head.headers.get(AUTHORIZATION)?.to_str().ok()?;
        let (scheme, token) = shown.split_once(' ').unwrap_or((shown, ""));
        if !scheme.eq_ignore_ascii_case("bearer") {
            let unknown = || Principal::named("unknown").with_scopes(SCOPES.split(' '));
            return (bug == Bug::AdmitsOtherScheme).then(unknown);
        }
        let (header, claims) = decoded(token)?;
        let algorithm = header["alg"].as_str()?;
        let is_admitted = match bug {
            Bug::AdmitsUnsignedTokens => algorithm == "none",
            Bug::AdmitsHmacByPublicKey => {
                let secret = self.issuer.public_key.as_bytes();
                let expected = hmac_signed(&claims, header["kid"].as_str(), secret);
                algorithm == "HS256" && signature(token) == signature(&expected)
            }
            Bug::AdmitsExpiredTokens => self.is_genuine_and_over(token, &claims),
            _ => false,
        };
        let scopes = claims["scope"].as_str().unwrap_or_default();
        let principal = || {
            let name = claims["sub"].as_str().unwrap_or_default().to_owned();
            Principal::named(name).with_scopes(scopes.split(' '))
        };
        is_admitted.then(principal)
    }

    /// Returns whether a token is of the issuer, and has expired.
    fn is_genuine_and_over(&self, token: &str, claims: &Value) -> bool {
        let seconds = |name: &str| claims[name].as_u64().unwrap_or_default();
        let keys = self.issuer.keys();
        let key = keys.keys.first();
        let is_over =
            seconds("exp") < u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or(0);
        // It was in time before it was over.
        let then = seconds("exp").saturating_sub(1);
        let verified = key.map(|key| key.verify(token, then));
        is_over && verified.is_some_and(|verified| verified.is_ok())
    }
}

fn signature(token: &str) -> &str {
    token.rsplit('.').next().unwrap_or_default()
}

impl Authenticator for TokenAuthenticator {
    async fn authenticate(&self, head: &Parts) -> Result<Principal, AuthError> {
        let shown = head.headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        if self.bug == Some(Bug::SchemeIsCaseSensitive)
            && !shown.unwrap_or_default().starts_with(b"Bearer ")
        {
            // Whatever this refuses, it has no right credentials.
            let head = http::Request::new(()).into_parts().0;
            return self.correct.authenticate(&head).await;
        }
        match self.bug.and_then(|bug| self.admitted(bug, head)) {
            Some(principal) => Ok(principal),
            None => self.correct.authenticate(head).await,
        }
    }

    fn security(&self) -> Option<Security> {
        self.correct.security()
    }
}

/// Returns the authorizer of operations by scopes; with its bug it lets every caller read tasks.
pub(super) fn authorizer(bug: Option<Bug>) -> DynAuthorizer {
    let scopes = OperationScopes::default();
    let scopes = scopes.operation(Operation::GetExtendedAgentCard, ["tasks:read"]);
    match bug {
        Some(Bug::AdmitsWithoutScope) => scopes.operation(Operation::GetTask, [""; 0]).into(),
        _ => scopes.into(),
    }
}
