//! Settings of a connection.

use std::fmt;

use a2a_client::{Binding, ProtocolVersion};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Settings of a connection to an agent, as the page or the command line has them.
///
/// Secrets are read, and never written: neither to the page nor into the state file.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[non_exhaustive]
pub struct Settings {
    /// URL of the agent: its origin, its endpoint or its card.
    pub url: String,
    /// The only protocol version to speak.
    #[serde(with = "version", skip_serializing_if = "Option::is_none")]
    pub version: Option<ProtocolVersion>,
    /// The only binding to use.
    #[serde(with = "binding", skip_serializing_if = "Option::is_none")]
    pub binding: Option<Binding>,
    /// Calls the URL as the endpoint, without a card; needs a version.
    pub no_card: bool,
    /// Tenant of requests that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Headers of every request. The values are secrets.
    #[serde(serialize_with = "names", skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, Secret)>,
    /// Bearer token.
    #[serde(skip_serializing)]
    pub bearer: Option<Secret>,
    /// `name:password` for HTTP Basic.
    #[serde(skip_serializing)]
    pub basic: Option<Secret>,
    /// API key, in the place that the card names.
    #[serde(skip_serializing)]
    pub api_key: Option<Secret>,
    /// `id:secret` of an OAuth 2.0 client.
    #[serde(skip_serializing)]
    pub oauth_client: Option<Secret>,
    /// OAuth 2.0 client of a user, who enters a code elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oauth_device: Option<OAuthDevice>,
    /// Token endpoint of `oauthClient`, if the card names none or one of another origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_url: Option<String>,
    /// Scopes of `oauthClient`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// Origins that get headers and credentials, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trust: Vec<String>,
    /// Proxy to connect through, which may have a password.
    #[serde(skip_serializing)]
    pub proxy: Option<Secret>,
    /// Client certificate for mutual TLS.
    #[serde(skip_serializing)]
    pub client_certificate: Option<ClientCertificate>,
    /// Certificate authorities to trust in addition to the system's, in PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorities: Option<String>,
    /// Accepts every certificate of the agent: for development only. Not saved.
    #[serde(skip)]
    pub insecure: bool,
    /// Refuses answers that violate the specification, instead of repairing known deviations.
    pub strict: bool,
    /// Saves the settings without secrets.
    #[serde(skip_serializing)]
    pub save: bool,
    /// Set when written, if there are secrets, which are not written. Ignored when read.
    pub has_secret: bool,
}

/// Settings that may change while the secrets stay: none of them changes where secrets are sent.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Preferences {
    #[serde(with = "version")]
    version: Option<ProtocolVersion>,
    #[serde(with = "binding")]
    binding: Option<Binding>,
    no_card: bool,
    tenant: Option<String>,
    strict: bool,
}

impl Preferences {
    /// Returns the settings with these preferences.
    pub(crate) fn of(self, settings: &Settings) -> Settings {
        Settings {
            version: self.version,
            binding: self.binding,
            no_card: self.no_card,
            tenant: self.tenant,
            strict: self.strict,
            ..settings.clone()
        }
    }
}

/// An OAuth 2.0 client of a user, for the device flow.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[non_exhaustive]
pub struct OAuthDevice {
    /// The client's id.
    pub client_id: String,
    /// The token endpoint, if the card names none or one of another origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_url: Option<String>,
    /// The scopes to request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}

/// A client certificate and its key, in PEM.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientCertificate {
    /// The certificate chain, the own one first.
    pub certificate: String,
    /// The private key.
    pub key: Secret,
}

/// A secret text. Its `Debug` output hides it, and it cannot be serialized.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Settings {
    /// Returns the settings without their secrets, and with the mark that there are some.
    pub(crate) fn without_secrets(&self) -> Self {
        Self {
            has_secret: self.has_secrets(),
            headers: self
                .headers
                .iter()
                .map(|(name, _)| (name.clone(), Secret::default()))
                .collect(),
            bearer: None,
            basic: None,
            api_key: None,
            oauth_client: None,
            proxy: None,
            client_certificate: None,
            save: false,
            ..self.clone()
        }
    }

    /// Returns whether there are secrets.
    pub(crate) fn has_secrets(&self) -> bool {
        let secrets = [
            &self.bearer,
            &self.basic,
            &self.api_key,
            &self.oauth_client,
            &self.proxy,
        ];
        !self.headers.is_empty()
            || self.client_certificate.is_some()
            || secrets.iter().any(|secret| secret.is_some())
    }
}

impl Secret {
    /// Returns the secret.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(secret: String) -> Self {
        Self(secret)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// Writes the names of headers, each with an empty value.
fn names<S: Serializer>(headers: &[(String, Secret)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(headers.iter().map(|(name, _)| (name, "")))
}

/// Text form of a protocol version.
mod version {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        version: &Option<ProtocolVersion>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        version.map(ProtocolVersion::version).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<ProtocolVersion>, D::Error> {
        let name: Option<String> = Option::deserialize(deserializer)?;
        let version = name.map(|name| name.parse()).transpose();
        version.map_err(serde::de::Error::custom)
    }
}

/// Text form of a binding, as cards have it.
mod binding {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        binding: &Option<Binding>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        binding.map(Binding::as_str).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Binding>, D::Error> {
        let name: Option<String> = Option::deserialize(deserializer)?;
        let Some(name) = name else { return Ok(None) };
        let bindings = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc];
        let known = bindings
            .into_iter()
            .find(|binding| binding.as_str() == name);
        known.map(Some).ok_or_else(|| {
            serde::de::Error::custom("unknown binding: expected `JSONRPC`, `HTTP+JSON` or `GRPC`")
        })
    }
}
