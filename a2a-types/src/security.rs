//! Security schemes and requirements: the ways for a caller to authenticate.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::proto::one_of;
use crate::wire_types::wire_types;

/// One way to authenticate. Specification 1.0 §4.5.1. On the wire an object whose one known member
/// names the kind; members of other versions in the same object are ignored.
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

wire_types! {
    /// A key in a header, the query or a cookie. Specification 1.0 §4.5.2.
    #[cfg_attr(feature = "schema", schemars(rename = "APIKeySecurityScheme"))]
    pub struct ApiKeySecurityScheme: Debug, Default {
        /// Human-readable description.
        pub description: Option<String> = optional,
        /// `query`, `header` or `cookie`.
        pub location: String,
        /// The name of the header, parameter or cookie.
        pub name: String,
    }

    /// HTTP authentication. Specification 1.0 §4.5.3.
    #[cfg_attr(feature = "schema", schemars(rename = "HTTPAuthSecurityScheme"))]
    pub struct HttpAuthSecurityScheme: Debug, Default {
        /// Human-readable description.
        pub description: Option<String> = optional,
        /// A name of the IANA registry of authentication schemes, like `Bearer`.
        pub scheme: String,
        /// Format of the bearer token, like `JWT`.
        pub bearer_format: Option<String> = optional | "bearer_format",
    }

    /// OAuth 2.0. Specification 1.0 §4.5.4.
    pub struct OAuth2SecurityScheme: Debug, Default {
        /// Human-readable description.
        pub description: Option<String> = optional,
        /// OAuth flows that yield a token.
        pub flows: OAuthFlows,
        /// URL of the authorization server's metadata (RFC 8414).
        #[serde(rename = "oauth2MetadataUrl")]
        pub oauth2_metadata_url: Option<String> = optional | "oauth2_metadata_url",
    }

    /// OpenID Connect discovery. Specification 1.0 §4.5.5.
    pub struct OpenIdConnectSecurityScheme: Debug, Default {
        /// Human-readable description.
        pub description: Option<String> = optional,
        /// URL of the discovery document.
        pub open_id_connect_url: String | "open_id_connect_url",
    }

    /// A client certificate. Specification 1.0 §4.5.6.
    pub struct MutualTlsSecurityScheme: Debug, Default {
        /// Human-readable description.
        pub description: Option<String> = optional,
    }

    /// OAuth flows of a scheme: one in 1.0, any number before. Specification 1.0 §4.5.7.
    #[cfg_attr(feature = "schema", schemars(extend("oneOf" = [
        {"required": ["authorizationCode"]}, {"required": ["clientCredentials"]},
        {"required": ["implicit"]}, {"required": ["password"]}, {"required": ["deviceCode"]},
    ])))]
    pub struct OAuthFlows: Debug, Default {
        /// Through the user's browser.
        pub authorization_code: Option<AuthorizationCodeOAuthFlow> = optional | "authorization_code",
        /// With the client's own secret.
        pub client_credentials: Option<ClientCredentialsOAuthFlow> = optional | "client_credentials",
        /// Deprecated since 1.0, still read.
        pub implicit: Option<ImplicitOAuthFlow> = optional,
        /// Deprecated since 1.0, still read.
        pub password: Option<PasswordOAuthFlow> = optional,
        /// With a code that the user enters elsewhere (RFC 8628); new in 1.0.
        pub device_code: Option<DeviceCodeOAuthFlow> = optional | "device_code",
    }
}

macro_rules! flows {
    ($($(#[$doc:meta])* $name:ident { $($members:tt)* })*) => {
        wire_types! {$(
            $(#[$doc])*
            pub struct $name: Debug, Default {
                $($members)*
                /// URL for refreshing a token.
                pub refresh_url: Option<String> = optional | "refresh_url",
                /// The scopes, each with its description.
                pub scopes: BTreeMap<String, String> = or_default,
            }
        )*}
    };
}

flows! {
    /// Through the user's browser. Specification 1.0 §4.5.8.
    AuthorizationCodeOAuthFlow {
        /// URL at which the user consents.
        pub authorization_url: String | "authorization_url",
        /// URL at which the code is exchanged for a token.
        pub token_url: String | "token_url",
        /// `true` if PKCE (RFC 7636) is required.
        pub pkce_required: bool = unless_default | "pkce_required",
    }
    /// With the client's own secret. Specification 1.0 §4.5.9.
    ClientCredentialsOAuthFlow {
        /// URL at which the secret is exchanged for a token.
        pub token_url: String | "token_url",
    }
    /// Deprecated since 1.0, which requires none of its members.
    ImplicitOAuthFlow {
        /// URL at which the user consents.
        pub authorization_url: String = or_default | "authorization_url",
    }
    /// Deprecated since 1.0, which requires none of its members.
    PasswordOAuthFlow {
        /// URL at which the password is exchanged for a token.
        pub token_url: String = or_default | "token_url",
    }
    /// With a code that the user enters elsewhere. Specification 1.0 §4.5.10.
    DeviceCodeOAuthFlow {
        /// URL that issues the code.
        pub device_authorization_url: String | "device_authorization_url",
        /// URL at which the code is exchanged for a token.
        pub token_url: String | "token_url",
    }
}

wire_types! {
    /// Schemes that must all be satisfied; a list of requirements is satisfied by any one of them.
    pub struct SecurityRequirement: Debug, Default {
        /// The required scopes, by the name of their scheme.
        pub schemes: BTreeMap<String, StringList> = or_default,
    }

    /// A list inside a map, which ProtoJSON has to wrap.
    pub struct StringList: Debug, Default {
        /// The items.
        pub list: Vec<String> = or_default,
    }
}
