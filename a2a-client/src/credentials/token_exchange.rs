//! Token exchange (RFC 8693).

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use a2a_transport::http::HttpClient;
use a2a_transport::{BoxFuture, Credentials, Error};
use lru::LruCache;
use sha2::{Digest, Sha256};

use super::endpoint::{Endpoint, blame};
use super::oauth_client::OAuthClient;
use super::origin_policy::origin;
use super::placement::{CredentialSet, Placement};
use super::sanitize::printable;
use super::secret::Secret;
use super::token::Token;
use super::tokens::{Source, Tokens};

/// Exchange of the tokens of users for tokens that an agent accepts (RFC 8693), for a server that acts
/// for its users.
///
/// The token that was given for a user's token is kept, renewed before it expires and after an agent
/// refused it, and shared by all credentials for the same user's token. Clones share the tokens.
///
/// ```
/// use a2a_client::credentials::{OAuthClient, SecurityToken, TokenExchange};
/// # use a2a_client::{Client, Error, HttpClient};
///
/// # async fn answer(client: Client, token_of_alice: &str) -> Result<(), Error> {
/// let server = OAuthClient::new("me", "s3cret").token_url("https://login.example/token");
/// let exchange = TokenExchange::new(server, HttpClient::default())?
///     .audience("https://agent.example");
///
/// let alice = exchange.credentials(SecurityToken::access_token(token_of_alice), None)?;
/// client.send("what do you know of me?").credentials(alice).await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct TokenExchange {
    endpoint: Arc<Endpoint>,
    url: String,
    /// The parts of a request that are the same for all users.
    form: Vec<(&'static str, String)>,
    exchanged: Arc<Mutex<LruCache<TokenDigest, Arc<Tokens>>>>,
}

/// Digest of the tokens that are given in exchange.
type TokenDigest = [u8; 32];

impl TokenExchange {
    /// Creates an exchange at the [`token_url`](OAuthClient::token_url) of this client, with its scopes
    /// and parameters. Tokens are fetched with `http`; a [`WireObserver`](crate::WireObserver) on it would see them.
    ///
    /// Errors: [`Error::Credentials`] if there is no `token_url`, or one without TLS.
    pub fn new(client: OAuthClient, http: HttpClient) -> Result<Self, Error> {
        let url = client.token_url.clone().ok_or_else(|| {
            Error::Credentials(
                "tokens cannot be exchanged: expected the OAuth client to have a `token_url`"
                    .to_owned(),
            )
        })?;
        let policy = origin(&url).and_then(|origin| client.policy(&origin));
        policy
            .and_then(|policy| policy.own(&url))
            .map_err(Error::Credentials)?;
        let mut form = vec![("grant_type", GRANT_TYPE.to_owned())];
        if !client.scopes.is_empty() {
            form.push(("scope", client.scopes.join(" ")));
        }
        Ok(Self {
            endpoint: Arc::new(Endpoint::new(client, http)),
            url,
            form,
            exchanged: no_tokens(),
        })
    }

    /// Requests tokens for this logical name of an agent. May be called several times.
    pub fn audience(self, audience: impl Into<String>) -> Self {
        self.with("audience", audience.into())
    }

    /// Requests tokens for the agent at this URL. May be called several times.
    pub fn resource(self, url: impl Into<String>) -> Self {
        self.with("resource", url.into())
    }

    fn with(mut self, name: &'static str, value: String) -> Self {
        self.form.push((name, value));
        // Tokens so far were given on other terms.
        self.exchanged = no_tokens();
        self
    }

    /// Returns the credentials of a user who is known by this token, for
    /// [`SendMessageBuilder::credentials`](crate::SendMessageBuilder::credentials) and
    /// [`Client::with_credentials`](crate::Client::with_credentials). The actor is the party that acts
    /// for the user, if it has a token of its own. Fetches nothing before a call needs it.
    ///
    /// Errors: [`Error::Credentials`] if a token is empty or larger than 16 KiB.
    pub fn credentials(
        &self,
        subject: SecurityToken,
        actor: impl Into<Option<SecurityToken>>,
    ) -> Result<Arc<dyn Credentials>, Error> {
        let actor = actor.into();
        let digest = digest([Some(&subject), actor.as_ref()].into_iter().flatten())?;
        let given = Exchange {
            endpoint: Arc::clone(&self.endpoint),
            url: self.url.clone(),
            form: self.form.clone(),
            subject,
            actor,
        };
        // Every change is one insertion, so a panic elsewhere leaves the map whole.
        let mut exchanged = self
            .exchanged
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let tokens = exchanged.get_or_insert(digest, || Arc::new(Tokens::from(given)));
        let placement = Placement::Bearer(Arc::clone(tokens));
        Ok(Arc::new(CredentialSet(vec![placement])))
    }
}

/// Names the token endpoint.
impl fmt::Debug for TokenExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenExchange")
            .field("url", &printable(&self.url))
            .finish_non_exhaustive()
    }
}

/// A token that is given in exchange, with its type (RFC 8693 §3).
#[derive(Clone, Debug)]
pub struct SecurityToken {
    value: Secret,
    kind: String,
}

impl SecurityToken {
    /// Creates an access token of OAuth 2.0.
    pub fn access_token(value: impl Into<String>) -> Self {
        Self::of_type("urn:ietf:params:oauth:token-type:access_token", value)
    }

    /// Creates an ID token of OpenID Connect.
    pub fn id_token(value: impl Into<String>) -> Self {
        Self::of_type("urn:ietf:params:oauth:token-type:id_token", value)
    }

    /// Creates a token of any other type, like `urn:ietf:params:oauth:token-type:jwt`.
    pub fn of_type(kind: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            value: Secret::new(value),
            kind: kind.into(),
        }
    }
}

/// A request to exchange the tokens of one user.
struct Exchange {
    endpoint: Arc<Endpoint>,
    url: String,
    form: Vec<(&'static str, String)>,
    subject: SecurityToken,
    actor: Option<SecurityToken>,
}

impl Source for Exchange {
    /// Exchanges the user's token again: a refresh token would outlive it.
    fn fetch(&self, _: Option<Secret>) -> BoxFuture<'_, Result<Token, String>> {
        Box::pin(async move {
            let mut form: Vec<(&str, &str)> = Vec::new();
            form.extend(
                self.form
                    .iter()
                    .map(|(name, value)| (*name, value.as_str())),
            );
            form.push(("subject_token", self.subject.value.expose()));
            form.push(("subject_token_type", &self.subject.kind));
            if let Some(actor) = &self.actor {
                form.push(("actor_token", actor.value.expose()));
                form.push(("actor_token_type", &actor.kind));
            }
            let token = self.endpoint.token(&self.url, &form).await;
            token.map_err(|problem| {
                format!("could not exchange a token: {}", blame(&self.url, &problem))
            })
        })
    }
}

fn digest<'a>(tokens: impl Iterator<Item = &'a SecurityToken>) -> Result<TokenDigest, Error> {
    let mut digest = Sha256::new();
    for SecurityToken { value, kind } in tokens {
        for text in [value.expose(), kind] {
            if !(1..=MAX_TOKEN).contains(&text.len()) {
                return Err(Error::Credentials(format!(
                    "a token cannot be exchanged: it or its type has {} bytes, expected 1 to {MAX_TOKEN}",
                    text.len()
                )));
            }
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        }
    }
    Ok(digest.finalize().into())
}

fn no_tokens() -> Arc<Mutex<LruCache<TokenDigest, Arc<Tokens>>>> {
    Arc::new(Mutex::new(LruCache::new(MAX_USERS)))
}

const GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";

/// Number of users whose tokens are kept; those used last.
const MAX_USERS: NonZeroUsize = NonZeroUsize::new(1024).unwrap();

/// Bytes of a token that is given in exchange.
const MAX_TOKEN: usize = 16 << 10;
