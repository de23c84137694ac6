//! Security schemes and requirements as in OpenAPI 3, which 0.2, the JSON of 0.3, and cards in one document
//! for all versions use.

mod downgrade;
mod flow;
mod requirement;
mod scheme;
mod variants;

pub(crate) use self::downgrade::downgrade;
pub use self::flow::{
    AuthorizationCodeOAuthFlow, ClientCredentialsOAuthFlow, ImplicitOAuthFlow, OAuthFlows,
    PasswordOAuthFlow,
};
pub use self::requirement::SecurityRequirement;
pub(crate) use self::requirement::{from_canonical, satisfiable, to_canonical};
pub use self::scheme::{
    ApiKeyIn, ApiKeySecurityScheme, ApiKeyType, HttpAuthSecurityScheme, HttpType,
    MutualTlsSecurityScheme, MutualTlsType, OAuth2SecurityScheme, OAuth2Type,
    OpenIdConnectSecurityScheme, OpenIdConnectType, SecurityScheme,
};
pub(crate) use self::scheme::{normalize_security_schemes, schemes_from_canonical, schemes_of_0_2};
pub(crate) use self::variants::Variants;
