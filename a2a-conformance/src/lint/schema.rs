//! Validation by our JSON Schemas: the violations and their paths.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use a2a_types::reading::Violation;
use a2a_types::{ProtocolVersion, schema};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Value, json};

use crate::record::{Mismatch, MismatchKind};

/// A file of definitions.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Bundle {
    /// The data and the JSON-RPC of a version.
    Of(ProtocolVersion),
    /// The ProtoJSON of 0.3's HTTP+JSON.
    ProtoJson,
    /// Documents that no schema of a version defines: HTTP errors, headers of signatures.
    Other,
}

impl Bundle {
    /// The definitions by their names.
    pub(crate) fn definitions(self) -> &'static Value {
        static ALL: LazyLock<Vec<(Bundle, Value)>> = LazyLock::new(|| {
            let read = |text| serde_json::from_str::<Value>(text).unwrap_or_default();
            let own = |protocol_version: &ProtocolVersion| {
                (
                    Bundle::Of(*protocol_version),
                    schema::bundle(*protocol_version),
                )
            };
            let mut all: Vec<_> = ProtocolVersion::ALL.iter().map(own).collect();
            all.push((Bundle::ProtoJson, read(PROTO_JSON)));
            all.push((Bundle::Other, read(OTHER)));
            all
        });
        let found = ALL.iter().find(|(bundle, _)| *bundle == self);
        found.map_or(&Value::Null, |(_, bundle)| &bundle["$defs"])
    }
}

const PROTO_JSON: &str = include_str!("../../schemas/0.3-http-json.json");
const OTHER: &str = include_str!("../../schemas/documents.json");

/// Returns everything in a value that a definition of our schema does not allow.
///
/// Errors: there is no such definition.
pub(crate) fn violations(
    protocol_version: ProtocolVersion,
    definition: &'static str,
    value: &Value,
) -> Result<Vec<Violation>, String> {
    violations_in(Bundle::Of(protocol_version), definition, value)
}

/// Returns everything in a value that a definition of a bundle does not allow.
///
/// Errors: there is no such definition.
pub(crate) fn violations_in(
    bundle: Bundle,
    definition: &'static str,
    value: &Value,
) -> Result<Vec<Violation>, String> {
    let schema_violations = validate(&*validator(bundle, definition)?, value);
    Ok(schema_violations.into_iter().map(Violation::from).collect())
}

/// The same, with the required value and the value found.
///
/// Errors: there is no such definition.
pub(crate) fn schema_violations(
    protocol_version: ProtocolVersion,
    definition: &'static str,
    value: &Value,
) -> Result<Vec<SchemaViolation>, String> {
    Ok(validate(
        &*validator(Bundle::Of(protocol_version), definition)?,
        value,
    ))
}

/// Returns the first violation of a definition of our schema in a value.
pub(crate) fn schema_violation(
    protocol_version: ProtocolVersion,
    definition: &'static str,
    value: &Value,
) -> Option<SchemaViolation> {
    match schema_violations(protocol_version, definition, value) {
        Ok(schema_violations) => schema_violations.into_iter().next(),
        Err(problem) => Some(SchemaViolation {
            path: "$".to_owned(),
            expected: format!("what `{definition}` says"),
            found: problem.clone(),
            problem,
        }),
    }
}

/// Returns everything in a value that a schema does not allow.
pub(crate) fn validate(validator: &Validator, value: &Value) -> Vec<SchemaViolation> {
    // Most values are valid, and finding that costs far less than finding why others are not.
    if validator.is_valid(value) {
        return Vec::new();
    }
    let errors = validator.iter_errors(value).take(MAX_MISFITS);
    errors.flat_map(|error| describe(&error)).collect()
}

/// A violation of a schema.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SchemaViolation {
    /// JSON path.
    pub(crate) path: String,
    /// Value that the schema requires there.
    pub(crate) expected: String,
    /// Value found there.
    pub(crate) found: String,
    /// Sentence with the required value and the value found.
    pub(crate) problem: String,
}

impl From<SchemaViolation> for Violation {
    fn from(SchemaViolation { path, problem, .. }: SchemaViolation) -> Self {
        Self { path, problem }
    }
}

impl SchemaViolation {
    /// Moves the path from a part of a document into the whole document.
    pub(crate) fn within(mut self, inner: &str, outer: &str) -> Self {
        if let Some(rest) = self.path.strip_prefix(inner) {
            self.path = format!("{outer}{rest}");
        }
        self
    }

    /// Returns it as a mismatch of a check; `before` names the event, if it is about one.
    pub(crate) fn mismatch(self, before: &str, definition: &str) -> Mismatch {
        let kind = match &*self.path {
            "$" | "$.result" => MismatchKind::Unreadable,
            _ => MismatchKind::Value,
        };
        let place = match before {
            "" => self.path,
            before => format!("{before}: {}", self.path),
        };
        let expected = format!("{} ({definition})", self.expected);
        Mismatch::new(place, expected, self.found).of_kind(kind)
    }
}

/// Maximum number of violations reported for a document.
const MAX_MISFITS: usize = 50;

fn validator(bundle: Bundle, definition: &'static str) -> Result<Arc<Validator>, String> {
    type Validators = BTreeMap<(Bundle, &'static str), Arc<Validator>>;
    static VALIDATORS: OnceLock<Mutex<Validators>> = OnceLock::new();
    let mut validators = VALIDATORS
        .get_or_init(Mutex::default)
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(validator) = validators.get(&(bundle, definition)) {
        return Ok(validator.clone());
    }
    let definitions = bundle.definitions();
    definitions.get(definition).ok_or("no such definition")?;
    let schema = json!({"$ref": format!("#/$defs/{definition}"), "$defs": definitions});
    let validator = jsonschema::validator_for(&schema).map_err(|error| error.to_string())?;
    let validator = Arc::new(validator);
    validators.insert((bundle, definition), validator.clone());
    Ok(validator)
}

/// Returns the violations of a validation error. If none of several alternatives fits, they
/// are the violations of the alternative that comes closest.
fn describe(error: &ValidationError<'_>) -> Vec<SchemaViolation> {
    let alternatives = match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            context.as_slice()
        }
        _ => &[],
    };
    let closest = alternatives.iter().map(|errors| {
        let describe: Vec<_> = errors.iter().flat_map(describe).collect();
        let deepest = describe
            .iter()
            .map(|schema_violation| depth(&schema_violation.path))
            .max();
        // A difference further below is a fault within the alternative.
        let at = depth(&path(&error.instance_path().to_string()));
        let is_near =
            |one: &ValidationError<'_>| depth(&path(&one.instance_path().to_string())) <= at + 1;
        let mut errors_near = errors.iter().filter(|one| is_near(one));
        let of_another_kind = errors_near.any(is_of_another_kind);
        let lacks_member = errors.iter().any(|one| {
            let is_required = matches!(one.kind(), ValidationErrorKind::Required { .. });
            is_required && depth(&path(&one.instance_path().to_string())) == at
        });
        (
            (
                !of_another_kind,
                !lacks_member,
                deepest,
                std::cmp::Reverse(describe.len()),
            ),
            describe,
        )
    });
    if let Some((_, describe)) = closest.max_by(|(one, _), (other, _)| one.cmp(other)) {
        return describe;
    }
    vec![SchemaViolation {
        path: path(&error.instance_path().to_string()),
        expected: short(&expected(error)),
        found: short(&found(error)),
        problem: short(&error.to_string()),
    }]
}

/// Describes what a schema requires.
fn expected(error: &ValidationError<'_>) -> String {
    let all = |options: &Value| {
        let options = options.as_array().into_iter().flatten();
        let options: Vec<_> = options.map(Value::to_string).collect();
        options.join(", ")
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => format!("a member {property}"),
        ValidationErrorKind::Constant { expected_value } => expected_value.to_string(),
        ValidationErrorKind::Enum { options } => format!("one of {}", all(options)),
        ValidationErrorKind::Pattern { pattern } => format!("a text like {pattern}"),
        // The sentence is about `it`; the value itself is in `found`.
        _ => {
            let sentence = error.masked_with("it").to_string();
            match sentence.strip_prefix("it is not ") {
                Some(rest) if rest.starts_with("of ") => format!("a value {rest}"),
                Some(rest) => rest.to_owned(),
                None => format!("not: {sentence}"),
            }
        }
    }
}

/// Describes the value that is there; only its members, if one is missing.
fn found(error: &ValidationError<'_>) -> String {
    match (error.kind(), error.instance().as_object()) {
        (ValidationErrorKind::Required { .. }, Some(members)) if members.is_empty() => {
            "no members".to_owned()
        }
        (ValidationErrorKind::Required { .. }, Some(members)) => {
            let names: Vec<_> = members.keys().map(|name| format!("`{name}`")).collect();
            format!("only {}", names.join(", "))
        }
        _ => error.instance().to_string(),
    }
}

fn short(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

/// Errors quote the values that they are about.
const MAX_TEXT: usize = 160;

/// Returns whether the alternative is meant for something else: a constant or a type differs.
fn is_of_another_kind(error: &ValidationError<'_>) -> bool {
    matches!(
        error.kind(),
        ValidationErrorKind::Constant { .. } | ValidationErrorKind::Type { .. }
    )
}

fn depth(path: &str) -> usize {
    path.matches(['.', '[']).count()
}

/// `$.message.parts[0]` for `/message/parts/0`.
fn path(pointer: &str) -> String {
    let steps = pointer.split('/').skip(1).map(|step| {
        match step.bytes().all(|byte| byte.is_ascii_digit()) {
            true => format!("[{step}]"),
            false => format!(".{}", step.replace("~1", "/").replace("~0", "~")),
        }
    });
    format!("${}", steps.collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(
        protocol_version: ProtocolVersion,
        definition: &'static str,
        value: &Value,
        expected: &[&str],
    ) {
        let found = violations(protocol_version, definition, value).unwrap();
        let paths: Vec<_> = found.iter().map(|violation| &*violation.path).collect();
        assert_eq!(paths, expected, "{found:#?}");
    }

    #[test]
    fn closest_alternative_is_reported() {
        let message = json!({"role": "user", "kind": "message", "messageId": "m", "parts": [{"kind": "text"}]});
        check(ProtocolVersion::V0_2, "Message", &message, &["$.parts[0]"]);
        let task =
            json!({"id": 1, "contextId": "c", "kind": "task", "status": {"state": "completed"}});
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": task});
        check(
            ProtocolVersion::V0_2,
            "SendMessageResponse",
            &answer,
            &["$.result.id"],
        );
    }

    #[test]
    fn expected_value_is_reported() {
        #[track_caller]
        fn check(task: &Value, expected: [&str; 3]) {
            let schema_violation = schema_violation(ProtocolVersion::V1_0, "Task", task).unwrap();
            let describe = schema_violation
                .within("$", "$.result")
                .mismatch("event 2", "Task");
            assert_eq!(
                [&*describe.place, &*describe.expected, &*describe.found],
                expected
            );
        }
        check(
            &json!({"id": 1, "status": {"state": "TASK_STATE_WORKING"}}),
            [
                "event 2: $.result.id",
                r#"a value of type "string" (Task)"#,
                "1",
            ],
        );
        check(
            &json!({"id": "t"}),
            [
                "event 2: $.result",
                r#"a member "status" (Task)"#,
                "only `id`",
            ],
        );
        let fine = json!({"id": "t", "status": {"state": "TASK_STATE_WORKING"}});
        assert_eq!(schema_violation(ProtocolVersion::V1_0, "Task", &fine), None);
        assert!(schema_violation(ProtocolVersion::V1_0, "Tusk", &fine).is_some());
    }

    #[test]
    fn all_violations_are_reported() {
        let task = json!({"id": 1, "status": {"state": "done"}});
        check(
            ProtocolVersion::V1_0,
            "Task",
            &task,
            &["$.id", "$.status.state"],
        );
        let fine = json!({"id": "t", "status": {"state": "TASK_STATE_WORKING"}});
        check(ProtocolVersion::V1_0, "Task", &fine, &[]);
        assert!(violations(ProtocolVersion::V1_0, "Tusk", &fine).is_err());
    }
}
