//! JSON Web Tokens of an issuer.

mod claims;
mod issuer_keys;
mod key_set;
mod token;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2a_transport::http::{AuthChallenge, HttpClient, ProtectedResource};
use a2a_transport::{BoxFuture, Principal};
use a2a_types::{HttpAuthSecurityScheme, OpenIdConnectSecurityScheme, SecurityScheme};
use http::request::Parts;

pub use self::claims::TokenClaims;
use self::issuer_keys::{IssuerKeys, KeyLookup};
use self::key_set::KeySet;
use self::token::Rules;
use crate::digest_cache::{DigestCache, sha256};
use crate::error::ConfigError;
use crate::issuer_url;
use crate::scheme::{AuthOutcome, Scheme, credentials};
use crate::watched_file::WatchedFile;

/// Scheme of JSON Web Tokens in `Authorization: Bearer`, as an issuer makes them: OpenID Connect, or OAuth
/// access tokens of RFC 9068.
///
/// A token is accepted if a published key of the issuer has signed it, `iss` is the issuer, `aud` has the
/// audience, `exp` is not over and `nbf`, if it is there, has come, both by a minute of tolerance. The algorithm is
/// that of the key: RS, PS, ES and `EdDSA` are known, by the key's `alg` or, without one, RS256, ES256, ES384 or
/// `EdDSA`. Tokens with an unknown `crit` or another `typ` than `JWT` or `at+jwt` are refused.
///
/// Keys from a URL are fetched when a token first needs them, again every ten minutes in the background, and at most
/// once a minute for a `kid` that is not known. While the issuer is down, its last keys stay in force. A key
/// that was withdrawn is refused with the next fetch.
pub struct JwtBearer {
    rules: Rules,
    keys: IssuerKeys,
    principal: PrincipalOf,
    described: SecurityScheme,
    verified: DigestCache<VerifiedToken>,
}

/// Function from claims to a principal.
type PrincipalOf = Box<dyn Fn(&TokenClaims) -> Option<Principal> + Send + Sync>;

/// A token that was accepted.
#[derive(Clone)]
struct VerifiedToken {
    principal: Principal,
    /// Seconds of Unix time.
    expires: f64,
    /// The keys that it was verified by.
    keys: Arc<KeySet>,
}

impl JwtBearer {
    /// Finds the keys of an issuer by OpenID Connect discovery, or by the metadata of RFC 8414 if it has no such
    /// document. The card names the discovery document, where callers find out how to get a token.
    ///
    /// `audience` names this agent in tokens. Errors: the issuer is neither an `https` URL nor an
    /// `http` URL of this machine; a wrong document is noticed, and logged, when it is fetched.
    pub fn discover(
        issuer: impl Into<String>,
        audience: impl Into<String>,
    ) -> Result<Self, ConfigError> {
        let issuer = issuer.into();
        issuer_url::check("issuer", &issuer)?;
        let keys = IssuerKeys::discovered(issuer.clone());
        let described = SecurityScheme::OpenIdConnectSecurityScheme(OpenIdConnectSecurityScheme {
            description: None,
            open_id_connect_url: issuer_keys::discovery_url(&issuer),
        });
        Ok(Self::new(issuer, audience.into(), keys, described))
    }

    /// Fetches the keys of an issuer from a URL. Errors: it is neither an `https` URL nor an `http` URL of
    /// this machine.
    pub fn keys_at(
        issuer: impl Into<String>,
        audience: impl Into<String>,
        url: impl Into<String>,
    ) -> Result<Self, ConfigError> {
        let url = url.into();
        issuer_url::check("URL of the keys", &url)?;
        let keys = IssuerKeys::at(url);
        Ok(Self::new(issuer.into(), audience.into(), keys, bearer()))
    }

    /// Reads the keys of an issuer from a file, a JSON Web Key Set, and again when it changes. Errors: it cannot be
    /// read, or has no key that verifies tokens.
    pub fn keys_in(
        issuer: impl Into<String>,
        audience: impl Into<String>,
        path: impl Into<PathBuf>,
    ) -> Result<Self, ConfigError> {
        let keys = IssuerKeys::File(WatchedFile::open(path, KeySet::parse)?);
        Ok(Self::new(issuer.into(), audience.into(), keys, bearer()))
    }

    /// Takes the keys of an issuer from a JSON Web Key Set. Errors: it has no key that verifies tokens.
    pub fn keys_of(
        issuer: impl Into<String>,
        audience: impl Into<String>,
        jwks: &[u8],
    ) -> Result<Self, ConfigError> {
        let keys = KeySet::parse(jwks).map_err(|problem| ConfigError::value("keys", problem))?;
        let keys = IssuerKeys::Fixed(Arc::new(keys));
        Ok(Self::new(issuer.into(), audience.into(), keys, bearer()))
    }

    fn new(issuer: String, audience: String, keys: IssuerKeys, described: SecurityScheme) -> Self {
        choose_provider();
        Self {
            rules: Rules {
                issuer,
                audiences: vec![audience],
            },
            keys,
            principal: Box::new(TokenClaims::principal),
            described,
            verified: DigestCache::new(MAX_VERIFIED),
        }
    }

    /// Accepts tokens for a further audience.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.rules.audiences.push(audience.into());
        self
    }

    /// Fetches keys by this client, with its proxy and trust anchors.
    pub fn http_client(mut self, client: HttpClient) -> Self {
        self.keys.set_client(client);
        self
    }

    /// Sets the function that makes the principal of a token; `None` refuses it. By default its name is
    /// `{iss}#{sub}`, since two issuers may know different people by one name, and it has the scopes of the token.
    pub fn principal(
        mut self,
        principal: impl Fn(&TokenClaims) -> Option<Principal> + Send + Sync + 'static,
    ) -> Self {
        self.principal = Box::new(principal);
        self
    }

    /// Sets the scheme as the card states it, like an OAuth flow with its URLs.
    pub fn described_as(mut self, scheme: SecurityScheme) -> Self {
        self.described = scheme;
        self
    }

    async fn verdict(&self, head: &Parts) -> AuthOutcome {
        let token = match credentials(&head.headers, "Bearer") {
            Ok(token) => token,
            Err(verdict) => return verdict,
        };
        let (digest, now) = (sha256(token.as_bytes()), seconds_now());
        if let Some(verified) = self.verified.get(&digest) {
            let keys = self.keys.current().await;
            let is_current = keys.is_some_and(|keys| Arc::ptr_eq(&keys, &verified.keys));
            if is_current && token::is_in_time(verified.expires, now) {
                return AuthOutcome::Valid(verified.principal);
            }
            self.verified.remove(&digest);
        }
        let Some(header) = self.rules.header(token) else {
            return AuthOutcome::Invalid;
        };
        let keys = match self.keys.with_key(header.kid.as_deref()).await {
            KeyLookup::Known(keys) => keys,
            KeyLookup::Unknown => return AuthOutcome::Invalid,
            KeyLookup::Unavailable => return AuthOutcome::Unavailable,
        };
        let claims = keys.find(header.kid.as_deref());
        let claims = claims.and_then(|key| self.rules.verify(token, &header, key, now));
        let Some(claims) = claims else {
            return AuthOutcome::Invalid;
        };
        let Some(principal) = (self.principal)(&claims) else {
            return AuthOutcome::Invalid;
        };
        let verified = VerifiedToken {
            principal: principal.clone(),
            expires: claims.expires(),
            keys,
        };
        self.verified.insert(digest, verified, VERIFIED_PERIOD);
        AuthOutcome::Valid(principal)
    }
}

impl Scheme for JwtBearer {
    fn check<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, AuthOutcome> {
        Box::pin(self.verdict(head))
    }

    fn describe(&self) -> SecurityScheme {
        self.described.clone()
    }

    fn challenge(&self) -> Option<AuthChallenge> {
        Some(AuthChallenge::new("Bearer"))
    }

    fn protected_resource(&self) -> Option<ProtectedResource> {
        let mut resource = ProtectedResource::default();
        resource.authorization_servers = vec![self.rules.issuer.clone()];
        Some(resource)
    }
}

fn bearer() -> SecurityScheme {
    SecurityScheme::HttpAuthSecurityScheme(HttpAuthSecurityScheme {
        description: None,
        scheme: "Bearer".to_owned(),
        bearer_format: Some("JWT".to_owned()),
    })
}

/// Returns the Unix time in seconds.
fn seconds_now() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs_f64()
}

/// Installs a provider of cryptography for the library of tokens, unless the program has chosen one: it
/// panics without one where other crates switch on its other provider, too.
fn choose_provider() {
    let _ = jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER.install_default();
}

/// Maximum number of tokens that are remembered as accepted.
const MAX_VERIFIED: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// Time for which a token is remembered as accepted, if it does not expire before.
const VERIFIED_PERIOD: Duration = Duration::from_secs(300);
