//! Authentication of senders.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use a2a_client::webhook::{
    BoxError, Jwks, JwksSource, JwksUrl, JwtVerifier, KeySource, Receiver, ReceiverBuilder,
    ReceiverConfigError, Secret,
};
use a2a_transport::http::{Body, HttpClient, ServeOptions, serve};
use a2a_transport::webhook::{Algorithm, Claims, SigningKey};
use a2a_types::Base64;
use hyper::body::Incoming;
use hyper::service::service_fn;
use tokio::net::TcpListener;

use crate::webhook::hook::{Hook, NOW, Post, TASK, claims};

#[tokio::test]
async fn a_token_is_accepted_in_either_header() {
    let hook = Hook::new(|builder| builder.token("old").token("secret")).await;
    let check = async |headers: &[(&str, &str)], status: u16| {
        let post = Post::new(TASK);
        let post = headers
            .iter()
            .fold(post, |post, (name, value)| post.with(name, *value));
        assert_eq!(hook.post(&post).await, status, "{headers:?}");
    };
    const X: &str = "X-A2A-Notification-Token";
    const A2A: &str = "A2A-Notification-Token";
    check(&[(X, "secret")], 200).await;
    check(&[(A2A, "secret")], 200).await;
    check(&[(X, "secret"), (A2A, "secret")], 200).await;
    check(&[(X, "old")], 200).await;
    check(&[], 401).await;
    check(&[(X, "")], 401).await;
    check(&[(X, "secret"), (A2A, "other")], 401).await;
    check(&[("authorization", "secret")], 401).await;
    for index in 0.."secret".len() {
        let mut token = "secret".to_owned().into_bytes();
        token[index] ^= 1;
        check(&[(X, std::str::from_utf8(&token).unwrap())], 401).await;
        check(&[(X, &"secret"[..index])], 401).await;
    }
    assert_eq!(hook.count(), 4);
}

#[tokio::test]
async fn a_fixed_authorization_is_required() {
    let hook = Hook::new(|builder| builder.authorization("Bearer abc")).await;
    let values = [
        ("Bearer abc", 200),
        ("bearer  abc", 200),
        ("Bearer Abc", 401),
        ("Basic abc", 401),
        ("Bearer", 401),
        ("abc", 401),
    ];
    for (value, status) in values {
        let post = Post::new(TASK).with("authorization", value);
        assert_eq!(hook.post(&post).await, status, "{value}");
    }
    assert_eq!(hook.post(&Post::new(TASK)).await, 401);
}

/// Everything is configured; then every byte of every part of a good request is changed.
#[tokio::test]
async fn nothing_that_was_changed_is_accepted() {
    let key = SigningKey::generate(Algorithm::Es256).unwrap();
    let secret = Secret::shared().unwrap();
    let (jwks, shared) = (Jwks::of([&key]), secret.clone());
    let hook = Hook::new(|builder| {
        builder
            .token("token")
            .tokens(JwtVerifier::of(JwksSource::from(jwks)).audience("https://me/hook"))
            .secret(shared)
    })
    .await;
    let good = Post::new(TASK)
        .with("x-a2a-notification-token", "token")
        .with_token(&key, &claims(TASK, "msg_1"))
        .signed(&[&secret], "msg_1", NOW);

    let mut tried = 0;
    for header in 0..good.headers.len() {
        let value = &good.headers[header].1;
        // `Bearer` itself may be spelled otherwise.
        let from = if value.starts_with("Bearer ") { 7 } else { 0 };
        for index in from..value.len() {
            let mut bytes = value.clone().into_bytes();
            bytes[index] = if bytes[index] == b'7' { b'8' } else { b'7' };
            let mut changed = good.clone();
            changed.headers[header].1 = String::from_utf8(bytes).unwrap();
            assert_eq!(hook.post(&changed).await, 401, "{changed:?}");
            tried += 1;
        }
        let mut without = good.clone();
        without.headers.remove(header);
        assert_eq!(hook.post(&without).await, 401, "{without:?}");
        let mut twice = good.clone();
        twice
            .headers
            .push((good.headers[header].0.clone(), "other".to_owned()));
        assert_eq!(hook.post(&twice).await, 401, "{twice:?}");
    }
    for index in 0..good.body.len() {
        let mut changed = good.clone();
        changed.body[index] ^= 1;
        assert_eq!(hook.post(&changed).await, 401, "{index}");
        tried += 1;
    }
    assert!(tried > 400, "{tried}");
    assert_eq!(hook.count(), 0);
    assert_eq!(hook.post(&good).await, 200);
    assert_eq!(hook.last().delivery.as_deref(), Some("msg_1"));
}

#[tokio::test]
async fn replayed_deliveries_are_handled_once() {
    let secret = Secret::private().unwrap();
    let public = secret.public().unwrap();
    let hook = Hook::new(|builder| builder.secret(public)).await;
    let send = |id: &str, timestamp| Post::new(TASK).signed(&[&secret], id, timestamp);
    let first = send("msg_1", NOW);
    assert_eq!(hook.post(&first).await, 200);
    for later in [0, 1, 300] {
        hook.now.store(NOW + later, Ordering::Relaxed);
        assert_eq!(hook.post(&first).await, 200, "handled already");
    }
    for later in [301, 302, 86_400] {
        hook.now.store(NOW + later, Ordering::Relaxed);
        assert_eq!(hook.post(&first).await, 401);
        assert_eq!(hook.post(&send("msg_2", NOW)).await, 401);
    }
    hook.now.store(NOW - 301, Ordering::Relaxed);
    assert_eq!(hook.post(&send("msg_2", NOW)).await, 401);
    hook.now.store(NOW + 301, Ordering::Relaxed);
    // A sender that has not seen the answer sends again: with a new signature and the same id.
    assert_eq!(hook.post(&send("msg_1", NOW + 301)).await, 200);
    assert_eq!(hook.count(), 1);
    assert_eq!(hook.post(&send("msg_2", NOW + 301)).await, 200);
    assert_eq!(hook.count(), 2);
}

#[tokio::test]
async fn a_token_is_good_for_one_delivery() {
    let key = SigningKey::generate(Algorithm::EdDsa).unwrap();
    let tokens = JwtVerifier::of(JwksSource::from(Jwks::of([&key]))).audience("https://me/hook");
    let hook = Hook::new(|builder| builder.tokens(tokens)).await;
    // A token that does not name the delivery, replayed under other names.
    let unnamed = Claims {
        jti: None,
        ..claims(TASK, "")
    };
    let first = Post::new(TASK).with_token(&key, &unnamed);
    assert_eq!(hook.post(&first).await, 200);
    assert_eq!(
        hook.post(&first.clone().with("webhook-id", "other")).await,
        200
    );
    assert_eq!(hook.count(), 1);
    hook.now.store(NOW + 301, Ordering::Relaxed);
    assert_eq!(hook.post(&first).await, 401);
    hook.now.store(NOW, Ordering::Relaxed);

    let elsewhere = Claims {
        aud: vec!["https://other/hook".to_owned()],
        ..claims(TASK, "m")
    };
    let endless = Claims {
        exp: None,
        ..claims(TASK, "m")
    };
    let loose = Claims {
        request_body_sha256: None,
        ..claims(TASK, "m")
    };
    let other_body = claims("{}", "m");
    for claims in [&elsewhere, &endless, &loose, &other_body] {
        assert_eq!(
            hook.post(&Post::new(TASK).with_token(&key, claims)).await,
            401
        );
    }
    let stranger = SigningKey::generate(Algorithm::EdDsa).unwrap();
    let forged = Post::new(TASK).with_token(&stranger, &claims(TASK, "m"));
    assert_eq!(hook.post(&forged).await, 401);
    assert_eq!(hook.count(), 1);

    let lenient = JwtVerifier::of(JwksSource::from(Jwks::of([&key]))).without_expiry();
    let hook = Hook::new(|builder| builder.tokens(lenient)).await;
    assert_eq!(
        hook.post(&Post::new(TASK).with_token(&key, &endless)).await,
        200
    );
    assert_eq!(hook.last().delivery.as_deref(), Some("m"));
}

/// Each ECDSA signature has a second valid form, which anybody can compute.
#[tokio::test]
async fn the_other_form_of_a_signature_is_the_same_delivery() {
    let key = SigningKey::generate(Algorithm::Es256).unwrap();
    let tokens = JwtVerifier::of(JwksSource::from(Jwks::of([&key])));
    let hook = Hook::new(|builder| builder.tokens(tokens)).await;
    let unnamed = Claims {
        jti: None,
        ..claims(TASK, "")
    };
    let token = key.sign(&unnamed).unwrap();
    let (said, signature) = token.rsplit_once('.').unwrap();
    let mut signature = Base64::from_text(signature).decode().unwrap();
    let order = [
        &[0xff; 4][..],
        &[0; 4],
        &[0xff; 8],
        &0xbce6_faad_a717_9e84_u64.to_be_bytes(),
        &0xf3b9_cac2_fc63_2551_u64.to_be_bytes(),
    ];
    let mut borrow = false;
    for (byte, order) in signature[32..].iter_mut().zip(order.concat()).rev() {
        let (difference, first) = order.overflowing_sub(*byte);
        let (difference, second) = difference.overflowing_sub(u8::from(borrow));
        (*byte, borrow) = (difference, first || second);
    }
    let signature = Base64::encode(signature);
    let signature = signature.as_text().trim_end_matches('=');
    let other = format!("{said}.{}", signature.replace('+', "-").replace('/', "_"));
    assert_ne!(other, token);
    for (token, count) in [(&token, 1), (&other, 1)] {
        let post = Post::new(TASK).with("authorization", format!("Bearer {token}"));
        assert_eq!(hook.post(&post).await, 200, "it holds");
        assert_eq!(hook.count(), count, "and is the same delivery");
    }
}

/// Starts an agent that publishes its keys over HTTP, and counts how often they are fetched.
async fn publishing(keys: Arc<Mutex<Jwks>>) -> (String, Arc<AtomicU64>) {
    let fetches = Arc::<AtomicU64>::default();
    let counted = Arc::clone(&fetches);
    let service = service_fn(move |_: http::Request<Incoming>| {
        counted.fetch_add(1, Ordering::Relaxed);
        let body = Body::full(keys.lock().unwrap().to_json());
        std::future::ready(Ok::<_, std::convert::Infallible>(http::Response::new(body)))
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!(
        "http://{}/.well-known/jwks.json",
        listener.local_addr().unwrap()
    );
    let options = ServeOptions::default();
    tokio::spawn(serve(listener, service, options, std::future::pending()));
    (url, fetches)
}

#[tokio::test]
async fn rotated_token_keys_are_accepted_and_made_up_ones_refused() {
    let [old, new, made_up] = [Algorithm::Es256, Algorithm::EdDsa, Algorithm::EdDsa]
        .map(|algorithm| SigningKey::generate(algorithm).unwrap());
    let published = Arc::new(Mutex::new(Jwks::of([&old])));
    let (url, fetches) = publishing(Arc::clone(&published)).await;
    let hook = Hook::new(|builder| builder.tokens(JwtVerifier::of(JwksSource::at(url)))).await;
    let send = |key: &SigningKey, id: &str| Post::new(TASK).with_token(key, &claims(TASK, id));

    assert_eq!(hook.post(&send(&old, "1")).await, 200);
    *published.lock().unwrap() = Jwks::of([&old, &new]);
    assert_eq!(hook.post(&send(&new, "2")).await, 200);
    assert_eq!(hook.post(&send(&old, "3")).await, 200);
    assert_eq!(fetches.load(Ordering::Relaxed), 2);
    for id in 0..50 {
        assert_eq!(hook.post(&send(&made_up, &id.to_string())).await, 401);
    }
    assert_eq!(fetches.load(Ordering::Relaxed), 2);
    assert_eq!(hook.count(), 3);
}

/// Keys that can be replaced in transit prove nothing.
#[tokio::test]
async fn keys_without_tls_are_refused() {
    let build = |keys: JwksSource| {
        let receiver = Receiver::builder(|_| async { Ok::<_, BoxError>(()) });
        receiver.tokens(JwtVerifier::of(keys)).build().err()
    };
    let in_clear = Some(ReceiverConfigError::KeysInClear);
    for (url, expected) in [
        ("https://agent.example/jwks.json", None),
        ("http://127.0.0.1:8080/jwks.json", None),
        ("http://127.1.2.3/jwks.json", None),
        ("http://[::1]/jwks.json", None),
        ("http://LOCALHOST/jwks.json", None),
        ("http://agent.example/jwks.json", in_clear),
        ("HTTP://agent.example/jwks.json", in_clear),
        ("http://10.0.0.7/jwks.json", in_clear),
        ("http://127.0.0.1.example/jwks.json", in_clear),
        ("http://localhost.example/jwks.json", in_clear),
        ("http://127.0.0.1@agent.example/jwks.json", in_clear),
    ] {
        assert_eq!(build(JwksSource::at(url)), expected, "{url}");
        let allowed = JwksUrl::new(url, HttpClient::default()).allow_http();
        assert_eq!(build(allowed.into()), None, "{url}");
    }
    let jwks = JwksUrl::new("http://agent.example/jwks.json", HttpClient::default());
    let refused = jwks.fetch().await.unwrap_err();
    assert_eq!(
        refused.downcast_ref(),
        in_clear.as_ref(),
        "nothing is asked"
    );
}

#[tokio::test]
async fn any_of_several_secrets_is_accepted() {
    let [old, new, other] = std::array::from_fn(|_| Secret::shared().unwrap());
    let (first, second) = (old.clone(), new.clone());
    let hook = Hook::new(|builder| builder.secret(first).secret(second)).await;
    let check = async |secrets: &[&Secret], id: &str, status: u16| {
        let post = Post::new(TASK).signed(secrets, id, NOW);
        assert_eq!(hook.post(&post).await, status, "{id}");
    };
    check(&[&old], "1", 200).await;
    check(&[&new], "2", 200).await;
    check(&[&other, &new], "3", 200).await;
    check(&[&old, &new], "4", 200).await;
    check(&[&other], "5", 401).await;
    assert_eq!(hook.count(), 4);
}

#[test]
fn contradictory_settings_are_refused() {
    let receiver = || Receiver::builder(|_| std::future::ready(Ok::<_, BoxError>(())));
    let tokens = JwtVerifier::of(JwksSource::from(Jwks::default()));
    let check = |builder: ReceiverBuilder, expected| {
        assert_eq!(builder.build().err(), expected);
    };
    check(receiver(), None);
    check(receiver().token(""), Some(ReceiverConfigError::Empty));
    check(
        receiver().authorization(" "),
        Some(ReceiverConfigError::Empty),
    );
    check(
        receiver().authorization("Bearer a").tokens(tokens),
        Some(ReceiverConfigError::TwoAuthorizations),
    );
}
