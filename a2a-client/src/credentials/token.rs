//! Access tokens and the answers of token endpoints.

use std::time::Duration;

use a2a_transport::BoxFuture;
use a2a_transport::http::FetchResponse;
use http::header::HeaderValue;
use serde::Deserialize;

use super::header;
use super::sanitize::printable;
use super::secret::Secret;

/// A bearer token of a [`TokenProvider`].
#[derive(Clone, Debug)]
pub struct AccessToken {
    value: Secret,
    life: Option<Duration>,
}

impl AccessToken {
    /// Creates a token that is used until an agent refuses it.
    pub fn new(value: impl Into<String>) -> Self {
        Self {
            value: Secret::new(value),
            life: None,
        }
    }

    /// Sets the time from now after which the token expires.
    pub fn expires_in(self, life: Duration) -> Self {
        let life = Some(life);
        Self { life, ..self }
    }
}

/// Error of a [`TokenProvider`].
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Source of bearer tokens: asked for another when the last is about to expire or was refused. An
/// asynchronous closure is one.
pub trait TokenProvider: Send + Sync + 'static {
    /// Returns a new token. Never called concurrently.
    fn token(&self) -> BoxFuture<'_, Result<AccessToken, BoxError>>;
}

impl<F, Fut> TokenProvider for F
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<AccessToken, BoxError>> + Send + 'static,
{
    fn token(&self) -> BoxFuture<'_, Result<AccessToken, BoxError>> {
        Box::pin(self())
    }
}

/// A token that is valid as a header value.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) header: HeaderValue,
    pub(super) life: Option<Duration>,
    pub(super) refresh: Option<Secret>,
}

impl Token {
    pub(super) fn new(value: &str, life: Option<Duration>) -> Result<Self, String> {
        Ok(Self {
            header: header::bearer(value)?,
            life: life.map(|life| life.min(MAX_LIFE)),
            refresh: None,
        })
    }
}

impl TryFrom<AccessToken> for Token {
    type Error = String;

    fn try_from(token: AccessToken) -> Result<Self, String> {
        Self::new(token.value.expose(), token.life)
    }
}

/// Longest lifetime: a token is renewed after this even if it would live longer.
const MAX_LIFE: Duration = Duration::from_secs(30 * 24 * 3600);

/// Failure of a token endpoint.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum TokenError {
    /// An error response of RFC 6749 §5.2: a code, and perhaps a text for people, both unsanitized.
    Refused { code: String, text: Option<String> },
    /// The server is unreachable or busy.
    Unreachable(String),
    /// The response is not what OAuth 2.0 prescribes.
    Broken(String),
}

impl TokenError {
    pub(super) fn is(&self, expected: &str) -> bool {
        matches!(self, Self::Refused { code, .. } if code == expected)
    }
}

impl std::fmt::Display for TokenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused { code, text } => {
                write!(f, "refused with `{}`", printable(code))?;
                match text {
                    None => Ok(()),
                    Some(text) => write!(f, ": {}", printable(text)),
                }
            }
            Self::Unreachable(problem) | Self::Broken(problem) => f.write_str(problem),
        }
    }
}

/// Reads the token in the answer of a token endpoint (RFC 6749 §5.1).
pub(super) fn read(fetched: &FetchResponse) -> Result<Token, TokenError> {
    #[derive(Deserialize)]
    struct TokenResponse {
        access_token: String,
        token_type: Option<String>,
        expires_in: Option<Seconds>,
        refresh_token: Option<String>,
    }
    let given: TokenResponse = answer(fetched)?;
    let broken = |problem: &str| TokenError::Broken(problem.to_owned());
    if let Some(kind) = given
        .token_type
        .filter(|kind| !kind.eq_ignore_ascii_case("bearer"))
    {
        let problem = format!(
            "gave a token of type `{}`: expected `Bearer`",
            printable(&kind)
        );
        return Err(TokenError::Broken(problem));
    }
    let life = match given.expires_in.map(Seconds::duration) {
        None => None,
        Some(Some(life)) => Some(life),
        Some(None) => {
            return Err(broken(
                "gave a token with an `expires_in` that is not a positive number of seconds",
            ));
        }
    };
    let mut token = Token::new(&given.access_token, life)
        .map_err(|_| broken("gave a token that cannot be sent: expected visible ASCII"))?;
    let refresh = given.refresh_token.filter(|token| !token.is_empty());
    token.refresh = refresh.map(Secret::new);
    Ok(token)
}

/// Reads an answer of an OAuth endpoint: the expected value, or an error. Only its error is ever
/// quoted, since the rest may contain secrets.
pub(super) fn answer<T: for<'de> Deserialize<'de>>(
    fetched: &FetchResponse,
) -> Result<T, TokenError> {
    #[derive(Deserialize)]
    struct ErrorResponse {
        error: String,
        error_description: Option<String>,
    }
    let status = fetched.status;
    if fetched.body.len() > MAX_ANSWER {
        return Err(TokenError::Broken(format!(
            "answered more than {MAX_ANSWER} bytes"
        )));
    }
    // Some servers refuse with status 200.
    if let Ok(refusal) = serde_json::from_slice::<ErrorResponse>(&fetched.body) {
        return Err(TokenError::Refused {
            code: refusal.error,
            text: refusal.error_description,
        });
    }
    let is_busy = status.is_server_error() || status == http::StatusCode::TOO_MANY_REQUESTS;
    match serde_json::from_slice(&fetched.body) {
        Ok(answer) if status.is_success() => Ok(answer),
        Err(_) if status.is_success() => Err(TokenError::Broken(
            "gave an answer that is not what OAuth 2.0 says".to_owned(),
        )),
        _ if is_busy => Err(TokenError::Unreachable(format!("answered {status}"))),
        _ => Err(TokenError::Broken(format!("answered {status}"))),
    }
}

const MAX_ANSWER: usize = 256 << 10;

/// A number of seconds, which some servers write as a string.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Seconds {
    Number(f64),
    Text(String),
    Other(serde::de::IgnoredAny),
}

impl Seconds {
    /// Returns `None` unless it is positive.
    pub(super) fn duration(self) -> Option<Duration> {
        let seconds = match self {
            Self::Number(seconds) => seconds,
            Self::Text(text) => text.trim().parse().ok()?,
            Self::Other(_) => return None,
        };
        let seconds = seconds.min(MAX_LIFE.as_secs_f64());
        Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|life| !life.is_zero())
    }
}
