//! Clients that settings of a connection describe.

use std::sync::Arc;

use a2a_client::credentials::{DevicePrompt, Keyring, OAuthClient};
use a2a_client::{
    Client, ClientBuilder, Error, HttpClient, HttpClientBuilder, Proxy, Tls, TlsConfigError,
};
use a2a_types::reading::Mode;
use http::header::{HeaderName, HeaderValue};
use serde_json::json;

use super::settings::{Secret, Settings};
use crate::changes::Changes;
use crate::problem::Problem;

impl Settings {
    /// Returns a builder of HTTP clients with the trust anchors, the client certificate and the proxy; without one,
    /// the environment names it.
    ///
    /// Errors: a certificate or the URL of the proxy cannot be used.
    pub fn http(&self) -> Result<HttpClientBuilder, SettingsError> {
        let unusable = |error: TlsConfigError| SettingsError::Invalid(error.to_string());
        let mut tls = Tls::default();
        if let Some(authorities) = &self.authorities {
            tls = tls.trust(authorities.as_bytes()).map_err(unusable)?;
        }
        if let Some(own) = &self.client_certificate {
            let (certificate, key) = (own.certificate.as_bytes(), own.key.reveal().as_bytes());
            tls = tls.identity(certificate, key).map_err(unusable)?;
        }
        if self.insecure {
            tls = tls.danger_accept_invalid_certificates();
        }
        let mut http = HttpClient::builder().tls(tls).proxy_from_env();
        if let Some(proxy) = &self.proxy {
            http = http.proxy(Proxy::at(proxy.reveal())?);
        }
        Ok(http)
    }

    /// Returns a builder of a client that connects by `http`. `prompt` shows a user the code to enter elsewhere.
    ///
    /// Errors: a header or credentials cannot be used.
    pub fn client(
        &self,
        http: HttpClientBuilder,
        prompt: impl Fn(DevicePrompt) + Send + Sync + 'static,
    ) -> Result<ClientBuilder, SettingsError> {
        let mut builder = Client::builder(&self.url).http(http);
        if let Some(version) = self.version {
            builder = builder.protocol_version(version);
        }
        if let Some(binding) = self.binding {
            builder = builder.binding(binding);
        }
        if let Some(tenant) = &self.tenant {
            builder = builder.tenant(tenant);
        }
        if self.strict {
            builder = builder.mode(Mode::Strict);
        }
        for origin in &self.trust {
            builder = builder.trust_origin(origin);
        }
        for (name, value) in &self.headers {
            let bad =
                |problem: &str| SettingsError::Invalid(format!("the header `{name}`: {problem}"));
            let header = HeaderName::try_from(name)
                .map_err(|_| bad("this is not a valid header name, like `X-Team`"))?;
            let value = HeaderValue::from_str(value.reveal())
                .map_err(|_| bad("the value has characters that a header cannot have"))?;
            builder = builder.header(header, value);
        }
        Ok(builder.keyring(self.keyring(prompt)?))
    }

    /// Returns the credentials. `prompt` shows a user the code to enter elsewhere.
    ///
    /// Errors: a secret has not the form `name:password` or `id:secret`.
    pub fn keyring(
        &self,
        prompt: impl Fn(DevicePrompt) + Send + Sync + 'static,
    ) -> Result<Keyring, SettingsError> {
        let mut keyring = Keyring::default();
        if let Some(token) = &self.bearer {
            keyring = keyring.bearer(token.reveal());
        }
        if let Some(basic) = &self.basic {
            let (name, password) = halves(basic, "name:password")?;
            keyring = keyring.basic(name, password);
        }
        if let Some(key) = &self.api_key {
            keyring = keyring.api_key(key.reveal());
        }
        if let Some(client) = &self.oauth_client {
            let (id, secret) = halves(client, "id:secret")?;
            let client = OAuthClient::new(id, secret);
            keyring = keyring.oauth_client(with_terms(client, &self.token_url, &self.scopes));
        }
        if let Some(device) = &self.oauth_device {
            let client = OAuthClient::public(&device.client_id);
            let client = with_terms(client, &device.token_url, &device.scopes);
            keyring = keyring.oauth_device(client, prompt);
        }
        if self.client_certificate.is_some() {
            keyring = keyring.mutual_tls();
        }
        Ok(keyring)
    }
}

/// Reason for which settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The URL of the proxy.
    #[error(transparent)]
    Proxy(#[from] Error),
    /// Another setting.
    #[error("{0}")]
    Invalid(String),
}

impl From<SettingsError> for Problem {
    fn from(error: SettingsError) -> Self {
        match error {
            SettingsError::Proxy(error) => error.into(),
            SettingsError::Invalid(problem) => Self::bad_request(problem),
        }
    }
}

/// Connects, by the HTTP client that `http` builds.
pub(super) async fn connect(
    settings: &Settings,
    http: HttpClientBuilder,
    changes: &Changes,
) -> Result<Client, Problem> {
    let builder = settings.client(http, prompter(&settings.url, changes))?;
    Ok(match settings.version {
        Some(version) if settings.no_card => builder.connect_at(version)?,
        None if settings.no_card => {
            return Err(Problem::bad_request(
                "an agent without a card: name the version that it speaks",
            ));
        }
        _ => builder.connect().await?,
    })
}

fn halves<'s>(secret: &'s Secret, expected: &str) -> Result<(&'s str, &'s str), SettingsError> {
    let problem = || SettingsError::Invalid(format!("a `:` is missing: expected `{expected}`"));
    secret.reveal().split_once(':').ok_or_else(problem)
}

fn with_terms(client: OAuthClient, token_url: &Option<String>, scopes: &[String]) -> OAuthClient {
    let client = scopes.iter().fold(client, OAuthClient::scope);
    match token_url {
        Some(url) => client.token_url(url),
        None => client,
    }
}

/// Returns a function that shows the user's code on every page.
fn prompter(url: &str, changes: &Changes) -> impl Fn(DevicePrompt) + Send + Sync + 'static {
    let (url, changes) = (Arc::<str>::from(url), changes.clone());
    move |prompt| {
        changes.send(
            "prompt",
            &json!({
                "agentUrl": &*url,
                "userCode": prompt.user_code,
                "verificationUri": prompt.verification_uri,
                "verificationUriComplete": prompt.verification_uri_complete,
                "expiresInSeconds": prompt.expires_in.as_secs(),
            }),
        );
    }
}

/// Returns whether a URL has a name or a password in front of its host.
pub(super) fn has_login(url: &str) -> bool {
    let uri = url.parse::<http::Uri>();
    uri.is_ok_and(|uri| uri.authority().is_some_and(|it| it.as_str().contains('@')))
}
