//! Errors: their codes, hints and exit codes, as the command-line specification names them.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use a2a_client::terminal::{escape, escape_json};
use a2a_client::{Error, Phase, causes};
use a2a_types::{ErrorKind, SecurityScheme};
use serde_json::{Value, json};

use crate::connected;
use crate::redaction::redact;

/// Reason why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A failed call of the agent.
    #[error(transparent)]
    Call(#[from] Error),
    /// The agent's card cannot be fetched or read.
    #[error(transparent)]
    Card(Error),
    /// There is no card at the place.
    #[error("{0}")]
    NoCard(String),
    /// The document is not a card.
    #[error("{0}")]
    InvalidCard(String),
    /// An error of the protocol that is known before anything is sent.
    #[error("{problem}")]
    Refused {
        kind: ErrorKind,
        problem: String,
        hint: String,
    },
    /// No token was got by `a2a auth login`.
    #[error("the login failed: {0}")]
    Login(String),
    /// The authorization server cannot be reached.
    #[error("the authorization server cannot be reached: {0}")]
    NoLoginServer(String),
    /// Invalid arguments.
    #[error("{0}")]
    Usage(String),
    /// An error on this machine.
    #[error("{what}")]
    Machine {
        what: String,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A check found a fault, as the output says.
    #[error("{0}")]
    Verdict(String),
    /// The time of `--timeout` is over.
    #[error("timed out after {0:?}")]
    TimedOut(Duration),
    /// The reader of standard output, like `head`, has closed it: not an error.
    #[error("the reader of standard output has closed it")]
    OutputClosed,
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// The caller stopped waiting for a task that continues.
    #[error("{why}")]
    Left { why: Box<Failure>, hint: String },
}

/// Description of a failure, as the specification's appendices B and D have it.
struct Report {
    code: &'static str,
    exit: u8,
    hint: Option<String>,
    a2a_code: Option<i64>,
}

impl Failure {
    /// Creates an error about the arguments, which says what was expected.
    pub(crate) fn usage(problem: impl Into<String>) -> Self {
        Self::Usage(problem.into())
    }

    /// Creates an error of a login.
    pub(crate) fn login(problem: impl Into<String>) -> Self {
        Self::Login(problem.into())
    }

    /// Wraps an error of this machine.
    pub(crate) fn machine<E>(what: impl Into<String>) -> impl FnOnce(E) -> Self
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let what = what.into();
        move |error| Self::Machine {
            what,
            source: error.into(),
        }
    }

    fn report(&self, has_credentials: bool) -> Report {
        let report = |code, exit, hint: Option<&str>| Report {
            code,
            exit,
            hint: hint.map(str::to_owned),
            a2a_code: None,
        };
        match self {
            Self::Usage(_) => report(USAGE, 2, Some("see --help")),
            Self::Machine { source, .. } => {
                let error = source.downcast_ref::<std::io::Error>();
                let is_taken = error.is_some_and(|it| it.kind() == std::io::ErrorKind::AddrInUse);
                report(INTERNAL, 1, is_taken.then_some(PORT_HINT))
            }
            Self::Verdict(_) => report(INTERNAL, 1, None),
            Self::Login(_) => report(AUTH_FAILED, 4, None),
            Self::NoLoginServer(_) => report(UNREACHABLE, 3, Some(ISSUER_HINT)),
            Self::NoCard(_) => report(CARD_NOT_FOUND, 3, Some(CARD_HINT)),
            Self::InvalidCard(_) => report(CARD_INVALID, 1, None),
            Self::TimedOut(_) => report(TIMEOUT, 5, Some("--timeout DURATION sets another limit")),
            Self::OutputClosed => report(INTERNAL, 0, None),
            Self::Interrupted => report(INTERNAL, 130, None),
            Self::Left { why, hint } => Report {
                hint: Some(hint.clone()),
                ..why.report(has_credentials)
            },
            Self::Refused { kind, hint, .. } => report(error_name(*kind), 1, Some(hint)),
            Self::Card(error) => match error {
                Error::Unreachable(_) | Error::Connection(_) | Error::Timeout { .. } => {
                    report(UNREACHABLE, 3, Some(connection_hint(error)))
                }
                // The catalog lists no such agent.
                Error::Address { url, .. } if url.starts_with('#') => {
                    report(CARD_NOT_FOUND, 3, Some(CATALOG_HINT))
                }
                Error::Address { .. } | Error::Ambiguous(_) => report(USAGE, 2, None),
                // The handshake of TLS requests a certificate.
                Error::Credentials(_) => report(CREDENTIALS_MISSING, 4, Some(CERTIFICATE_HINT)),
                Error::NotA2a { status: 200, .. } => {
                    report(CARD_INVALID, 1, Some(NOT_AN_AGENT_HINT))
                }
                Error::Malformed(_) | Error::TooLarge { .. } => {
                    report(CARD_INVALID, 1, Some(VALIDATE_HINT))
                }
                Error::Unverified(_) => report(CARD_INVALID, 1, Some(UNVERIFIED_HINT)),
                Error::Refused { .. } | Error::NotA2a { status: 401, .. } => {
                    match connected::has_card_credentials() {
                        true => report(AUTH_FAILED, 4, Some(REFUSED_FOR_CARD_HINT)),
                        false => report(CARD_NOT_FOUND, 3, Some(CLOSED_CARD_HINT)),
                    }
                }
                _ => report(CARD_NOT_FOUND, 3, Some(CARD_HINT)),
            },
            Self::Call(error) => call_report(error, has_credentials),
        }
    }
}

fn call_report(error: &Error, has_credentials: bool) -> Report {
    let report = |code, exit, hint: Option<&str>| Report {
        code,
        exit,
        hint: hint.map(str::to_owned),
        a2a_code: None,
    };
    match error {
        Error::Refused { status: 403, .. } if has_credentials => forbidden(),
        Error::Refused { .. } => denied(has_credentials),
        Error::Credentials(_) => denied(false),
        Error::Agent(answer) | Error::Busy { answer, .. } => {
            let report = match answer.kind {
                ErrorKind::PermissionDenied if has_credentials => forbidden(),
                ErrorKind::Unauthenticated | ErrorKind::PermissionDenied => denied(has_credentials),
                ErrorKind::RateLimited | ErrorKind::Unavailable => {
                    report(UNREACHABLE, 3, Some("the agent is busy: try again later"))
                }
                ErrorKind::Other(_) => report(INTERNAL, 1, Some(DEBUG_HINT)),
                kind => report(error_name(kind), 1, Some(DEBUG_HINT)),
            };
            Report {
                a2a_code: Some(answer.kind.code()),
                ..report
            }
        }
        Error::NotSupported { .. } => report(
            error_name(ErrorKind::UnsupportedOperation),
            1,
            Some("`a2a card get` shows which versions the agent speaks"),
        ),
        Error::Timeout {
            phase: Phase::Deadline,
            ..
        } => report(TIMEOUT, 5, Some("--timeout DURATION sets another limit")),
        Error::NotA2a {
            status: 500..=599, ..
        } => report(UNREACHABLE, 3, Some(DEBUG_HINT)),
        Error::NotA2a { .. } => report(
            error_name(ErrorKind::InvalidAgentResponse),
            1,
            Some(NOT_AN_AGENT_HINT),
        ),
        Error::Malformed(_) | Error::TooLarge { .. } => report(
            error_name(ErrorKind::InvalidAgentResponse),
            1,
            Some(DEBUG_HINT),
        ),
        Error::Address { .. } | Error::Ambiguous(_) => report(USAGE, 2, None),
        Error::Unverified(_) => report(CARD_INVALID, 1, Some(UNVERIFIED_HINT)),
        error => report(UNREACHABLE, 3, Some(connection_hint(error))),
    }
}

/// Describes a refusal of a caller that the agent knows.
fn forbidden() -> Report {
    Report {
        code: AUTH_FAILED,
        exit: 4,
        hint: Some("the agent does not let the owner of these credentials do this: others, or a token with more scopes, may be allowed to".to_owned()),
        a2a_code: None,
    }
}

/// Describes a refusal for lack of credentials, with the options by which the agent's card wants them.
fn denied(has_credentials: bool) -> Report {
    let wanted = connected::card().map(|card| {
        let options = card.security_schemes.values().map(option_of);
        let mut options: Vec<_> = options.collect();
        options.dedup();
        options.join(" or ")
    });
    let wanted = wanted.filter(|options| !options.is_empty());
    let wanted = wanted.unwrap_or_else(|| "--bearer TOKEN or --api-key KEY".to_owned());
    let (code, hint) = match has_credentials {
        true => (
            AUTH_FAILED,
            format!("the agent did not accept the credentials; it takes {wanted}"),
        ),
        false => (CREDENTIALS_MISSING, format!("authenticate with {wanted}")),
    };
    Report {
        code,
        exit: 4,
        hint: Some(hint),
        a2a_code: None,
    }
}

/// Returns the option for credentials of a scheme.
fn option_of(scheme: &SecurityScheme) -> &'static str {
    match scheme {
        SecurityScheme::ApiKeySecurityScheme(_) => "--api-key KEY",
        SecurityScheme::MtlsSecurityScheme(_) => "--cert FILE and --key FILE",
        SecurityScheme::HttpAuthSecurityScheme(http)
            if http.scheme.eq_ignore_ascii_case("basic") =>
        {
            "--basic NAME:PASSWORD"
        }
        SecurityScheme::OAuth2SecurityScheme(_)
        | SecurityScheme::OpenIdConnectSecurityScheme(_) => "`a2a auth login`, or --bearer TOKEN",
        _ => "--bearer TOKEN",
    }
}

/// Returns a hint for a connection that failed.
fn connection_hint(error: &Error) -> &'static str {
    let text = causes(error);
    let has = |word: &str| text.contains(word);
    if has("invalid peer certificate") || has("UnknownIssuer") || has("CaUsedAsEndEntity") {
        "the certificate is not trusted: --ca FILE trusts its authority, --insecure any certificate (for development only)"
    } else if has("corrupt message") || has("InvalidContentType") {
        "the port does not speak TLS: try http:// in place of https://"
    } else if has("invalid HTTP version") {
        "the port may speak TLS: try https:// in place of http://"
    } else if has("by the proxy http://") {
        "check the proxy that --proxy, HTTPS_PROXY or HTTP_PROXY names; NO_PROXY names hosts to call without one"
    } else {
        "check that the agent is running, and that this is its address"
    }
}

/// Returns the name of a protocol error. Specification 1.0 §3.3.2.
fn error_name(kind: ErrorKind) -> &'static str {
    kind.name().unwrap_or("InternalError")
}

const USAGE: &str = "A2ACLI_ERR_USAGE";
const CARD_NOT_FOUND: &str = "A2ACLI_ERR_CARD_NOT_FOUND";
const CARD_INVALID: &str = "A2ACLI_ERR_CARD_INVALID";
const UNREACHABLE: &str = "A2ACLI_ERR_UNREACHABLE";
const CREDENTIALS_MISSING: &str = "A2ACLI_ERR_CREDENTIALS_MISSING";
const AUTH_FAILED: &str = "A2ACLI_ERR_AUTH_FAILED";
const TIMEOUT: &str = "A2ACLI_ERR_TIMEOUT";
const INTERNAL: &str = "A2ACLI_ERR_INTERNAL";

const DEBUG_HINT: &str = "--debug shows the exchange with the agent";
const PORT_HINT: &str = "another program listens there: name another port, or 0 for a free one";
const CARD_HINT: &str =
    "check the address; for an agent without a card, name its version: --no-card --a2a-version 0.3";
const CLOSED_CARD_HINT: &str =
    "--card-credentials sends a token, a password or service parameters for the card, too";
const REFUSED_FOR_CARD_HINT: &str = "the server of the card did not accept the credentials";
const CERTIFICATE_HINT: &str = "show a certificate with --cert FILE and --key FILE";
const ISSUER_HINT: &str =
    "the agent's card names it; --issuer URL names another authorization server";
const NOT_AN_AGENT_HINT: &str =
    "what answers at this address is not an agent: check the URL; --debug shows the exchange";
const CATALOG_HINT: &str = "REF#IDENTIFIER names an agent of a catalog";
const VALIDATE_HINT: &str = "`a2a card get --validate` says what is wrong with the card";
const UNVERIFIED_HINT: &str = "a proxy that rewrites URLs on a card breaks its signatures; without --verify the card is shown as it is";

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::machine("a local operation failed")(error)
    }
}

/// Returns the details of an agent's error for people, unless they only repeat what kind it is.
fn shown(details: &Value) -> Option<String> {
    let shown = match details {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let is_info = |item: &&Value| item.get("@type").is_some();
            if items.iter().all(|item| is_info(&item)) {
                return None;
            }
            details.to_string()
        }
        Value::Null => return None,
        other => other.to_string(),
    };
    const MAX_CHARACTERS: usize = 500;
    Some(shown.chars().take(MAX_CHARACTERS).collect())
}

/// Prints a failure with all causes: as JSON on standard output, in place of the result, else in words on standard
/// error.
pub(crate) fn report(failure: &Failure, as_json: bool, has_credentials: bool) -> ExitCode {
    let Report {
        code,
        exit,
        hint,
        a2a_code,
    } = failure.report(has_credentials);
    match failure {
        Failure::OutputClosed => return ExitCode::SUCCESS,
        // The verdict is in the document that was printed.
        Failure::Verdict(_) if as_json => return exit.into(),
        _ => {}
    }
    let mut text = causes(failure);
    if let Failure::Call(Error::Agent(answer) | Error::Busy { answer, .. }) = failure
        && let Some(details) = answer.details.as_ref().and_then(shown)
    {
        text = format!("{text} ({details})");
    }
    print(code, &text, hint.as_deref(), a2a_code, as_json);
    exit.into()
}

/// Prints an error of the command line itself.
pub(crate) fn report_usage(text: &str, as_json: bool) -> ExitCode {
    print(USAGE, text, Some("see --help"), None, as_json);
    2.into()
}

fn print(code: &str, text: &str, hint: Option<&str>, a2a_code: Option<i64>, as_json: bool) {
    let text = redact(text);
    // A failed write of an error cannot be reported.
    let _ = if as_json {
        let error = json!({"code": code, "message": text, "hint": hint, "a2aCode": a2a_code});
        let line = json!({ "error": error }).to_string();
        writeln!(std::io::stdout(), "{}", escape_json(&line))
    } else {
        let mut out = std::io::stderr();
        let written = writeln!(out, "error: {} ({code})", escape(&text));
        match hint {
            Some(hint) => written.and_then(|()| writeln!(out, "  hint: {}", escape(hint))),
            None => written,
        }
    };
}
