//! The four protocol versions, and how to distinguish them.

use std::fmt;
use std::str::FromStr;

use crate::ConfigId;

/// A published version of the protocol.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum ProtocolVersion {
    /// April to May 2025: `tasks/send`, `sessionId`, `type`.
    V0_1,
    /// 0.2.0 to 0.2.6, May to July 2025: `message/send`, `contextId`, `kind`.
    V0_2,
    /// 0.3, from July 2025: the JSON of 0.2, and more transports.
    V0_3,
    /// 1.0, from March 2026: `SendMessage`, ProtoJSON.
    V1_0,
}

/// Reads a version as [`ProtocolVersion::from_version`] does.
///
/// ```
/// use a2a_types::ProtocolVersion;
/// assert_eq!("1.0".parse(), Ok(ProtocolVersion::V1_0));
/// let unknown = "2.0".parse::<ProtocolVersion>().unwrap_err();
/// assert_eq!(unknown.to_string(), "unknown protocol version `2.0`: expected 0.1, 0.2, 0.3 or 1.0");
/// ```
impl FromStr for ProtocolVersion {
    type Err = UnknownVersion;

    fn from_str(version: &str) -> Result<Self, UnknownVersion> {
        Self::from_version(version)
            .ok_or_else(|| UnknownVersion(version.chars().take(64).collect()))
    }
}

/// A protocol version that is not one of [`ProtocolVersion::ALL`].
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("unknown protocol version `{0}`: expected 0.1, 0.2, 0.3 or 1.0")]
pub struct UnknownVersion(String);

impl ProtocolVersion {
    /// Every version, the oldest first.
    pub const ALL: &[Self] = &[Self::V0_1, Self::V0_2, Self::V0_3, Self::V1_0];

    /// Returns `Major.Minor`, as cards and the `A2A-Version` header write it.
    pub fn version(self) -> &'static str {
        match self {
            Self::V0_1 => "0.1",
            Self::V0_2 => "0.2",
            Self::V0_3 => "0.3",
            Self::V1_0 => "1.0",
        }
    }

    /// Returns the protocol version of text like `1.0`, `0.2.5` or ` 1.0.1 `: a patch number does not
    /// matter (specification 1.0 §3.6).
    pub fn from_version(version: &str) -> Option<Self> {
        let is_exact = |protocol_version: &Self| protocol_version.version() == version;
        if let Some(exact) = Self::ALL.iter().copied().find(is_exact) {
            return Some(exact);
        }
        let mut numbers = version.trim().splitn(3, '.');
        let (major, minor) = (numbers.next()?, numbers.next()?);
        let patch = numbers.next().unwrap_or("0");
        if patch.is_empty() || !patch.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Self::ALL
            .iter()
            .copied()
            .find(|protocol_version| protocol_version.version().split('.').eq([major, minor]))
    }

    /// Returns the path of the public card, from the origin.
    pub fn card_path(self) -> &'static str {
        match self {
            Self::V0_1 | Self::V0_2 => "/.well-known/agent.json",
            Self::V0_3 | Self::V1_0 => "/.well-known/agent-card.json",
        }
    }

    /// The paths of public cards, that of the later versions first.
    pub const CARD_PATHS: [&str; 2] = ["/.well-known/agent-card.json", "/.well-known/agent.json"];

    /// The latest version.
    pub const LATEST: Self = Self::V1_0;

    /// Returns the name of the header that lists the extensions which a caller wants active, in lower case.
    pub fn extensions_header(self) -> &'static str {
        match self {
            Self::V0_1 | Self::V0_2 | Self::V0_3 => "x-a2a-extensions",
            Self::V1_0 => "a2a-extensions",
        }
    }

    /// Returns the id of a webhook whose caller gave it none. Until 0.3 a caller could not tell several apart without
    /// ids, so there it is always the same: the next one without an id replaces it.
    pub fn new_config_id(self) -> ConfigId {
        match self {
            Self::V0_1 | Self::V0_2 | Self::V0_3 => ConfigId::only(),
            Self::V1_0 => ConfigId::random(),
        }
    }

    /// Returns the version of a request about a task that was begun in another one. `tasks/get`, `tasks/cancel` and
    /// `tasks/resubscribe` are spelled alike until 0.3: their caller is taken to speak the version of the task.
    pub fn about_task_of(self, begun: Self) -> Self {
        match self == Self::V1_0 || begun == Self::V1_0 {
            true => self,
            false => begun,
        }
    }

    /// Path of the extended card in 0.2, below the endpoint or at a sibling path of it (0.2 §7.8).
    pub const EXTENDED_CARD_PATH: &str = "/agent/authenticatedExtendedCard";

    /// Returns the behaviour of tasks in this version.
    pub fn rules(self) -> Rules {
        Rules {
            caller_names_tasks: self == Self::V0_1,
            reopens_ended_tasks: self == Self::V0_1,
            history_when_not_asked: self != Self::V0_1,
            subscribes_to_ended_tasks: self != Self::V1_0,
            follows_waiting_tasks: self == Self::V1_0,
            ends_by_status: matches!(self, Self::V0_2 | Self::V0_3),
            answers_directly: self != Self::V0_1,
            may_stop_waiting: self != Self::V1_0,
            names_messages: self != Self::V0_1,
        }
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.version())
    }
}

/// Behaviour of tasks in a protocol version, where versions differ.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rules {
    /// The caller chooses the id of a new task; an unknown id creates it (0.1).
    pub caller_names_tasks: bool,
    /// A message to an ended task makes it submitted again (0.1).
    pub reopens_ended_tasks: bool,
    /// History is included if the caller did not ask for a length.
    pub history_when_not_asked: bool,
    /// Following an ended task yields its last status and ends, instead of being refused.
    pub subscribes_to_ended_tasks: bool,
    /// Following a task goes on while it waits for its caller, until it has ended (1.0 §3.1.6); in
    /// the others a stream ends there with `final`.
    pub follows_waiting_tasks: bool,
    /// Following a task that has ended or waits yields only its status; other versions yield the task.
    pub ends_by_status: bool,
    /// A message may be answered by a message, without a task.
    pub answers_directly: bool,
    /// A waiting caller may be answered before the task ends or is interrupted.
    pub may_stop_waiting: bool,
    /// Messages carry an id chosen by the caller, by which a repeated one is recognised.
    pub names_messages: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_version(text: &str, expected: Option<ProtocolVersion>) {
        assert_eq!(ProtocolVersion::from_version(text), expected, "{text}");
    }

    #[test]
    fn version_numbers_are_parsed() {
        check_version("1.0", Some(ProtocolVersion::V1_0));
        check_version(" 1.0.1 ", Some(ProtocolVersion::V1_0));
        check_version("0.2.5", Some(ProtocolVersion::V0_2));
        check_version("v1.0", None);
        check_version("1", None);
        check_version("1.0.x", None);
        check_version("2.0", None);
    }
}
