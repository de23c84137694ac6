//! Options of the connection to an agent.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use a2a_client::{Binding, ProtocolVersion};
use a2a_inspector::{ClientCertificate, Settings, SettingsError};
use clap::Args;
use http::header::{HeaderName, HeaderValue};

use crate::failure::Failure;
use crate::redaction::hide;
use crate::show::note;

#[derive(Args, Clone)]
#[command(next_help_heading = "Connection and credentials")]
pub(crate) struct ConnectionOptions {
    /// Prefer this binding: `JSONRPC`, `HTTP+JSON` or `GRPC`; may be repeated, the most preferred first. Default: the
    /// order of the card.
    #[arg(long = "transport", value_name = "BINDING", value_parser = read_binding)]
    pub(crate) transports: Vec<Binding>,
    /// Speak this protocol version: 1.0, or 0.3, 0.2 and 0.1 for agents of that time; `auto` takes the first that the card
    /// names. Default: 1.0, and `auto` for a gateway.
    #[arg(long, value_name = "VERSION", value_parser = read_version)]
    pub(crate) a2a_version: Option<VersionChoice>,
    /// Call the address as the endpoint, by JSON-RPC or the binding of --transport, without fetching a card.
    #[arg(long)]
    pub(crate) no_card: bool,
    /// Send credentials and service parameters for the card, too, to the server of --agent-card: some agents do not show
    /// their card to everyone.
    #[arg(long)]
    pub(crate) card_credentials: bool,
    /// Authenticate with a bearer token. Other users of this machine can see options: A2ACLI_BEARER is safer.
    #[arg(long, value_name = "TOKEN")]
    bearer: Option<String>,
    /// Authenticate with an API key, in the header, parameter or cookie that the card names. Other users of this machine
    /// can see options: A2ACLI_API_KEY is safer.
    #[arg(long, value_name = "KEY")]
    api_key: Option<String>,
    /// Authenticate with a name and password (HTTP Basic). Other users of this machine can see options: A2ACLI_BASIC is
    /// safer.
    #[arg(long, value_name = "NAME:PASSWORD")]
    basic: Option<String>,
    /// Send a service parameter, which is a header, with every request to the agent; may be repeated.
    #[arg(long = "svc-param", value_name = "NAME:VALUE")]
    svc_params: Vec<String>,
    /// Request a protocol extension by its URI; may be repeated.
    #[arg(long = "extension", value_name = "URI")]
    extensions: Vec<String>,
    /// Tenant to name in requests, in place of the one on the card.
    #[arg(long)]
    tenant: Option<String>,
    /// Send credentials and service parameters to this origin too, like `https://api.example`; may be repeated.
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) trust: Vec<String>,
    /// Connect through a proxy: `http://host:port` or `socks5://host:port`. Default: what HTTPS_PROXY, HTTP_PROXY and NO_PROXY
    /// name; hosts of this machine are called directly.
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
    /// Trust the certificate authorities in this file, besides the system's (PEM).
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Client certificate for mutual TLS (PEM).
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// Private key of the client certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// Accept any TLS certificate, for development only: everything can be read and changed on the way.
    #[arg(long)]
    insecure: bool,
    /// Refuse answers that violate the specification, instead of repairing known deviations.
    #[arg(long)]
    strict: bool,
}

/// Choice of the protocol version.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum VersionChoice {
    Only(ProtocolVersion),
    /// The first that the card names, an old one, too.
    Auto,
}

fn read_version(text: &str) -> Result<VersionChoice, String> {
    match text {
        "auto" => Ok(VersionChoice::Auto),
        _ => {
            let expected = || "expected 1.0, 0.3, 0.2, 0.1 or auto".to_owned();
            text.parse()
                .map(VersionChoice::Only)
                .map_err(|_| expected())
        }
    }
}

fn read_binding(text: &str) -> Result<Binding, String> {
    let name = text.to_ascii_lowercase();
    match &*name {
        "jsonrpc" | "json-rpc" => Ok(Binding::JsonRpc),
        "http+json" | "http-json" | "rest" => Ok(Binding::HttpJson),
        "grpc" => Ok(Binding::Grpc),
        _ => Err("expected JSONRPC, HTTP+JSON or GRPC".to_owned()),
    }
}

/// Reads a duration: `2s`, `500ms`, `1m`, `1h`; a number alone is in seconds.
pub(crate) fn read_duration(text: &str) -> Result<Duration, String> {
    let expected = || "expected a duration like 500ms, 2s or 1m".to_owned();
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let number: f64 = number.parse().map_err(|_| expected())?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "" | "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(expected()),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| expected())
}

/// Reads an address to listen on.
pub(crate) fn read_address(text: &str) -> Result<SocketAddr, String> {
    let expected = "expected an IP address and a port, like 127.0.0.1:8080 or [::1]:8080";
    text.parse().map_err(|_| expected.to_owned())
}

/// Reads the URL by which callers reach a server.
pub(crate) fn read_public_url(text: &str) -> Result<String, String> {
    let expected = || "expected a URL like https://agent.example/joke, without a query".to_owned();
    let url: http::Uri = text.parse().map_err(|_| expected())?;
    let is_http = matches!(url.scheme_str(), Some("http" | "https"));
    let has_host = url.host().is_some_and(|host| !host.is_empty());
    match is_http && has_host && url.query().is_none() && !text.contains(['@', '#']) {
        true => Ok(text.to_owned()),
        false => Err(expected()),
    }
}

/// Reads a limit on the time of a command.
pub(crate) fn read_limit(text: &str) -> Result<Duration, String> {
    match read_duration(text)? {
        Duration::ZERO => Err("expected more than no time".to_owned()),
        limit => Ok(limit),
    }
}

impl ConnectionOptions {
    /// Returns whether credentials are given.
    pub(crate) fn has_credentials(&self) -> bool {
        self.cert.is_some() || self.has_secret()
    }

    /// Returns whether credentials are given that requests have.
    pub(crate) fn has_secret(&self) -> bool {
        self.bearer.is_some()
            || self.api_key.is_some()
            || self.basic.is_some()
            || self.has_parameter(|name| {
                ["authorization", "cookie", "proxy-authorization"].contains(&name)
            })
    }

    /// Returns whether a service parameter has such a name, in lower case.
    pub(crate) fn has_parameter(&self, is_named: impl Fn(&str) -> bool) -> bool {
        self.svc_params.iter().any(|parameter| {
            let name = parameter.split(':').next().unwrap_or_default();
            is_named(&name.trim().to_ascii_lowercase())
        })
    }

    /// Returns whether a certificate is shown.
    pub(crate) fn has_certificate(&self) -> bool {
        self.cert.is_some()
    }

    /// Returns whether a protocol extension is requested.
    pub(crate) fn has_extensions(&self) -> bool {
        !self.extensions.is_empty()
    }

    /// Forgets the credentials, but for the certificate.
    pub(crate) fn without_credentials(self) -> Self {
        Self {
            bearer: None,
            api_key: None,
            basic: None,
            ..self
        }
    }

    /// Returns the settings of the connection to the agent at a URL.
    pub(crate) fn settings(&self, url: String) -> Result<Settings, Failure> {
        let mut settings = self.anonymous_settings(url)?;
        let secret = |secret: &Option<String>| {
            secret.clone().map(|secret| {
                hide(&secret);
                secret.into()
            })
        };
        settings.bearer = secret(&self.bearer);
        settings.basic = secret(&self.basic);
        settings.api_key = secret(&self.api_key);
        for (name, value) in self.headers()? {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            settings.headers.push((name.to_string(), value.into()));
        }
        Ok(settings)
    }

    /// Returns the settings without what identifies the caller to the agent, but for its certificate: a card is fetched so.
    pub(crate) fn anonymous_settings(&self, url: String) -> Result<Settings, Failure> {
        let mut settings = Settings::default();
        settings.url = url;
        settings.no_card = self.no_card;
        settings.tenant = self.tenant.clone();
        settings.trust = self.trust.clone();
        settings.proxy = self.proxy.clone().map(Into::into);
        settings.authorities = pem("--ca", &self.ca)?;
        if let (Some(certificate), Some(key)) =
            (pem("--cert", &self.cert)?, pem("--key", &self.key)?)
        {
            let key = key.into();
            settings.client_certificate = Some(ClientCertificate { certificate, key });
        }
        settings.insecure = self.insecure;
        settings.strict = self.strict;
        Ok(settings)
    }

    /// Returns the service parameters.
    pub(crate) fn headers(&self) -> Result<Vec<(HeaderName, HeaderValue)>, Failure> {
        let parameters = self.svc_params.iter();
        let headers: Result<Vec<_>, _> = parameters.map(|text| read_parameter(text)).collect();
        let mut headers = headers?;
        if !self.extensions.is_empty() {
            let extensions = HeaderValue::from_str(&self.extensions.join(", "));
            let extensions = extensions.map_err(|_| {
                Failure::usage("--extension: expected a URI, which has no spaces or line breaks")
            })?;
            headers.push((HeaderName::from_static("a2a-extensions"), extensions));
        }
        Ok(headers)
    }

    /// Returns whether deviations of the agent are refused.
    pub(crate) fn is_strict(&self) -> bool {
        self.strict
    }

    /// Warns of what the options risk.
    pub(crate) fn warn(&self) {
        if self.insecure {
            let sent = match self.has_credentials() {
                true => ": the credentials can be read and used by anyone on the way",
                false => "",
            };
            note(&format!(
                "warning: --insecure accepts any TLS certificate{sent}"
            ));
        }
    }
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
fn pem(option: &str, path: &Option<PathBuf>) -> Result<Option<String>, Failure> {
    let read = |path: &PathBuf| {
        let bad =
            |problem: String| Failure::usage(format!("{option} {}: {problem}", path.display()));
        let bytes = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match text.contains("-----BEGIN ") {
            true => Ok(text),
            false => Err(bad(
                "expected PEM, which has a line like `-----BEGIN CERTIFICATE-----`".to_owned(),
            )),
        }
    };
    path.as_ref().map(read).transpose()
}

/// Reads `NAME:VALUE`.
fn read_parameter(text: &str) -> Result<(HeaderName, HeaderValue), Failure> {
    let (name, value) = text.split_once(':').unwrap_or((text, ""));
    let bad = |problem: &str| Failure::usage(format!("--svc-param {name}: {problem}"));
    if !text.contains(':') {
        return Err(bad("expected NAME:VALUE"));
    }
    let (name, value) = (name.trim(), value.trim());
    hide(value);
    let header = HeaderName::try_from(name).map_err(|_| bad("expected a name like x-trace-id"))?;
    let value =
        HeaderValue::from_str(value).map_err(|_| bad("expected a value in visible ASCII"))?;
    Ok((header, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        for (text, expected) in [
            ("2", Some(2000)),
            ("2s", Some(2000)),
            ("0.5s", Some(500)),
            ("250ms", Some(250)),
            ("1m", Some(60_000)),
            ("1h", Some(3_600_000)),
            ("", None),
            ("s", None),
            ("-1s", None),
            ("1d", None),
            ("1e400", None),
        ] {
            let read = read_duration(text).ok().map(|read| read.as_millis());
            assert_eq!(read, expected, "{text}");
        }
    }
}
