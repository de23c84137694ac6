//! Security schemes, 0.2 §5.5.3: those of OpenAPI 3.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::constant::constants;
use crate::{
    ApiKeySecurityScheme as ApiKey, HttpAuthSecurityScheme as HttpAuth,
    OAuth2SecurityScheme as OAuth2, OpenIdConnectSecurityScheme as OpenIdConnect,
    SecurityScheme as Scheme, StringList,
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
}

/// One way to authenticate, told apart by `type`.
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
}

/// A key in a header, the query or a cookie.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "APIKeySecurityScheme")
)]
pub struct ApiKeySecurityScheme {
    /// Always `apiKey`.
    #[serde(rename = "type")]
    pub kind: ApiKeyType,
    /// What it is, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where the key goes.
    #[serde(rename = "in")]
    pub location: ApiKeyIn,
    /// The name of the header, parameter or cookie.
    pub name: String,
}

/// Where an API key goes.
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

/// HTTP authentication.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "HTTPAuthSecurityScheme")
)]
#[serde(rename_all = "camelCase")]
pub struct HttpAuthSecurityScheme {
    /// Always `http`.
    #[serde(rename = "type")]
    pub kind: HttpType,
    /// What it is, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A name of the IANA registry of authentication schemes.
    pub scheme: String,
    /// What a bearer token looks like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer_format: Option<String>,
}

/// OAuth 2.0.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OAuth2SecurityScheme {
    /// Always `oauth2`.
    #[serde(rename = "type")]
    pub kind: OAuth2Type,
    /// What it is, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How a token is had.
    pub flows: OAuthFlows,
}

/// OpenID Connect discovery.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OpenIdConnectSecurityScheme {
    /// Always `openIdConnect`.
    #[serde(rename = "type")]
    pub kind: OpenIdConnectType,
    /// What it is, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The discovery document.
    pub open_id_connect_url: String,
}

/// How a token is had: any number of these.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OAuthFlows {
    /// Through the user's browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorization_code: Option<AuthorizationCodeOAuthFlow>,
    /// With the client's own secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_credentials: Option<ClientCredentialsOAuthFlow>,
    /// Through the user's browser, without a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub implicit: Option<ImplicitOAuthFlow>,
    /// With the user's password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<PasswordOAuthFlow>,
}

macro_rules! flows {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field:meta])* $member:ident,)* } new in 1.0: [$($new:ident)?];)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(#[$field])* pub $member: String,)*
            /// Where a token is renewed.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub refresh_url: Option<String>,
            /// The scopes, and what each allows.
            pub scopes: BTreeMap<String, String>,
        }

        impl From<$name> for crate::$name {
            fn from(flow: $name) -> Self {
                Self {
                    $($member: flow.$member,)*
                    refresh_url: flow.refresh_url,
                    scopes: flow.scopes,
                    $($new: Default::default(),)?
                }
            }
        }

        impl From<crate::$name> for $name {
            fn from(flow: crate::$name) -> Self {
                Self {
                    $($member: flow.$member,)*
                    refresh_url: flow.refresh_url,
                    scopes: flow.scopes,
                }
            }
        }
    )*};
}

flows! {
    /// Through the user's browser.
    AuthorizationCodeOAuthFlow {
        /// Where the user consents.
        authorization_url,
        /// Where the code is exchanged.
        token_url,
    } new in 1.0: [pkce_required];
    /// With the client's own secret.
    ClientCredentialsOAuthFlow {
        /// Where the secret is exchanged.
        token_url,
    } new in 1.0: [];
    /// Through the user's browser, without a code.
    ImplicitOAuthFlow {
        /// Where the user consents.
        authorization_url,
    } new in 1.0: [];
    /// With the user's password.
    PasswordOAuthFlow {
        /// Where the password is exchanged.
        token_url,
    } new in 1.0: [];
}

/// Schemes that must all be satisfied, with their scopes; any one of a list of these suffices.
pub type SecurityRequirement = BTreeMap<String, Vec<String>>;

/// The schemes and requirements of a card as 1.0 says them: one flow to a scheme, so that a scheme
/// of several flows becomes several, any of which satisfies.
pub(super) fn to_canonical(
    schemes: BTreeMap<String, SecurityScheme>,
    requirements: Vec<SecurityRequirement>,
) -> (BTreeMap<String, Scheme>, Vec<crate::SecurityRequirement>) {
    let mut definitions = BTreeMap::new();
    let mut variants: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, scheme) in schemes {
        let split = split(&name, scheme);
        variants.insert(name, split.iter().map(|(name, _)| name.clone()).collect());
        definitions.extend(split);
    }
    let alternatives = |requirement: SecurityRequirement| {
        let mut combinations = vec![BTreeMap::new()];
        for (name, scopes) in requirement {
            let names = variants.get(&name).cloned().unwrap_or_else(|| vec![name]);
            let with = |base: &BTreeMap<String, StringList>, name: &String| {
                let mut extended = base.clone();
                extended.insert(
                    name.clone(),
                    StringList {
                        list: scopes.clone(),
                    },
                );
                extended
            };
            let alternatives = combinations
                .iter()
                .flat_map(|base| names.iter().map(|name| with(base, name)));
            combinations = alternatives.take(MOST_ALTERNATIVES).collect();
        }
        combinations
            .into_iter()
            .map(|schemes| crate::SecurityRequirement { schemes })
    };
    (
        definitions,
        requirements.into_iter().flat_map(alternatives).collect(),
    )
}

/// How many ways to satisfy one requirement are kept: schemes of several flows multiply.
const MOST_ALTERNATIVES: usize = 64;

fn split(name: &str, scheme: SecurityScheme) -> Vec<(String, Scheme)> {
    let one = |scheme| vec![(name.to_owned(), scheme)];
    match scheme {
        SecurityScheme::ApiKey(key) => one(Scheme::ApiKeySecurityScheme(ApiKey {
            description: key.description,
            location: match key.location {
                ApiKeyIn::Query => "query",
                ApiKeyIn::Header => "header",
                ApiKeyIn::Cookie => "cookie",
            }
            .to_owned(),
            name: key.name,
        })),
        SecurityScheme::Http(http) => one(Scheme::HttpAuthSecurityScheme(HttpAuth {
            description: http.description,
            scheme: http.scheme,
            bearer_format: http.bearer_format,
        })),
        SecurityScheme::OpenIdConnect(open_id) => {
            one(Scheme::OpenIdConnectSecurityScheme(OpenIdConnect {
                description: open_id.description,
                open_id_connect_url: open_id.open_id_connect_url,
            }))
        }
        SecurityScheme::OAuth2(oauth2) => {
            let OAuth2SecurityScheme {
                description, flows, ..
            } = *oauth2;
            let flow = |flows| {
                let description = description.clone();
                Scheme::OAuth2SecurityScheme(OAuth2 {
                    description,
                    flows,
                    oauth2_metadata_url: None,
                })
            };
            let empty = crate::OAuthFlows::default;
            let kinds = [
                (
                    "authorizationCode",
                    flows.authorization_code.map(|f| crate::OAuthFlows {
                        authorization_code: Some(f.into()),
                        ..empty()
                    }),
                ),
                (
                    "clientCredentials",
                    flows.client_credentials.map(|f| crate::OAuthFlows {
                        client_credentials: Some(f.into()),
                        ..empty()
                    }),
                ),
                (
                    "implicit",
                    flows.implicit.map(|f| crate::OAuthFlows {
                        implicit: Some(f.into()),
                        ..empty()
                    }),
                ),
                (
                    "password",
                    flows.password.map(|f| crate::OAuthFlows {
                        password: Some(f.into()),
                        ..empty()
                    }),
                ),
            ];
            let mut split: Vec<_> = kinds
                .into_iter()
                .filter_map(|(kind, flows)| Some((kind, flow(flows?))))
                .collect();
            if split.is_empty() {
                split.push(("", flow(empty())));
            }
            let named = |(index, (kind, scheme)): (usize, (&str, Scheme))| match index {
                0 => (name.to_owned(), scheme),
                _ => (format!("{name}-{kind}"), scheme),
            };
            split.into_iter().enumerate().map(named).collect()
        }
    }
}

/// The schemes and requirements of a card as 0.2 says them. What it does not know is dropped:
/// client certificates, the device code flow, PKCE.
pub(super) fn from_canonical(
    schemes: BTreeMap<String, Scheme>,
    requirements: Vec<crate::SecurityRequirement>,
) -> (BTreeMap<String, SecurityScheme>, Vec<SecurityRequirement>) {
    let definitions: BTreeMap<_, _> = schemes
        .into_iter()
        .filter_map(|(name, scheme)| Some((name, downgrade(scheme)?)))
        .collect();
    let known = |requirement: crate::SecurityRequirement| -> SecurityRequirement {
        let known = requirement
            .schemes
            .into_iter()
            .filter(|(name, _)| definitions.contains_key(name));
        known.map(|(name, scopes)| (name, scopes.list)).collect()
    };
    let requirements = requirements
        .into_iter()
        .map(known)
        .filter(|requirement| !requirement.is_empty())
        .collect();
    (definitions, requirements)
}

fn downgrade(scheme: Scheme) -> Option<SecurityScheme> {
    Some(match scheme {
        Scheme::ApiKeySecurityScheme(key) => SecurityScheme::ApiKey(ApiKeySecurityScheme {
            kind: ApiKeyType::Value,
            description: key.description,
            location: match key.location.as_str() {
                "query" => ApiKeyIn::Query,
                "cookie" => ApiKeyIn::Cookie,
                _ => ApiKeyIn::Header,
            },
            name: key.name,
        }),
        Scheme::HttpAuthSecurityScheme(http) => SecurityScheme::Http(HttpAuthSecurityScheme {
            kind: HttpType::Value,
            description: http.description,
            scheme: http.scheme,
            bearer_format: http.bearer_format,
        }),
        Scheme::OpenIdConnectSecurityScheme(open_id) => {
            SecurityScheme::OpenIdConnect(OpenIdConnectSecurityScheme {
                kind: OpenIdConnectType::Value,
                description: open_id.description,
                open_id_connect_url: open_id.open_id_connect_url,
            })
        }
        Scheme::OAuth2SecurityScheme(oauth2) => {
            let only_device_code = crate::OAuthFlows {
                device_code: None,
                ..oauth2.flows.clone()
            } == crate::OAuthFlows::default()
                && oauth2.flows.device_code.is_some();
            if only_device_code {
                return None;
            }
            SecurityScheme::OAuth2(Box::new(OAuth2SecurityScheme {
                kind: OAuth2Type::Value,
                description: oauth2.description,
                flows: OAuthFlows {
                    authorization_code: oauth2.flows.authorization_code.map(Into::into),
                    client_credentials: oauth2.flows.client_credentials.map(Into::into),
                    implicit: oauth2.flows.implicit.map(Into::into),
                    password: oauth2.flows.password.map(Into::into),
                },
            }))
        }
        Scheme::MtlsSecurityScheme(_) => return None,
    })
}
