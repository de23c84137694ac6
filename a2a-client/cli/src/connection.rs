//! Options of the connection to an agent.

use std::path::PathBuf;

use a2a_client::credentials::DevicePrompt;
use a2a_client::{Binding, ProtocolVersion};
use a2a_inspector::{ClientCertificate, OAuthDevice, Settings, SettingsError};
use clap::{Args, ValueEnum};
use http::header::{HeaderName, HeaderValue};

use crate::config::{Config, NamedAgent};
use crate::exit::Failure;
use crate::files::expand;
use crate::secret::Secret;
use crate::show::note;

#[derive(Args, Clone)]
#[command(next_help_heading = "Connection and credentials")]
pub(crate) struct ConnectionOptions {
    /// Use only this protocol version. Default: the newest that the card offers.
    #[arg(long, value_enum, value_name = "VERSION")]
    pub(crate) protocol_version: Option<VersionName>,
    /// Use only this protocol binding.
    #[arg(long, value_enum)]
    pub(crate) binding: Option<BindingName>,
    /// Call the URL as the JSON-RPC endpoint, without fetching a card.
    #[arg(long, requires = "protocol_version")]
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

impl From<VersionName> for ProtocolVersion {
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
    fn or(mut self, known: &NamedAgent) -> Result<Self, Failure> {
        let secret = |name: &str, text: &Option<String>| -> Result<Option<Secret>, Failure> {
            let read = |text: &String| {
                let problem = |error| Failure::usage(format!("{name}: {error}"));
                text.parse::<Secret>().map_err(problem)
            };
            text.as_ref().map(read).transpose()
        };
        if let (None, Some(text)) = (self.protocol_version, &known.protocol_version) {
            let read = VersionName::from_str(text, true);
            self.protocol_version =
                Some(read.map_err(|error| Failure::usage(format!("protocol-version: {error}")))?);
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

    /// Returns the settings of the agent of this name or URL, which the configuration file may name, too.
    pub(crate) fn settings(self, name: &str) -> Result<Settings, Failure> {
        let known = Config::read()?.agent(name)?;
        let options = self.or(&known)?;
        let secret =
            |secret: &Option<Secret>| secret.as_ref().map(|it| it.reveal().to_owned().into());
        let mut settings = Settings::default();
        settings.url = known.url;
        settings.version = options.protocol_version.map(Into::into);
        settings.binding = options.binding.map(Into::into);
        settings.no_card = options.no_card;
        settings.tenant = options.tenant.clone();
        for header in &options.headers {
            let (name, value) = read_header(header)?;
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            settings.headers.push((name.to_string(), value.into()));
        }
        settings.bearer = secret(&options.bearer);
        settings.basic = secret(&options.basic);
        settings.api_key = secret(&options.api_key);
        settings.oauth_client = secret(&options.oauth_client);
        settings.oauth_device = options.oauth_device.map(|client_id| {
            let mut device = OAuthDevice::default();
            device.client_id = client_id;
            device.token_url = options.token_url.clone();
            device.scopes = options.scopes.clone();
            device
        });
        settings.token_url = options.token_url;
        settings.scopes = options.scopes;
        settings.trust = options.trust;
        settings.proxy = options.proxy.map(Into::into);
        settings.authorities = pem(&options.ca)?;
        if let (Some(certificate), Some(key)) = (pem(&options.cert)?, pem(&options.key)?) {
            let key = key.into();
            settings.client_certificate = Some(ClientCertificate { certificate, key });
        }
        settings.strict = options.strict;
        Ok(settings)
    }
}

/// Tells the user where to enter the code of the device flow.
pub(crate) fn prompt(prompt: DevicePrompt) {
    let DevicePrompt {
        verification_uri,
        user_code,
        ..
    } = prompt;
    note(&format!(
        "to log in, open {verification_uri} and enter the code {user_code}"
    ));
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        match error {
            SettingsError::Proxy(error) => Self::Call(error),
            SettingsError::Invalid(problem) => Self::Usage(problem),
        }
    }
}

/// Reads a file of certificates or keys. Bytes that are not text are refused where the file is used.
fn pem(path: &Option<PathBuf>) -> Result<Option<String>, Failure> {
    let read = |path: &PathBuf| {
        let bytes = std::fs::read(path).map_err(Failure::machine(path.display().to_string()));
        bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    path.as_ref().map(read).transpose()
}

/// Reads `NAME: VALUE`.
fn read_header(text: &str) -> Result<(HeaderName, HeaderValue), Failure> {
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
