//! Refusals of a notification and their HTTP responses.

use a2a_transport::http::Body;
use a2a_transport::webhook::TokenError;
use http::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};

/// Reason for refusing a notification. The sender learns only its kind.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("only {0} is allowed")]
    Method(&'static str),
    #[error("the token is missing or wrong")]
    Token,
    #[error("the Authorization header is missing or wrong")]
    Authorization,
    #[error("the JSON Web Token is refused: {0}")]
    Jwt(&'static str),
    #[error("the JSON Web Token is refused: {0}")]
    InvalidJwt(#[from] TokenError),
    #[error("the headers of Standard Webhooks are missing or wrong")]
    Webhook,
    #[error("the challenge is not a short word of visible ASCII")]
    Challenge,
    #[error("the body is not a JSON object: {0}")]
    Body(String),
    #[error("the body is too large")]
    TooLarge,
    #[error("the body came too slowly, or broke off")]
    Slow,
    #[error("the sender's keys cannot be fetched")]
    NoKeys,
    #[error("the same delivery is being handled")]
    Open,
    #[error("the handler failed: {0}")]
    Failed(String),
    #[error("the handler took too long")]
    Late,
}

impl Refusal {
    pub(super) fn into_response(self) -> Response<Body> {
        match self {
            // Not the sender's fault: warn the operator.
            Self::Failed(_) | Self::Late => {
                tracing::warn!(reason = %self, "could not handle a push notification");
            }
            _ => tracing::debug!(reason = %self, "refused a push notification"),
        }
        let (status, text, header): (_, _, Option<(HeaderName, _)>) = match self {
            Self::Method(allowed) => {
                let allow = (ALLOW, allowed);
                (
                    StatusCode::METHOD_NOT_ALLOWED,
                    "another method",
                    Some(allow),
                )
            }
            Self::Token
            | Self::Authorization
            | Self::Jwt(_)
            | Self::InvalidJwt(_)
            | Self::Webhook => {
                let challenge = (WWW_AUTHENTICATE, "Bearer");
                (StatusCode::UNAUTHORIZED, "who is this?", Some(challenge))
            }
            Self::Challenge => (StatusCode::BAD_REQUEST, "no challenge", None),
            Self::Body(_) => (StatusCode::BAD_REQUEST, "no notification", None),
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too large", None),
            Self::Slow => (StatusCode::REQUEST_TIMEOUT, "too slow", None),
            Self::NoKeys | Self::Open | Self::Failed(_) | Self::Late => {
                let later = (RETRY_AFTER, "1");
                (StatusCode::SERVICE_UNAVAILABLE, "try again", Some(later))
            }
        };
        let mut response = plain(status, text.to_owned());
        if let Some((name, value)) = header {
            response
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

pub(super) fn plain(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::full(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    // Keeps browsers from running the echoed challenge as a script.
    headers.insert(
        "x-content-type-options",
        HeaderValue::from_static("nosniff"),
    );
    response
}
