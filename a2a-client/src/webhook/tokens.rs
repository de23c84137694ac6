//! Verification of JSON Web Tokens.

use std::fmt;

use a2a_transport::webhook::{Claims, TokenError, hex_digest, key_id};
use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::JwksSource;
use super::delivery::only;
use super::keys::KeyError;
use super::refusal::Refusal;

/// Rules for accepted JSON Web Tokens: signed by a key of the agent, with the algorithm of that key, at
/// most five minutes ago, not expired, and for this very body.
///
/// Sent as `Bearer` in `Authorization`.
#[derive(Clone)]
pub struct JwtVerifier {
    keys: JwksSource,
    audience: Option<String>,
    expiry: bool,
    digest: bool,
}

impl JwtVerifier {
    /// Accepts tokens signed by one of these keys.
    pub fn of(keys: JwksSource) -> Self {
        Self {
            keys,
            audience: None,
            expiry: true,
            digest: true,
        }
    }

    /// Accepts only tokens for this audience (`aud`): usually the URL of the webhook.
    pub fn audience(self, audience: impl Into<String>) -> Self {
        let audience = Some(audience.into());
        Self { audience, ..self }
    }

    /// Accepts tokens without an expiry (`exp`) too: the reference of 0.1 makes such. They expire five
    /// minutes after they were signed.
    pub fn without_expiry(self) -> Self {
        Self {
            expiry: false,
            ..self
        }
    }

    /// Accepts tokens without a digest of the body (`request_body_sha256`) too. An attacker that sees
    /// one can then send other bodies with it until it expires.
    pub fn without_digest(self) -> Self {
        Self {
            digest: false,
            ..self
        }
    }

    pub(super) fn is_protected(&self) -> bool {
        self.keys.is_protected()
    }

    /// Verifies the token in the headers and returns it with its claims.
    pub(super) async fn verify(
        &self,
        headers: &HeaderMap,
        now: u64,
    ) -> Result<ValidToken, Refusal> {
        let token = bearer(headers).ok_or(Refusal::Jwt("there is none"))?;
        let kid = key_id(token)?;
        let key = match self.keys.find(kid.as_deref()).await {
            Ok(key) => key,
            Err(KeyError::Unknown) => return Err(TokenError::Key.into()),
            Err(KeyError::Unavailable) => return Err(Refusal::NoKeys),
        };
        let claims = match self.expiry {
            true => key.verify(token, now)?,
            false => key.verify_without_expiry(token, now)?,
        };
        if let Some(audience) = &self.audience
            && !claims.aud.contains(audience)
        {
            return Err(Refusal::Jwt("its audience is another receiver"));
        }
        if self.digest && claims.request_body_sha256.is_none() {
            return Err(Refusal::Jwt("it says nothing of the body"));
        }
        // Without the signature: for ES256, others can make a second valid one.
        let signed_part = token
            .rsplit_once('.')
            .map_or(token, |(signed_part, _)| signed_part);
        let signed_part = signed_part.to_owned();
        Ok(ValidToken {
            signed_part,
            claims,
        })
    }
}

/// Omits the audience, which is the URL of a webhook and often has a secret.
impl fmt::Debug for JwtVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens")
            .field("keys", &self.keys)
            .field("expiry", &self.expiry)
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}

/// A valid token, not yet compared with the body.
pub(super) struct ValidToken {
    signed_part: String,
    pub(super) claims: Claims,
}

impl ValidToken {
    /// Checks the digest of the body. A token for one body is itself a name of the delivery: using it a
    /// second time is a replay, whatever the id.
    pub(super) fn for_body(self, body: &[u8]) -> Result<Option<String>, Refusal> {
        match self.claims.request_body_sha256 {
            None => Ok(None),
            Some(digest) if digest.eq_ignore_ascii_case(&hex_digest(body)) => {
                Ok(Some(self.signed_part))
            }
            Some(_) => Err(Refusal::Jwt("it is for another body")),
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = only(headers, &AUTHORIZATION)?.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim_matches(' '))
}
