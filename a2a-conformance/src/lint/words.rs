//! Table of the rules that the specification states in prose and no schema expresses.

use a2a_types::ProtocolVersion;
use a2a_types::reading::Violation;
use serde_json::Value;

use super::checks::{
    Members, absolute, base64, date_time, filled, http_error, json_rpc_error, named, page_size,
    removed, security, security_of_a_card, signature_header, specified, unlike_each_other, utc,
    with_zone,
};
use super::schema::Bundle;

/// Returns everything in a value of a definition that the prose does not allow, with the sections.
pub(crate) fn violations(
    bundle: Bundle,
    definition: &str,
    value: &Value,
) -> Vec<(Violation, String)> {
    let mut found = Vec::new();
    let mut walk = DefinitionWalker {
        bundle,
        definitions: bundle.definitions(),
        found: &mut found,
    };
    walk.definition(definition, value, "$");
    found
}

/// Descends into a value as its definition describes it: what users put into metadata and data has no
/// definition, and is not checked.
struct DefinitionWalker<'a> {
    bundle: Bundle,
    definitions: &'static Value,
    found: &'a mut Vec<(Violation, String)>,
}

impl DefinitionWalker<'_> {
    fn definition(&mut self, name: &str, value: &Value, path: &str) {
        let definitions = self.definitions;
        if let Value::Object(members) = value {
            self.rules(name, members, path);
        }
        self.schema(&definitions[name], value, path);
    }

    fn schema(&mut self, schema: &'static Value, value: &Value, path: &str) {
        if let Some(name) = referred(schema) {
            return self.definition(name, value, path);
        }
        for key in ["anyOf", "oneOf"] {
            let alternatives = schema[key].as_array().into_iter().flatten();
            let meant = alternatives
                .filter(|one| referred(one).is_some() || one["properties"].is_object())
                .find(|one| self.is_meant(one, value));
            if let Some(meant) = meant {
                self.schema(meant, value, path);
            }
        }
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    self.member_case(schema, name, path);
                    let schema = match schema["properties"].get(name) {
                        None => &schema["additionalProperties"],
                        Some(schema) => schema,
                    };
                    self.schema(schema, member, &format!("{path}.{name}"));
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.schema(&schema["items"], item, &format!("{path}[{index}]"));
                }
            }
            _ => {}
        }
    }

    /// Finds a member of 1.0 that is written in snake_case (§5.5).
    fn member_case(&mut self, schema: &Value, name: &str, path: &str) {
        let properties = &schema["properties"];
        if self.bundle != Bundle::Of(ProtocolVersion::V1_0) || !name.contains('_') {
            return;
        }
        let mut words = name.split('_');
        let mut camel = words.next().unwrap_or_default().to_owned();
        for word in words {
            let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
            camel += &first.to_uppercase();
            camel += rest;
        }
        if properties.get(name).is_none() && properties.get(&camel).is_some() {
            let violation = Violation {
                path: format!("{path}.{name}"),
                problem: format!("expected `{camel}`: members are in camelCase"),
            };
            self.found.push((violation, self.section("5.5")));
        }
    }

    /// Returns whether a value has what distinguishes an alternative: its constants and required members.
    fn is_meant(&self, alternative: &Value, value: &Value) -> bool {
        if let Some(name) = referred(alternative) {
            return self.is_meant(&self.definitions[name], value);
        }
        if let Some(inner) = alternative["anyOf"].as_array() {
            return inner.iter().any(|one| self.is_meant(one, value));
        }
        let mut required = alternative["required"].as_array().into_iter().flatten();
        let mut members = alternative["properties"].as_object().into_iter().flatten();
        let is_there = |name: &Value| name.as_str().is_some_and(|name| value.get(name).is_some());
        value.is_object() == (alternative["type"] == "object")
            && required.all(is_there)
            && members.all(|(name, schema)| {
                let expected = schema.get("const");
                expected.is_none_or(|expected| value.get(name) == Some(expected))
            })
    }

    fn rules(&mut self, definition: &str, members: &Members, path: &str) {
        for rule in RULES {
            let (of, name) = rule.place.split_once('.').unwrap_or((rule.place, ""));
            let Some(member) = members.get(name) else {
                continue;
            };
            if of != definition || !rule.bundles.contains(&self.bundle) {
                continue;
            }
            for (below, problem) in (rule.check)(member, members) {
                let violation = Violation {
                    path: format!("{path}.{name}{below}"),
                    problem,
                };
                self.found.push((violation, self.section(rule.section)));
            }
        }
    }

    fn section(&self, section: &str) -> String {
        let version = match self.bundle {
            Bundle::Of(protocol_version) => protocol_version,
            Bundle::ProtoJson => ProtocolVersion::V0_3,
            Bundle::Other => ProtocolVersion::V1_0,
        };
        format!("{version} §{section}")
    }
}

fn referred(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/$defs/")
}

/// Check of a member of an object: returns the path below the member, and the problem.
type Check = fn(&Value, &Members) -> Vec<(String, String)>;

struct Rule {
    /// `Definition.member`.
    place: &'static str,
    bundles: &'static [Bundle],
    section: &'static str,
    check: Check,
}

const fn rule(
    place: &'static str,
    bundles: &'static [Bundle],
    section: &'static str,
    check: Check,
) -> Rule {
    Rule {
        place,
        bundles,
        section,
        check,
    }
}

const V0_1: &[Bundle] = &[Bundle::Of(ProtocolVersion::V0_1)];
const V0_2: &[Bundle] = &[
    Bundle::Of(ProtocolVersion::V0_2),
    Bundle::Of(ProtocolVersion::V0_3),
];
const V0_3_PROTO: &[Bundle] = &[Bundle::ProtoJson];
const SINCE_0_2: &[Bundle] = &[
    Bundle::Of(ProtocolVersion::V0_2),
    Bundle::Of(ProtocolVersion::V0_3),
    Bundle::ProtoJson,
];
const V1_0: &[Bundle] = &[Bundle::Of(ProtocolVersion::V1_0)];
const OTHER: &[Bundle] = &[Bundle::Other];

#[rustfmt::skip]
const RULES: &[Rule] = &[
    rule("TaskStatus.timestamp", V0_1, "6.2", with_zone),
    rule("TaskStatus.timestamp", SINCE_0_2, "6.2", date_time),
    rule("TaskStatus.timestamp", V1_0, "5.6.1", utc),
    rule("ListTasksRequest.statusTimestampAfter", V1_0, "5.6.1", utc),
    rule("TaskStatus.state", V1_0, "5.7", specified),
    rule("Message.role", V1_0, "5.7", specified),

    rule("FileContent.bytes", V0_1, "6.6", base64),
    rule("FileWithBytes.bytes", V0_2, "6.6.1", base64),
    rule("FilePart.fileWithBytes", V0_3_PROTO, "6.6.1", base64),
    rule("Part.raw", V1_0, "4.1.6", base64),

    rule("Task.id", V0_1, "6.1", named),
    rule("TaskSendParams.id", V0_1, "7.1.1", named),
    rule("TaskIdParams.id", V0_1, "7.4.1", named),
    rule("TaskQueryParams.id", V0_1, "7.3.1", named),
    rule("TaskPushNotificationConfig.id", V0_1, "6.10", named),
    rule("TaskStatusUpdateEvent.id", V0_1, "7.2.2", named),
    rule("TaskArtifactUpdateEvent.id", V0_1, "7.2.3", named),
    rule("Task.id", SINCE_0_2, "6.1", named),
    rule("Task.contextId", SINCE_0_2, "6.1", named),
    rule("Message.messageId", SINCE_0_2, "6.4", named),
    rule("Message.taskId", V0_2, "6.4", named),
    rule("Message.contextId", V0_2, "6.4", named),
    rule("Artifact.artifactId", SINCE_0_2, "6.7", named),
    rule("TaskStatusUpdateEvent.taskId", SINCE_0_2, "7.2.2", named),
    rule("TaskStatusUpdateEvent.contextId", SINCE_0_2, "7.2.2", named),
    rule("TaskArtifactUpdateEvent.taskId", SINCE_0_2, "7.2.3", named),
    rule("TaskArtifactUpdateEvent.contextId", SINCE_0_2, "7.2.3", named),
    rule("TaskIdParams.id", V0_2, "7.4.1", named),
    rule("TaskQueryParams.id", V0_2, "7.3.1", named),
    rule("TaskPushNotificationConfig.taskId", V0_2, "6.10", named),
    rule("Task.id", V1_0, "5.7", named),
    rule("Message.messageId", V1_0, "5.7", named),
    rule("Artifact.artifactId", V1_0, "5.7", named),
    rule("TaskStatusUpdateEvent.taskId", V1_0, "5.7", named),
    rule("TaskStatusUpdateEvent.contextId", V1_0, "5.7", named),
    rule("TaskArtifactUpdateEvent.taskId", V1_0, "5.7", named),
    rule("TaskArtifactUpdateEvent.contextId", V1_0, "5.7", named),
    rule("GetTaskRequest.id", V1_0, "5.7", named),
    rule("CancelTaskRequest.id", V1_0, "5.7", named),
    rule("SubscribeToTaskRequest.id", V1_0, "5.7", named),
    rule("GetTaskPushNotificationConfigRequest.taskId", V1_0, "5.7", named),
    rule("GetTaskPushNotificationConfigRequest.id", V1_0, "5.7", named),
    rule("DeleteTaskPushNotificationConfigRequest.taskId", V1_0, "5.7", named),
    rule("DeleteTaskPushNotificationConfigRequest.id", V1_0, "5.7", named),
    rule("ListTaskPushNotificationConfigsRequest.taskId", V1_0, "5.7", named),

    rule("Task.artifacts", SINCE_0_2, "6.7", unlike_each_other),
    rule("Task.artifacts", V1_0, "4.1.7", unlike_each_other),
    rule("Message.parts", V0_1, "6.4", filled),
    rule("Artifact.parts", V0_1, "6.7", filled),
    rule("Message.parts", V1_0, "5.7", filled),
    rule("Artifact.parts", V1_0, "5.7", filled),
    rule("AgentCard.supportedInterfaces", V1_0, "5.7", filled),
    rule("AgentCardSignature.protected", V1_0, "8.4.2", signature_header),
    rule("AgentInterface.url", V1_0, "4.4.6", absolute),
    rule("TaskPushNotificationConfig.url", V1_0, "4.3.1", absolute),
    rule("PushNotificationConfig.url", V0_1, "6.8", absolute),
    rule("PushNotificationConfig.url", SINCE_0_2, "6.8", absolute),
    rule("ListTasksRequest.pageSize", V1_0, "3.1.4", page_size),

    rule("Part.kind", V1_0, "A.2.1", removed),
    rule("Message.kind", V1_0, "A.2.1", removed),
    rule("Task.kind", V1_0, "A.2.1", removed),
    rule("TaskStatusUpdateEvent.kind", V1_0, "A.2.1", removed),
    rule("TaskArtifactUpdateEvent.kind", V1_0, "A.2.1", removed),
    rule("SendMessageResponse.kind", V1_0, "A.2.1", removed),
    rule("StreamResponse.kind", V1_0, "A.2.1", removed),

    rule("AgentCard.security", V1_0, "4.4.1", security_of_a_card),
    rule("AgentSkill.security", V1_0, "4.4.5", security),

    rule("JSONRPCErrorResponse.error", V1_0, "9.5", json_rpc_error),
    rule("HttpError.error", OTHER, "11.6", http_error),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule about a member that no definition has would never be applied.
    #[test]
    fn every_rule_has_a_definition() {
        for rule in RULES {
            let (definition, member) = rule.place.split_once('.').unwrap();
            for bundle in rule.bundles {
                let definition = &bundle.definitions()[definition];
                assert!(definition.is_object(), "{bundle:?} {}", rule.place);
                let is_removed = ["kind", "security"].contains(&member);
                let has = definition["properties"].get(member).is_some();
                assert_ne!(has, is_removed, "{bundle:?} {}", rule.place);
            }
        }
    }
}
