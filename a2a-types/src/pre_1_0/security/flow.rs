//! The flows of OAuth 2.0, 0.2 §5.5.3: those of OpenAPI 3.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// OAuth flows of a scheme, any number of them.
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
            /// URL for refreshing a token.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub refresh_url: Option<String>,
            /// The scopes, each with its description.
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
        /// URL at which the user consents.
        authorization_url,
        /// URL at which the code is exchanged for a token.
        token_url,
    } new in 1.0: [pkce_required];
    /// With the client's own secret.
    ClientCredentialsOAuthFlow {
        /// URL at which the secret is exchanged for a token.
        token_url,
    } new in 1.0: [];
    /// Through the user's browser, without a code.
    ImplicitOAuthFlow {
        /// URL at which the user consents.
        authorization_url,
    } new in 1.0: [];
    /// With the user's password.
    PasswordOAuthFlow {
        /// URL at which the password is exchanged for a token.
        token_url,
    } new in 1.0: [];
}

impl From<OAuthFlows> for crate::OAuthFlows {
    fn from(flows: OAuthFlows) -> Self {
        Self {
            authorization_code: flows.authorization_code.map(Into::into),
            client_credentials: flows.client_credentials.map(Into::into),
            implicit: flows.implicit.map(Into::into),
            password: flows.password.map(Into::into),
            device_code: None,
        }
    }
}

impl OAuthFlows {
    /// Converts downgraded flows.
    pub(super) fn from_canonical(flows: crate::OAuthFlows) -> Self {
        Self {
            authorization_code: flows.authorization_code.map(Into::into),
            client_credentials: flows.client_credentials.map(Into::into),
            implicit: flows.implicit.map(Into::into),
            password: flows.password.map(Into::into),
        }
    }
}
