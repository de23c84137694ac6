//! Versions of the profile and their compatibility.

use std::fmt;
use std::str::FromStr;

use serde_json::{Value, json};

use super::URI;
use crate::{AgentCard, AgentExtension, Message, Object};

/// A version of the profile: `Major.Minor`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Version {
    /// Major number. Another one gives other meanings to the same words.
    pub major: u32,
    /// Minor number. A higher one has more words.
    pub minor: u32,
}

/// Error of a version that cannot be read: expected is something like `0.1`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("expected a version like `0.1`")]
pub struct UnreadableVersion;

/// Compatibility of a peer's version with ours.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Compatibility {
    /// Same meaning; a later minor version may have words that we ignore.
    Understood,
    /// Other major version: speak plain A2A to the peer, or refuse it.
    Incompatible,
}

impl Version {
    /// The version implemented here.
    pub const CURRENT: Self = Self { major: 0, minor: 1 };

    /// The key of a message's metadata under which a caller declares its version.
    const IN_MESSAGE: &str = "interaction_spec_version";
    /// The parameter of the extension on a card.
    const ON_CARD: &str = "version";

    /// Returns the compatibility with a peer that speaks `other`.
    pub fn compatibility(self, other: Self) -> Compatibility {
        match self.major == other.major {
            true => Compatibility::Understood,
            false => Compatibility::Incompatible,
        }
    }

    /// Returns the extension as a card declares it.
    pub fn extension(self) -> AgentExtension {
        let params = [(Self::ON_CARD.to_owned(), json!(self.to_string()))];
        AgentExtension {
            uri: URI.to_owned(),
            params: Some(params.into_iter().collect()),
            ..AgentExtension::default()
        }
    }

    /// Declares this version on a card, in place of one that was declared before.
    pub fn declare(self, card: &mut AgentCard) {
        let extensions = &mut card.capabilities.extensions;
        extensions.retain(|extension| extension.uri != URI);
        extensions.push(self.extension());
    }

    /// Returns the version that a card declares, or `None` if it declares no profile. A declaration
    /// without a readable version is an error: its meaning is unknown.
    pub fn of_card(card: &AgentCard) -> Option<Result<Self, UnreadableVersion>> {
        let extensions = &card.capabilities.extensions;
        let extension = extensions.iter().find(|extension| extension.uri == URI)?;
        let version = extension
            .params
            .as_ref()
            .and_then(|it| it.get(Self::ON_CARD));
        Some(version.map_or(Err(UnreadableVersion), Self::read))
    }

    /// Declares this version in a message.
    pub fn put_into(self, message: &mut Message) {
        let metadata: &mut Object = message.metadata.get_or_insert_default();
        metadata.insert(Self::IN_MESSAGE.to_owned(), json!(self.to_string()));
    }

    /// Returns the version that a message declares, or `None` if its sender speaks plain A2A.
    pub fn of_message(message: &Message) -> Option<Result<Self, UnreadableVersion>> {
        let version = message.metadata.as_ref()?.get(Self::IN_MESSAGE)?;
        match version {
            Value::Null => None,
            version => Some(Self::read(version)),
        }
    }

    /// Returns whether a version was declared and is understood.
    pub fn is_understood(declared: Option<Result<Self, UnreadableVersion>>) -> bool {
        let understood =
            |version| Self::CURRENT.compatibility(version) == Compatibility::Understood;
        matches!(declared, Some(Ok(version)) if understood(version))
    }

    fn read(version: &Value) -> Result<Self, UnreadableVersion> {
        match version {
            Value::String(text) => text.parse(),
            // `0.1` without quotes.
            Value::Number(number) => number.to_string().parse(),
            _ => Err(UnreadableVersion),
        }
    }
}

impl FromStr for Version {
    type Err = UnreadableVersion;

    /// Reads `1`, `1.0`, `1.0.3` or `v1.0`; text after the minor number is ignored.
    fn from_str(text: &str) -> Result<Self, UnreadableVersion> {
        let text = text.trim();
        let mut numbers = text.strip_prefix('v').unwrap_or(text).split('.');
        let mut number = |missing: Option<&str>| {
            let digits = numbers.next().map_or(missing, Some)?;
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| digits.parse().ok()).flatten()
        };
        let (major, minor) = (number(None), number(Some("0")));
        match (major, minor) {
            (Some(major), Some(minor)) => Ok(Self { major, minor }),
            _ => Err(UnreadableVersion),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
