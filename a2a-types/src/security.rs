//! What a caller has to show to be let in.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::proto::or_default;

/// One way to authenticate. Specification 1.0 §4.5.1. On the wire an object whose one known member
/// names the kind; members of other generations beside it are ignored.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(!try_from))]
#[serde(rename_all = "camelCase", try_from = "Members")]
pub enum SecurityScheme {
    /// A key in a header, the query or a cookie.
    ApiKeySecurityScheme(ApiKeySecurityScheme),
    /// HTTP authentication: Basic, Bearer and others.
    HttpAuthSecurityScheme(HttpAuthSecurityScheme),
    /// OAuth 2.0.
    #[serde(rename = "oauth2SecurityScheme")]
    OAuth2SecurityScheme(OAuth2SecurityScheme),
    /// OpenID Connect discovery.
    OpenIdConnectSecurityScheme(OpenIdConnectSecurityScheme),
    /// A client certificate.
    MtlsSecurityScheme(MutualTlsSecurityScheme),
}

/// The members as they stand on the wire, before "exactly one" is checked.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members {
    #[serde(alias = "api_key_security_scheme")]
    api_key_security_scheme: Option<ApiKeySecurityScheme>,
    #[serde(alias = "http_auth_security_scheme")]
    http_auth_security_scheme: Option<HttpAuthSecurityScheme>,
    #[serde(rename = "oauth2SecurityScheme", alias = "oauth2_security_scheme")]
    oauth2_security_scheme: Option<OAuth2SecurityScheme>,
    #[serde(alias = "open_id_connect_security_scheme")]
    open_id_connect_security_scheme: Option<OpenIdConnectSecurityScheme>,
    #[serde(alias = "mtls_security_scheme")]
    mtls_security_scheme: Option<MutualTlsSecurityScheme>,
}

impl TryFrom<Members> for SecurityScheme {
    type Error = &'static str;

    fn try_from(members: Members) -> Result<Self, &'static str> {
        let Members {
            api_key_security_scheme: api_key,
            http_auth_security_scheme: http_auth,
            oauth2_security_scheme: oauth2,
            open_id_connect_security_scheme: open_id,
            mtls_security_scheme: mtls,
        } = members;
        let mut kinds = [
            api_key.map(Self::ApiKeySecurityScheme),
            http_auth.map(Self::HttpAuthSecurityScheme),
            oauth2.map(Self::OAuth2SecurityScheme),
            open_id.map(Self::OpenIdConnectSecurityScheme),
            mtls.map(Self::MtlsSecurityScheme),
        ]
        .into_iter()
        .flatten();
        match (kinds.next(), kinds.next()) {
            (Some(scheme), None) => Ok(scheme),
            _ => Err(
                "a security scheme needs exactly one of `apiKeySecurityScheme`, \
                      `httpAuthSecurityScheme`, `oauth2SecurityScheme`, \
                      `openIdConnectSecurityScheme`, `mtlsSecurityScheme`",
            ),
        }
    }
}

/// A key in a header, the query or a cookie. Specification 1.0 §4.5.2.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApiKeySecurityScheme {
    /// What it is, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `query`, `header` or `cookie`.
    pub location: String,
    /// The name of the header, parameter or cookie.
    pub name: String,
}

/// HTTP authentication. Specification 1.0 §4.5.3.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HttpAuthSecurityScheme {
    /// What it is, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A name of the IANA registry of authentication schemes, like `Bearer`.
    pub scheme: String,
    /// What a bearer token looks like, like `JWT`.
    #[serde(alias = "bearer_format", skip_serializing_if = "Option::is_none")]
    pub bearer_format: Option<String>,
}

/// OAuth 2.0. Specification 1.0 §4.5.4.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OAuth2SecurityScheme {
    /// What it is, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How a token is had.
    pub flows: OAuthFlows,
    /// Where the authorization server describes itself (RFC 8414).
    #[serde(
        rename = "oauth2MetadataUrl",
        alias = "oauth2_metadata_url",
        skip_serializing_if = "Option::is_none"
    )]
    pub oauth2_metadata_url: Option<String>,
}

/// OpenID Connect discovery. Specification 1.0 §4.5.5.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OpenIdConnectSecurityScheme {
    /// What it is, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The discovery document.
    #[serde(alias = "open_id_connect_url")]
    pub open_id_connect_url: String,
}

/// A client certificate. Specification 1.0 §4.5.6.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MutualTlsSecurityScheme {
    /// What it is, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// How a token is had: one flow in 1.0, any number before. Specification 1.0 §4.5.7.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OAuthFlows {
    /// Through the user's browser.
    #[serde(alias = "authorization_code", skip_serializing_if = "Option::is_none")]
    pub authorization_code: Option<AuthorizationCodeOAuthFlow>,
    /// With the client's own secret.
    #[serde(alias = "client_credentials", skip_serializing_if = "Option::is_none")]
    pub client_credentials: Option<ClientCredentialsOAuthFlow>,
    /// Deprecated since 1.0, still read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub implicit: Option<ImplicitOAuthFlow>,
    /// Deprecated since 1.0, still read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<PasswordOAuthFlow>,
    /// With a code that the user enters elsewhere (RFC 8628); new in 1.0.
    #[serde(alias = "device_code", skip_serializing_if = "Option::is_none")]
    pub device_code: Option<DeviceCodeOAuthFlow>,
}

macro_rules! flows {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field:meta])* $member:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(#[$field])* pub $member: $type,)*
            /// Where a token is renewed.
            #[serde(alias = "refresh_url", skip_serializing_if = "Option::is_none")]
            pub refresh_url: Option<String>,
            /// The scopes, and what each allows.
            #[serde(default, deserialize_with = "or_default")]
            pub scopes: BTreeMap<String, String>,
        }
    )*};
}

flows! {
    /// Through the user's browser. Specification 1.0 §4.5.8.
    AuthorizationCodeOAuthFlow {
        /// Where the user consents.
        #[serde(alias = "authorization_url")]
        authorization_url: String,
        /// Where the code is exchanged.
        #[serde(alias = "token_url")]
        token_url: String,
        /// Whether PKCE (RFC 7636) is required.
        #[serde(default, alias = "pkce_required", deserialize_with = "or_default", skip_serializing_if = "crate::event::is_false")]
        pkce_required: bool,
    }
    /// With the client's own secret. Specification 1.0 §4.5.9.
    ClientCredentialsOAuthFlow {
        /// Where the secret is exchanged.
        #[serde(alias = "token_url")]
        token_url: String,
    }
    /// Deprecated since 1.0.
    ImplicitOAuthFlow {
        /// Where the user consents.
        #[serde(alias = "authorization_url")]
        authorization_url: String,
    }
    /// Deprecated since 1.0.
    PasswordOAuthFlow {
        /// Where the password is exchanged.
        #[serde(alias = "token_url")]
        token_url: String,
    }
    /// With a code that the user enters elsewhere. Specification 1.0 §4.5.10.
    DeviceCodeOAuthFlow {
        /// Where the code is had.
        #[serde(alias = "device_authorization_url")]
        device_authorization_url: String,
        /// Where the code is exchanged.
        #[serde(alias = "token_url")]
        token_url: String,
    }
}

/// Schemes that must all be satisfied; a list of requirements is satisfied by any one of them.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SecurityRequirement {
    /// By the name of the scheme, the scopes it needs.
    #[serde(default, deserialize_with = "or_default")]
    pub schemes: BTreeMap<String, StringList>,
}

/// A list inside a map, which ProtoJSON has to wrap.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StringList {
    /// The items.
    #[serde(default, deserialize_with = "or_default")]
    pub list: Vec<String>,
}
