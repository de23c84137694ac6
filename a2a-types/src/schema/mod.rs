//! JSON Schemas of the protocol versions, derived from the same types that read and write the wire.
//!
//! A [`bundle`] holds every definition of a version under its official name: the data, the
//! JSON-RPC requests and responses around it, and the errors. [`definition`] is one of them, ready
//! for a validator; [`request_definition`] and [`response_definition`] name the one that a message has
//! to satisfy.
//!
//! The schemas describe what a peer must send, not what is read leniently. Members that no schema
//! names are allowed everywhere, as in the official schemas.
//!
//! ```
//! use a2a_types::{ProtocolVersion, Operation, schema};
//!
//! let name = schema::response_definition(ProtocolVersion::V0_2, Operation::SendMessage).unwrap();
//! assert_eq!(name, "SendMessageResponse");
//!
//! let schema = schema::definition(ProtocolVersion::V0_2, name).unwrap();
//! assert_eq!(schema["$ref"], "#/$defs/SendMessageResponse");
//! assert_eq!(schema["$defs"]["Task"]["properties"]["kind"]["const"], "task");
//! ```

mod envelope;
mod plain;
mod v0_1;
mod v0_2;
mod v0_3;
mod v1_0;
mod version;

use serde_json::{Value, json};

use self::version::{VersionSchema, reference};
use crate::{Operation, ProtocolVersion};

/// Returns every definition of a protocol version in one document.
///
/// The document itself accepts anything: it is there to be referred into. Each call derives
/// it again, which takes about a millisecond.
pub fn bundle(protocol_version: ProtocolVersion) -> Value {
    json!({
        "$schema": DRAFT,
        "title": format!("Agent2Agent (A2A) protocol {protocol_version}"),
        "description": DESCRIPTION,
        "$defs": version(protocol_version).definitions(),
    })
}

/// Returns one definition of a protocol version as a schema of its own.
pub fn definition(protocol_version: ProtocolVersion, name: &str) -> Option<Value> {
    let definitions = version(protocol_version).definitions();
    definitions.contains_key(name).then(|| {
        json!({
            "$schema": DRAFT,
            "$ref": reference(name),
            "$defs": definitions,
        })
    })
}

/// Returns the definition of an operation's whole JSON-RPC request, if the version has the operation.
pub fn request_definition(
    protocol_version: ProtocolVersion,
    operation: Operation,
) -> Option<&'static str> {
    Some(version(protocol_version).exchange(operation)?.request)
}

/// Returns the definition of an operation's whole JSON-RPC answer, or of each item of a stream, if the
/// version has the operation.
pub fn response_definition(
    protocol_version: ProtocolVersion,
    operation: Operation,
) -> Option<&'static str> {
    Some(version(protocol_version).exchange(operation)?.response)
}

/// Returns the tables of a protocol version.
fn version(protocol_version: ProtocolVersion) -> &'static VersionSchema {
    match protocol_version {
        ProtocolVersion::V0_1 => &v0_1::SCHEMA,
        ProtocolVersion::V0_2 => &v0_2::SCHEMA,
        ProtocolVersion::V0_3 => &v0_3::SCHEMA,
        ProtocolVersion::V1_0 => &v1_0::SCHEMA,
    }
}

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

const DESCRIPTION: &str = "Derived from the types of the crate a2a-types. A member that is not \
    required may be left out; a reader takes `null` for absent there, but a writer must not send \
    it. Members that are not listed here are allowed and ignored.";

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `visit` with every schema in `schema`, itself included, and its place.
    fn walk(schema: &Value, place: &str, visit: &mut impl FnMut(&Value, &str)) {
        visit(schema, place);
        let at = |key: &str| format!("{place}.{key}");
        for key in ["$defs", "properties"] {
            for (name, member) in schema[key].as_object().into_iter().flatten() {
                walk(member, &at(name), visit);
            }
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            for member in schema[key].as_array().into_iter().flatten() {
                walk(member, &at(key), visit);
            }
        }
        for key in ["items", "additionalProperties"] {
            if !schema[key].is_null() {
                walk(&schema[key], &at(key), visit);
            }
        }
    }

    fn bundles() -> impl Iterator<Item = (ProtocolVersion, Value)> {
        let all = ProtocolVersion::ALL.iter().copied();
        all.map(|protocol_version| (protocol_version, bundle(protocol_version)))
    }

    #[test]
    fn every_reference_leads_to_a_definition() {
        for (protocol_version, bundle) in bundles() {
            let mut references = 0;
            walk(&bundle, "$", &mut |schema, place| {
                let Some(target) = schema["$ref"].as_str() else {
                    return;
                };
                references += 1;
                let name = target.strip_prefix("#/$defs/").unwrap();
                assert!(
                    !bundle["$defs"][name].is_null(),
                    "{protocol_version} {place}: {target}"
                );
            });
            assert!(references > 40, "{protocol_version}: only {references}");
        }
    }

    #[test]
    fn optional_members_are_left_out_and_never_null() {
        for (protocol_version, bundle) in bundles() {
            walk(&bundle, "$", &mut |schema, place| {
                let required = schema["required"].as_array();
                for (name, member) in schema["properties"].as_object().into_iter().flatten() {
                    let is_required = required.is_some_and(|list| list.contains(&json!(name)));
                    // A response to an unreadable request has no id to repeat.
                    let may_be_null = name == "id" && !schema["properties"]["jsonrpc"].is_null();
                    if is_required || may_be_null {
                        continue;
                    }
                    let text = member.to_string();
                    assert!(
                        !text.contains("null"),
                        "{protocol_version} {place}.{name}: {text}"
                    );
                }
                assert_ne!(
                    schema["additionalProperties"], false,
                    "{protocol_version} {place}"
                );
            });
        }
    }

    #[test]
    fn every_operation_of_a_version_has_its_request_and_response() {
        for (protocol_version, bundle) in bundles() {
            for &operation in Operation::ALL {
                let request = request_definition(protocol_version, operation);
                let response = response_definition(protocol_version, operation);
                assert_eq!(request.is_some(), response.is_some());
                let name = protocol_version.method(operation);
                assert_eq!(
                    request.is_some(),
                    name.is_some(),
                    "{protocol_version} {operation:?}"
                );
                let (Some(request), Some(response)) = (request, response) else {
                    continue;
                };
                let method = &bundle["$defs"][request]["properties"]["method"];
                assert_eq!(
                    method["const"].as_str(),
                    name,
                    "{protocol_version} {request}"
                );
                assert!(
                    definition(protocol_version, response).is_some(),
                    "{protocol_version} {response}"
                );
            }
        }
    }

    #[test]
    fn member_with_a_default_is_not_required() {
        let bundle = bundle(ProtocolVersion::V0_1);
        let artifact = &bundle["$defs"]["Artifact"];
        assert_eq!(artifact["required"], json!(["parts"]));
        let index = &artifact["properties"]["index"];
        assert_eq!(index["type"], "integer");
        assert_eq!(index["minimum"], 0);
        assert_eq!(index["default"], 0);
        assert!(index["format"].is_null());
    }

    #[test]
    fn definitions_of_other_versions_are_absent() {
        assert_eq!(definition(ProtocolVersion::V0_1, "NoSuchThing"), None);
        assert_eq!(definition(ProtocolVersion::V0_1, "MessageSendParams"), None);
        let operation = Operation::ListTaskPushNotificationConfigs;
        assert_eq!(request_definition(ProtocolVersion::V0_1, operation), None);
    }
}
