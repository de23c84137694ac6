//! Details of an error in 1.0: a list of typed objects.

use std::time::Duration;

use a2a_types::{Error as A2aError, ErrorKind};
use serde_json::{Value, json};

/// Returns the details of an error: an `ErrorInfo` first, then the violation or the error's own details, and
/// the retry delay of an agent that is too busy. Specification 1.0 §9.5 and §11.6.
pub(super) fn error_details(error: &A2aError) -> Value {
    let mut details = vec![json!({
        "@type": ERROR_INFO,
        "reason": error.kind.reason(),
        "domain": "a2a-protocol.org",
    })];
    match &error.details {
        // The values of the metadata of an `ErrorInfo` are texts.
        Some(given) if given[SUPPORTED].is_array() => {
            let versions = given[SUPPORTED].as_array().into_iter().flatten();
            let versions: Vec<_> = versions.filter_map(Value::as_str).collect();
            details[0]["metadata"] = json!({SUPPORTED: versions.join(", ")});
        }
        // An error that came from another agent has one already.
        Some(Value::Array(given)) => details.extend(
            given
                .iter()
                .filter(|detail| detail["@type"] != ERROR_INFO)
                .cloned(),
        ),
        Some(given) if given["path"].is_string() => details.push(json!({
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [{"field": given["path"], "description": given["problem"]}],
        })),
        Some(given) if given[AFTER].is_u64() => details.push(retry_info(&given[AFTER])),
        _ => {}
    }
    let tells_when = |detail: &Value| detail["@type"] == RETRY_INFO;
    if error.kind == ErrorKind::Unavailable && !details.iter().any(tells_when) {
        details.push(retry_info(&1.into()));
    }
    Value::Array(details)
}

/// Returns the detail that says after how many seconds to retry.
fn retry_info(seconds: &Value) -> Value {
    json!({"@type": RETRY_INFO, "retryDelay": format!("{seconds}s")})
}

/// Returns the error kind that a list of details names, if any.
pub(super) fn kind_in(details: &Value) -> Option<ErrorKind> {
    let details = details.as_array()?;
    let reason = details
        .iter()
        .find_map(|detail| detail.get("reason")?.as_str())?;
    ErrorKind::from_reason(reason)
}

/// Returns the time after which to retry, if a list of details has it.
pub(super) fn retry_delay(details: Option<&Value>) -> Option<Duration> {
    let details = details?.as_array()?.iter();
    let mut infos = details.filter(|detail| detail["@type"] == RETRY_INFO);
    let delay = infos.next()?["retryDelay"].as_str()?;
    let seconds = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// The list of versions in the details of a version that is not supported.
const SUPPORTED: &str = "supportedVersions";
/// The seconds in the details of a request that comes too early.
const AFTER: &str = "retryAfter";
const RETRY_INFO: &str = "type.googleapis.com/google.rpc.RetryInfo";
const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
