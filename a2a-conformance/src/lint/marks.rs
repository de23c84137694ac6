//! Marks of the protocol versions in documents that do not name theirs.

use a2a_types::ProtocolVersion;
use serde_json::Value;

/// The version that the members and the spelling of values are of.
pub(super) fn marked(value: &Value) -> Option<ProtocolVersion> {
    let mut marks = VersionMarks::default();
    marks.scan(value);
    let VersionMarks {
        of_1_0,
        of_0_3,
        of_0_2,
        of_0_1,
        has_bare_part,
        has_plain_words,
    } = marks;
    match () {
        () if of_1_0 || has_bare_part && !has_plain_words => Some(ProtocolVersion::V1_0),
        () if of_0_3 => Some(ProtocolVersion::V0_3),
        () if of_0_1 && !of_0_2 => Some(ProtocolVersion::V0_1),
        () if of_0_2 => Some(ProtocolVersion::V0_2),
        () => None,
    }
}

#[derive(Default)]
struct VersionMarks {
    of_1_0: bool,
    of_0_3: bool,
    of_0_2: bool,
    of_0_1: bool,
    /// A part without the discriminator that it has until 0.3.
    has_bare_part: bool,
    /// A member or a word that 1.0 does not have.
    has_plain_words: bool,
}

impl VersionMarks {
    fn scan(&mut self, value: &Value) {
        match value {
            Value::Object(object) => {
                let has = |member: &str| object.contains_key(member);
                let is_tagged = has("kind") || has("type");
                self.has_plain_words |= is_tagged;
                self.has_bare_part |= !is_tagged && is_bare_part(value);
                for (name, member) in object {
                    let text = member.as_str().unwrap_or_default();
                    match name.as_str() {
                        "supportedInterfaces"
                        | "securityRequirements"
                        | "statusUpdate"
                        | "artifactUpdate"
                        | "taskPushNotificationConfig"
                        | "protocolBinding"
                        | "returnImmediately" => self.of_1_0 = true,
                        "@type" if text.contains("google.rpc") => self.of_1_0 = true,
                        "state" if text.starts_with("TASK_STATE_") => self.of_1_0 = true,
                        "role" if text.starts_with("ROLE_") => self.of_1_0 = true,
                        "state" | "role" if !text.is_empty() => self.has_plain_words = true,
                        "signatures" => self.of_0_3 = true,
                        "kind"
                        | "contextId"
                        | "messageId"
                        | "artifactId"
                        | "taskId"
                        | "securitySchemes"
                        | "preferredTransport"
                        | "blocking"
                        | "acceptedOutputModes" => self.of_0_2 = true,
                        "sessionId" | "pushNotification" => self.of_0_1 = true,
                        "type" if ["text", "file", "data"].contains(&text) => self.of_0_1 = true,
                        _ => {}
                    }
                    // Content of users gives no hint of the protocol version.
                    if name != "metadata" && name != "data" {
                        self.scan(member);
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.scan(item)),
            _ => {}
        }
    }
}

/// Returns whether an object is a part in the form that only 1.0 has.
fn is_bare_part(value: &Value) -> bool {
    let has = |member: &str| value.get(member).is_some();
    let contents = ["text", "raw", "url", "data"];
    let known = ["metadata", "filename", "mediaType"];
    let members = value.as_object().into_iter().flatten();
    let is_alone = members
        .map(|(name, _)| name.as_str())
        .all(|name| contents.contains(&name) || known.contains(&name));
    // A URL alone may be a webhook as well.
    let is_url = has("url") && !has("filename") && !has("mediaType");
    is_alone && !is_url && contents.iter().any(|content| has(content))
}

/// Returns whether a document is in the ProtoJSON of 0.3, which differs from that of 1.0 in a few words.
pub(super) fn is_proto_json(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            let has = |member: &str| members.contains_key(member);
            let is_proto = |word: &Value| {
                let word = word.as_str().unwrap_or_default();
                word.starts_with("TASK_STATE_") || word.starts_with("ROLE_")
            };
            let is_named = |name: &Value| name.as_str().is_some_and(|it| it.starts_with("tasks/"));
            let is_file = |file: &Value| {
                !has("kind")
                    && (file["fileWithUri"].is_string() || file["fileWithBytes"].is_string())
            };
            let is_v0_3 = is_proto(&value["role"]) && value["content"].is_array()
                || value["final"].is_boolean() && is_proto(&value["status"]["state"])
                || value["state"] == "TASK_STATE_CANCELLED"
                || has("pushNotificationConfig") && is_named(&value["name"])
                || is_file(&value["file"]);
            let mut inner = members
                .iter()
                .filter(|(name, _)| *name != "metadata" && *name != "data");
            is_v0_3 || inner.any(|(_, member)| is_proto_json(member))
        }
        Value::Array(items) => items.iter().any(is_proto_json),
        _ => false,
    }
}
