//! Exit codes and error messages.

use std::io::Write;
use std::process::ExitCode;

use a2a_client::terminal::{escape, escape_json};
use a2a_client::{Error, causes};
use a2a_types::TaskState;
use serde_json::{Value, json};

/// Exit code of the process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Code {
    Done = 0,
    NotDone = 1,
    Usage = 2,
    Agent = 3,
    Network = 4,
    Access = 5,
    NotA2a = 6,
    Waits = 7,
    Interrupted = 130,
}

impl Code {
    /// Returns the exit code for the state of a requested task.
    pub(crate) fn of(state: TaskState) -> Self {
        match state {
            TaskState::Failed | TaskState::Rejected | TaskState::Canceled => Self::NotDone,
            TaskState::InputRequired | TaskState::AuthRequired => Self::Waits,
            // A word that no version has: it may mean anything.
            TaskState::Unspecified => Self::NotA2a,
            _ => Self::Done,
        }
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code as u8)
    }
}

/// Reason why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A failed call of the agent.
    #[error(transparent)]
    Call(#[from] Error),
    /// Invalid arguments.
    #[error("{0}")]
    Usage(String),
    /// An error on this machine.
    #[error("{what}")]
    Machine {
        what: String,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
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

impl Failure {
    /// Creates an error about the arguments, which says what was expected.
    pub(crate) fn usage(problem: impl Into<String>) -> Self {
        Self::Usage(problem.into())
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

    fn code(&self) -> Code {
        match self {
            Self::Usage(_) | Self::Machine { .. } => Code::Usage,
            Self::OutputClosed => Code::Done,
            Self::Interrupted => Code::Interrupted,
            Self::Left { why, .. } => why.code(),
            Self::Call(error) => match error {
                Error::Agent(_) | Error::NotSupported { .. } => Code::Agent,
                Error::Refused { .. } | Error::Credentials(_) => Code::Access,
                // A proxy cannot reach the agent.
                Error::NotA2a {
                    status: 502..=504, ..
                } => Code::Network,
                Error::Malformed(_)
                | Error::NotA2a { .. }
                | Error::TooLarge { .. }
                | Error::Unverified(_) => Code::NotA2a,
                Error::Address { .. } | Error::Ambiguous(_) => Code::Usage,
                _ => Code::Network,
            },
        }
    }

    /// Returns a hint about what to do next.
    fn hint(&self) -> Option<&str> {
        let error = match self {
            Self::Call(error) => error,
            Self::Left { hint, .. } => return Some(hint),
            _ => return None,
        };
        Some(match error {
            Error::Unreachable(_) => "check that the agent is running and that this is its address",
            Error::Refused { .. } | Error::Credentials(_) => {
                "authenticate with --bearer, --basic, --api-key, --cert and --key, --oauth-client or --oauth-device; `a2a card AGENT` shows which of them the agent accepts"
            }
            Error::NotA2a { status: 404, .. } => {
                "check the URL; for an agent without a card, name its version: --no-card --protocol-version 0.3"
            }
            Error::NotA2a { .. } | Error::Malformed(_) => "--verbose shows the answer",
            Error::Unverified(_) => {
                "a proxy that rewrites URLs on a card breaks its signatures; without --verify the card is shown as it is"
            }
            Error::Redirected { .. } => "call the agent at that URL, if you trust it",
            Error::Timeout { .. } => "--timeout SECONDS sets another limit",
            Error::NotSupported { .. } => {
                "`a2a card AGENT` shows which versions the agent speaks; --protocol-version chooses one"
            }
            _ => return None,
        })
    }
}

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

/// Prints a failure with all causes to standard error; nothing if its code is [`Code::Done`].
pub(crate) fn report(failure: &Failure, as_json: bool) -> ExitCode {
    let code = failure.code();
    if code == Code::Done {
        return code.into();
    }
    let mut text = causes(failure);
    let answered = match failure {
        Failure::Call(
            Error::Agent(answered)
            | Error::Busy {
                answer: answered, ..
            },
        ) => Some(answered),
        _ => None,
    };
    if let (Some(a2a_types::Error { details, .. }), false) = (answered, as_json)
        && let Some(shown) = details.as_ref().and_then(shown)
    {
        text = format!("{text} ({shown})");
    }
    let mut out = anstream::stderr();
    // A failed write to standard error cannot be reported.
    let _ = match as_json {
        true => {
            let hint = failure.hint();
            let mut error = json!({"message": text, "hint": hint, "exitCode": code as u8});
            if let Some(answered) = answered {
                error["code"] = answered.kind.code().into();
                error["data"] = answered.details.clone().unwrap_or_default();
            }
            let line = json!({ "error": error }).to_string();
            writeln!(out, "{}", escape_json(&line))
        }
        false => {
            let style = anstyle::AnsiColor::Red.on_default().bold();
            let written = writeln!(out, "{style}error{style:#}: {}", escape(&text));
            match failure.hint() {
                Some(hint) => written.and_then(|()| writeln!(out, "  hint: {}", escape(hint))),
                None => written,
            }
        }
    };
    code.into()
}
