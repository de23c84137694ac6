//! Authentication checks of a delivery, in their order.

use a2a_transport::webhook::{Secret, TOKEN_HEADERS, digest};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use subtle::{Choice, ConstantTimeEq};

use super::JwtVerifier;
use super::delivery::{self, Delivery, only};
use super::refusal::Refusal;
use super::tokens::ValidToken;

/// Credentials that a sender must present; all that are configured must be valid.
#[derive(Default)]
pub(super) struct Checks {
    pub(super) tokens: SecretSet,
    pub(super) authorization: SecretSet,
    pub(super) jwt: Option<JwtVerifier>,
    pub(super) secrets: Vec<Secret>,
}

/// Result of the checks of a request's head.
pub(super) struct HeadResult<'a> {
    signed: Option<Delivery<'a>>,
    jwt: Option<ValidToken>,
    id: Option<String>,
}

/// Ids of a delivery.
pub(super) struct DeliveryIds {
    /// The id given to the handler.
    pub(super) id: Option<String>,
    /// All ids by which a repeated delivery is recognised.
    pub(super) all: Vec<String>,
}

impl Checks {
    /// Checks the headers before the body is read, so that no body of an unauthenticated peer is read.
    pub(super) async fn head<'a>(
        &self,
        headers: &'a HeaderMap,
        now: u64,
    ) -> Result<HeadResult<'a>, Refusal> {
        if !self.tokens.is_empty() && !self.shows_token(headers) {
            return Err(Refusal::Token);
        }
        if !self.authorization.is_empty() {
            let shown = only(headers, &AUTHORIZATION).ok_or(Refusal::Authorization)?;
            if !self.authorization.has(credentials(shown).as_bytes()) {
                return Err(Refusal::Authorization);
            }
        }
        let signed = match self.secrets.is_empty() {
            true => None,
            false => Some(Delivery::of(headers).ok_or(Refusal::Webhook)?),
        };
        let jwt = match &self.jwt {
            Some(tokens) => Some(tokens.verify(headers, now).await?),
            None => None,
        };
        let id = delivery::id(headers).map(str::to_owned);
        let named = jwt.as_ref().and_then(|jwt| jwt.claims.jti.clone());
        if id.is_some() && named.is_some() && id != named {
            return Err(Refusal::Jwt("it is for another delivery"));
        }
        let id = id.or(named);
        Ok(HeadResult { signed, jwt, id })
    }

    /// Checks the signature and the digest of the body. Returns the ids of the delivery.
    pub(super) fn body(
        &self,
        head: HeadResult<'_>,
        body: &[u8],
        now: u64,
    ) -> Result<DeliveryIds, Refusal> {
        if let Some(delivery) = &head.signed
            && !delivery.is_signed_by(&self.secrets, body, now)
        {
            return Err(Refusal::Webhook);
        }
        let token = match head.jwt {
            Some(jwt) => jwt.for_body(body)?,
            None => None,
        };
        let id = head.id;
        // Prefixed, so that an id cannot be taken for a token.
        let by_id = id.iter().map(|id| format!("id {id}"));
        let by_token = token.iter().map(|token| format!("token {token}"));
        let all = by_id.chain(by_token).collect();
        Ok(DeliveryIds { id, all })
    }

    /// Returns whether the token is in at least one of its headers, and no other token is.
    fn shows_token(&self, headers: &HeaderMap) -> bool {
        let names = TOKEN_HEADERS;
        let shown = || names.iter().flat_map(|name| headers.get_all(name));
        shown().count() > 0 && shown().all(|token| self.tokens.has(token.as_bytes()))
    }
}

/// Secrets of which the sender must present one, kept only as digests.
///
/// Compares the digests of both sides in full, with every secret: the time taken reveals neither how
/// much of a guess is right nor how long a secret is.
#[derive(Default)]
pub(super) struct SecretSet(Vec<[u8; 32]>);

impl SecretSet {
    pub(super) fn add(&mut self, value: &str) {
        self.0.push(digest(value.as_bytes()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has(&self, shown: &[u8]) -> bool {
        let shown = digest(shown);
        let found = self
            .0
            .iter()
            .fold(Choice::from(0), |found, known| found | known.ct_eq(&shown));
        found.into()
    }
}

/// Normalizes an `Authorization` header: its scheme is case-insensitive, and more than one space may
/// follow it (RFC 9110 §11.4).
pub(super) fn credentials(value: &str) -> String {
    match value.trim().split_once(' ') {
        Some((scheme, rest)) => format!("{} {}", scheme.to_ascii_lowercase(), rest.trim_start()),
        None => value.trim().to_owned(),
    }
}
