//! Faults that a proxy injects on demand.

use http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// A fault. It stays until another is set, or once it has happened if it is to happen once.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Fault {
    #[serde(flatten)]
    pub(crate) kind: FaultKind,
    /// It happens once.
    #[serde(default)]
    pub(crate) once: bool,
}

/// Kind of a fault. The public card is served without faults, so that callers find the proxy.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    tag = "kind"
)]
pub(crate) enum FaultKind {
    /// Breaks the connection, or resets the stream of HTTP/2, once this many events have passed; before the next
    /// event of a stream that has had more.
    Cut { after_events: u64 },
    /// Holds the request back for this time.
    Delay { ms: u64 },
    /// Answers with this status, in place of the agent.
    Status {
        status: u16,
        /// Seconds, for `Retry-After`.
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after: Option<u64>,
    },
    /// Sends the event of this number, from 1, twice.
    Duplicate { event: u64 },
}

/// Longest delay in milliseconds.
const MAX_DELAY_MS: u64 = 600_000;

impl Fault {
    /// Checks the values. Errors: one is out of its range.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        match self.kind {
            FaultKind::Delay { ms } if ms > MAX_DELAY_MS => Err(Problem::bad_request(format!(
                "`ms`: expected at most {MAX_DELAY_MS}, found {ms}"
            ))),
            FaultKind::Status { status, .. } if !is_error(status) => Err(Problem::bad_request(
                format!("`status`: expected 400 to 599, found {status}"),
            )),
            FaultKind::Duplicate { event: 0 } => {
                Err(Problem::bad_request("`event`: expected 1 or more, found 0"))
            }
            _ => Ok(()),
        }
    }
}

fn is_error(status: u16) -> bool {
    let status = StatusCode::from_u16(status);
    status.is_ok_and(|status| status.is_client_error() || status.is_server_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read() {
        let read = |json: &str| serde_json::from_str::<Fault>(json).unwrap();
        let cut = read(r#"{"kind":"cut","afterEvents":2,"once":true}"#);
        assert_eq!(cut.kind, FaultKind::Cut { after_events: 2 });
        assert!(cut.once && cut.check().is_ok());
        let status = read(r#"{"kind":"status","status":503,"retryAfter":1}"#);
        assert!(!status.once && status.check().is_ok());
        for bad in [
            r#"{"kind":"status","status":200}"#,
            r#"{"kind":"delay","ms":600001}"#,
            r#"{"kind":"duplicate","event":0}"#,
        ] {
            assert!(read(bad).check().is_err(), "{bad}");
        }
        assert!(serde_json::from_str::<Fault>(r#"{"kind":"other"}"#).is_err());
    }
}
