//! Errors of a busy agent.

use std::time::SystemTime;

use a2a_types::{Error as A2aError, ErrorKind};
use http::StatusCode;
use http::response::Parts;

use super::retry_after::retry_after;
use crate::Error;

/// Returns [`Error::Busy`] if the agent is busy, else the error as it is. A busy agent answers with HTTP status
/// 429 or 503 (RFC 6585 §4, RFC 9110 §15.6.4), or, as JSON-RPC answers with 200, with an error
/// and `Retry-After`.
pub(super) fn busy_error(error: Error, head: &Parts) -> Error {
    let after = retry_after(&head.headers, SystemTime::now());
    let by_status = [
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::SERVICE_UNAVAILABLE,
    ]
    .contains(&head.status);
    match error {
        Error::Agent(answer) if by_status || after.is_some() => Error::Busy {
            answer: A2aError {
                kind: match head.status {
                    StatusCode::TOO_MANY_REQUESTS => ErrorKind::RateLimited,
                    _ => answer.kind,
                },
                ..answer
            },
            after,
        },
        Error::NotA2a { .. } if by_status => Error::Busy {
            answer: match head.status {
                StatusCode::TOO_MANY_REQUESTS => ErrorKind::RateLimited.into(),
                _ => ErrorKind::Unavailable.into(),
            },
            after,
        },
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use http::Response;
    use http::header::RETRY_AFTER;

    use super::*;

    fn head(status: u16, after: &str) -> Parts {
        let mut response = Response::builder().status(status);
        if !after.is_empty() {
            response = response.header(RETRY_AFTER, after);
        }
        response.body(()).unwrap().into_parts().0
    }

    #[track_caller]
    fn check(error: Error, status: u16, after: &str, expected: Option<Option<u64>>) {
        let error = match busy_error(error, &head(status, after)) {
            Error::Busy { after, .. } => Some(after.map(|after| after.as_secs())),
            _ => None,
        };
        assert_eq!(error, expected, "{status} {after:?}");
    }

    #[test]
    fn busy_errors_have_a_status_or_retry_after() {
        let agent = || Error::Agent(A2aError::from(ErrorKind::Internal));
        let page = || Error::NotA2a {
            status: 503,
            problem: String::new(),
        };
        check(agent(), 200, "", None);
        check(agent(), 200, "3", Some(Some(3)));
        check(agent(), 503, "", Some(None));
        check(agent(), 429, "soon", Some(None));
        check(agent(), 503, "Sun, 06 Nov 1994 08:49:37 GMT", Some(Some(0)));
        check(page(), 503, "120", Some(Some(120)));
        check(page(), 502, "", None);
        check(Error::Unfinished, 503, "1", None);
    }
}
