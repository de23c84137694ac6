//! Client builders of connection settings.

use std::sync::Arc;

use a2a_client::credentials::{DevicePrompt, Keyring, OAuthClient};
use a2a_client::{
    Client, ClientBuilder, HttpClient, HttpClientBuilder, Proxy, Tls, TlsConfigError,
};
use a2a_types::reading::Mode;
use http::header::{HeaderName, HeaderValue};
use serde_json::json;

use super::settings::{Secret, Settings};
use crate::changes::Changes;
use crate::problem::Problem;

/// Returns a builder of HTTP clients with the trust anchors, the client certificate and the proxy of the settings.
pub(super) fn http(settings: &Settings) -> Result<HttpClientBuilder, Problem> {
    let unusable = |error: TlsConfigError| Problem::bad_request(error.to_string());
    let mut tls = Tls::default();
    if let Some(authorities) = &settings.authorities {
        tls = tls.trust(authorities.as_bytes()).map_err(unusable)?;
    }
    if let Some(own) = &settings.client_certificate {
        let (certificate, key) = (own.certificate.as_bytes(), own.key.reveal().as_bytes());
        tls = tls.identity(certificate, key).map_err(unusable)?;
    }
    let mut http = HttpClient::builder().tls(tls);
    if let Some(proxy) = &settings.proxy {
        http = http.proxy(Proxy::at(proxy.reveal())?);
    }
    Ok(http)
}

/// Connects, by the HTTP client that `http` builds.
pub(super) async fn connect(
    settings: &Settings,
    http: HttpClientBuilder,
    changes: &Changes,
) -> Result<Client, Problem> {
    let mut builder = Client::builder(&settings.url).http(http);
    if let Some(version) = settings.version {
        builder = builder.dialect(version);
    }
    if let Some(binding) = settings.binding {
        builder = builder.binding(binding);
    }
    if let Some(tenant) = &settings.tenant {
        builder = builder.tenant(tenant);
    }
    if settings.strict {
        builder = builder.mode(Mode::Strict);
    }
    for origin in &settings.trust {
        builder = builder.trust_origin(origin);
    }
    builder = with_headers(builder, &settings.headers)?;
    builder = builder.keyring(keyring(settings, changes)?);
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

fn with_headers(
    mut builder: ClientBuilder,
    headers: &[(String, Secret)],
) -> Result<ClientBuilder, Problem> {
    for (name, value) in headers {
        let bad = |problem: &str| Problem::bad_request(format!("the header `{name}`: {problem}"));
        let header = HeaderName::try_from(name)
            .map_err(|_| bad("this is not a valid header name, like `X-Team`"))?;
        let value = HeaderValue::from_str(value.reveal())
            .map_err(|_| bad("the value has characters that a header cannot have"))?;
        builder = builder.header(header, value);
    }
    Ok(builder)
}

/// Collects the credentials of the settings.
fn keyring(settings: &Settings, changes: &Changes) -> Result<Keyring, Problem> {
    let mut keyring = Keyring::default();
    if let Some(token) = &settings.bearer {
        keyring = keyring.bearer(token.reveal());
    }
    if let Some(basic) = &settings.basic {
        let (name, password) = halves(basic, "name:password")?;
        keyring = keyring.basic(name, password);
    }
    if let Some(key) = &settings.api_key {
        keyring = keyring.api_key(key.reveal());
    }
    if let Some(client) = &settings.oauth_client {
        let (id, secret) = halves(client, "id:secret")?;
        let client = OAuthClient::new(id, secret);
        keyring = keyring.oauth_client(with_terms(client, &settings.token_url, &settings.scopes));
    }
    if let Some(device) = &settings.oauth_device {
        let client = OAuthClient::public(&device.client_id);
        let client = with_terms(client, &device.token_url, &device.scopes);
        keyring = keyring.oauth_device(client, prompter(&settings.url, changes));
    }
    if settings.client_certificate.is_some() {
        keyring = keyring.mutual_tls();
    }
    Ok(keyring)
}

fn halves<'s>(secret: &'s Secret, expected: &str) -> Result<(&'s str, &'s str), Problem> {
    let halves = secret.reveal().split_once(':');
    halves.ok_or_else(|| Problem::bad_request(format!("a `:` is missing: expected `{expected}`")))
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
