//! Secrets that nothing writes: logs at every level, errors, answers, `Debug`.

use std::io::Write;
use std::sync::{Arc, Mutex};

use a2a_auth::{AnyOf, ApiKey, ApiKeys, BasicUsers, Introspection, JwtBearer, OperationScopes};
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use crate::credentials::{AUDIENCE, HASH};
use crate::fixture::{self, Credentials, Form, Service};
use crate::issuer::{Issuer, SigningKey, claims};

/// Everything that was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn no_secret_is_written() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    // With a single subscriber, `tracing` caches the interest of the thread that reaches a callsite first, which may be
    // that of another test.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let guard = tracing::subscriber::set_default(subscriber);

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys");
    std::fs::write(&path, "canary-key-in-a-file ada").unwrap();
    let key = SigningKey::p256("1");
    let mut issuer = Issuer::start(std::slice::from_ref(&key)).await;
    issuer.issue("canary-opaque-token", json!({"active": true, "sub": "ada"}));
    let introspection = format!("{}/introspect", issuer.url);
    let keys = ApiKeys::header("x-api-key").unwrap().file(&path).unwrap();
    let in_code = ApiKey::new("canary-key-in-code-01", "ada").unwrap();
    let mut printed = format!("{in_code:?}");
    let keys = keys.key(in_code).unwrap();
    let in_query = ApiKey::new("canary-key-in-a-query", "ada").unwrap();
    let queries = ApiKeys::query("key").key(in_query).unwrap();
    let users = BasicUsers::of([("ada", HASH)]).unwrap();
    let tokens = JwtBearer::discover(&issuer.url, AUDIENCE).unwrap();
    let tokens = tokens.principal(|claims| {
        tracing::info!(?claims, "a token");
        None
    });
    let opaque = Introspection::new(introspection, "client", "client secret").unwrap();
    printed += &format!("{opaque:?}");
    let authenticator = AnyOf::new(("key", keys))
        .or(("query", queries))
        .or(("password", users))
        .or(("login", tokens))
        .or(("token", opaque));
    let builder = fixture::builder(authenticator).authorizer(OperationScopes::default());
    let service = Service::new(builder);

    let token = key.sign(&claims(
        &issuer.url,
        AUDIENCE,
        json!({"sub": "canary-subject"}),
    ));
    let password = Credentials::basic("ada", "canary-password");
    let encoded = password.head().headers["authorization"].to_str().unwrap()[6..].to_owned();
    let shown = [
        Credentials::header("x-api-key", "canary-key-in-a-file"),
        Credentials::header("x-api-key", "canary-key-in-code-01"),
        Credentials::header("x-api-key", "canary-wrong-key"),
        Credentials::query("key=canary-key-in-a-query"),
        Credentials::query("key=canary-wrong-query"),
        password,
        Credentials::bearer(&token),
        Credentials::bearer("canary-opaque-token"),
        Credentials::bearer("canary-wrong-token"),
        Credentials::header("cookie", "session=canary-cookie"),
    ];
    for round in 0..3 {
        for credentials in &shown {
            for form in Form::ALL {
                for request in [fixture::send(), fixture::stream(), fixture::extended_card()] {
                    let Some(request) = form.write(request) else {
                        continue;
                    };
                    let response = service.handle(credentials.attach(request)).await;
                    printed += &format!("{response:?}");
                }
            }
        }
        // A broken file, and then an issuer that does not answer.
        std::fs::write(&path, "canary-broken-key-file").unwrap();
        tokio::time::pause();
        tokio::time::advance(std::time::Duration::from_secs(700)).await;
        tokio::time::resume();
        if round == 1 {
            issuer.stop().await;
        }
    }
    let broken = ApiKeys::header("x-api-key")
        .unwrap()
        .file(&path)
        .err()
        .unwrap();
    printed += &format!("{broken} {broken:?}");
    drop(guard);
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for expected in ["cannot be used", "cannot be introspected", "a token"] {
        assert!(logged.contains(expected), "nothing is tested: {expected}");
    }
    let all = logged + &printed;
    let parts = token.split('.').map(str::to_owned);
    let secrets = [
        "canary",
        HASH,
        "client secret",
        "client+secret",
        "Y2xpZW50Omns",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain(parts)
    .chain([encoded]);
    for secret in secrets {
        // Even a part of a secret must not be logged.
        let part = &secret[..secret.len().min(12)];
        let place = all.find(part).map(|at| {
            let begin = all[..at].rfind('\n').unwrap_or(0);
            &all[begin..(at + 40).min(all.len())]
        });
        assert_eq!(place, None, "{secret}");
    }
}
