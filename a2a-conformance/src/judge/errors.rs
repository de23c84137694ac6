//! Checks of the errors that an agent answers with.

use a2a_transport::Binding;
use a2a_types::{Dialect, ErrorKind};
use serde_json::Value;

use super::Judge;
use super::invariants::unless;
use super::response::GUARDS;
use crate::record::{Evidence, Mismatch};
use crate::wire::exchange::{AgentResponse, ResponseContent};

impl Judge {
    /// Checks an error against everything that holds for all errors.
    pub(crate) fn judge_error(&self, answered: &AgentResponse) {
        let evidence = &answered.evidence;
        let Some(json) = &answered.json else { return };
        let ResponseContent::Error { kind, .. } = &answered.outcome else {
            if let (ResponseContent::Unreadable(problem), Some(error)) =
                (&answered.outcome, json.get("error"))
            {
                let text = format!("{error}: {}", problem.text);
                let found = unless(false, "$.error", "an error that can be read", text);
                self.observations.record("error.object", found, evidence);
            }
            return;
        };
        let observe = |check, found| self.observations.record(check, found, evidence);
        self.judge_internals(answered);
        let is_guarded = GUARDS.contains(&answered.status);
        if (self.binding, self.dialect) == (Binding::HttpJson, Dialect::V0_3) && !is_guarded {
            observe("error.body", error_without_message(json));
        }
        // A proxy in front of the agent may refuse in a format of its own.
        let Some(error) = json.get("error").filter(|error| error.is_object()) else {
            if self.binding == Binding::HttpJson && self.dialect == Dialect::V1_0 {
                let found = unless(
                    false,
                    "$",
                    "`error` with `code`, `status` and `message`",
                    json,
                );
                observe("error.body", found);
            }
            return;
        };
        match self.binding {
            Binding::JsonRpc => self.judge_object(error, *kind, evidence),
            _ => self.judge_body(answered, error, *kind),
        }
        if self.dialect == Dialect::V1_0 {
            self.judge_details(error, *kind, evidence);
        }
    }

    /// Checks that an error reveals nothing of the agent's internals.
    pub(crate) fn judge_internals(&self, answered: &AgentResponse) {
        if let (ResponseContent::Error { message, .. }, Some(json)) =
            (&answered.outcome, &answered.json)
        {
            let found = internals(message, json);
            self.observations
                .record("error.no-internals", found, &answered.evidence);
        }
    }

    /// Checks that the message of an error says something.
    fn judge_message(&self, error: &Value, evidence: &Evidence) {
        let message = error["message"].as_str().unwrap_or_default();
        let is_said = !message.trim().is_empty();
        let found = unless(
            is_said,
            "$.error.message",
            "what went wrong",
            &error["message"],
        );
        self.observations.record("error.message", found, evidence);
    }

    /// Checks an error object of JSON-RPC: its members and its code.
    pub(crate) fn judge_object(&self, error: &Value, kind: ErrorKind, evidence: &Evidence) {
        let observe = |check, found| self.observations.record(check, found, evidence);
        let data_fits = match (self.dialect, error.get("data")) {
            (_, None) => true,
            (Dialect::V1_0, Some(data)) => data.is_array() || data.is_null(),
            _ => true,
        };
        let shaped = error["code"].is_i64() && error["message"].is_string() && data_fits;
        let expected = match self.dialect {
            Dialect::V1_0 => "an integer `code`, a `message`, and `data` an array if there",
            _ => "an integer `code` and a `message`",
        };
        observe("error.object", unless(shaped, "$.error", expected, error));
        self.judge_message(error, evidence);
        let code = error["code"].as_i64().unwrap_or_default();
        let of_version = ErrorKind::ALL
            .iter()
            .any(|kind| kind.code_in(self.dialect) == code);
        // Codes that JSON-RPC reserves; agents may define other codes in the range of server errors (0.3 §8.2).
        let reserved = (-32768..=-32100).contains(&code);
        // 1.0 tells errors of A2A apart by their details, too: both have to say the same.
        let agrees = self.dialect != Dialect::V1_0 || !is_of_a2a(kind) || kind.code() == code;
        let is_allowed = agrees && (of_version || !reserved || self.dialect == Dialect::V0_1);
        let expected = match agrees {
            true => format!("a code of {}", self.dialect),
            false => format!("{}, the code of {kind:?}", kind.code()),
        };
        let found = format!("{code} ({kind:?})");
        observe(
            "error.codes",
            unless(is_allowed, "$.error.code", expected, found),
        );
    }

    fn judge_body(&self, answered: &AgentResponse, error: &Value, kind: ErrorKind) {
        let observe = |check, found| self.observations.record(check, found, &answered.evidence);
        let (status, expected) = (answered.status, kind.http_status());
        // Statuses that 1.0.0 had for some of them.
        let earlier = match kind {
            ErrorKind::TaskNotCancelable => 409,
            ErrorKind::ContentTypeNotSupported => 415,
            ErrorKind::InvalidAgentResponse => 502,
            _ => expected,
        };
        // HTTP has statuses of its own for errors outside A2A.
        let of_http = [404, 405, 406, 408, 413, 415, 429, 431, 503].contains(&status);
        let same = match self.dialect {
            Dialect::V1_0 if is_of_a2a(kind) => status == expected || status == earlier,
            // No table lists these errors.
            Dialect::V1_0 => status / 100 == expected / 100 || of_http,
            // The official SDK of 0.3 says by 501 that an operation is not supported.
            _ if status == 501 => is_support(kind),
            // No table lists statuses; 404 means that something is not there.
            _ => status / 100 == expected / 100 && (status != 404 || is_absence(kind)),
        };
        observe(
            "error.status",
            unless(
                same,
                "HTTP status",
                format!("{expected} for {kind:?}"),
                status,
            ),
        );
        if self.dialect == Dialect::V1_0 {
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
            observe("error.body", unless(holds, "$.error", expected, error));
            self.judge_message(error, &answered.evidence);
            let named = match is_of_a2a(kind) {
                true => error["status"] == kind.grpc_status(),
                false => error["status"].as_str().is_some_and(is_name),
            };
            let expected = match is_of_a2a(kind) {
                true => format!("{}, the gRPC status of {kind:?}", kind.grpc_status()),
                false => "the name of a gRPC status".to_owned(),
            };
            let found = unless(named, "$.error.status", expected, &error["status"]);
            observe("error.status-name", found);
            let object = error["code"].is_i64() && error["message"].is_string();
            let expected = "an integer `code` and a `message`";
            observe("error.object", unless(object, "$.error", expected, error));
        }
    }

    /// Checks the details of an error of 1.0.
    pub(crate) fn judge_details(&self, error: &Value, kind: ErrorKind, evidence: &Evidence) {
        let observe = |check, found| self.observations.record(check, found, evidence);
        let name = match self.binding {
            Binding::JsonRpc => "data",
            _ => "details",
        };
        let place = format!("$.error.{name}");
        let details = error[name].as_array().map_or(&[][..], Vec::as_slice);
        for (index, detail) in details.iter().enumerate() {
            let place = format!("{place}[{index}]");
            let typed = detail["@type"].is_string();
            observe(
                "error.details-typed",
                unless(typed, &place, "`@type`", detail),
            );
            observe("error.details-formed", misshapen(&place, detail));
        }
        if is_of_a2a(kind) {
            let is_info = |detail: &&Value| detail["@type"] == INFO;
            let info = details.iter().find(is_info).unwrap_or(&Value::Null);
            let holds = info["domain"] == DOMAIN && info["reason"] == kind.reason();
            let expected = format!("an ErrorInfo with {} of {DOMAIN}", kind.reason());
            observe("error.info", unless(holds, &place, expected, &error[name]));
        }
    }
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
pub(crate) fn is_of_a2a(kind: ErrorKind) -> bool {
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

const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";
const INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const DOMAIN: &str = "a2a-protocol.org";

/// Returns a mismatch if an error reveals the agent's internals: files, code, a stack trace.
fn internals(message: &str, json: &Value) -> Option<Mismatch> {
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
