//! Names of the canonical forms of a card.

use std::fmt;

use serde::Serialize;

/// Canonical form of a card: what a signature covers of it. The strongest comes first.
///
/// No form has `signatures`, or a member that is `null`, and each is written by RFC 8785.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "kebab-case")]
pub enum SignatureForm {
    /// The text of the specification (1.0 §8.4.1): the card as it stands, without the members whose
    /// default is the same as absent. Members that 1.0 does not have are covered.
    Specification,
    /// The members of 1.0 alone, by the same rule, with all that are required: what is left of a card
    /// that went through a parser of 1.0, and the part of 1.0 in a card for several versions.
    KnownMembers,
    /// The form of the official SDKs (Python and JavaScript, 1.3): the members of 1.0 alone, without any
    /// empty string, list or object, at every depth. Not covered are alternatives without a scheme, requirements
    /// of schemes without scopes, and required members that are empty: others can add them, and what they add is not
    /// read. Others can remove them, too, and what is left is a card that is signed by the text.
    Sdk,
}

impl SignatureForm {
    /// All forms, the strongest first.
    pub const ALL: &[Self] = &[Self::Specification, Self::KnownMembers, Self::Sdk];

    /// Returns its name, as JSON has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Specification => "specification",
            Self::KnownMembers => "known-members",
            Self::Sdk => "sdk",
        }
    }
}

impl fmt::Display for SignatureForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Specification => "the whole card, by the text of the specification",
            Self::KnownMembers => "the members of 1.0",
            Self::Sdk => "the members of 1.0 that are not empty, as the official SDKs sign",
        })
    }
}
