//! The device flow: the user enters a code elsewhere (RFC 8628).

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tokio::time::{Instant, interval_at};

use super::endpoint::{Endpoint, blame};
use super::origin_policy::origin;
use super::secret::Secret;
use super::token::{Seconds, Token, TokenError};
use super::token_key::{Endpoints, TokenKey};

/// A request to the user to open a page and to enter a code there.
///
/// Fit for a terminal: visible ASCII characters only.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct DevicePrompt {
    /// The page.
    pub verification_uri: String,
    /// The code.
    pub user_code: String,
    /// A page that knows the code already, for a link or a QR code.
    pub verification_uri_complete: Option<String>,
    /// Time for which the code is valid.
    pub expires_in: Duration,
}

/// Shows the user what to do.
pub(super) type Prompt = Arc<dyn Fn(DevicePrompt) + Send + Sync>;

#[derive(Deserialize)]
struct DeviceResponse {
    device_code: String,
    user_code: String,
    #[serde(alias = "verification_url")]
    verification_uri: String,
    #[serde(alias = "verification_url_complete")]
    verification_uri_complete: Option<String>,
    expires_in: Seconds,
    interval: Option<Seconds>,
}

/// Prompts the user and waits until the code was entered.
pub(super) async fn authorize(
    endpoint: &Endpoint,
    token_key: &TokenKey,
    endpoints: &Endpoints,
    prompt: &Prompt,
) -> Result<Token, String> {
    let Some(url) = &endpoints.device else {
        return Err("the authorization server knows no codes for devices".to_owned());
    };
    let mut form = token_key.scoped(&[]);
    // RFC 8628 §3.1 requires it even if the secret is sent.
    form.push(("client_id", &endpoint.client.id));
    let codes: DeviceResponse = endpoint
        .other(url, &form)
        .await
        .map_err(|problem| blame(url, &problem))?;
    let Some(expires_in) = codes.expires_in.duration() else {
        return Err(blame(url, &unfit("`expires_in`")));
    };
    let expires_in = expires_in.min(MAX_CODE);
    let interval = codes.interval.and_then(Seconds::duration);
    let interval = interval.unwrap_or(INTERVAL);
    let deadline = Instant::now() + expires_in;
    let device_code = Secret::new(codes.device_code);
    let cleartext = token_key.policy.cleartext;
    prompt(DevicePrompt {
        verification_uri: page(&codes.verification_uri, cleartext)
            .ok_or_else(|| blame(url, &unfit("`verification_uri`")))?,
        user_code: visible(codes.user_code).ok_or_else(|| blame(url, &unfit("`user_code`")))?,
        verification_uri_complete: codes
            .verification_uri_complete
            .and_then(|complete| page(&complete, cleartext)),
        expires_in,
    });
    let polling = poll(endpoint, &endpoints.token, &device_code, interval);
    tokio::time::timeout_at(deadline, polling)
        .await
        .unwrap_or_else(|_| Err("the code was not entered in time".to_owned()))
}

/// Polls the token endpoint until there is an answer (RFC 8628 §3.4, §3.5).
async fn poll(
    endpoint: &Endpoint,
    url: &str,
    device_code: &Secret,
    mut interval: Duration,
) -> Result<Token, String> {
    let form = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
        ("device_code", device_code.expose()),
    ];
    interval = interval.clamp(SHORTEST_INTERVAL, MAX_CODE);
    loop {
        interval_at(Instant::now() + interval, interval)
            .tick()
            .await;
        match endpoint.token(url, &form).await {
            Err(pending) if pending.is("authorization_pending") => {}
            Err(hasty) if hasty.is("slow_down") => interval += MORE,
            Err(TokenError::Unreachable(problem)) => {
                tracing::debug!(problem, "could not poll for a token");
                interval = (interval * 2).min(MAX_CODE);
            }
            Err(denied) if denied.is("access_denied") => {
                return Err("the user denied access".to_owned());
            }
            Err(expired) if expired.is("expired_token") => {
                return Err("the code was not entered in time".to_owned());
            }
            answer => return answer.map_err(|problem| blame(url, &problem)),
        }
    }
}

fn unfit(what: &str) -> TokenError {
    TokenError::Broken(format!("gave codes whose {what} cannot be used"))
}

/// Returns the URL if a user may be sent to that page.
fn page(url: &str, cleartext: bool) -> Option<String> {
    let may_open = origin(url).is_ok_and(|origin| origin.is_protected() || cleartext);
    let url = may_open.then(|| url.to_owned())?;
    visible(url).filter(|url| !url.contains(' '))
}

fn visible(text: String) -> Option<String> {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    (is_plain && !text.is_empty() && text.len() <= MAX_TEXT).then_some(text)
}

/// Polling interval if the server names none.
const INTERVAL: Duration = Duration::from_secs(5);
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);
/// Added to the interval on `slow_down`.
const MORE: Duration = Duration::from_secs(5);
/// Longest time to wait for the user, and longest polling interval.
const MAX_CODE: Duration = Duration::from_secs(30 * 60);
const MAX_TEXT: usize = 2048;
