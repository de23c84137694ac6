//! Security schemes and requirements: the ways for a caller to authenticate.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::proto::{one_of, or_default};

/// One way to authenticate. Specification 1.0 §4.5.1. On the wire an object whose one known member
/// names the kind; members of other versions beside it are ignored.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
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

one_of!(SecurityScheme as "SecurityScheme" {
    ApiKeySecurityScheme(ApiKeySecurityScheme) = "apiKeySecurityScheme" | "api_key_security_scheme";
    HttpAuthSecurityScheme(HttpAuthSecurityScheme) = "httpAuthSecurityScheme" | "http_auth_security_scheme";
    OAuth2SecurityScheme(OAuth2SecurityScheme) = "oauth2SecurityScheme" | "oauth2_security_scheme";
    OpenIdConnectSecurityScheme(OpenIdConnectSecurityScheme) = "openIdConnectSecurityScheme" | "open_id_connect_security_scheme";
    MtlsSecurityScheme(MutualTlsSecurityScheme) = "mtlsSecurityScheme" | "mtls_security_scheme";
});

/// A key in a header, the query or a cookie. Specification 1.0 §4.5.2.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "APIKeySecurityScheme")
)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeySecurityScheme {
    /// Human-readable description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `query`, `header` or `cookie`.
    pub location: String,
    /// The name of the header, parameter or cookie.
    pub name: String,
}

/// HTTP authentication. Specification 1.0 §4.5.3.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "HTTPAuthSecurityScheme")
)]
#[serde(rename_all = "camelCase")]
pub struct HttpAuthSecurityScheme {
    /// Human-readable description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A name of the IANA registry of authentication schemes, like `Bearer`.
    pub scheme: String,
    /// Format of the bearer token, like `JWT`.
    #[serde(alias = "bearer_format", skip_serializing_if = "Option::is_none")]
    pub bearer_format: Option<String>,
}

/// OAuth 2.0. Specification 1.0 §4.5.4.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OAuth2SecurityScheme {
    /// Human-readable description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// OAuth flows that yield a token.
    pub flows: OAuthFlows,
    /// URL of the authorization server's metadata (RFC 8414).
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
    /// Human-readable description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// URL of the discovery document.
    #[serde(alias = "open_id_connect_url")]
    pub open_id_connect_url: String,
}

/// A client certificate. Specification 1.0 §4.5.6.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MutualTlsSecurityScheme {
    /// Human-readable description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// OAuth flows of a scheme: one in 1.0, any number before. Specification 1.0 §4.5.7.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(extend("oneOf" = [
        {"required": ["authorizationCode"]}, {"required": ["clientCredentials"]},
        {"required": ["implicit"]}, {"required": ["password"]}, {"required": ["deviceCode"]},
    ]))
)]
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
            /// URL for refreshing a token.
            #[serde(alias = "refresh_url", skip_serializing_if = "Option::is_none")]
            pub refresh_url: Option<String>,
            /// The scopes, each with its description.
            #[serde(default, deserialize_with = "or_default")]
            pub scopes: BTreeMap<String, String>,
        }
    )*};
}

flows! {
    /// Through the user's browser. Specification 1.0 §4.5.8.
    AuthorizationCodeOAuthFlow {
        /// URL at which the user consents.
        #[serde(alias = "authorization_url")]
        authorization_url: String,
        /// URL at which the code is exchanged for a token.
        #[serde(alias = "token_url")]
        token_url: String,
        /// `true` if PKCE (RFC 7636) is required.
        #[serde(default, alias = "pkce_required", deserialize_with = "or_default", skip_serializing_if = "crate::event::is_false")]
        pkce_required: bool,
    }
    /// With the client's own secret. Specification 1.0 §4.5.9.
    ClientCredentialsOAuthFlow {
        /// URL at which the secret is exchanged for a token.
        #[serde(alias = "token_url")]
        token_url: String,
    }
    /// Deprecated since 1.0, which requires none of its members.
    ImplicitOAuthFlow {
        /// URL at which the user consents.
        #[serde(default, alias = "authorization_url", deserialize_with = "or_default")]
        authorization_url: String,
    }
    /// Deprecated since 1.0, which requires none of its members.
    PasswordOAuthFlow {
        /// URL at which the password is exchanged for a token.
        #[serde(default, alias = "token_url", deserialize_with = "or_default")]
        token_url: String,
    }
    /// With a code that the user enters elsewhere. Specification 1.0 §4.5.10.
    DeviceCodeOAuthFlow {
        /// URL that issues the code.
        #[serde(alias = "device_authorization_url")]
        device_authorization_url: String,
        /// URL at which the code is exchanged for a token.
        #[serde(alias = "token_url")]
        token_url: String,
    }
}

/// Schemes that must all be satisfied; a list of requirements is satisfied by any one of them.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SecurityRequirement {
    /// The required scopes, by the name of their scheme.
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
