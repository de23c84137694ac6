//! Costs of a JSON Web Token: `cargo bench --package agent2agent-auth`.
//!
//! `ES256 alone` only verifies the signature: the lower bound of the cost of a new token.

#[allow(dead_code, reason = "the keys are used, not the server of the issuer")]
#[path = "../tests/it/issuer.rs"]
mod issuer;

use std::hint::black_box;

use a2a_auth::{AuthOutcome, JwtBearer, Scheme};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use criterion::{Criterion, criterion_group, criterion_main};
use http::Request;
use http::header::AUTHORIZATION;
use http::request::Parts;
use issuer::{SigningKey, claims, jwks};
use serde_json::json;
use tokio::runtime::Builder;

criterion_group!(tokens, jwt);
criterion_main!(tokens);

const ISSUER: &str = "https://login.example";
const AUDIENCE: &str = "https://agent.example/";
/// More than the cache of verified tokens holds: each is evicted before it comes again.
const NEW_TOKENS: usize = 5_000;

fn jwt(criterion: &mut Criterion) {
    let key = SigningKey::p256("key");
    let key_set = jwks(std::slice::from_ref(&key)).to_string();
    let scheme = JwtBearer::keys_of(ISSUER, AUDIENCE, key_set.as_bytes()).unwrap();
    let runtime = Builder::new_current_thread().build().unwrap();
    let check = |head: &Parts| {
        let verdict = runtime.block_on(scheme.check(black_box(head)));
        assert!(matches!(verdict, AuthOutcome::Valid(_)));
    };
    let tokens = (0..NEW_TOKENS).map(|number| {
        let claims = claims(ISSUER, AUDIENCE, json!({"sub": number.to_string()}));
        key.sign(&claims)
    });
    let tokens: Vec<_> = tokens.collect();
    let heads: Vec<_> = tokens.iter().map(|token| head(token)).collect();

    let mut group = criterion.benchmark_group("jwt");
    group.bench_function("ES256 alone", |bencher| {
        let (signed, signature) = tokens[0].rsplit_once('.').unwrap();
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        let point = ["x", "y"].map(|part| URL_SAFE_NO_PAD.decode(key.jwk[part].as_str().unwrap()));
        let point = point.map(Result::unwrap).concat();
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, [&[4], &point[..]].concat());
        bencher.iter(|| public.verify(signed.as_bytes(), &signature).unwrap());
    });
    // The cycle is not restarted for each sample: the first tokens would be known by then.
    let mut heads_in_turn = heads.iter().cycle();
    group.bench_function("new token", |bencher| {
        bencher.iter(|| check(heads_in_turn.next().unwrap()));
    });
    group.bench_function("known token", |bencher| bencher.iter(|| check(&heads[0])));
}

fn head(token: &str) -> Parts {
    let request = Request::builder().header(AUTHORIZATION, format!("Bearer {token}"));
    request.body(()).unwrap().into_parts().0
}
