//! Violations that a card has, by the linter of the conformance suite.

#[cfg(feature = "conformance")]
use a2a_conformance::card::inspect;
#[cfg(feature = "conformance")]
use a2a_conformance::requirement::requirement;
use serde_json::Value;
#[cfg(feature = "conformance")]
use serde_json::json;

/// Returns the violations with the sentences of the specification that are violated.
#[cfg(feature = "conformance")]
pub(super) fn problems(raw: &str) -> Vec<Value> {
    let inspection = match inspect(raw) {
        Ok(inspection) => inspection,
        Err(problem) => return vec![json!({"level": "must", "path": "$", "problem": problem})],
    };
    let problems = inspection.problems.iter().map(|problem| {
        let mut shown = json!(problem);
        if let Some(requirement) = requirement(problem.requirement) {
            shown["text"] = json!(requirement.says);
            shown["source"] = json!(requirement.source);
        }
        shown
    });
    problems.collect()
}

/// Returns nothing: the linter is not built in.
#[cfg(not(feature = "conformance"))]
pub(super) fn problems(_: &str) -> Vec<Value> {
    Vec::new()
}
