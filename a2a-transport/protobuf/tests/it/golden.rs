//! The golden documents of `a2a-types`, through Protocol Buffers and back.

use std::path::{Path, PathBuf};

use a2a_protobuf::{MessageType, Method};
use serde_json::{Value, json};

use crate::oracle::normalized;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../a2a-types/tests/it/golden/data")
}

/// Returns the document of a file: what kind of object it is, and its spelling in a version.
fn document(path: &Path, version: &str) -> (String, Option<Value>) {
    let text = std::fs::read_to_string(path).unwrap();
    let file: Value = serde_saphyr::from_str(&text).unwrap();
    let object = file["object"].as_str().unwrap().to_owned();
    let mut spelled = file.get(version).cloned();
    if let (Some(base), Some(Value::Object(members))) = (file["upon"].as_str(), &mut spelled)
        && let (_, Some(Value::Object(mut whole))) =
            document(&path.with_file_name(format!("{base}.yaml")), version)
    {
        whole.extend(std::mem::take(members));
        *members = whole;
    }
    (object, spelled)
}

/// Returns the type that a document is of, or that has it as a member; then with that member.
fn place(service: &str, object: &str, value: Value) -> Option<(&'static MessageType, Value)> {
    let method = |name: &str| Method::at(&format!("/{service}/{name}"));
    Some(match object.split_once(' ') {
        Some((name, "request")) => (method(name)?.request(), value),
        Some((name, _)) => (method(name)?.response(), value),
        None => match object {
            "AgentCard" if service == V1_0 => (method("GetExtendedAgentCard")?.response(), value),
            "AgentCard" => (method("GetAgentCard")?.response(), value),
            "StreamResponse" => (method("SendStreamingMessage")?.response(), value),
            "Message" => (
                method("SendMessage")?.request(),
                json!({ "message": value }),
            ),
            "TaskStatus" => (
                method("GetTask")?.response(),
                json!({"id": "t", "status": value}),
            ),
            other => panic!("{other} has no place"),
        },
    })
}

const V1_0: &str = "lf.a2a.v1.A2AService";
const V0_3: &str = "a2a.v1.A2AService";

/// Removes the members with default values, which messages do not have. An empty map is one.
fn without_defaults(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (name, without_defaults(value)))
            .filter(|(_, value)| {
                let is_default = match value {
                    Value::Null | Value::Bool(false) => true,
                    Value::String(text) => text.is_empty() || text.ends_with("_UNSPECIFIED"),
                    Value::Array(items) => items.is_empty(),
                    Value::Object(members) => members.is_empty(),
                    Value::Number(number) => number.as_f64() == Some(0.0),
                    _ => false,
                };
                !is_default
            })
            .collect(),
        Value::Array(items) => items.into_iter().map(without_defaults).collect(),
        other => other,
    }
}

#[test]
fn golden_documents_survive_protocol_buffers() {
    let mut count = 0;
    for entry in std::fs::read_dir(data()).unwrap() {
        let path = entry.unwrap().path();
        for (version, service) in [("1.0", V1_0), ("0.3P", V0_3)] {
            let (object, spelled) = document(&path, version);
            let Some((message_type, document)) =
                spelled.and_then(|value| place(service, &object, value))
            else {
                continue;
            };
            count += 1;
            let name = format!(
                "{} in {version}",
                path.file_stem().unwrap().to_string_lossy()
            );
            let message = message_type.to_protobuf(document.to_string().as_bytes());
            let message = message.unwrap_or_else(|error| panic!("{name}: {error}"));
            let back = message_type.to_json(&message).unwrap();
            let back: Value = serde_json::from_slice(&back).unwrap();
            let [back, document] = [back, document].map(|it| normalized(without_defaults(it)));
            assert_eq!(back, document, "{name}");
        }
    }
    assert!(count > 120, "only {count} documents");
}
