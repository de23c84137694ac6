//! Token requests to an authorization server.

use a2a_transport::BoxFuture;
use a2a_transport::http::HttpClient;
use serde::Deserialize;

use super::device::{self, Prompt};
use super::endpoint::{Endpoint, blame};
use super::oauth_client::OAuthClient;
use super::secret::Secret;
use super::token::{Token, TokenError};
use super::token_key::{Endpoints, ServerLocation, TokenKey};
use super::tokens::Source;

/// Gets tokens for a client from an authorization server.
pub(super) struct TokenRequest {
    endpoint: Endpoint,
    token_key: TokenKey,
    flow: Flow,
}

/// Grant type of a client.
#[derive(Clone)]
pub(super) enum Flow {
    /// The client's own secret (RFC 6749 §4.4).
    ClientCredentials,
    /// A code that the user enters elsewhere (RFC 8628).
    Device(Prompt),
}

impl Source for TokenRequest {
    fn fetch(&self, refresh: Option<Secret>) -> BoxFuture<'_, Result<Token, String>> {
        Box::pin(async move {
            let endpoints = self.endpoints().await?;
            let at = endpoints.refresh.as_ref().unwrap_or(&endpoints.token);
            if let Some(refresh) = refresh {
                match self.refresh(at, &refresh).await {
                    // It expired or was revoked: start over.
                    Err(problem @ TokenError::Refused { .. }) => {
                        tracing::debug!(%problem, "could not refresh a token");
                    }
                    refreshed => return refreshed.map_err(|problem| blame(at, &problem)),
                }
            }
            match &self.flow {
                Flow::ClientCredentials => {
                    let form = [("grant_type", "client_credentials")];
                    let token = self
                        .endpoint
                        .token(&endpoints.token, &self.token_key.scoped(&form))
                        .await;
                    token.map_err(|problem| blame(&endpoints.token, &problem))
                }
                Flow::Device(prompt) => {
                    device::authorize(&self.endpoint, &self.token_key, &endpoints, prompt).await
                }
            }
        })
    }
}

impl TokenRequest {
    pub(super) fn new(
        client: OAuthClient,
        token_key: TokenKey,
        flow: Flow,
        http: HttpClient,
    ) -> Self {
        let endpoint = Endpoint::new(client, http);
        Self {
            endpoint,
            token_key,
            flow,
        }
    }

    async fn refresh(&self, url: &str, refresh: &Secret) -> Result<Token, TokenError> {
        let form = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh.expose()),
        ];
        self.endpoint.token(url, &form).await
    }

    async fn endpoints(&self) -> Result<Endpoints, String> {
        #[derive(Deserialize)]
        struct ServerMetadata {
            token_endpoint: String,
            device_authorization_endpoint: Option<String>,
            token_endpoint_auth_methods_supported: Option<Vec<String>>,
        }
        let url = match &self.token_key.location {
            ServerLocation::Known(endpoints) => return Ok(endpoints.clone()),
            ServerLocation::Described(url) => url,
        };
        let description: ServerMetadata = self
            .endpoint
            .describe(url)
            .await
            .map_err(|problem| blame(url, &problem))?;
        let policy = &self.token_key.policy;
        for named in [
            Some(&description.token_endpoint),
            description.device_authorization_endpoint.as_ref(),
        ]
        .into_iter()
        .flatten()
        {
            // An issuer that the caller named may have endpoints elsewhere. The metadata of any other
            // counts no more than the agent's card.
            match policy.names(url) {
                true => policy.own(named)?,
                false => policy.foreign(named)?,
            }
        }
        if let Some(methods) = &description.token_endpoint_auth_methods_supported {
            let has = |method: &str| methods.iter().any(|known| known == method);
            if has("client_secret_post") && !has("client_secret_basic") {
                self.endpoint.wants_body();
            }
        }
        Ok(Endpoints {
            token: description.token_endpoint,
            refresh: None,
            device: description.device_authorization_endpoint,
        })
    }
}
