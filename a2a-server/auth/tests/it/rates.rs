//! Limits on requests and on failed attempts.

use std::time::Duration;

use a2a_auth::{AnyOf, ApiKey, ApiKeys, Rate, RateLimits};
use a2a_transport::http::PeerAddress;
use metrics_util::debugging::{DebugValue, DebuggingRecorder};

use crate::credentials::KEY;
use crate::fixture::{Credentials, Form, Service, send};

const HOUR: Duration = Duration::from_secs(3600);

fn keys() -> AnyOf {
    let key = ApiKey::new(KEY, "ada").unwrap();
    let keys = ApiKeys::header("x-api-key").unwrap().key(key).unwrap();
    AnyOf::new(("key", keys))
}

async fn status(service: &Service, peer: &str, key: Option<&str>) -> u16 {
    let mut request = Form::LATEST.write(send()).unwrap();
    if let Some(key) = key {
        request = Credentials::header("x-api-key", key).attach(request);
    }
    let address = format!("{peer}:1").parse().unwrap();
    request.extensions_mut().insert(PeerAddress(address));
    service.handle(request).await.status.as_u16()
}

#[tokio::test]
async fn guesses_are_limited_by_address_and_counted() {
    let recorder = DebuggingRecorder::new();
    let guard = metrics::set_default_local_recorder(&recorder);
    let service = Service::of(RateLimits::new(keys()).failures(Rate::new(10, HOUR)));
    // Requests without credentials are not limited.
    for _ in 0..20 {
        assert_eq!(status(&service, "1.1.1.1", None).await, 401);
    }
    for _ in 0..10 {
        assert_eq!(status(&service, "1.1.1.1", Some("guess")).await, 401);
        assert_eq!(status(&service, "1.1.1.1", Some(KEY)).await, 200);
    }
    assert_eq!(status(&service, "1.1.1.1", Some("guess")).await, 429);
    assert_eq!(
        status(&service, "1.1.1.1", Some(KEY)).await,
        429,
        "a guess that is right"
    );
    assert_eq!(status(&service, "2.2.2.2", Some(KEY)).await, 200);
    drop(guard);
    let counted = recorder.snapshotter().snapshot().into_vec();
    let counted = counted.into_iter().filter_map(|(key, .., value)| {
        let key = key.key();
        let is_refusal = key.name() == "a2a_server_auth_refusals_total";
        let reason = key.labels().next().map(|label| label.value().to_owned());
        is_refusal.then(|| (reason.unwrap(), value))
    });
    let mut counted: Vec<_> = counted.collect();
    counted.sort_by(|one, other| one.0.cmp(&other.0));
    let row = |reason: &str, count| (reason.to_owned(), DebugValue::Counter(count));
    let expected = [
        row("invalid_credentials", 10),
        row("no_credentials", 20),
        row("rate_limited", 2),
    ];
    assert_eq!(counted, expected);
}

#[tokio::test]
async fn requests_are_limited_by_address() {
    let limited = RateLimits::new(keys()).per_address(Rate::new(2, HOUR));
    let service = Service::of(limited);
    for _ in 0..2 {
        assert_eq!(status(&service, "1.1.1.1", Some(KEY)).await, 200);
    }
    assert_eq!(status(&service, "1.1.1.1", Some(KEY)).await, 429);
    assert_eq!(status(&service, "1.1.1.1", None).await, 429);
    assert_eq!(status(&service, "[2001:db8::1]", Some(KEY)).await, 200);
    assert_eq!(status(&service, "[2001:db8::2]", Some(KEY)).await, 200);
    assert_eq!(status(&service, "[2001:db8::3]", Some(KEY)).await, 429);
    assert_eq!(status(&service, "[2001:db8:1:1::3]", Some(KEY)).await, 200);
}

#[tokio::test]
async fn the_public_card_is_not_limited() {
    let limited = RateLimits::new(keys()).per_address(Rate::new(1, HOUR));
    let service = Service::of(limited);
    for _ in 0..10 {
        let card = service.get("/.well-known/agent-card.json").await;
        assert_eq!(card.status, 200);
    }
}
