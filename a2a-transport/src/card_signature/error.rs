//! Cards that were not signed, and signatures that do not count.

use std::fmt;

use super::SignatureForm;

/// A card that was not signed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// Not a JSON object with numbers of RFC 8785.
    #[error("not an agent card: expected a JSON object with numbers of RFC 8785")]
    NoCard,
    /// The key does not sign.
    #[error("the key cannot sign")]
    Key,
}

/// A card that cannot be trusted for its signatures.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VerifyError {
    /// Reason for each signature in order; empty if the card has none.
    pub reasons: Vec<Reason>,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.reasons.is_empty() {
            return f.write_str("the card has no signature");
        }
        let reasons = self.reasons.iter().enumerate();
        let reasons = reasons.map(|(index, reason)| format!("signatures[{index}]: {reason}"));
        f.write_str(&reasons.collect::<Vec<_>>().join("; "))
    }
}

impl std::error::Error for VerifyError {}

/// Reason for which a signature does not count.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// `protected` or `signature` are not what RFC 7515 wants.
    #[error(
        "it is malformed: expected `protected`, base64url of a JSON object with `alg`, and `signature`"
    )]
    Malformed,
    /// The protected header lacks this member, which 1.0 §8.4.2 requires.
    #[error("its protected header has no `{0}`: expected `alg`, `typ` and `kid`")]
    NoMember(&'static str),
    /// It has extensions that must be understood.
    #[error("it has a critical extension")]
    Critical,
    /// None of the keys has that id, or the key cannot verify.
    #[error("its key is not trusted")]
    UnknownKey,
    /// Another algorithm than that of the key, `none` among them.
    #[error("its algorithm is not that of the key")]
    Algorithm,
    /// The card is not what was signed, or another key signed it.
    #[error("it does not match this card and key")]
    Signature,
    /// It covers the card in a form that the verifier refuses.
    #[error("it covers {0}, which is not accepted here")]
    Form(SignatureForm),
}
