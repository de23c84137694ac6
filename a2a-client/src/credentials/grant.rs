//! Token requests to an authorization server.

use a2a_transport::BoxFuture;
use a2a_transport::http::HttpClient;
use serde::Deserialize;

use super::device::{self, Prompt};
use super::endpoint::{Endpoint, blame};
use super::oauth_client::OAuthClient;
use super::secret::Secret;
use super::terms::{Place, Places, Terms};
use super::token::{NoToken, Token};
use super::tokens::Source;

/// Gets tokens for a client from an authorization server.
pub(super) struct Grant {
    endpoint: Endpoint,
    terms: Terms,
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

impl Source for Grant {
    fn fetch(&self, refresh: Option<Secret>) -> BoxFuture<'_, Result<Token, String>> {
        Box::pin(async move {
            let places = self.places().await?;
            let at = places.refresh.as_ref().unwrap_or(&places.token);
            if let Some(refresh) = refresh {
                match self.refresh(at, &refresh).await {
                    // It expired or was revoked: start over.
                    Err(problem @ NoToken::Refused { .. }) => {
                        tracing::debug!(%problem, "no token by the refresh token");
                    }
                    refreshed => return refreshed.map_err(|problem| blame(at, &problem)),
                }
            }
            match &self.flow {
                Flow::ClientCredentials => {
                    let form = [("grant_type", "client_credentials")];
                    let token = self
                        .endpoint
                        .token(&places.token, &self.terms.scoped(&form))
                        .await;
                    token.map_err(|problem| blame(&places.token, &problem))
                }
                Flow::Device(prompt) => {
                    device::authorize(&self.endpoint, &self.terms, &places, prompt).await
                }
            }
        })
    }
}

impl Grant {
    pub(super) fn new(client: OAuthClient, terms: Terms, flow: Flow, http: HttpClient) -> Self {
        let endpoint = Endpoint::new(client, http);
        Self {
            endpoint,
            terms,
            flow,
        }
    }

    async fn refresh(&self, url: &str, refresh: &Secret) -> Result<Token, NoToken> {
        let form = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh.expose()),
        ];
        self.endpoint.token(url, &form).await
    }

    async fn places(&self) -> Result<Places, String> {
        #[derive(Deserialize)]
        struct Description {
            token_endpoint: String,
            device_authorization_endpoint: Option<String>,
            token_endpoint_auth_methods_supported: Option<Vec<String>>,
        }
        let url = match &self.terms.place {
            Place::Known(places) => return Ok(places.clone()),
            Place::Described(url) => url,
        };
        let description: Description = self
            .endpoint
            .describe(url)
            .await
            .map_err(|problem| blame(url, &problem))?;
        let trust = &self.terms.trust;
        for named in [
            Some(&description.token_endpoint),
            description.device_authorization_endpoint.as_ref(),
        ]
        .into_iter()
        .flatten()
        {
            // An issuer that the caller named may have endpoints elsewhere. The metadata of any other
            // counts no more than the agent's card.
            match trust.names(url) {
                true => trust.own(named)?,
                false => trust.foreign(named)?,
            }
        }
        if let Some(methods) = &description.token_endpoint_auth_methods_supported {
            let has = |method: &str| methods.iter().any(|known| known == method);
            if has("client_secret_post") && !has("client_secret_basic") {
                self.endpoint.wants_body();
            }
        }
        Ok(Places {
            token: description.token_endpoint,
            refresh: None,
            device: description.device_authorization_endpoint,
        })
    }
}
