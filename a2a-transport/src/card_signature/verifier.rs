//! Verification of a card's signatures.

use serde_json::{Map, Value};

use super::canonical::readable;
use super::{Header, Reason, SignatureForm, VerifyError, canonical, header, signing_input};
use crate::webhook::{Jwk, Jwks, choose_provider};

/// Trusted keys, and the forms of signatures that are accepted: all of them by default.
#[derive(Clone, Debug)]
pub struct CardVerifier {
    keys: Jwks,
    refused: Vec<SignatureForm>,
}

/// A card that is as its signer made it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Verification {
    /// Form of the card that the signature is over.
    pub form: SignatureForm,
    /// The key, by its `kid`.
    pub key: String,
    /// The algorithm.
    pub algorithm: String,
    /// The card as the signature covers it, and nothing else of it but `signatures`, as they were received.
    /// Members that an SDK's signature does not cover have their defaults here, like required members that are
    /// empty.
    pub card: Value,
}

impl CardVerifier {
    /// Trusts these keys.
    pub fn new(keys: Jwks) -> Self {
        Self {
            keys,
            refused: Vec::new(),
        }
    }

    /// Refuses signatures of this form. Without [`SignatureForm::Sdk`], a card is refused if it has anything of 1.0
    /// that the signature does not cover; without [`SignatureForm::KnownMembers`], if it has anything at all.
    pub fn refuse(mut self, form: SignatureForm) -> Self {
        self.refused.push(form);
        self
    }

    /// Verifies that one of a card's signatures was made by one of the keys. If several were, the one of the
    /// strongest form counts. `card` is the card as received; use only the returned card.
    ///
    /// Errors: the reason for each signature.
    pub fn verify(&self, card: &Value) -> Result<Verification, VerifyError> {
        choose_provider();
        let forms = SignatureForm::ALL
            .iter()
            .filter_map(|form| CoveredCard::of(card, *form));
        let forms: Vec<_> = forms.collect();
        let signatures = card["signatures"].as_array().map_or(&[][..], Vec::as_slice);
        let mut reasons = Vec::new();
        let mut verified = Vec::new();
        for signature in signatures.iter().take(MAX_SIGNATURES) {
            match self.verify_one(signature, &forms) {
                Ok(found) => verified.push(found),
                Err(reason) => reasons.push(reason),
            }
        }
        let strongest = verified.into_iter().min_by_key(|(found, _)| found.form);
        let (found, header) = strongest.ok_or(VerifyError { reasons })?;
        let mut covered = readable(found.members.clone(), found.form);
        covered["signatures"] = card["signatures"].clone();
        Ok(Verification {
            form: found.form,
            key: header.kid.unwrap_or_default(),
            algorithm: header.alg,
            card: covered,
        })
    }

    fn verify_one<'a>(
        &self,
        signature: &Value,
        forms: &'a [CoveredCard],
    ) -> Result<(&'a CoveredCard, Header), Reason> {
        let header = header(signature)?;
        // RFC 7515 §4.1.11: no `crit` extension is supported.
        if header.crit.is_some() {
            return Err(Reason::Critical);
        }
        if header.typ.is_none() {
            return Err(Reason::NoMember("typ"));
        }
        let kid = header.kid.as_deref().ok_or(Reason::NoMember("kid"))?;
        let key = self.key(kid).ok_or(Reason::UnknownKey)?;
        let (algorithm, key) = key.verifier().ok_or(Reason::UnknownKey)?;
        if format!("{algorithm:?}") != header.alg {
            return Err(Reason::Algorithm);
        }
        let protected = signature["protected"].as_str().ok_or(Reason::Malformed)?;
        let bytes = signature["signature"].as_str().ok_or(Reason::Malformed)?;
        let matches = |covered: &&CoveredCard| {
            let input = signing_input(protected, &covered.bytes);
            jsonwebtoken::crypto::verify(bytes, &input, &key, algorithm).unwrap_or(false)
        };
        let found = forms.iter().find(matches).ok_or(Reason::Signature)?;
        match self.refused.contains(&found.form) {
            true => Err(Reason::Form(found.form)),
            false => Ok((found, header)),
        }
    }

    /// Returns the key of that name, or the only one, if it has no name.
    fn key(&self, kid: &str) -> Option<&Jwk> {
        let only = match self.keys.keys.as_slice() {
            [only] if only.kid.is_none() => Some(only),
            _ => None,
        };
        self.keys.find(Some(kid)).or(only)
    }
}

impl From<Jwks> for CardVerifier {
    fn from(keys: Jwks) -> Self {
        Self::new(keys)
    }
}

/// A form of the card to verify, and the bytes that are signed for it.
struct CoveredCard {
    form: SignatureForm,
    members: Map<String, Value>,
    bytes: Vec<u8>,
}

impl CoveredCard {
    fn of(card: &Value, form: SignatureForm) -> Option<Self> {
        let bytes = canonical(card, form).ok()?;
        // Parsed from the signed bytes, not taken from the card: two numbers can have the same
        // bytes.
        let members = serde_json::from_slice(&bytes).ok()?;
        Some(Self {
            form,
            members,
            bytes,
        })
    }
}

/// More signatures than this are not tried.
pub(super) const MAX_SIGNATURES: usize = 16;
