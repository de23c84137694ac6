//! Names of the operations and their parameters on JSON-RPC, by protocol version.

use crate::{Operation, ProtocolVersion};

impl ProtocolVersion {
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
        let alias = ALIASES.iter().find(|(name, ..)| *name == method);
        if let Some((_, operation, protocol_version)) = alias {
            return Some(Method {
                operation: *operation,
                protocol_versions: std::slice::from_ref(protocol_version),
            });
        }
        Operation::ALL.iter().find_map(|&operation| {
            // A name is that of one version, or of some that follow each other.
            let uses = |protocol_version: &Self| protocol_version.method(operation) == Some(method);
            let first = Self::ALL.iter().position(uses)?;
            let last = Self::ALL.iter().rposition(uses)?;
            Some(Method {
                operation,
                protocol_versions: Self::ALL.get(first..=last)?,
            })
        })
    }

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
}

/// Meaning of a JSON-RPC method name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Method {
    /// The operation.
    pub operation: Operation,
    /// The versions that use the name for it, the oldest first; never empty.
    pub protocol_versions: &'static [ProtocolVersion],
}

impl Method {
    /// Returns the version to answer in: `preferred` if it uses the name, else the latest that does.
    /// Specification 1.0 §3.6.2 treats a caller that names no version as one of 0.3.
    pub fn protocol_version(&self, preferred: Option<ProtocolVersion>) -> ProtocolVersion {
        let latest = self
            .protocol_versions
            .last()
            .copied()
            .unwrap_or(ProtocolVersion::V0_3);
        preferred
            .filter(|protocol_version| self.protocol_versions.contains(protocol_version))
            .unwrap_or(latest)
    }
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
static ALIASES: [(&str, Operation, ProtocolVersion); 2] = [
    (
        "agent/authenticatedExtendedCard",
        Operation::GetExtendedAgentCard,
        ProtocolVersion::V0_3,
    ),
    (
        "ListTaskPushNotificationConfig",
        Operation::ListTaskPushNotificationConfigs,
        ProtocolVersion::V1_0,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_found_by_its_name() {
        for &protocol_version in ProtocolVersion::ALL {
            for &operation in Operation::ALL {
                let Some(name) = protocol_version.method(operation) else {
                    continue;
                };
                let method = ProtocolVersion::of_method(name).unwrap();
                assert_eq!(method.operation, operation, "{name}");
                assert_eq!(
                    method.protocol_version(Some(protocol_version)),
                    protocol_version,
                    "{name}"
                );
                let all_use_it = |protocol_version: &ProtocolVersion| {
                    protocol_version.method(operation) == Some(name)
                };
                assert!(method.protocol_versions.iter().all(all_use_it), "{name}");
            }
        }
        assert_eq!(
            ProtocolVersion::of_method("tasks/get")
                .unwrap()
                .protocol_version(None),
            ProtocolVersion::V0_3
        );
        assert_eq!(ProtocolVersion::of_method("tasks/fly"), None);
    }
}
