//! Security schemes as in OpenAPI 3, 0.2 §5.5.3.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::OAuthFlows;
use crate::pre_1_0::{both_ways, constants, unless_empty, wire_types};
use crate::reading::{Normalizer, Quirk, absent};
use crate::{
    ApiKeySecurityScheme as ApiKey, HttpAuthSecurityScheme as HttpAuth,
    MutualTlsSecurityScheme as MutualTls, OAuth2SecurityScheme as OAuth2, Object,
    OpenIdConnectSecurityScheme as OpenIdConnect, SecurityScheme as Scheme,
};

constants! {
    /// `"type": "apiKey"`.
    ApiKeyType = "apiKey";
    /// `"type": "http"`.
    HttpType = "http";
    /// `"type": "oauth2"`.
    OAuth2Type = "oauth2";
    /// `"type": "openIdConnect"`.
    OpenIdConnectType = "openIdConnect";
    /// `"type": "mutualTLS"`.
    MutualTlsType = "mutualTLS";
}

/// One way to authenticate, distinguished by `type`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum SecurityScheme {
    /// A key in a header, the query or a cookie.
    ApiKey(ApiKeySecurityScheme),
    /// HTTP authentication.
    Http(HttpAuthSecurityScheme),
    /// OAuth 2.0.
    OAuth2(Box<OAuth2SecurityScheme>),
    /// OpenID Connect discovery.
    OpenIdConnect(OpenIdConnectSecurityScheme),
    /// A client certificate (0.3).
    MutualTls(MutualTlsSecurityScheme),
}

wire_types! {
    /// A key in a header, the query or a cookie.
    #[cfg_attr(feature = "schema", schemars(rename = "APIKeySecurityScheme"))]
    pub struct ApiKeySecurityScheme: Debug {
        /// Always `apiKey`.
        #[serde(rename = "type")]
        pub kind: ApiKeyType,
        /// Human-readable description.
        pub description: Option<String> = optional,
        /// Place of the key in a request.
        #[serde(rename = "in")]
        pub location: ApiKeyIn,
        /// The name of the header, parameter or cookie.
        pub name: String,
    }
}

/// Place of an API key in a request.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "lowercase")]
pub enum ApiKeyIn {
    /// The query.
    Query,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
}

wire_types! {
    /// HTTP authentication.
    #[cfg_attr(feature = "schema", schemars(rename = "HTTPAuthSecurityScheme"))]
    pub struct HttpAuthSecurityScheme: Debug {
        /// Always `http`.
        #[serde(rename = "type")]
        pub kind: HttpType,
        /// Human-readable description.
        pub description: Option<String> = optional,
        /// A name of the IANA registry of authentication schemes.
        pub scheme: String,
        /// Format of the bearer token.
        pub bearer_format: Option<String> = optional,
    }

    /// OAuth 2.0.
    pub struct OAuth2SecurityScheme: Debug {
        /// Always `oauth2`.
        #[serde(rename = "type")]
        pub kind: OAuth2Type,
        /// Human-readable description.
        pub description: Option<String> = optional,
        /// OAuth flows that yield a token.
        pub flows: OAuthFlows,
        /// URL of the authorization server's metadata (0.3).
        #[serde(rename = "oauth2MetadataUrl")]
        pub oauth2_metadata_url: Option<String> = optional,
    }

    /// OpenID Connect discovery.
    pub struct OpenIdConnectSecurityScheme: Debug {
        /// Always `openIdConnect`.
        #[serde(rename = "type")]
        pub kind: OpenIdConnectType,
        /// Human-readable description.
        pub description: Option<String> = optional,
        /// URL of the discovery document.
        pub open_id_connect_url: String,
    }

    /// A client certificate (0.3).
    #[cfg_attr(feature = "schema", schemars(rename = "MutualTLSSecurityScheme"))]
    pub struct MutualTlsSecurityScheme: Debug {
        /// Always `mutualTLS`.
        #[serde(rename = "type")]
        pub kind: MutualTlsType,
        /// Human-readable description.
        pub description: Option<String> = optional,
    }
}

both_ways! {
    HttpAuthSecurityScheme = HttpAuth { description, scheme, bearer_format } wire only { kind };
    OpenIdConnectSecurityScheme = OpenIdConnect { description, open_id_connect_url } wire only { kind };
    MutualTlsSecurityScheme = MutualTls { description } wire only { kind };
}

impl From<SecurityScheme> for Scheme {
    /// Converts the scheme with all its flows, of which 1.0 allows one.
    fn from(scheme: SecurityScheme) -> Self {
        match scheme {
            SecurityScheme::ApiKey(key) => Self::ApiKeySecurityScheme(ApiKey {
                description: key.description,
                location: match key.location {
                    ApiKeyIn::Query => "query",
                    ApiKeyIn::Header => "header",
                    ApiKeyIn::Cookie => "cookie",
                }
                .to_owned(),
                name: key.name,
            }),
            SecurityScheme::Http(http) => Self::HttpAuthSecurityScheme(http.into()),
            SecurityScheme::OAuth2(oauth2) => Self::OAuth2SecurityScheme(OAuth2 {
                description: oauth2.description,
                flows: oauth2.flows.into(),
                oauth2_metadata_url: oauth2.oauth2_metadata_url,
            }),
            SecurityScheme::OpenIdConnect(open_id) => {
                Self::OpenIdConnectSecurityScheme(open_id.into())
            }
            SecurityScheme::MutualTls(mtls) => Self::MtlsSecurityScheme(mtls.into()),
        }
    }
}

impl SecurityScheme {
    /// Converts a downgraded scheme.
    fn from_canonical(scheme: Scheme) -> Self {
        match scheme {
            Scheme::ApiKeySecurityScheme(key) => Self::ApiKey(ApiKeySecurityScheme {
                kind: ApiKeyType::Value,
                description: key.description,
                location: match key.location.as_str() {
                    "query" => ApiKeyIn::Query,
                    "cookie" => ApiKeyIn::Cookie,
                    _ => ApiKeyIn::Header,
                },
                name: key.name,
            }),
            Scheme::HttpAuthSecurityScheme(http) => Self::Http(http.into()),
            Scheme::OpenIdConnectSecurityScheme(open_id) => Self::OpenIdConnect(open_id.into()),
            Scheme::OAuth2SecurityScheme(oauth2) => Self::OAuth2(Box::new(OAuth2SecurityScheme {
                kind: OAuth2Type::Value,
                description: oauth2.description,
                flows: OAuthFlows::from_canonical(oauth2.flows),
                oauth2_metadata_url: oauth2.oauth2_metadata_url,
            })),
            Scheme::MtlsSecurityScheme(mtls) => Self::MutualTls(mtls.into()),
        }
    }

    /// Returns the scheme without what only 0.3 has, or `None` if nothing remains.
    fn of_0_2(self) -> Option<Self> {
        match self {
            Self::MutualTls(_) => None,
            Self::OAuth2(mut oauth2) => {
                oauth2.oauth2_metadata_url = None;
                Some(Self::OAuth2(oauth2))
            }
            known => Some(known),
        }
    }
}

/// Removes schemes that cannot be read: one document for callers of every version may have
/// some of 1.0.
pub(crate) fn normalize_security_schemes(schemes: &mut Object, normalizer: &mut Normalizer<'_>) {
    schemes.retain(|name, scheme| {
        if let Some(http) = scheme.as_object_mut()
            && http.get("type").is_some_and(|kind| kind == "http")
            && absent(http, "scheme")
        {
            http.insert("scheme".to_owned(), "bearer".into());
            normalizer.note(Quirk::NoCardMember, name);
        }
        let is_known = SecurityScheme::deserialize(&*scheme).is_ok();
        if !is_known {
            normalizer.note(Quirk::UnknownScheme, name);
        }
        is_known
    });
}

type Schemes = BTreeMap<String, SecurityScheme>;

/// Converts downgraded schemes.
pub(crate) fn schemes_from_canonical(schemes: BTreeMap<String, Scheme>) -> Option<Schemes> {
    let converted = schemes.into_iter();
    let converted = converted.map(|(name, one)| (name, SecurityScheme::from_canonical(one)));
    unless_empty::write(converted.collect())
}

/// Returns the schemes that 0.2 knows, and the names of the others.
pub(crate) fn schemes_of_0_2(schemes: Schemes) -> (Schemes, BTreeSet<String>) {
    let (mut kept, mut dropped) = (BTreeMap::new(), BTreeSet::new());
    for (name, scheme) in schemes {
        match scheme.of_0_2() {
            Some(scheme) => drop(kept.insert(name, scheme)),
            None => drop(dropped.insert(name)),
        }
    }
    (kept, dropped)
}
