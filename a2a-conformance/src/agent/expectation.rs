//! Comparison of answers with what a case expects.

use a2a_transport::Binding;
use a2a_types::{ErrorKind, ProtocolVersion};
use serde_json::{Value, json};

use super::case_run::{CaseRun, StopReason};
use super::rules;
use crate::case::{Expect, pattern};
use crate::record::{Mismatch, MismatchKind};
use crate::wire::exchange::{AgentResponse, Problem, ResponseContent, has_code, task_of};

/// Returns every mismatch of an answer with what a step expects.
pub(super) fn answer(
    run: &CaseRun<'_>,
    expect: &Expect,
    answered: &AgentResponse,
) -> Result<Vec<Mismatch>, StopReason> {
    let answer = |expected: String, found| other_answer(run, expected, found);
    let mut found = Vec::new();
    if matches!(answered.outcome, ResponseContent::Nothing(_)) {
        // Status 0 stands for a connection that is closed without an answer.
        let closed = Value::from(0);
        let allows = |wanted: &Value| pattern::is_like(wanted, Some(&closed));
        if !answered.late && expect.status.as_ref().is_some_and(allows) {
            return Ok(found);
        }
        found.push(answer("an answer".to_owned(), describe(&answered.outcome)));
        return Ok(found);
    }
    let result = match &answered.outcome {
        ResponseContent::Result(value) => Some(value),
        _ => None,
    };
    let wants_result = expect.task.is_some() || expect.message.is_some() || expect.result.is_some();
    match (&expect.error, &answered.outcome) {
        (Some(wanted), ResponseContent::Error { kind, .. }) => {
            let format = ErrorFormat {
                protocol_version: answered.protocol_version,
                binding: answered.binding,
                is_coded: answered.json.as_ref().is_some_and(has_code),
            };
            found.extend(error(run, &format, wanted, *kind));
        }
        (Some(wanted), ResponseContent::Unreadable(_))
            if wanted == "rejection" && is_rejection(answered.status) => {}
        (Some(wanted), ResponseContent::Unreadable(_)) if result_in(answered).is_some() => {
            let result = result_in(answered).unwrap_or(&Value::Null);
            found.push(answer(errors(wanted), describe_result(result)));
        }
        (Some(wanted), other) => {
            found.push(answer(errors(wanted), describe(other)));
        }
        (None, other) if wants_result && result.is_none() => {
            found.push(answer("a result".to_owned(), describe(other)));
        }
        (None, _) => {}
    }
    let status = answered.status.into();
    let message = result.and_then(|value| value.get("message"));
    let mut values = vec![
        ("HTTP status", &expect.status, Some(&status)),
        ("headers", &expect.headers, Some(&answered.headers)),
        ("the body", &expect.body, answered.json.as_ref()),
    ];
    if result.is_some() {
        values.push(("the task", &expect.task, result.and_then(task_of)));
        values.push(("the message", &expect.message, message));
        values.push(("the result", &expect.result, result));
    }
    for (what, wanted, value) in values {
        found.extend(against(run, wanted.as_ref(), value, what)?);
    }
    Ok(found)
}

/// Returns every mismatch of a value with what a step expects.
pub(super) fn value(
    run: &CaseRun<'_>,
    expect: &Expect,
    value: Option<&Value>,
) -> Result<Vec<Mismatch>, StopReason> {
    let mut found = against(run, expect.value.as_ref(), value, "$")?;
    if let Some(name) = &expect.rule {
        let rule = rules::named(name);
        let rule =
            rule.ok_or_else(|| StopReason::InvalidCase(format!("`{name}` is not a rule")))?;
        let value = value.unwrap_or(&Value::Null);
        let broken = rule(run.target, run.interface.protocol_version, value).into_iter();
        found.extend(broken.map(|mismatch| Mismatch {
            place: run.place(&mismatch.place),
            ..mismatch
        }));
    }
    Ok(found)
}

/// Returns every mismatch of the received notifications with what a step expects.
pub(super) fn notifications(
    run: &CaseRun<'_>,
    expect: &Expect,
    list: &Value,
) -> Result<Vec<Mismatch>, StopReason> {
    against(
        run,
        expect.notifications.as_ref(),
        Some(list),
        "notifications",
    )
}

/// Returns the mismatch of an answer of another kind than expected.
pub(super) fn other_answer(
    run: &CaseRun<'_>,
    expected: String,
    (found, kind): (String, MismatchKind),
) -> Mismatch {
    Mismatch::new(run.place("the answer"), expected, found).of_kind(kind)
}

/// Compares a value with a pattern, in which names are filled in first.
pub(super) fn against(
    run: &CaseRun<'_>,
    wanted: Option<&Value>,
    value: Option<&Value>,
    what: &str,
) -> Result<Vec<Mismatch>, StopReason> {
    let Some(wanted) = wanted else {
        return Ok(Vec::new());
    };
    let nothing = json!({"$any": false});
    let wanted = run.fill(&run.without_absent_context_ids(wanted, Some(&nothing)))?;
    Ok(pattern::mismatches(&wanted, value, &run.place(what)))
}

/// Returns a mismatch unless an error is one that a step expects.
pub(super) fn error(
    run: &CaseRun<'_>,
    format: &ErrorFormat,
    wanted: &Value,
    kind: ErrorKind,
) -> Option<Mismatch> {
    let protocol_version = format.protocol_version;
    // Older versions have fewer codes.
    let named = |wanted: &Value| {
        let name = wanted.as_str().unwrap_or_default();
        let wanted = error_kind(name);
        let code = wanted.map(|kind| kind.code_in(protocol_version));
        match name {
            "any" => true,
            "refusal" => kind != ErrorKind::Internal,
            // An agent that does not look at credentials would find no such task.
            "rejection" => kind != ErrorKind::TaskNotFound,
            _ if code == Some(kind.code_in(protocol_version)) => true,
            _ => wanted.is_some_and(|wanted| !format.distinguishes(wanted, kind)),
        }
    };
    let holds = match wanted {
        Value::Array(names) => names.iter().any(named),
        name => named(name),
    };
    let found = || match kind {
        ErrorKind::Other(code) => format!("the error {code}"),
        kind => format!("the error {kind:?} ({})", kind.code_in(protocol_version)),
    };
    (!holds).then(|| Mismatch::new(run.place("the error"), errors(wanted), found()))
}

/// Returns the kind of an error by its name, like `TaskNotFound`.
fn error_kind(name: &str) -> Option<ErrorKind> {
    let known = ErrorKind::ALL.iter();
    known.copied().find(|kind| format!("{kind:?}") == name)
}

/// Format of an error.
pub(super) struct ErrorFormat {
    pub(super) protocol_version: ProtocolVersion,
    pub(super) binding: Binding,
    /// `true` if the body names a code of JSON-RPC.
    pub(super) is_coded: bool,
}

impl ErrorFormat {
    /// Returns whether two errors differ in an answer. By HTTP+JSON, 1.0 has no reason for errors outside A2A
    /// (§5.4), and 0.3 has no error format: where the body names no code, only the class of the status can
    /// differ.
    fn distinguishes(&self, one: ErrorKind, other: ErrorKind) -> bool {
        let has_no_reason = |kind: ErrorKind| (-32700..=-32600).contains(&kind.code());
        let class = |kind: ErrorKind| kind.http_status_in(self.protocol_version) / 100;
        let may_be_reported_alike = match (self.binding, self.protocol_version) {
            (Binding::JsonRpc, _) => false,
            (_, ProtocolVersion::V1_0) => has_no_reason(one) && has_no_reason(other),
            _ => !self.is_coded,
        };
        !may_be_reported_alike || class(one) != class(other)
    }
}

/// Returns whether an HTTP status by itself says that a caller is not served: a guard in front of the agent may answer
/// without a body of A2A.
pub(super) fn is_rejection(status: u16) -> bool {
    (400..500).contains(&status) && status != 404
}

/// Names the errors that a step expects.
pub(super) fn errors(wanted: &Value) -> String {
    let name = |wanted: &Value| match wanted.as_str().unwrap_or_default() {
        "any" => "an error".to_owned(),
        "refusal" => "an error that refuses the request".to_owned(),
        "rejection" => "an error that rejects the caller".to_owned(),
        name => format!("the error {name}"),
    };
    match wanted {
        Value::Array(names) => names.iter().map(name).collect::<Vec<_>>().join(" or "),
        one => name(one),
    }
}

/// Returns the result in an answer, even if it cannot be read.
fn result_in(answered: &AgentResponse) -> Option<&Value> {
    let json = answered.json.as_ref()?;
    match answered.binding {
        Binding::JsonRpc => json.get("result"),
        _ => (200..300).contains(&answered.status).then_some(json),
    }
}

fn describe_result(result: &Value) -> (String, MismatchKind) {
    let text = result.to_string();
    let text = text.chars().take(300).collect::<String>();
    let kind = match result {
        // No operation has null as its result: the answer is neither a result nor an error.
        Value::Null => MismatchKind::Unreadable,
        _ => MismatchKind::Result,
    };
    (format!("the result {text}"), kind)
}

/// Describes an answer as what was found.
pub(super) fn describe(outcome: &ResponseContent) -> (String, MismatchKind) {
    match outcome {
        ResponseContent::Result(value) => describe_result(value),
        ResponseContent::Error { kind, message } => {
            let text = format!("the error {kind:?}: {message}");
            (text, MismatchKind::Value)
        }
        ResponseContent::Unreadable(Problem { text, kind }) => {
            (format!("an answer that cannot be read: {text}"), *kind)
        }
        ResponseContent::Nothing(Problem { text, kind }) => (text.clone(), *kind),
    }
}

#[cfg(test)]
mod tests {
    use a2a_types::ErrorKind::{InvalidParams, InvalidRequest, TaskNotCancelable, TaskNotFound};

    use super::*;

    #[track_caller]
    fn check(
        binding: Binding,
        protocol_version: ProtocolVersion,
        is_coded: bool,
        apart: [bool; 2],
    ) {
        let format = ErrorFormat {
            protocol_version,
            binding,
            is_coded,
        };
        let found = [
            format.distinguishes(InvalidParams, InvalidRequest),
            format.distinguishes(TaskNotCancelable, TaskNotFound),
        ];
        assert_eq!(found, apart, "{binding} {protocol_version} {is_coded}");
        assert!(format.distinguishes(InvalidParams, ErrorKind::Internal));
    }

    #[test]
    fn errors_without_their_own_reason_are_not_distinguished() {
        check(Binding::JsonRpc, ProtocolVersion::V1_0, false, [true, true]);
        check(
            Binding::HttpJson,
            ProtocolVersion::V1_0,
            false,
            [false, true],
        );
        check(Binding::HttpJson, ProtocolVersion::V0_3, true, [true, true]);
        check(
            Binding::HttpJson,
            ProtocolVersion::V0_3,
            false,
            [false, false],
        );
        assert!(has_code(&json!({"error": {"code": -32602}})));
        assert!(!has_code(&json!({"error": {"code": 400}})));
    }
}
