//! Options of the connection to an agent.

use std::path::{Path, PathBuf};

use a2a_client::credentials::{DevicePrompt, Keyring, OAuthClient};
use a2a_client::{Binding, Dialect, HttpClient, HttpClientBuilder, Proxy, Tls};
use clap::{Args, ValueEnum};
use http::header::{HeaderName, HeaderValue};

use crate::config::NamedAgent;
use crate::exit::Failure;
use crate::files::expand;
use crate::secret::Secret;
use crate::show::note;

#[derive(Args, Clone)]
#[command(next_help_heading = "Connection and credentials")]
pub(crate) struct ConnectionOptions {
    /// Use only this protocol version. Default: the newest that the card offers.
    #[arg(long, value_enum, value_name = "VERSION")]
    pub(crate) dialect: Option<VersionName>,
    /// Use only this protocol binding.
    #[arg(long, value_enum)]
    pub(crate) binding: Option<BindingName>,
    /// Call the URL as the JSON-RPC endpoint, without fetching a card.
    #[arg(long, requires = "dialect")]
    pub(crate) no_card: bool,
    /// Tenant to name in requests (protocol 1.0).
    #[arg(long)]
    pub(crate) tenant: Option<String>,
    /// Send a header with every request, like `X-Team: blue`. The value may be `@FILE` or `$NAME`.
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE")]
    pub(crate) headers: Vec<String>,
    /// Authenticate with a bearer token: the token itself, `@FILE` or `$NAME`.
    #[arg(long, env = "A2A_BEARER", value_name = "TOKEN", hide_env_values = true)]
    pub(crate) bearer: Option<Secret>,
    /// Authenticate with a name and password (HTTP Basic).
    #[arg(
        long,
        env = "A2A_BASIC",
        value_name = "NAME:PASSWORD",
        hide_env_values = true
    )]
    pub(crate) basic: Option<Secret>,
    /// Authenticate with an API key, in the header, parameter or cookie that the card names.
    #[arg(long, env = "A2A_API_KEY", value_name = "KEY", hide_env_values = true)]
    pub(crate) api_key: Option<Secret>,
    /// Authenticate as this OAuth 2.0 client (client credentials); tokens are fetched and renewed.
    #[arg(
        long,
        env = "A2A_OAUTH_CLIENT",
        value_name = "ID:SECRET",
        hide_env_values = true
    )]
    pub(crate) oauth_client: Option<Secret>,
    /// Authenticate a user with the device flow of OAuth 2.0: prints a URL and the code to enter there.
    #[arg(long, value_name = "ID", conflicts_with = "oauth_client")]
    pub(crate) oauth_device: Option<String>,
    /// Token endpoint of OAuth 2.0. Required if the card names none, or one of another origin.
    #[arg(long, value_name = "URL")]
    pub(crate) token_url: Option<String>,
    /// Request this OAuth 2.0 scope; may be repeated.
    #[arg(long = "scope", value_name = "SCOPE")]
    pub(crate) scopes: Vec<String>,
    /// Send headers and credentials to this origin too, like `https://api.example`; may be repeated.
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) trust: Vec<String>,
    /// Connect through a proxy: `http://host:port` or `socks5://host:port`.
    #[arg(long, env = "A2A_PROXY", value_name = "URL", hide_env_values = true)]
    pub(crate) proxy: Option<String>,
    /// Trust the certificate authorities in this file, besides the system's (PEM).
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Client certificate for mutual TLS (PEM).
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) cert: Option<PathBuf>,
    /// Private key of the client certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// Refuse answers that violate the specification, instead of repairing known deviations.
    #[arg(long)]
    pub(crate) strict: bool,
}

/// A protocol version.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum VersionName {
    #[value(name = "0.1")]
    V0_1,
    #[value(name = "0.2")]
    V0_2,
    #[value(name = "0.3")]
    V0_3,
    #[value(name = "1.0")]
    V1_0,
}

impl From<VersionName> for Dialect {
    fn from(version: VersionName) -> Self {
        match version {
            VersionName::V0_1 => Self::V0_1,
            VersionName::V0_2 => Self::V0_2,
            VersionName::V0_3 => Self::V0_3,
            VersionName::V1_0 => Self::V1_0,
        }
    }
}

/// A binding of the protocol.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum BindingName {
    Jsonrpc,
    HttpJson,
}

impl From<BindingName> for Binding {
    fn from(binding: BindingName) -> Self {
        match binding {
            BindingName::Jsonrpc => Self::JsonRpc,
            BindingName::HttpJson => Self::HttpJson,
        }
    }
}

impl ConnectionOptions {
    /// Fills in options of the configuration file that the command line does not set.
    pub(crate) fn or(mut self, known: &NamedAgent) -> Result<Self, Failure> {
        let secret = |name: &str, text: &Option<String>| -> Result<Option<Secret>, Failure> {
            let read = |text: &String| {
                let problem = |error| Failure::usage(format!("{name}: {error}"));
                text.parse::<Secret>().map_err(problem)
            };
            text.as_ref().map(read).transpose()
        };
        if let (None, Some(text)) = (self.dialect, &known.dialect) {
            let read = VersionName::from_str(text, true);
            self.dialect = Some(read.map_err(|error| Failure::usage(format!("dialect: {error}")))?);
        }
        if let (None, Some(text)) = (self.binding, &known.binding) {
            let read = BindingName::from_str(text, true);
            self.binding = Some(read.map_err(|error| Failure::usage(format!("binding: {error}")))?);
        }
        self.tenant = self.tenant.or_else(|| known.tenant.clone());
        let has_no_credentials = self.bearer.is_none()
            && self.basic.is_none()
            && self.api_key.is_none()
            && self.oauth_client.is_none()
            && self.oauth_device.is_none();
        if has_no_credentials {
            self.bearer = secret("bearer", &known.bearer)?;
            self.basic = secret("basic", &known.basic)?;
            self.api_key = secret("api-key", &known.api_key)?;
            self.oauth_client = secret("oauth-client", &known.oauth_client)?;
        }
        let headers = known.headers.iter();
        let mut headers: Vec<_> = headers
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        headers.append(&mut self.headers);
        self.headers = headers;
        self.trust.extend(known.trust.iter().cloned());
        self.proxy = self.proxy.or_else(|| known.proxy.clone());
        let path = |text: &Option<String>| text.as_deref().map(expand);
        self.ca = self.ca.or_else(|| path(&known.ca));
        self.cert = self.cert.or_else(|| path(&known.cert));
        self.key = self.key.or_else(|| path(&known.key));
        Ok(self)
    }

    /// Collects the credentials of the options.
    pub(crate) fn keyring(&self) -> Result<Keyring, Failure> {
        let pair = |secret: &Secret, expected: &str| {
            let halves = secret.reveal().split_once(':');
            let halves = halves.map(|(one, other)| (one.to_owned(), other.to_owned()));
            halves.ok_or_else(|| Failure::usage(format!("a `:` is missing: expected {expected}")))
        };
        let oauth = |mut client: OAuthClient| {
            for scope in &self.scopes {
                client = client.scope(scope);
            }
            match &self.token_url {
                Some(url) => client.token_url(url),
                None => client,
            }
        };
        let mut keyring = Keyring::default();
        if let Some(token) = &self.bearer {
            keyring = keyring.bearer(token.reveal());
        }
        if let Some(basic) = &self.basic {
            let (name, password) = pair(basic, "--basic NAME:PASSWORD")?;
            keyring = keyring.basic(name, password);
        }
        if let Some(key) = &self.api_key {
            keyring = keyring.api_key(key.reveal());
        }
        if let Some(client) = &self.oauth_client {
            let (id, secret) = pair(client, "--oauth-client ID:SECRET")?;
            keyring = keyring.oauth_client(oauth(OAuthClient::new(id, secret)));
        }
        if let Some(id) = &self.oauth_device {
            let client = oauth(OAuthClient::public(id));
            keyring = keyring.oauth_device(client, |prompt| {
                let DevicePrompt {
                    verification_uri,
                    user_code,
                    ..
                } = prompt;
                note(&format!(
                    "to log in, open {verification_uri} and enter the code {user_code}"
                ));
            });
        }
        if self.cert.is_some() {
            keyring = keyring.mutual_tls();
        }
        Ok(keyring)
    }

    /// Returns a builder of HTTP clients with the proxy and the TLS of the options.
    pub(crate) fn http(&self) -> Result<HttpClientBuilder, Failure> {
        let mut http = HttpClient::builder();
        if let Some(proxy) = &self.proxy {
            http = http.proxy(Proxy::at(proxy)?);
        }
        let unusable = |error: a2a_client::TlsConfigError| Failure::usage(error.to_string());
        let mut tls = Tls::default();
        if let Some(ca) = &self.ca {
            tls = tls.trust(&read(ca)?).map_err(unusable)?;
        }
        if let (Some(cert), Some(key)) = (&self.cert, &self.key) {
            tls = tls.identity(&read(cert)?, &read(key)?).map_err(unusable)?;
        }
        Ok(http.tls(tls))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(Failure::machine(path.display().to_string()))
}

/// Reads `NAME: VALUE`.
pub(crate) fn read_header(text: &str) -> Result<(HeaderName, HeaderValue), Failure> {
    let bad = |problem: &str| {
        let name = text.split(':').next().unwrap_or_default();
        Failure::usage(format!("the header `{name}`: {problem}"))
    };
    let (name, value) = text
        .split_once(':')
        .ok_or_else(|| bad("expected `NAME: VALUE`"))?;
    let name = HeaderName::try_from(name.trim())
        .map_err(|_| bad("this is not a valid header name, like `X-Team`"))?;
    let value = value
        .trim()
        .parse::<Secret>()
        .map_err(|error| bad(&error))?;
    let value = HeaderValue::from_str(value.reveal()).map_err(|_| {
        bad("the value has characters that a header cannot have: expected visible ASCII")
    })?;
    Ok((name, value))
}
