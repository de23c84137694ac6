//! Issuer of the tokens that callers of test agents show.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use a2a_transport::http::{ServeOptions, serve};
use a2a_transport::webhook::{Algorithm, Jwks, SigningKey};
use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use a2a_conformance::token::{public_key_der, public_key_pem, signed};

/// Issuer of JSON Web Tokens that listens on this machine until this is dropped.
#[derive(Debug)]
pub(super) struct Issuer {
    pub(super) url: String,
    /// Audience of its tokens: the agent.
    pub(super) audience: String,
    /// The public key that verifies its tokens, as PEM.
    pub(super) public_key: String,
    key: SigningKey,
    serving: AbortHandle,
}

/// A token of the issuer.
#[derive(Clone, Copy, Debug)]
pub(super) enum IssuedToken {
    /// Valid token of the first caller.
    First,
    /// Valid token of the second caller.
    Second,
    /// Expired token of the first caller.
    Expired,
    /// Token of the first caller for another agent.
    WrongAudience,
    /// Token of the first caller with no scope of the agent.
    WrongScope,
}

impl Issuer {
    /// Starts the issuer of tokens for an agent. Must be called within a Tokio runtime.
    pub(super) async fn open(audience: &str) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let key = SigningKey::generate(Algorithm::Es256).map_err(io::Error::other)?;
        let der = public_key_der(&json!(key.public())).unwrap_or_default();
        let metadata = json!({"issuer": url, "jwks_uri": format!("{url}/keys")});
        let documents = Arc::new([
            ("/.well-known/openid-configuration", metadata),
            ("/keys", json!(Jwks::of([&key]))),
        ]);
        let service = service_fn(move |request: Request<Incoming>| {
            let documents = Arc::clone(&documents);
            let known = documents
                .iter()
                .find(|(path, _)| *path == request.uri().path())
                .map(|(_, document)| Bytes::from(document.to_string()));
            let mut response = Response::new(Full::from(known.clone().unwrap_or_default()));
            if known.is_none() {
                *response.status_mut() = StatusCode::NOT_FOUND;
            }
            std::future::ready(Ok::<_, Infallible>(response))
        });
        let options = ServeOptions::default();
        let serving = tokio::spawn(serve(listener, service, options, std::future::pending()));
        Ok(Self {
            url,
            audience: audience.to_owned(),
            public_key: public_key_pem(&der),
            key,
            serving: serving.abort_handle(),
        })
    }

    /// Returns the headers with a token.
    pub(super) fn headers(&self, token: IssuedToken) -> HeaderMap {
        let text = format!("Bearer {}", self.token(token));
        let mut value = HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("Bearer"));
        value.set_sensitive(true);
        HeaderMap::from_iter([(AUTHORIZATION, value)])
    }

    fn token(&self, token: IssuedToken) -> String {
        let now = jiff::Timestamp::now().as_second();
        let mut claims = json!({
            "iss": self.url, "aud": self.audience, "sub": "first", "scope": SCOPES,
            "iat": now, "exp": now + 3600,
        });
        match token {
            IssuedToken::First => {}
            IssuedToken::Second => claims["sub"] = "second".into(),
            IssuedToken::Expired => {
                claims["iat"] = (now - 3660).into();
                claims["exp"] = (now - 3600).into();
            }
            IssuedToken::WrongAudience => claims["aud"] = OTHER_AGENT.into(),
            IssuedToken::WrongScope => claims["scope"] = "calendar:read".into(),
        }
        // The key is of this kind.
        signed(&claims, &self.key).unwrap_or_default()
    }

    /// Returns the public keys.
    pub(super) fn keys(&self) -> Jwks {
        Jwks::of([&self.key])
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The scopes of the default authorizer.
pub(super) const SCOPES: &str = "tasks:read tasks:write";

/// The audience of tokens for another agent.
pub(super) const OTHER_AGENT: &str = "https://other-agent.example/";
