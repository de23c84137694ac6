//! Checks of the errors that an agent answers with.

use a2a_transport::Binding;
use a2a_transport::binding::grpc::Code;
use a2a_types::{ErrorKind, ProtocolVersion};
use serde_json::Value;

use super::Judge;
use super::invariants::{Finding, Findings, unless};
use crate::record::Mismatch;
use crate::wire::exchange::{AgentResponse, ResponseContent, items};

/// Checks an error against everything that holds for all errors.
pub(super) fn check(judge: &Judge, answered: &AgentResponse) -> Findings {
    let Some(json) = &answered.json else {
        return Findings::new();
    };
    let ResponseContent::Error { kind, .. } = &answered.outcome else {
        if let (ResponseContent::Unreadable(problem), Some(error)) =
            (&answered.outcome, json.get("error"))
        {
            let text = format!("{error}: {}", problem.text);
            let found = unless(false, "$.error", "an error that can be read", text);
            return vec![("error.object", found)];
        }
        return Findings::new();
    };
    let mut findings = Findings::from_iter(internals(answered));
    if judge.binding == Binding::Grpc {
        findings.extend(grpc_status(judge, json, *kind));
        return findings;
    }
    let is_guarded = GUARDS.contains(&answered.status);
    if (judge.binding, judge.protocol_version) == (Binding::HttpJson, ProtocolVersion::V0_3)
        && !is_guarded
    {
        findings.push(("error.body", error_without_message(json)));
    }
    // A proxy in front of the agent may refuse in a format of its own.
    let Some(error) = json.get("error").filter(|error| error.is_object()) else {
        if judge.binding == Binding::HttpJson && judge.protocol_version == ProtocolVersion::V1_0 {
            let expected = "`error` with `code`, `status` and `message`";
            findings.push(("error.body", unless(false, "$", expected, json)));
        }
        return findings;
    };
    findings.extend(match judge.binding {
        Binding::JsonRpc => object(judge, error, *kind),
        _ => body(judge, answered.status, error, *kind),
    });
    findings
}

/// Checks that an error reveals nothing of the agent's internals.
pub(crate) fn internals(answered: &AgentResponse) -> Option<Finding> {
    let (ResponseContent::Error { message, .. }, Some(json)) = (&answered.outcome, &answered.json)
    else {
        return None;
    };
    Some(("error.no-internals", revealed(message, json)))
}

/// Checks an error object of JSON-RPC: its members, its code and, in 1.0, its details.
pub(super) fn object(judge: &Judge, error: &Value, kind: ErrorKind) -> Findings {
    let mut findings = Findings::new();
    let data_fits = match (judge.protocol_version, error.get("data")) {
        (_, None) => true,
        (ProtocolVersion::V1_0, Some(data)) => data.is_array() || data.is_null(),
        _ => true,
    };
    let shaped = error["code"].is_i64() && error["message"].is_string() && data_fits;
    let expected = match judge.protocol_version {
        ProtocolVersion::V1_0 => "an integer `code`, a `message`, and `data` an array if there",
        _ => "an integer `code` and a `message`",
    };
    findings.push(("error.object", unless(shaped, "$.error", expected, error)));
    findings.push(message(error, "$.error.message"));
    let code = error["code"].as_i64().unwrap_or_default();
    let of_version = ErrorKind::ALL
        .iter()
        .any(|kind| kind.code_in(judge.protocol_version) == code);
    // Codes that JSON-RPC reserves; agents may define other codes in the range of server errors (0.3 §8.2).
    let reserved = (-32768..=-32100).contains(&code);
    // 1.0 tells errors of A2A apart by their details, too: both have to say the same.
    let agrees =
        judge.protocol_version != ProtocolVersion::V1_0 || !is_of_a2a(kind) || kind.code() == code;
    let is_allowed =
        agrees && (of_version || !reserved || judge.protocol_version == ProtocolVersion::V0_1);
    let expected = match agrees {
        true => format!("a code of {}", judge.protocol_version),
        false => format!("{}, the code of {kind:?}", kind.code()),
    };
    let found = format!("{code} ({kind:?})");
    findings.push((
        "error.codes",
        unless(is_allowed, "$.error.code", expected, found),
    ));
    if judge.protocol_version == ProtocolVersion::V1_0 {
        findings.extend(details(&error["data"], "$.error.data", kind));
    }
    findings
}

/// Checks an error body of HTTP+JSON: its status and, in 1.0, its members and its details.
fn body(judge: &Judge, status: u16, error: &Value, kind: ErrorKind) -> Findings {
    let mut findings = Findings::new();
    let expected = kind.http_status();
    // Statuses that 1.0.0 had for some of them.
    let earlier = match kind {
        ErrorKind::TaskNotCancelable => 409,
        ErrorKind::ContentTypeNotSupported => 415,
        ErrorKind::InvalidAgentResponse => 502,
        _ => expected,
    };
    // HTTP has statuses of its own for errors outside A2A.
    let of_http = [404, 405, 406, 408, 413, 415, 429, 431, 503].contains(&status);
    let same = match judge.protocol_version {
        ProtocolVersion::V1_0 if is_of_a2a(kind) => status == expected || status == earlier,
        // No table lists these errors.
        ProtocolVersion::V1_0 => status / 100 == expected / 100 || of_http,
        // The official SDK of 0.3 says by 501 that an operation is not supported.
        _ if status == 501 => is_support(kind),
        // No table lists statuses; 404 means that something is not there.
        _ => status / 100 == expected / 100 && (status != 404 || is_absence(kind)),
    };
    findings.push((
        "error.status",
        unless(
            same,
            "HTTP status",
            format!("{expected} for {kind:?}"),
            status,
        ),
    ));
    if judge.protocol_version == ProtocolVersion::V1_0 {
        let is_name = |text: &str| {
            !text.is_empty()
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        };
        let holds = error["code"] == status
            && error["message"].is_string()
            && error
                .get("details")
                .is_none_or(|details| details.is_array() || details.is_null());
        let expected = format!("`code` {status}, `message`, and `details` an array if there");
        findings.push(("error.body", unless(holds, "$.error", expected, error)));
        findings.push(message(error, "$.error.message"));
        let named = match is_of_a2a(kind) {
            true => error["status"] == kind.grpc_status(),
            false => error["status"].as_str().is_some_and(is_name),
        };
        let expected = match is_of_a2a(kind) {
            true => format!("{}, the gRPC status of {kind:?}", kind.grpc_status()),
            false => "the name of a gRPC status".to_owned(),
        };
        let found = unless(named, "$.error.status", expected, &error["status"]);
        findings.push(("error.status-name", found));
        let object = error["code"].is_i64() && error["message"].is_string();
        let expected = "an integer `code` and a `message`";
        findings.push(("error.object", unless(object, "$.error", expected, error)));
        findings.extend(details(&error["details"], "$.error.details", kind));
    }
    findings
}

/// Checks an error by gRPC, which is a status in JSON: its message and, in 1.0, its code and its details.
fn grpc_status(judge: &Judge, status: &Value, kind: ErrorKind) -> Findings {
    let mut findings = vec![message(status, "$.message")];
    if judge.protocol_version != ProtocolVersion::V1_0 {
        return findings;
    }
    let number = status["code"]
        .as_i64()
        .and_then(|code| i32::try_from(code).ok());
    let name = Code::of(number.unwrap_or_default()).name();
    let expected = format!("{} for {kind:?}", kind.grpc_status());
    let holds = !is_of_a2a(kind) || name == kind.grpc_status();
    findings.push(("grpc.error-code", unless(holds, "$.code", expected, name)));
    findings.extend(details(&status["details"], "$.details", kind));
    findings
}

/// Checks that the message of an error says something.
fn message(error: &Value, place: &str) -> Finding {
    let message = &error["message"];
    let is_said = !message.as_str().unwrap_or_default().trim().is_empty();
    let found = unless(is_said, place, "what went wrong", message);
    ("error.message", found)
}

/// Checks the details of an error of 1.0, which are at a place.
fn details(details: &Value, place: &str, kind: ErrorKind) -> Findings {
    let mut findings = Findings::new();
    let all = details;
    let details = items(all);
    for (index, detail) in details.iter().enumerate() {
        let place = format!("{place}[{index}]");
        let typed = detail["@type"].is_string();
        findings.push((
            "error.details-typed",
            unless(typed, &place, "`@type`", detail),
        ));
        findings.push(("error.details-formed", misshapen(&place, detail)));
    }
    if is_of_a2a(kind) {
        let is_info = |detail: &&Value| detail["@type"] == INFO;
        let info = details.iter().find(is_info).unwrap_or(&Value::Null);
        let holds = info["domain"] == DOMAIN && info["reason"] == kind.reason();
        let expected = format!("an ErrorInfo with {} of {DOMAIN}", kind.reason());
        findings.push(("error.info", unless(holds, place, expected, all)));
    }
    findings
}

/// Returns a mismatch if an error of 0.3, which leaves its form to agents, does not say what went wrong.
fn error_without_message(json: &Value) -> Option<Mismatch> {
    let is_said = |text: &str| !text.trim().is_empty();
    let (place, error) = match json.get("error") {
        Some(Value::String(text)) if is_said(text) => return None,
        Some(error) if error.is_object() => ("$.error", error),
        _ => ("$", json),
    };
    let message = error["message"].as_str().or(error["detail"].as_str());
    let holds = message.is_some_and(is_said) && error.get("code").is_none_or(Value::is_i64);
    let expected = "a `message`, and a whole number as `code` if there is one";
    unless(holds, place, expected, json)
}

/// Returns a mismatch if the members of a detail are not what its type requires.
fn misshapen(place: &str, detail: &Value) -> Option<Mismatch> {
    let is_text = |name: &str| detail[name].is_string();
    let texts = |value: &Value| match value {
        Value::Object(members) => members.values().all(Value::is_string),
        value => value.is_null(),
    };
    let violations = || {
        let list = detail["fieldViolations"].as_array();
        let is_described = |violation: &Value| violation.is_object() && texts(violation);
        list.is_some_and(|list| list.iter().all(is_described))
    };
    let (holds, expected) = match detail["@type"].as_str().unwrap_or_default() {
        INFO => (
            is_text("reason") && is_text("domain") && texts(&detail["metadata"]),
            "`reason` and `domain`, and `metadata` of texts if there",
        ),
        BAD_REQUEST => (violations(), "`fieldViolations` of texts"),
        _ => return None,
    };
    unless(holds, place, expected, detail)
}

/// Returns whether the error has a code of A2A's own.
fn is_of_a2a(kind: ErrorKind) -> bool {
    (-32009..=-32001).contains(&kind.code())
}

/// Returns whether the error says that the agent does not support what was asked for.
fn is_support(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::UnsupportedOperation
            | ErrorKind::PushNotificationNotSupported
            | ErrorKind::MethodNotFound
    )
}

/// Returns whether the error may be answered by HTTP status 404.
fn is_absence(kind: ErrorKind) -> bool {
    !matches!(
        kind,
        ErrorKind::JsonParse
            | ErrorKind::InvalidRequest
            | ErrorKind::InvalidParams
            | ErrorKind::TaskNotCancelable
            | ErrorKind::ContentTypeNotSupported
    )
}

/// HTTP statuses by which a guard in front of an agent may answer in its place.
pub(super) const GUARDS: [u16; 5] = [401, 403, 413, 429, 503];

const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";
const INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const DOMAIN: &str = "a2a-protocol.org";

/// Returns a mismatch if an error reveals the agent's internals: files, code, a stack trace.
fn revealed(message: &str, json: &Value) -> Option<Mismatch> {
    let all = format!("{message}\n{json}");
    let signs = [
        "Traceback (most recent call last)",
        "panicked at",
        ".py\", line ",
        "node_modules/",
        "\tat ",
        "\\n    at ",
        "/usr/lib/",
        "/home/",
        "goroutine ",
        ".rs:",
        ".java:",
        ".go:",
        "SELECT ",
    ];
    let sign = signs.iter().find(|sign| all.contains(**sign));
    unless(
        sign.is_none(),
        "the error",
        "nothing of the agent's inside",
        all.trim(),
    )
}
