//! Files of API keys.

use std::time::Duration;

use a2a_auth::{AnyOf, ApiKeys, ConfigError};

use crate::fixture::{Credentials, Service};

#[tokio::test(start_paused = true)]
async fn a_file_of_keys_is_read_again_when_it_changes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys");
    let file = |content: &str| std::fs::write(&path, content).unwrap();
    file("first-key-0123456789 ada\n");
    let keys = ApiKeys::header("x-api-key").unwrap().file(&path).unwrap();
    let service = Service::of(AnyOf::new(("key", keys)));
    let status = async |key: &str| {
        let response = service.send(&Credentials::header("x-api-key", key)).await;
        response.status.as_u16()
    };
    assert_eq!(status("first-key-0123456789").await, 200);
    for (content, expected) in [
        ("second-key-0123456789 ada\n", [401, 200]),
        // A broken file leaves the current keys in force.
        ("third-key-0123456789\n", [401, 200]),
        ("", [401, 401]),
        (
            "first-key-0123456789 ada\nsecond-key-0123456789 bob",
            [200, 200],
        ),
    ] {
        file(content);
        tokio::time::advance(Duration::from_secs(1)).await;
        let statuses = [
            status("first-key-0123456789").await,
            status("second-key-0123456789").await,
        ];
        assert_eq!(statuses, expected, "{content}");
    }
}

#[test]
fn a_file_that_cannot_be_used_is_named_and_not_quoted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys");
    let open = || ApiKeys::header("x-api-key").unwrap().file(&path);
    assert!(matches!(open(), Err(ConfigError::Read { .. })));
    std::fs::write(&path, "some-key-0123456789").unwrap();
    let error = open().err().unwrap().to_string();
    let expected = "keys: line 1: expected a key and the name of its principal";
    assert!(error.ends_with(expected), "{error}");
    assert!(ApiKeys::header("x api key").is_err());
}
