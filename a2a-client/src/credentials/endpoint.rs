//! Requests to an authorization server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use a2a_transport::http::{FetchResponse, HttpClient};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use form_urlencoded::byte_serialize;
use http::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue};
use serde::Deserialize;

use super::header;
use super::oauth_client::OAuthClient;
use super::sanitize::{causes, printable};
use super::secret::Secret;
use super::token::{Token, TokenError, answer, read};

/// Sends the requests of one client to an authorization server.
pub(super) struct Endpoint {
    pub(super) client: OAuthClient,
    http: HttpClient,
    /// The server did not take the secret from `Authorization`.
    wants_body: AtomicBool,
}

impl Endpoint {
    pub(super) fn new(client: OAuthClient, http: HttpClient) -> Self {
        let wants_body = AtomicBool::new(client.secret_in_body);
        Self {
            client,
            http,
            wants_body,
        }
    }

    /// Notes that the server accepts the secret in the body only.
    pub(super) fn wants_body(&self) {
        self.wants_body.store(true, Ordering::Relaxed);
    }

    /// Requests a token.
    pub(super) async fn token(
        &self,
        url: &str,
        form: &[(&str, &str)],
    ) -> Result<Token, TokenError> {
        let mut form = form.to_vec();
        for (name, value) in &self.client.parameters {
            if form.iter().all(|(known, _)| known != name) {
                form.push((name, value.expose()));
            }
        }
        let read = |fetched: &FetchResponse| read(fetched);
        self.ask(url, &form, read).await
    }

    /// Posts a form to any other endpoint.
    pub(super) async fn other<T: for<'de> Deserialize<'de>>(
        &self,
        url: &str,
        form: &[(&str, &str)],
    ) -> Result<T, TokenError> {
        self.ask(url, form, answer).await
    }

    /// Fetches the metadata document of a server.
    pub(super) async fn describe<T: for<'de> Deserialize<'de>>(
        &self,
        url: &str,
    ) -> Result<T, TokenError> {
        let headers = accept_json();
        let fetched = within(self.http.get(url, &headers)).await?;
        answer(&fetched)
    }

    async fn ask<T>(
        &self,
        url: &str,
        form: &[(&str, &str)],
        read: impl Fn(&FetchResponse) -> Result<T, TokenError>,
    ) -> Result<T, TokenError> {
        let in_body = self.wants_body.load(Ordering::Relaxed);
        let answer = self.post(url, form, in_body, &read).await;
        // Few servers announce where they expect the secret.
        let may_differ = !in_body && self.client.secret.is_some();
        if may_differ && matches!(&answer, Err(refused) if refused.is("invalid_client")) {
            let second = self.post(url, form, true, &read).await;
            if second.is_ok() {
                self.wants_body();
            }
            return second;
        }
        answer
    }

    async fn post<T>(
        &self,
        url: &str,
        form: &[(&str, &str)],
        in_body: bool,
        read: impl Fn(&FetchResponse) -> Result<T, TokenError>,
    ) -> Result<T, TokenError> {
        let mut headers = accept_json();
        let (mut form, id) = (form.to_vec(), self.client.id.as_str());
        let header = self.client.secret.as_ref().filter(|_| !in_body);
        if let Some(secret) = header {
            headers.insert(AUTHORIZATION, basic(id, secret)?);
        } else if form.iter().all(|(name, _)| *name != "client_id") {
            form.push(("client_id", id));
        }
        if let Some(secret) = self.client.secret.as_ref().filter(|_| in_body) {
            form.push(("client_secret", secret.expose()));
        }
        let fetched = within(self.http.post_form(url, &headers, &form)).await?;
        read(&fetched).map_err(|problem| self.without_secrets(problem, &form))
    }

    /// Removes the secrets from an error: a server may repeat what it received.
    fn without_secrets(&self, problem: TokenError, form: &[(&str, &str)]) -> TokenError {
        let own = self.client.secret.iter().map(Secret::expose);
        let basic = self.client.secret.as_ref();
        let basic = basic.map(|secret| encoded(&self.client.id, secret));
        let sent = form.iter().filter(|(name, _)| SECRET.contains(name));
        let sent = sent.map(|(_, value)| *value);
        let configured = self
            .client
            .parameters
            .iter()
            .map(|(_, value)| value.expose());
        let secrets: Vec<_> = own
            .chain(basic.as_deref())
            .chain(sent)
            .chain(configured)
            .filter(|secret| !secret.is_empty())
            .collect();
        let hide = |text: String| {
            secrets
                .iter()
                .fold(text, |text, secret| text.replace(secret, "***"))
        };
        match problem {
            TokenError::Refused { code, text } => TokenError::Refused {
                code: hide(code),
                text: text.map(hide),
            },
            TokenError::Unreachable(problem) => TokenError::Unreachable(hide(problem)),
            TokenError::Broken(problem) => TokenError::Broken(hide(problem)),
        }
    }
}

/// Form fields that are secret, apart from the secret of the client.
const SECRET: &[&str] = &[
    "refresh_token",
    "device_code",
    "subject_token",
    "actor_token",
];

/// Encodes the id and the secret for `Basic`, each as in a form, since either may contain a `:` (RFC
/// 6749 §2.3.1).
fn encoded(id: &str, secret: &Secret) -> String {
    let encode = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    STANDARD.encode(format!("{}:{}", encode(id), encode(secret.expose())))
}

fn basic(id: &str, secret: &Secret) -> Result<HeaderValue, TokenError> {
    let value = format!("Basic {}", encoded(id, secret));
    let unfit = |_| TokenError::Broken("cannot be sent a secret of that length".to_owned());
    header::value(&AUTHORIZATION, &value).map_err(unfit)
}

fn accept_json() -> HeaderMap {
    HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))])
}

async fn within(
    fetching: impl Future<Output = Result<FetchResponse, a2a_transport::Error>>,
) -> Result<FetchResponse, TokenError> {
    use a2a_transport::Error;
    match tokio::time::timeout(MAX_WAIT, fetching).await {
        Ok(Ok(fetched)) => Ok(fetched),
        Ok(Err(error @ (Error::Unreachable(_) | Error::Connection(_) | Error::Timeout { .. }))) => {
            Err(TokenError::Unreachable(causes(&error)))
        }
        Ok(Err(Error::Redirected { status, .. })) => Err(TokenError::Broken(format!(
            "answered {status}, which sends secrets elsewhere: expected the address itself"
        ))),
        Ok(Err(error)) => Err(TokenError::Broken(causes(&error))),
        Err(_) => Err(TokenError::Unreachable(format!(
            "did not answer within {MAX_WAIT:?}"
        ))),
    }
}

/// Formats an error that names the authorization server.
pub(super) fn blame(url: &str, problem: &TokenError) -> String {
    let place = url.split(['?', '#']).next().unwrap_or_default();
    format!("the authorization server at {} {problem}", printable(place))
}

/// Deadline of one answer.
const MAX_WAIT: Duration = Duration::from_secs(30);
