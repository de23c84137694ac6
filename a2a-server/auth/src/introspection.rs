//! Opaque bearer tokens, checked by asking their issuer.

use std::fmt;
use std::num::NonZeroUsize;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2a_transport::http::{AuthChallenge, HttpClient, ProtectedResource, Timeouts};
use a2a_transport::{BoxFuture, Principal};
use a2a_types::SecurityScheme;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue};
use http::request::Parts;
use serde::Deserialize;
use tokio::sync::Semaphore;

use crate::digest_cache::{DigestCache, sha256};
use crate::error::ConfigError;
use crate::issuer_url;
use crate::scheme::{AuthOutcome, Scheme, credentials};
use crate::token_function::opaque_bearer;

/// Scheme of opaque tokens in `Authorization: Bearer`, RFC 7662: the issuer says whether a token is active, for which
/// principal, and with which scopes.
///
/// An answer is used for a minute, or until the token expires; a token that was revoked is refused after that.
/// While the issuer does not answer, tokens without a cached answer get 503. At most 32 requests run at once.
pub struct Introspection {
    client: HttpClient,
    url: String,
    authorization: HeaderValue,
    issuer: Option<String>,
    audiences: Vec<String>,
    answers: DigestCache<TokenState>,
    slots: Semaphore,
}

/// Answer of the issuer about a token.
#[derive(Clone)]
enum TokenState {
    Inactive,
    Active {
        principal: Principal,
        /// Seconds of Unix time.
        expires: Option<f64>,
    },
}

impl Introspection {
    /// Asks at this URL, as this client. Errors: the URL is neither an `https` URL nor an `http` URL of
    /// this machine.
    pub fn new(
        url: impl Into<String>,
        client_id: &str,
        client_secret: &str,
    ) -> Result<Self, ConfigError> {
        let url = url.into();
        issuer_url::check("URL of introspection", &url)?;
        // RFC 6749 §2.3.1: both are encoded as in a form first.
        let encode =
            |text: &str| -> String { form_urlencoded::byte_serialize(text.as_bytes()).collect() };
        let pair = format!("{}:{}", encode(client_id), encode(client_secret));
        let header = format!("Basic {}", STANDARD.encode(pair));
        let mut authorization = HeaderValue::from_str(&header)
            .map_err(|_| ConfigError::value("client", "expected an id and a secret"))?;
        authorization.set_sensitive(true);
        let mut timeouts = Timeouts::default();
        timeouts.connect = Duration::from_secs(5);
        timeouts.first_byte = Duration::from_secs(5);
        timeouts.body = Duration::from_secs(5);
        Ok(Self {
            client: HttpClient::builder()
                .timeouts(timeouts)
                .limit(MAX_ANSWER)
                .build(),
            url,
            authorization,
            issuer: None,
            audiences: Vec::new(),
            answers: DigestCache::new(MAX_ANSWERS),
            slots: Semaphore::new(MAX_REQUESTS),
        })
    }

    /// Accepts only tokens for this audience, or for another that is added. By default any that the issuer calls
    /// active.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audiences.push(audience.into());
        self
    }

    /// Names the issuer: in the metadata of the agent, so that callers find it, and in the names of principals,
    /// which are `{issuer}#{sub}` then.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Asks by this client, with its proxy and trust anchors.
    pub fn http_client(mut self, client: HttpClient) -> Self {
        self.client = client;
        self
    }

    async fn verdict(&self, head: &Parts) -> AuthOutcome {
        let token = match credentials(&head.headers, "Bearer") {
            Ok(token) => token,
            Err(verdict) => return verdict,
        };
        let digest = sha256(token.as_bytes());
        let state = match self.answers.get(&digest) {
            Some(state) => state,
            None => {
                let Some(state) = self.ask(token).await else {
                    return AuthOutcome::Unavailable;
                };
                self.answers.insert(digest, state.clone(), PERIOD);
                state
            }
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default().as_secs_f64();
        match state {
            TokenState::Active { principal, expires } if expires.is_none_or(|end| now < end) => {
                AuthOutcome::Valid(principal)
            }
            _ => AuthOutcome::Invalid,
        }
    }

    /// Asks the issuer about a token; `None` if it gives no answer.
    async fn ask(&self, token: &str) -> Option<TokenState> {
        let _slot = self.slots.try_acquire().ok()?;
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.authorization.clone());
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let form = [("token", token), ("token_type_hint", "access_token")];
        let answer = match self.client.post_form(&self.url, &headers, &form).await {
            Ok(answer) if answer.status.as_u16() == 200 => answer.body,
            Ok(answer) => {
                let status = answer.status.as_u16();
                tracing::warn!(url = self.url, status, "a token cannot be introspected");
                return None;
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(url = self.url, error, "a token cannot be introspected");
                return None;
            }
        };
        let Ok(answer) = serde_json::from_slice::<Answer>(&answer) else {
            tracing::warn!(url = self.url, "an answer to an introspection is malformed");
            return None;
        };
        Some(self.judge(answer))
    }

    fn judge(&self, answer: Answer) -> TokenState {
        let is_for_us = self.audiences.is_empty()
            || answer
                .aud
                .iter()
                .any(|audience| self.audiences.contains(audience));
        let is_of_issuer = match (&self.issuer, &answer.iss) {
            (Some(issuer), Some(named)) => issuer == named,
            _ => true,
        };
        let names = [answer.sub, answer.username, answer.client_id];
        let name = names.into_iter().flatten().find(|name| !name.is_empty());
        match name {
            Some(name) if answer.active && is_for_us && is_of_issuer => {
                let name = match &self.issuer {
                    Some(issuer) => format!("{issuer}#{name}"),
                    None => name,
                };
                let scopes = answer.scope.unwrap_or_default();
                TokenState::Active {
                    principal: Principal::named(name).with_scopes(scopes.split_whitespace()),
                    expires: answer.exp,
                }
            }
            _ => TokenState::Inactive,
        }
    }
}

/// Answer of the issuer, RFC 7662 §2.2.
#[derive(Deserialize)]
struct Answer {
    active: bool,
    sub: Option<String>,
    username: Option<String>,
    client_id: Option<String>,
    scope: Option<String>,
    iss: Option<String>,
    #[serde(default, deserialize_with = "one_or_many")]
    aud: Vec<String>,
    exp: Option<f64>,
}

fn one_or_many<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Strings {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Option::deserialize(deserializer)? {
        None => Vec::new(),
        Some(Strings::One(one)) => vec![one],
        Some(Strings::Many(many)) => many,
    })
}

impl Scheme for Introspection {
    fn check<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, AuthOutcome> {
        Box::pin(self.verdict(head))
    }

    fn describe(&self) -> SecurityScheme {
        opaque_bearer()
    }

    fn challenge(&self) -> Option<AuthChallenge> {
        Some(AuthChallenge::new("Bearer"))
    }

    fn protected_resource(&self) -> Option<ProtectedResource> {
        let mut resource = ProtectedResource::default();
        resource.authorization_servers = vec![self.issuer.clone()?];
        Some(resource)
    }
}

impl fmt::Debug for Introspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Introspection")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// Time for which an answer is used.
const PERIOD: Duration = Duration::from_secs(60);

/// Maximum number of answers that are remembered.
const MAX_ANSWERS: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// Maximum number of concurrent introspection requests.
const MAX_REQUESTS: usize = 32;

/// Maximum size of an answer in bytes.
const MAX_ANSWER: usize = 64 << 10;
