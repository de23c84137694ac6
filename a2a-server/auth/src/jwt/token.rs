//! Verification of one token.

use jsonwebtoken::{Header, Validation, decode, decode_header};

use super::claims::TokenClaims;
use super::key_set::VerifyingKey;

/// Rules for tokens of one issuer.
pub(super) struct Rules {
    pub(super) issuer: String,
    pub(super) audiences: Vec<String>,
}

impl Rules {
    /// Returns the header of a token that this issuer may have made; nothing is verified. `None` also for a
    /// token of another issuer, so that it does not cause a fetch of new keys.
    pub(super) fn header(&self, token: &str) -> Option<Header> {
        if token.len() > MAX_TOKEN {
            return None;
        }
        let header = decode_header(token).ok()?;
        // RFC 7515 §4.1.11: no `crit` extension is supported.
        if header.crit.is_some() {
            return None;
        }
        let is_access_token = header.typ.as_deref().is_none_or(|typ| {
            let typ = typ.to_ascii_lowercase();
            TYPES.contains(&typ.strip_prefix("application/").unwrap_or(&typ))
        });
        let claims = jsonwebtoken::dangerous::insecure_decode_claims::<TokenClaims>(token).ok()?;
        (is_access_token && claims.issuer() == self.issuer).then_some(header)
    }

    /// Returns the claims of a valid token. `now` is in seconds of Unix time.
    pub(super) fn verify(
        &self,
        token: &str,
        header: &Header,
        key: &VerifyingKey,
        now: f64,
    ) -> Option<TokenClaims> {
        if header.alg != key.algorithm {
            return None;
        }
        let mut validation = Validation::new(key.algorithm);
        // The library's own checks of claims read the system's clock, and accept absent ones.
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.validate_aud = false;
        let claims = decode::<TokenClaims>(token, &key.key, &validation)
            .ok()?
            .claims;
        let is_for_us = |audience: &str| self.audiences.iter().any(|ours| ours == audience);
        let has_begun = claims
            .not_before()
            .is_none_or(|begin| begin <= now + LEEWAY);
        let is_accepted = claims.issuer() == self.issuer
            && claims.audiences().any(is_for_us)
            && is_in_time(claims.expires(), now)
            && has_begun;
        is_accepted.then_some(claims)
    }
}

/// Returns whether an expiry is not over. Both times are in seconds of Unix time.
pub(super) fn is_in_time(expires: f64, now: f64) -> bool {
    now < expires + LEEWAY
}

/// Types of tokens that authorize: RFC 7519 §5.1, RFC 9068 §2.1.
const TYPES: [&str; 2] = ["jwt", "at+jwt"];

/// Tolerance in seconds of clocks that differ.
const LEEWAY: f64 = 60.0;

/// Maximum length of a token in bytes.
const MAX_TOKEN: usize = 16 << 10;
