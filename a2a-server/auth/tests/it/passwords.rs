//! Files of users, and many callers at once.

use std::sync::Arc;
use std::time::Duration;

use a2a_auth::{AnyOf, AuthOutcome, BasicUsers, Scheme};
use a2a_transport::Principal;

use crate::credentials::{HASH, PASSWORD};
use crate::fixture::{Credentials, Service};

#[tokio::test(start_paused = true)]
async fn a_password_that_was_right_is_refused_once_its_hash_has_changed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("users");
    std::fs::write(&path, format!("# users\nada:{HASH}\n")).unwrap();
    let service = Service::of(AnyOf::new(("password", BasicUsers::file(&path).unwrap())));
    let status = async || {
        let response = service.send(&Credentials::basic("ada", PASSWORD)).await;
        response.status.as_u16()
    };
    assert_eq!(status().await, 200);
    assert_eq!(status().await, 200);
    // Another password, a broken file, and the first password again.
    let other = "$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";
    for (content, expected) in [
        (format!("ada:{other}"), 401),
        ("ada:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=".to_owned(), 401),
        (format!("ada:{HASH}"), 200),
        (format!("bob:{HASH}"), 401),
    ] {
        std::fs::write(&path, &content).unwrap();
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(status().await, expected, "{content}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_callers_are_answered_and_the_excess_is_refused_for_now() {
    let users = Arc::new(BasicUsers::of([("ada", HASH)]).unwrap());
    let heads = (0..200).map(|number| Credentials::basic("ada", &format!("{number}")).head());
    let checks = heads.map(|head| {
        let users = Arc::clone(&users);
        tokio::spawn(async move { users.check(&head).await })
    });
    let checks: Vec<_> = checks.collect();
    for check in checks {
        let verdict = check.await.unwrap();
        assert!(
            matches!(verdict, AuthOutcome::Invalid | AuthOutcome::Unavailable),
            "{verdict:?}"
        );
    }
    let right = Credentials::basic("ada", PASSWORD).head();
    let ada = AuthOutcome::Valid(Principal::named("ada"));
    assert_eq!(users.check(&right).await, ada);
}
