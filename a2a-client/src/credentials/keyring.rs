//! Credentials of a caller.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use a2a_transport::http::HttpClient;
use a2a_transport::{BoxFuture, Credentials};

use super::device::{DevicePrompt, Prompt};
use super::oauth_client::OAuthClient;
use super::secret::Secret;
use super::token::{Token, TokenProvider};
use super::token_key::TokenKey;
use super::token_request::{Flow, TokenRequest};
use super::tokens::{Source, Tokens};

/// Credentials of a caller: keys, passwords, tokens, and ways to get tokens.
///
/// Each is sent where the card of an agent asks for it ([`for_card`](Self::for_card)). Of several that
/// fit, the one added first is sent, those bound to a scheme by name before the others. Clones share
/// their tokens.
#[derive(Clone, Default)]
pub struct Keyring {
    pub(super) entries: Vec<Entry>,
}

#[derive(Clone)]
pub(super) struct Entry {
    /// Name of the scheme on the card that it is bound to.
    pub(super) scheme: Option<String>,
    pub(super) kind: Kind,
}

#[derive(Clone)]
pub(super) enum Kind {
    ApiKey(Secret),
    Header(String, Secret),
    Basic(String, Secret),
    Token(Secret),
    Provider(Arc<Tokens>),
    OAuth(Arc<OAuth>),
    MutualTls,
    Custom(Arc<dyn Credentials>),
}

impl Keyring {
    /// Adds a key, for the header, parameter or cookie that a card names.
    pub fn api_key(self, value: impl Into<String>) -> Self {
        self.with(Kind::ApiKey(Secret::new(value)))
    }

    /// Adds a key for the scheme of that name on the card.
    pub fn api_key_for(self, scheme: impl Into<String>, value: impl Into<String>) -> Self {
        self.api_key(value).for_scheme(scheme)
    }

    /// Adds a header that is always sent.
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.with(Kind::Header(name.into(), Secret::new(value)))
    }

    /// Adds a name and a password (RFC 7617).
    pub fn basic(self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.with(Kind::Basic(user.into(), Secret::new(password)))
    }

    /// Adds a bearer token, also for OAuth 2.0 and OpenID Connect.
    pub fn bearer(self, token: impl Into<String>) -> Self {
        self.with(Kind::Token(Secret::new(token)))
    }

    /// Adds bearer tokens of a function of yours, also for OAuth 2.0 and OpenID Connect. They are kept,
    /// and renewed before they expire.
    ///
    /// ```
    /// use a2a_client::credentials::{AccessToken, Keyring};
    /// use std::time::Duration;
    ///
    /// # async fn ask_the_vault() -> std::io::Result<String> { Ok("t0ken".to_owned()) }
    /// let keyring = Keyring::default().bearer_from(|| async {
    ///     let token = ask_the_vault().await?;
    ///     Ok(AccessToken::new(token).expires_in(Duration::from_secs(600)))
    /// });
    /// ```
    pub fn bearer_from(self, provider: impl TokenProvider) -> Self {
        let tokens = Tokens::from(Provided(provider));
        self.with(Kind::Provider(Arc::new(tokens)))
    }

    /// Adds tokens that an OAuth 2.0 client gets by its own secret (RFC 6749 §4.4).
    pub fn oauth_client(self, client: OAuthClient) -> Self {
        self.with_oauth(client, Flow::ClientCredentials)
    }

    /// Adds tokens that a user grants by entering a code elsewhere (RFC 8628). `prompt` shows the code
    /// to the user; the call that needs the token waits.
    pub fn oauth_device(
        self,
        client: impl Into<OAuthClient>,
        prompt: impl Fn(DevicePrompt) + Send + Sync + 'static,
    ) -> Self {
        let prompt: Prompt = Arc::new(prompt);
        self.with_oauth(client.into(), Flow::Device(prompt))
    }

    /// Declares that the [`HttpClient`] has a client certificate, which satisfies mutual TLS.
    pub fn mutual_tls(self) -> Self {
        self.with(Kind::MutualTls)
    }

    /// Adds credentials of any other kind, for the scheme of that name on the card.
    pub fn custom(self, scheme: impl Into<String>, credentials: Arc<dyn Credentials>) -> Self {
        self.with(Kind::Custom(credentials)).for_scheme(scheme)
    }

    /// Binds the entry added last to the scheme of that name on the card.
    pub fn for_scheme(mut self, scheme: impl Into<String>) -> Self {
        if let Some(last) = self.entries.last_mut() {
            last.scheme = Some(scheme.into());
        }
        self
    }

    /// Returns whether there are no credentials.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn with(mut self, kind: Kind) -> Self {
        let scheme = None;
        self.entries.push(Entry { scheme, kind });
        self
    }

    fn with_oauth(self, client: OAuthClient, flow: Flow) -> Self {
        let got = Mutex::default();
        self.with(Kind::OAuth(Arc::new(OAuth { client, flow, got })))
    }
}

/// Lists the kinds of credentials, never their values.
impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries.iter().map(ToString::to_string);
        f.debug_list().entries(entries).finish()
    }
}

/// Names the kind and the scheme.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::ApiKey(_) => f.write_str("an API key")?,
            Kind::Header(..) => f.write_str("a header")?,
            Kind::Basic(..) => f.write_str("a user name and password")?,
            Kind::Token(_) | Kind::Provider(_) => f.write_str("a bearer token")?,
            Kind::OAuth(oauth) => f.write_str(match oauth.flow {
                Flow::ClientCredentials => "an OAuth client",
                Flow::Device(_) => "an OAuth client of a user",
            })?,
            Kind::MutualTls => f.write_str("mutual TLS")?,
            Kind::Custom(_) => f.write_str("custom credentials")?,
        }
        match &self.scheme {
            None => Ok(()),
            Some(scheme) => write!(f, " for `{scheme}`"),
        }
    }
}

/// An OAuth client and its tokens.
pub(super) struct OAuth {
    pub(super) client: OAuthClient,
    pub(super) flow: Flow,
    got: Mutex<HashMap<TokenKey, Arc<Tokens>>>,
}

impl OAuth {
    /// Returns the tokens for these terms. All callers share them, so that a user is asked only once.
    pub(super) fn tokens(&self, token_key: TokenKey, http: &HttpClient) -> Arc<Tokens> {
        // Every change is one insertion or removal, so a panic elsewhere leaves the map whole.
        let mut got = self.got.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tokens) = got.get(&token_key) {
            return Arc::clone(tokens);
        }
        if got.len() >= CAPACITY
            && let Some(other) = got.keys().next().cloned()
        {
            // Evicts any entry: it is fetched again on demand.
            got.remove(&other);
        }
        let (client, flow) = (self.client.clone(), self.flow.clone());
        let request = TokenRequest::new(client, token_key.clone(), flow, http.clone());
        let tokens = Arc::new(Tokens::from(request));
        got.insert(token_key, Arc::clone(&tokens));
        tokens
    }
}

/// Number of tokens that a client keeps: cards may name any number of endpoints and scopes.
const CAPACITY: usize = 256;

struct Provided<P>(P);

impl<P: TokenProvider> Source for Provided<P> {
    fn fetch(&self, _: Option<Secret>) -> BoxFuture<'_, Result<Token, String>> {
        Box::pin(async move {
            let given = self.0.token().await.map_err(|error| {
                let error = super::sanitize::causes(&*error);
                format!("the provider of bearer tokens failed: {error}")
            })?;
            Token::try_from(given)
        })
    }
}
