//! An issuer of tokens: its keys, and its documents over HTTP.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use a2a_transport::http::{ServeOptions, serve};
use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rsa;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RsaKeyPair,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A key that signs tokens.
#[derive(Clone)]
pub(crate) struct SigningKey {
    pub(crate) kid: String,
    pub(crate) algorithm: Algorithm,
    pub(crate) key: EncodingKey,
    /// The public key as published.
    pub(crate) jwk: Value,
}

impl SigningKey {
    pub(crate) fn ed25519(kid: &str) -> Self {
        let pkcs8 = Ed25519KeyPair::generate().unwrap().to_pkcs8v1().unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap();
        let x = URL_SAFE_NO_PAD.encode(pair.public_key());
        let jwk = json!({"kty": "OKP", "crv": "Ed25519", "x": x, "kid": kid, "use": "sig"});
        Self::new(
            kid,
            Algorithm::EdDSA,
            EncodingKey::from_ed_der(pkcs8.as_ref()),
            jwk,
        )
    }

    pub(crate) fn p256(kid: &str) -> Self {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        let pkcs8 = pair.to_pkcs8v1().unwrap();
        let point = pair.public_key().as_ref()[1..].to_vec();
        let [x, y] = [&point[..32], &point[32..]].map(|half| URL_SAFE_NO_PAD.encode(half));
        let jwk = json!({"kty": "EC", "crv": "P-256", "x": x, "y": y, "kid": kid, "alg": "ES256"});
        Self::new(
            kid,
            Algorithm::ES256,
            EncodingKey::from_ec_der(pkcs8.as_ref()),
            jwk,
        )
    }

    pub(crate) fn rsa(kid: &str, algorithm: Algorithm) -> Self {
        let pair = rsa::KeyPair::generate(rsa::KeySize::Rsa2048).unwrap();
        let pkcs8 = pair.as_der().unwrap();
        // The PKCS#1 key follows 26 bytes that name its kind.
        let key = EncodingKey::from_rsa_der(&pkcs8.as_ref()[26..]);
        let pair = RsaKeyPair::from_pkcs8(pkcs8.as_ref()).unwrap();
        let public = pair.public_key();
        let n = URL_SAFE_NO_PAD.encode(public.modulus().big_endian_without_leading_zero());
        let e = URL_SAFE_NO_PAD.encode(public.exponent().big_endian_without_leading_zero());
        let alg = format!("{algorithm:?}");
        let jwk = json!({"kty": "RSA", "n": n, "e": e, "kid": kid, "alg": alg});
        Self::new(kid, algorithm, key, jwk)
    }

    fn new(kid: &str, algorithm: Algorithm, key: EncodingKey, jwk: Value) -> Self {
        let _ = jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER.install_default();
        Self {
            kid: kid.to_owned(),
            algorithm,
            key,
            jwk,
        }
    }

    /// Returns a token with these claims.
    pub(crate) fn sign(&self, claims: &Value) -> String {
        self.sign_with(|_| {}, claims)
    }

    /// Returns a token with another header.
    pub(crate) fn sign_with(&self, change: impl FnOnce(&mut Header), claims: &Value) -> String {
        let mut header = Header::new(self.algorithm);
        header.kid = Some(self.kid.clone());
        change(&mut header);
        encode(&header, claims, &self.key).unwrap()
    }
}

/// Returns a key set as published.
pub(crate) fn jwks(keys: &[SigningKey]) -> Value {
    let keys: Vec<_> = keys.iter().map(|key| &key.jwk).collect();
    json!({ "keys": keys })
}

/// Returns the Unix time in seconds.
pub(crate) fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_secs().try_into().unwrap()
}

/// Returns claims in order, with the changed ones replaced, and without claims that are null.
pub(crate) fn claims(issuer: &str, audience: &str, changed: Value) -> Value {
    let mut claims = json!({
        "iss": issuer, "aud": audience, "sub": "ada", "scope": "tasks:read tasks:write",
        "exp": now() + 300, "iat": now(), "jti": "1",
    });
    for (name, value) in changed.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    claims
}

/// An issuer over HTTP: discovery, keys, introspection.
pub(crate) struct Issuer {
    pub(crate) url: String,
    address: SocketAddr,
    state: Arc<State>,
    running: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

#[derive(Default)]
pub(crate) struct State {
    /// The keys that are published.
    keys: Mutex<Value>,
    /// Answers to introspections, by token.
    tokens: Mutex<HashMap<String, Value>>,
    is_broken: AtomicBool,
    key_requests: AtomicUsize,
    introspections: AtomicUsize,
}

impl Issuer {
    /// Begins to answer.
    pub(crate) async fn start(keys: &[SigningKey]) -> Self {
        let state = State::default();
        *state.keys.lock().unwrap() = jwks(keys);
        let mut issuer = Self {
            url: String::new(),
            address: "127.0.0.1:0".parse().unwrap(),
            state: Arc::new(state),
            running: None,
            serving: None,
        };
        issuer.restart().await;
        issuer.url = format!("http://{}", issuer.address);
        issuer
    }

    /// Listens again, at the same address.
    pub(crate) async fn restart(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.address = listener.local_addr().unwrap();
        let (state, issuer) = (Arc::clone(&self.state), format!("http://{}", self.address));
        let service = service_fn(move |request: Request<Incoming>| {
            let (state, issuer) = (Arc::clone(&state), issuer.clone());
            async move { Ok::<_, Infallible>(state.answer(request, &issuer).await) }
        });
        let (running, stopped) = oneshot::channel::<()>();
        self.running = Some(running);
        let mut options = ServeOptions::default();
        options.grace = std::time::Duration::ZERO;
        self.serving = Some(tokio::spawn(serve(listener, service, options, async {
            let _ = stopped.await;
        })));
    }

    /// Stops listening.
    pub(crate) async fn stop(&mut self) {
        self.running = None;
        if let Some(serving) = self.serving.take() {
            serving.await.unwrap();
        }
    }

    /// Answers with failures, or no longer.
    pub(crate) fn set_broken(&self, is_broken: bool) {
        self.state.is_broken.store(is_broken, Ordering::SeqCst);
    }

    /// Publishes other keys.
    pub(crate) fn publish(&self, keys: &[SigningKey]) {
        *self.state.keys.lock().unwrap() = jwks(keys);
    }

    /// Sets the answer to introspections of a token.
    pub(crate) fn issue(&self, token: &str, answer: Value) {
        let mut tokens = self.state.tokens.lock().unwrap();
        tokens.insert(token.to_owned(), answer);
    }

    /// Returns how often the keys were fetched.
    pub(crate) fn key_requests(&self) -> usize {
        self.state.key_requests.load(Ordering::SeqCst)
    }

    /// Returns how often tokens were introspected.
    pub(crate) fn introspections(&self) -> usize {
        self.state.introspections.load(Ordering::SeqCst)
    }
}

impl State {
    async fn answer(&self, request: Request<Incoming>, issuer: &str) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let is_broken = self.is_broken.load(Ordering::SeqCst);
        let answer = match head.uri.path() {
            "/.well-known/openid-configuration" => json!({
                "issuer": issuer, "jwks_uri": format!("{issuer}/keys"),
                "token_endpoint": format!("{issuer}/token"),
            }),
            "/keys" => {
                self.key_requests.fetch_add(1, Ordering::SeqCst);
                self.keys.lock().unwrap().clone()
            }
            "/introspect" => {
                self.introspections.fetch_add(1, Ordering::SeqCst);
                // `client` and `client secret`, encoded as in a form.
                assert_eq!(
                    head.headers["authorization"],
                    "Basic Y2xpZW50OmNsaWVudCtzZWNyZXQ="
                );
                let body = String::from_utf8(body.to_vec()).unwrap();
                let token = body
                    .strip_prefix("token=")
                    .and_then(|body| body.split('&').next());
                let tokens = self.tokens.lock().unwrap();
                tokens
                    .get(token.unwrap())
                    .cloned()
                    .unwrap_or(json!({"active": false}))
            }
            _ => Value::Null,
        };
        let status = match (is_broken, answer.is_null()) {
            (true, _) => 500,
            (false, true) => 404,
            (false, false) => 200,
        };
        let response = Response::builder().status(status);
        response.body(Full::from(answer.to_string())).unwrap()
    }
}
