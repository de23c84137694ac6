//! Checks of the form of an answer by gRPC: its media type, frames, status and details.

use a2a_transport::binding::grpc::{Code, Status};
use a2a_transport::http::grpc::{read_details, read_status};
use a2a_types::{ErrorKind, Operation};
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderMap};
use serde_json::{Value, json};

use super::errors::GUARDS;
use super::invariants::{Findings, unless};

/// The form of an answer.
pub(crate) struct GrpcResponse {
    /// Status of HTTP.
    pub(crate) status: StatusCode,
    /// Headers and trailers.
    pub(crate) headers: HeaderMap,
    /// The content of the body; `None` if it is a stream that goes on, or not gRPC.
    pub(crate) content: Option<Content>,
}

/// The content of a body that was read to its end.
pub(crate) struct Content {
    pub(crate) is_stream: bool,
    /// Number of messages.
    pub(crate) messages: usize,
    /// Why the rest could not be read.
    pub(crate) problem: Option<String>,
}

/// Returns whether an answer is by gRPC.
pub(crate) fn is_grpc(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE);
    media_type.is_some_and(|value| value.as_bytes().starts_with(b"application/grpc"))
}

/// Checks the form of an answer.
pub(crate) fn check(response: &GrpcResponse) -> Findings {
    // A guard in front of the agent may answer in its place.
    if GUARDS.contains(&response.status.as_u16()) {
        return Findings::new();
    }
    let is_ok = response.status == StatusCode::OK;
    let mut findings = vec![(
        "grpc.status",
        unless(is_ok, "HTTP status", "200", response.status),
    )];
    let media_type = response.headers.get(CONTENT_TYPE);
    let found = media_type.map_or("nothing".into(), |it| {
        String::from_utf8_lossy(it.as_bytes())
    });
    let is_grpc = is_grpc(&response.headers);
    let wrong = unless(is_grpc, "Content-Type", "application/grpc", found);
    findings.push(("grpc.content-type", wrong));
    let Some(content) = &response.content else {
        return findings;
    };
    findings.extend(end(&response.headers));
    let is_error = read_status(&response.headers).is_some_and(|status| status.code != Code::OK);
    let holds =
        content.problem.is_none() && (content.messages == 1 || content.is_stream || is_error);
    let found = match &content.problem {
        Some(problem) => problem.clone(),
        None => format!("{} messages", content.messages),
    };
    findings.push((
        "grpc.messages",
        unless(holds, "the body", "one message", found),
    ));
    findings
}

/// Checks the status at the end of an answer, which is in the trailers, or in the headers if there is nothing else.
pub(crate) fn end(trailers: &HeaderMap) -> Findings {
    let shown = |name: &str| {
        let value = trailers.get(name)?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let code = shown("grpc-status");
    let number = code.as_deref().and_then(|code| code.parse::<i32>().ok());
    let holds = number.is_some_and(|number| (0..=16).contains(&number));
    let found = code.unwrap_or_else(|| "nothing".to_owned());
    let mut findings = vec![(
        "grpc.status",
        unless(holds, "grpc-status", "a number from 0 to 16", found),
    )];
    if let (Some(status), Some(details)) = (read_status(trailers), shown(DETAILS)) {
        findings.push((
            "grpc.status-details",
            differing(&status, &details, trailers),
        ));
    }
    findings
}

/// Returns the kind of the error that trailers report.
pub(crate) fn failure(trailers: &HeaderMap) -> Option<ErrorKind> {
    let status = read_status(trailers).filter(|status| status.code != Code::OK)?;
    Some(status.into_error().into_answer().kind)
}

/// Returns a mismatch unless the details repeat the code and the message of the status.
fn differing(
    status: &Status,
    details: &str,
    trailers: &HeaderMap,
) -> Option<crate::record::Mismatch> {
    let Some(inner) = read_details(trailers) else {
        return unless(false, DETAILS, "google.rpc.Status in Base64", details);
    };
    let said = |status: &Status| format!("{} {:?}", status.code.number(), status.message);
    let holds = (inner.code, &inner.message) == (status.code, &status.message);
    unless(holds, DETAILS, said(status), said(&inner))
}

/// Adds the members that are required in JSON and that a message of gRPC does not have if they are zero or empty.
pub(super) fn add_defaults(operation: Operation, result: &mut Value) {
    let defaults = match operation {
        Operation::ListTasks => {
            json!({"tasks": [], "nextPageToken": "", "pageSize": 0, "totalSize": 0})
        }
        Operation::GetExtendedAgentCard => json!({"skills": []}),
        _ => return,
    };
    if let (Value::Object(members), Value::Object(defaults)) = (result, defaults) {
        for (name, default) in defaults {
            members.entry(name).or_insert(default);
        }
    }
}

const DETAILS: &str = "grpc-status-details-bin";
