//! Validation of documents by the schemas of their versions, ours and the official ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use a2a_types::Operation;
use serde_json::{Value, json};

use crate::golden::document::Document;
use crate::golden::document_kind::DocumentKind;
use crate::golden::spelling::Spelling;

/// Schemas of several versions.
pub(crate) struct Schemas {
    bundles: BTreeMap<Spelling, Value>,
    /// `true` if each definition has to be there.
    complete: bool,
}

impl Schemas {
    /// Returns the schemas of this crate.
    pub(crate) fn ours() -> Self {
        let files = [
            (Spelling::V0_1, "v0.1.json"),
            (Spelling::V0_2, "v0.2.json"),
            (Spelling::V0_3, "v0.3.json"),
            (Spelling::V1_0, "v1.0.json"),
        ];
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
        Self::load(&directory, &files, true)
    }

    /// Returns the schemas of the protocol's own repository, in the directory that `A2A_SCHEMAS` names or in
    /// `../shared/spec/schemas` next to the workspace.
    pub(crate) fn official() -> Self {
        let files = [
            (Spelling::V0_1, "v0.1.json"),
            (Spelling::V0_2, "v0.2.6.json"),
            (Spelling::V0_3, "v0.3.0.json"),
            (Spelling::V0_3P, "v0.3.0-protojson.derived.json"),
            (Spelling::V1_0, "v1.0.1.derived.json"),
        ];
        let directory = std::env::var_os("A2A_SCHEMAS").map(PathBuf::from);
        let directory = directory.unwrap_or_else(|| {
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/spec/schemas")
        });
        Self::load(&directory, &files, false)
    }

    fn load(directory: &Path, files: &[(Spelling, &str)], complete: bool) -> Self {
        let read = |(spelling, name): &(Spelling, &str)| {
            let text = std::fs::read_to_string(directory.join(name)).ok()?;
            let bundle = serde_json::from_str(&text).expect("a schema is JSON");
            Some((*spelling, bundle))
        };
        Self {
            bundles: files.iter().filter_map(read).collect(),
            complete,
        }
    }

    /// Returns everything that does not fit.
    pub(crate) fn judge(&self) -> Vec<String> {
        let mut validators = BTreeMap::new();
        let mut failures = Vec::new();
        for document in Document::all() {
            for (&spelling, bundle) in &self.bundles {
                let Some(value) = document.spellings.get(&spelling) else {
                    continue;
                };
                let items = match value {
                    Value::Array(items) if document.object == DocumentKind::Event => {
                        items.as_slice()
                    }
                    value => std::slice::from_ref(value),
                };
                for value in items {
                    let Some(name) = definition(document.object, spelling, value) else {
                        continue;
                    };
                    let Some(schema) = of(bundle, name) else {
                        if self.complete {
                            failures.push(format!("{document} {spelling}: no definition {name}"));
                        }
                        continue;
                    };
                    let validator = validators.entry((spelling, name)).or_insert_with(|| {
                        jsonschema::validator_for(&schema).expect("a schema is one")
                    });
                    let errors = validator.iter_errors(value).map(|error| {
                        let path = error.instance_path().to_string().replace('/', ".");
                        format!("{document} {spelling} ${path}: {error} ({name})")
                    });
                    failures.extend(errors);
                }
            }
        }
        failures
    }
}

/// Returns one definition of a bundle as a schema of its own.
fn of(bundle: &Value, name: &str) -> Option<Value> {
    let key = match bundle["$defs"].is_object() {
        true => "$defs",
        false => "definitions",
    };
    bundle[key].get(name)?;
    let mut schema = json!({"$schema": bundle["$schema"], "$ref": format!("#/{key}/{name}")});
    schema[key] = bundle[key].clone();
    Some(schema)
}

/// Returns the name of a document in the schemas, or `None` if none of them has it.
fn definition(object: DocumentKind, spelling: Spelling, value: &Value) -> Option<&'static str> {
    let names = match object {
        DocumentKind::Message => ["Message"; 5],
        DocumentKind::TaskStatus => ["TaskStatus"; 5],
        DocumentKind::AgentCard => ["AgentCard"; 5],
        DocumentKind::Event => {
            let numbered = match value.get("artifact") {
                Some(_) => "TaskArtifactUpdateEvent",
                None => "TaskStatusUpdateEvent",
            };
            let name_by_kind = name_by_kind(value);
            [
                numbered,
                name_by_kind,
                name_by_kind,
                "StreamResponse",
                "StreamResponse",
            ]
        }
        DocumentKind::Request(operation) => request(operation),
        DocumentKind::Response(operation) => response(operation, value),
    };
    let name = names[spelling as usize];
    (!name.is_empty()).then_some(name)
}

/// Returns the name of an object in 0.2 and 0.3, from its `kind`.
fn name_by_kind(value: &Value) -> &'static str {
    match value["kind"].as_str() {
        Some("message") => "Message",
        Some("status-update") => "TaskStatusUpdateEvent",
        Some("artifact-update") => "TaskArtifactUpdateEvent",
        _ => "Task",
    }
}

/// Returns the definitions of an operation's params in 0.1, 0.2, 0.3, its ProtoJSON, and 1.0.
#[rustfmt::skip]
fn request(operation: Operation) -> [&'static str; 5] {
    match operation {
        Operation::SendMessage | Operation::SendStreamingMessage =>
            ["TaskSendParams", "MessageSendParams", "MessageSendParams", "SendMessageRequest", "SendMessageRequest"],
        Operation::GetTask =>
            ["TaskQueryParams", "TaskQueryParams", "TaskQueryParams", "", "GetTaskRequest"],
        // The main line of 0.3 had it, no tag did.
        Operation::ListTasks => ["", "", "ListTasksParams", "", "ListTasksRequest"],
        Operation::CancelTask =>
            ["TaskIdParams", "TaskIdParams", "TaskIdParams", "CancelTaskRequest", "CancelTaskRequest"],
        Operation::SubscribeToTask =>
            ["TaskQueryParams", "TaskIdParams", "TaskIdParams", "", "SubscribeToTaskRequest"],
        Operation::CreateTaskPushNotificationConfig =>
            ["TaskPushNotificationConfig", "TaskPushNotificationConfig", "TaskPushNotificationConfig",
             "CreateTaskPushNotificationConfigRequest", "TaskPushNotificationConfig"],
        Operation::GetTaskPushNotificationConfig =>
            ["TaskIdParams", "GetTaskPushNotificationConfigParams", "GetTaskPushNotificationConfigParams",
             "", "GetTaskPushNotificationConfigRequest"],
        Operation::ListTaskPushNotificationConfigs =>
            ["", "ListTaskPushNotificationConfigParams", "ListTaskPushNotificationConfigParams",
             "", "ListTaskPushNotificationConfigsRequest"],
        Operation::DeleteTaskPushNotificationConfig =>
            ["", "DeleteTaskPushNotificationConfigParams", "DeleteTaskPushNotificationConfigParams",
             "", "DeleteTaskPushNotificationConfigRequest"],
        Operation::GetExtendedAgentCard => ["", "", "", "", "GetExtendedAgentCardRequest"],
    }
}

/// Returns the definitions of an operation's answer.
#[rustfmt::skip]
fn response(operation: Operation, value: &Value) -> [&'static str; 5] {
    match operation {
        Operation::SendMessage =>
            ["Task", name_by_kind(value), name_by_kind(value), "SendMessageResponse", "SendMessageResponse"],
        Operation::GetTask | Operation::CancelTask => ["Task"; 5],
        Operation::ListTasks => ["", "", "ListTasksResult", "", "ListTasksResponse"],
        Operation::CreateTaskPushNotificationConfig | Operation::GetTaskPushNotificationConfig =>
            ["TaskPushNotificationConfig"; 5],
        // A mere list in 0.2 and 0.3, of which no definition has a name.
        Operation::ListTaskPushNotificationConfigs =>
            ["", "", "", "ListTaskPushNotificationConfigResponse", "ListTaskPushNotificationConfigsResponse"],
        Operation::GetExtendedAgentCard => ["AgentCard"; 5],
        Operation::DeleteTaskPushNotificationConfig
        | Operation::SendStreamingMessage
        | Operation::SubscribeToTask => [""; 5],
    }
}
