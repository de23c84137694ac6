//! Reasons why an agent cannot be tested, with hints for the user.

use std::time::Duration;

use a2a_transport::Error;

use crate::wire::exchange::causes;

/// Returns the reason why no card was found at a URL, and, in a line of its own, a hint.
pub(super) fn no_card(url: &str, error: &Error) -> String {
    let reason = match error {
        Error::NotA2a { status: 404, .. } => "no agent card was found (HTTP status 404)".to_owned(),
        Error::NotA2a {
            status: 200,
            problem,
        } => format!("it has a document, but no agent card: {problem}"),
        Error::NotA2a { status, .. } => format!("it answered with HTTP status {status}"),
        Error::Malformed(violation) => format!("it has a document, but no agent card: {violation}"),
        Error::Refused { status, .. } => {
            format!("it does not give its card (HTTP status {status})")
        }
        error => causes(error),
    };
    with_hint(url, &reason, hint(url, error, &reason).as_deref())
}

/// Returns the reason that nothing came in time.
pub(super) fn no_answer(url: &str, waited: Duration) -> String {
    let reason = format!("no answer within {} s", waited.as_secs_f64());
    let hint = "--timeout SECONDS waits longer";
    with_hint(url, &reason, Some(hint))
}

fn with_hint(url: &str, reason: &str, hint: Option<&str>) -> String {
    let hint = hint.map(|hint| format!("\n  {hint}"));
    format!("{url}: {reason}{}", hint.unwrap_or_default())
}

/// Returns whether a handshake failed because the peer does not speak TLS.
fn is_no_tls(reason: &str) -> bool {
    ["InvalidContentType", "handshake eof"]
        .iter()
        .any(|sign| reason.contains(sign))
}

fn hint(url: &str, error: &Error, reason: &str) -> Option<String> {
    let is_https = url.starts_with("https:");
    let hint = match error {
        Error::Unreachable(_) if is_https && is_no_tls(reason) => {
            "what listens there does not speak TLS: try http://"
        }
        Error::Unreachable(_) if reason.contains("CaUsedAsEndEntity") => {
            "that certificate is one for an authority: make one with `-addext basicConstraints=critical,CA:FALSE`, \
             and trust it by --ca FILE"
        }
        Error::Unreachable(_) if is_https && reason.contains("certificate") => {
            "--ca FILE trusts the authority of that certificate, or the certificate itself (PEM)"
        }
        Error::Unreachable(_) => "is it running, and is the port right? --exec COMMAND starts it",
        Error::Connection(_) if !is_https => {
            "what listens there does not speak HTTP: if it speaks TLS, try https://"
        }
        Error::NotA2a { status: 404, .. } => {
            "looked for /.well-known/agent-card.json and /.well-known/agent.json; if the card is elsewhere, \
             give its own URL, which ends in .json"
        }
        Error::Malformed(_) | Error::NotA2a { status: 200, .. } => {
            return Some(format!(
                "`a2a-conformance verify-card {url}` shows what is wrong with it"
            ));
        }
        Error::Refused { .. }
        | Error::NotA2a {
            status: 401 | 403, ..
        } => "-H 'Authorization: Bearer …' shows who calls",
        Error::Redirected { .. } => "redirections are not followed: give the URL that it names",
        _ => return None,
    };
    Some(hint.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_contain_a_hint() {
        #[track_caller]
        fn check(url: &str, error: &Error, expected: &str) {
            let text = no_card(url, error);
            assert!(text.contains(expected) && text.starts_with(url), "{text}");
        }
        let refused = || std::io::Error::from(std::io::ErrorKind::ConnectionRefused).into();
        check(
            "http://h:1",
            &Error::Unreachable(refused()),
            "connection refused\n  is it running",
        );
        let tls = Error::Unreachable("received corrupt message of type InvalidContentType".into());
        check("https://h", &tls, "try http://");
        let unknown = Error::Unreachable("invalid peer certificate: UnknownIssuer".into());
        check("https://h", &unknown, "--ca FILE");
        let authority = "invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))";
        let authority = Error::Unreachable(authority.into());
        check("https://h", &authority, "CA:FALSE");
        let disconnected = Error::Connection("unexpected end of file".into());
        check("http://h", &disconnected, "try https://");
        let problem = String::new();
        check(
            "http://h",
            &Error::NotA2a {
                status: 404,
                problem,
            },
            "agent-card.json and ",
        );
        let problem = String::new();
        check(
            "http://h",
            &Error::NotA2a {
                status: 500,
                problem,
            },
            "HTTP status 500",
        );
        let refused = Error::Refused {
            status: 401,
            challenge: None,
        };
        check(
            "http://h",
            &refused,
            "(HTTP status 401)\n  -H 'Authorization",
        );
    }
}
