//! The flows of OAuth 2.0 as in OpenAPI 3, 0.2 §5.5.3.

use std::collections::BTreeMap;

use crate::pre_1_0::{both_ways, wire_types};

wire_types! {
    /// OAuth flows of a scheme, any number of them.
    pub struct OAuthFlows: Debug, Default {
        /// Through the user's browser.
        pub authorization_code: Option<AuthorizationCodeOAuthFlow> = optional,
        /// With the client's own secret.
        pub client_credentials: Option<ClientCredentialsOAuthFlow> = optional,
        /// Through the user's browser, without a code.
        pub implicit: Option<ImplicitOAuthFlow> = optional,
        /// With the user's password.
        pub password: Option<PasswordOAuthFlow> = optional,
    }
}

macro_rules! flows {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field:meta])* $member:ident,)* } new in 1.0: [$($new:ident)?];)*) => {$(
        wire_types! {
            $(#[$doc])*
            pub struct $name: Debug, Default {
                $($(#[$field])* pub $member: String,)*
                /// URL for refreshing a token.
                pub refresh_url: Option<String> = optional,
                /// The scopes, each with its description.
                pub scopes: BTreeMap<String, String>,
            }
        }

        both_ways! {
            $name = crate::$name { $($member,)* refresh_url, scopes } canonical only { $($new)? };
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
