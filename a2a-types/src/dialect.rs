//! The four protocol versions, and how to distinguish them.

use std::fmt;
use std::str::FromStr;

use crate::Operation;

/// A published version of the protocol.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Dialect {
    /// April to May 2025: `tasks/send`, `sessionId`, `type`.
    V0_1,
    /// 0.2.0 to 0.2.6, May to July 2025: `message/send`, `contextId`, `kind`.
    V0_2,
    /// 0.3, from July 2025: the JSON of 0.2, and more transports.
    V0_3,
    /// 1.0, from March 2026: `SendMessage`, ProtoJSON.
    V1_0,
}

/// Reads a version as [`Dialect::from_version`] does.
///
/// ```
/// use a2a_types::Dialect;
/// assert_eq!("1.0".parse(), Ok(Dialect::V1_0));
/// let unknown = "2.0".parse::<Dialect>().unwrap_err();
/// assert_eq!(unknown.to_string(), "unknown protocol version `2.0`: expected 0.1, 0.2, 0.3 or 1.0");
/// ```
impl FromStr for Dialect {
    type Err = UnknownVersion;

    fn from_str(version: &str) -> Result<Self, UnknownVersion> {
        Self::from_version(version)
            .ok_or_else(|| UnknownVersion(version.chars().take(64).collect()))
    }
}

/// A protocol version that is not one of [`Dialect::ALL`].
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("unknown protocol version `{0}`: expected 0.1, 0.2, 0.3 or 1.0")]
pub struct UnknownVersion(String);

impl Dialect {
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
        let is_exact = |dialect: &Self| dialect.version() == version;
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
            .find(|dialect| dialect.version().split('.').eq([major, minor]))
    }

    /// Returns the path of the public card, from the origin.
    pub fn card_path(self) -> &'static str {
        match self {
            Self::V0_1 | Self::V0_2 => "/.well-known/agent.json",
            Self::V0_3 | Self::V1_0 => "/.well-known/agent-card.json",
        }
    }

    /// Path of the extended card in 0.2, below or beside the endpoint (0.2 §7.8).
    pub const EXTENDED_CARD_PATH: &str = "/agent/authenticatedExtendedCard";

    /// Returns the path of a parameter of the canonical model as this version spells it in JSON-RPC.
    pub fn path_of_param(self, operation: Operation, path: &str) -> String {
        use Operation::{
            CreateTaskPushNotificationConfig as Create, DeleteTaskPushNotificationConfig as Delete,
            GetTaskPushNotificationConfig as Get, ListTaskPushNotificationConfigs as List,
            SendMessage, SendStreamingMessage,
        };
        let renamed: &[(&str, &str)] = match (self, operation) {
            (Self::V1_0, _) => &[],
            (Self::V0_1, SendMessage | SendStreamingMessage) => &[
                ("message.taskId", "id"),
                ("message.contextId", "sessionId"),
                ("configuration.acceptedOutputModes", "acceptedOutputModes"),
                (
                    "configuration.taskPushNotificationConfig.",
                    "pushNotification.",
                ),
            ],
            (_, SendMessage | SendStreamingMessage) => &[(
                "configuration.taskPushNotificationConfig.",
                "configuration.pushNotificationConfig.",
            )],
            (Self::V0_1, Create | Get) => &[("taskId", "id"), ("", "pushNotificationConfig.")],
            (_, Create) => &[("taskId", "taskId"), ("", "pushNotificationConfig.")],
            (_, Get | List | Delete) => &[("taskId", "id"), ("id", "pushNotificationConfigId")],
            _ => &[],
        };
        let theirs = |(ours, theirs): &(&str, &str)| {
            let rest = path.strip_prefix(ours)?;
            Some(format!("{theirs}{rest}"))
        };
        renamed
            .iter()
            .find_map(theirs)
            .unwrap_or_else(|| path.to_owned())
    }

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

    /// Returns the name of an operation on JSON-RPC, or `None` if this version lacks the operation.
    pub fn method(self, operation: Operation) -> Option<&'static str> {
        if self == Self::V1_0 {
            return Some(operation.name());
        }
        let (_, names) = METHODS.iter().find(|(row, _)| *row == operation)?;
        names[self as usize]
    }

    /// Returns the operation of a JSON-RPC method and the versions that use this name for it.
    pub fn of_method(method: &str) -> Option<Method> {
        let names = |dialect: Self, operation| dialect.method(operation) == Some(method);
        let called = |operation: &Operation| {
            let dialects: Vec<_> = Self::ALL
                .iter()
                .copied()
                .filter(|d| names(*d, *operation))
                .collect();
            (!dialects.is_empty()).then_some(Method {
                operation: *operation,
                dialects,
            })
        };
        let alias = ALIASES.iter().find(|(name, ..)| *name == method);
        if let Some(&(_, operation, dialect)) = alias {
            return Some(Method {
                operation,
                dialects: vec![dialect],
            });
        }
        Operation::ALL.iter().find_map(called)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.version())
    }
}

/// Meaning of a JSON-RPC method name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Method {
    /// The operation.
    pub operation: Operation,
    /// The versions that use the name for it, the oldest first; never empty.
    pub dialects: Vec<Dialect>,
}

impl Method {
    /// Returns the version to answer in: `preferred` if it uses the name, else the latest that does.
    /// Specification 1.0 §3.6.2 treats a caller that names no version as one of 0.3.
    pub fn dialect(&self, preferred: Option<Dialect>) -> Dialect {
        let latest = self.dialects.last().copied().unwrap_or(Dialect::V0_3);
        preferred
            .filter(|dialect| self.dialects.contains(dialect))
            .unwrap_or(latest)
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

/// The names of the operations on JSON-RPC in 0.1, 0.2 and 0.3; in 1.0 it is the operation's own.
#[rustfmt::skip]
const METHODS: &[(Operation, [Option<&str>; 3])] = &[
    (Operation::SendMessage, [Some("tasks/send"), Some("message/send"), Some("message/send")]),
    (Operation::SendStreamingMessage, [Some("tasks/sendSubscribe"), Some("message/stream"), Some("message/stream")]),
    (Operation::GetTask, [Some("tasks/get"), Some("tasks/get"), Some("tasks/get")]),
    (Operation::ListTasks, [None, None, Some("tasks/list")]),
    (Operation::CancelTask, [Some("tasks/cancel"), Some("tasks/cancel"), Some("tasks/cancel")]),
    (Operation::SubscribeToTask, [Some("tasks/resubscribe"), Some("tasks/resubscribe"), Some("tasks/resubscribe")]),
    (Operation::CreateTaskPushNotificationConfig, [Some("tasks/pushNotification/set"), Some("tasks/pushNotificationConfig/set"), Some("tasks/pushNotificationConfig/set")]),
    (Operation::GetTaskPushNotificationConfig, [Some("tasks/pushNotification/get"), Some("tasks/pushNotificationConfig/get"), Some("tasks/pushNotificationConfig/get")]),
    (Operation::ListTaskPushNotificationConfigs, [None, Some("tasks/pushNotificationConfig/list"), Some("tasks/pushNotificationConfig/list")]),
    (Operation::DeleteTaskPushNotificationConfig, [None, Some("tasks/pushNotificationConfig/delete"), Some("tasks/pushNotificationConfig/delete")]),
    (Operation::GetExtendedAgentCard, [None, None, Some("agent/getAuthenticatedExtendedCard")]),
];

/// Other names that were published: 0.3 §11.1.3 and a table of 0.2.6 for the extended card, the release
/// candidates of 1.0 for the list.
const ALIASES: [(&str, Operation, Dialect); 2] = [
    (
        "agent/authenticatedExtendedCard",
        Operation::GetExtendedAgentCard,
        Dialect::V0_3,
    ),
    (
        "ListTaskPushNotificationConfig",
        Operation::ListTaskPushNotificationConfigs,
        Dialect::V1_0,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_found_by_its_name() {
        for &dialect in Dialect::ALL {
            for &operation in Operation::ALL {
                let Some(name) = dialect.method(operation) else {
                    continue;
                };
                let method = Dialect::of_method(name).unwrap();
                assert_eq!(method.operation, operation, "{name}");
                assert_eq!(method.dialect(Some(dialect)), dialect, "{name}");
            }
        }
        assert_eq!(
            Dialect::of_method("tasks/get").unwrap().dialect(None),
            Dialect::V0_3
        );
        assert_eq!(Dialect::of_method("tasks/fly"), None);
    }

    #[track_caller]
    fn check_version(text: &str, expected: Option<Dialect>) {
        assert_eq!(Dialect::from_version(text), expected, "{text}");
    }

    #[test]
    fn versions() {
        check_version("1.0", Some(Dialect::V1_0));
        check_version(" 1.0.1 ", Some(Dialect::V1_0));
        check_version("0.2.5", Some(Dialect::V0_2));
        check_version("v1.0", None);
        check_version("1", None);
        check_version("1.0.x", None);
        check_version("2.0", None);
    }
}
