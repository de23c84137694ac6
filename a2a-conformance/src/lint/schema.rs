//! Our JSON Schemas as judges: what does not fit, and where.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use a2a_types::reading::Violation;
use a2a_types::{Dialect, schema};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

/// Everything in a value that a definition of our schema does not allow.
///
/// Errors: there is no such definition.
pub(crate) fn violations(
    dialect: Dialect,
    definition: &'static str,
    value: &Value,
) -> Result<Vec<Violation>, String> {
    let validator = validator(dialect, definition)?;
    // Most values are valid, and that is told at far less cost than why others are not.
    if validator.is_valid(value) {
        return Ok(Vec::new());
    }
    let errors = validator.iter_errors(value).take(MOST);
    Ok(errors.flat_map(|error| told(&error)).collect())
}

/// More than this of one document helps nobody.
const MOST: usize = 50;

fn validator(dialect: Dialect, definition: &'static str) -> Result<Arc<Validator>, String> {
    type Validators = BTreeMap<(Dialect, &'static str), Arc<Validator>>;
    static VALIDATORS: OnceLock<Mutex<Validators>> = OnceLock::new();
    let mut validators = VALIDATORS
        .get_or_init(Mutex::default)
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(validator) = validators.get(&(dialect, definition)) {
        return Ok(validator.clone());
    }
    let schema = schema::definition(dialect, definition).ok_or("no such definition")?;
    let validator = jsonschema::validator_for(&schema).map_err(|error| error.to_string())?;
    let validator = Arc::new(validator);
    validators.insert((dialect, definition), validator.clone());
    Ok(validator)
}

/// What an error says. Of several alternatives, none of which fits, the one that comes closest is
/// told: that none fits helps nobody.
fn told(error: &ValidationError<'_>) -> Vec<Violation> {
    let alternatives = match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            context.as_slice()
        }
        _ => &[],
    };
    let closest = alternatives.iter().map(|errors| {
        let told: Vec<_> = errors.iter().flat_map(told).collect();
        let depth = told.iter().map(|violation| depth(&violation.path)).max();
        let of_another_kind = errors.iter().any(is_of_another_kind);
        (
            (!of_another_kind, depth, std::cmp::Reverse(told.len())),
            told,
        )
    });
    if let Some((_, told)) = closest.max_by(|(one, _), (other, _)| one.cmp(other)) {
        return told;
    }
    let problem: String = error.to_string().chars().take(LONGEST).collect();
    vec![Violation {
        path: path(&error.instance_path().to_string()),
        problem,
    }]
}

/// Errors repeat what they are about.
const LONGEST: usize = 160;

/// Whether the alternative is meant for something else: a constant or a type differs.
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
    fn check(dialect: Dialect, definition: &'static str, value: &Value, expected: &[&str]) {
        let found = violations(dialect, definition, value).unwrap();
        let paths: Vec<_> = found.iter().map(|violation| &*violation.path).collect();
        assert_eq!(paths, expected, "{found:#?}");
    }

    #[test]
    fn the_closest_alternative_is_told() {
        let message = json!({"role": "user", "kind": "message", "messageId": "m", "parts": [{"kind": "text"}]});
        check(Dialect::V0_2, "Message", &message, &["$.parts[0]"]);
        let task =
            json!({"id": 1, "contextId": "c", "kind": "task", "status": {"state": "completed"}});
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": task});
        check(
            Dialect::V0_2,
            "SendMessageResponse",
            &answer,
            &["$.result.id"],
        );
    }

    #[test]
    fn everything_is_told() {
        let task = json!({"id": 1, "status": {"state": "done"}});
        check(Dialect::V1_0, "Task", &task, &["$.id", "$.status.state"]);
        let fine = json!({"id": "t", "status": {"state": "TASK_STATE_WORKING"}});
        check(Dialect::V1_0, "Task", &fine, &[]);
        assert!(violations(Dialect::V1_0, "Tusk", &fine).is_err());
    }
}
