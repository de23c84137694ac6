//! The kinds of documents, by the names that `--as` takes.

use a2a_types::{ProtocolVersion, v0_3::Flavour};

/// A kind of document.
#[derive(Debug, Eq, PartialEq)]
pub struct DocumentKind {
    /// The name: that of its definition in 1.0, if it has one.
    pub name: &'static str,
    /// Description of the kind.
    pub about: &'static str,
    pub(crate) form: Form,
}

/// Basis on which documents of a kind are judged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Form {
    /// Judged by the method that it names.
    Request,
    /// Judged by its result or its error.
    Response,
    /// Judged as an item of a stream.
    Event,
    /// Judged as a card.
    Card,
    /// Judged by its definition in 0.1, 0.2, 0.3 and 1.0, and in the ProtoJSON of 0.3.
    Object([Option<&'static str>; 5]),
}

impl DocumentKind {
    /// Every kind.
    pub const ALL: &[Self] = KINDS;

    /// The kind of that name, in any case.
    pub fn named(name: &str) -> Option<&'static Self> {
        let mut all = Self::ALL.iter();
        all.find(|kind| kind.name.eq_ignore_ascii_case(name))
    }

    /// Returns whether a protocol version has such documents.
    pub fn is_in(&self, protocol_version: ProtocolVersion) -> bool {
        match self.form {
            Form::Object(names) => names[protocol_version as usize]
                .or(names[PROTO].filter(|_| protocol_version == ProtocolVersion::V0_3))
                .is_some(),
            _ => true,
        }
    }
}

impl Form {
    /// The definition of an object in a version.
    pub(crate) fn definition(
        self,
        protocol_version: ProtocolVersion,
        flavour: Flavour,
    ) -> Option<&'static str> {
        match (self, flavour) {
            (Self::Object(names), Flavour::Proto) if protocol_version == ProtocolVersion::V0_3 => {
                names[PROTO]
            }
            (Self::Object(names), _) => names[protocol_version as usize],
            _ => None,
        }
    }
}

const PROTO: usize = 4;

/// An object of one name in every version that has it.
const fn same(since: ProtocolVersion, name: &'static str) -> Form {
    let mut names = [Some(name); 5];
    let mut index = 0;
    while index < since as usize {
        names[index] = None;
        index += 1;
    }
    Form::Object(names)
}

const fn kind(name: &'static str, about: &'static str, form: Form) -> DocumentKind {
    DocumentKind { name, about, form }
}

#[rustfmt::skip]
const KINDS: &[DocumentKind] = &[
    kind("request", "JSON-RPC request of any operation", Form::Request),
    kind("response", "JSON-RPC response: a result or an error", Form::Response),
    kind("event", "data of one event of a stream, over JSON-RPC or HTTP+JSON", Form::Event),
    kind("AgentCard", "card, public or extended", Form::Card),
    kind("AgentCardSignature", "signature of a card", same(ProtocolVersion::V0_3, "AgentCardSignature")),
    kind("SignatureHeader", "protected header of a signature, decoded", Form::Object([None, None, Some("SignatureHeader"), Some("SignatureHeader"), Some("SignatureHeader")])),
    kind("AgentInterface", "where an agent is reached", Form::Object([None, Some("AgentInterface"), Some("AgentInterface"), Some("AgentInterface"), Some("AgentInterface")])),
    kind("AgentSkill", "skill of a card", same(ProtocolVersion::V0_1, "AgentSkill")),
    kind("SecurityScheme", "way to authenticate", same(ProtocolVersion::V0_2, "SecurityScheme")),
    kind("SendMessageRequest", "body of message:send and message:stream; params of the methods", Form::Object([Some("TaskSendParams"), Some("MessageSendParams"), Some("MessageSendParams"), Some("SendMessageRequest"), Some("SendMessageRequest")])),
    kind("SendMessageResponse", "answer of message:send", Form::Object([None, None, None, Some("SendMessageResponse"), Some("SendMessageResponse")])),
    kind("StreamResponse", "event over HTTP+JSON; body of a push notification in 1.0", Form::Object([None, None, None, Some("StreamResponse"), Some("StreamResponse")])),
    kind("ListTasksRequest", "params of ListTasks", Form::Object([None, None, Some("ListTasksParams"), Some("ListTasksRequest"), None])),
    kind("ListTasksResponse", "page of tasks", Form::Object([None, None, Some("ListTasksResult"), Some("ListTasksResponse"), Some("ListTasksResponse")])),
    kind("CancelTaskRequest", "params of CancelTask; over HTTP+JSON its id is in the path", Form::Object([Some("TaskIdParams"), Some("TaskIdParams"), Some("TaskIdParams"), Some("CancelTaskRequest"), None])),
    kind("TaskPushNotificationConfig", "webhook of a task", same(ProtocolVersion::V0_1, "TaskPushNotificationConfig")),
    kind("PushNotificationConfig", "webhook, without its task (until 0.3)", Form::Object([Some("PushNotificationConfig"), Some("PushNotificationConfig"), Some("PushNotificationConfig"), None, Some("PushNotificationConfig")])),
    kind("ListTaskPushNotificationConfigsResponse", "page of webhooks", Form::Object([None, None, None, Some("ListTaskPushNotificationConfigsResponse"), Some("ListTaskPushNotificationConfigResponse")])),
    kind("Task", "task; body of a push notification until 0.3", same(ProtocolVersion::V0_1, "Task")),
    kind("TaskStatus", "status of a task", same(ProtocolVersion::V0_1, "TaskStatus")),
    kind("Message", "message", same(ProtocolVersion::V0_1, "Message")),
    kind("Part", "part of a message or of an artifact", same(ProtocolVersion::V0_1, "Part")),
    kind("Artifact", "artifact", same(ProtocolVersion::V0_1, "Artifact")),
    kind("TaskStatusUpdateEvent", "status update, without the member of 1.0 around it", same(ProtocolVersion::V0_1, "TaskStatusUpdateEvent")),
    kind("TaskArtifactUpdateEvent", "artifact update, without the member of 1.0 around it", same(ProtocolVersion::V0_1, "TaskArtifactUpdateEvent")),
    kind("HttpError", "error over HTTP+JSON", Form::Object([None, Some("FlatHttpError"), Some("FlatHttpError"), Some("HttpError"), Some("FlatHttpError")])),
];

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::lint::{LintSubject, SubjectKind};

    #[test]
    fn every_kind_has_its_definition() {
        for kind in DocumentKind::ALL {
            assert_eq!(
                DocumentKind::named(&kind.name.to_lowercase()),
                Some(kind),
                "{}",
                kind.name
            );
            for &protocol_version in ProtocolVersion::ALL {
                for flavour in [Flavour::Plain, Flavour::Proto] {
                    if flavour == Flavour::Proto && protocol_version != ProtocolVersion::V0_3 {
                        continue;
                    }
                    let Some(name) = kind.form.definition(protocol_version, flavour) else {
                        continue;
                    };
                    let subject = LintSubject::new(SubjectKind::Object(name), protocol_version)
                        .in_flavour(flavour);
                    let (bundle, name) = subject
                        .definition(&Value::Null)
                        .expect("it has a definition");
                    assert!(
                        bundle.definitions()[name].is_object(),
                        "{protocol_version} {name}"
                    );
                }
            }
        }
    }
}
