//! Addresses that are reached, and certificates that are accepted.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

use super::*;
use crate::webhook::fixture::{Authority, Fixture, PUBLIC, answer_by_tls};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// Connects to a URL, by a policy that allows some hosts.
async fn connect(fixture: &Arc<Fixture>, url: &str) -> Result<(), Reason> {
    let policy = WebhookPolicy::default().allow_hosts(["*.test", "localhost", "127.0.0.1"]);
    let sender = fixture.sender(policy);
    let target = sender.policy.check(url)?;
    sender.connector.connect(&target).await.map(drop)
}

fn at(addresses: &[&str]) -> Vec<IpAddr> {
    let addresses = addresses.iter().map(|address| address.parse().unwrap());
    addresses.collect()
}

#[tokio::test]
async fn forbidden_address_of_a_rebound_name_is_not_dialled() {
    // Public and forbidden addresses, in alternating answers and within one answer.
    let asked = AtomicUsize::new(0);
    let answers = [
        at(&["93.184.216.34"]),
        at(&["169.254.169.254"]),
        at(&["93.184.216.34", "169.254.169.254"]),
        at(&["::ffff:169.254.169.254"]),
    ];
    let fixture = Fixture::answering(OK)
        .names(move |_| answers[asked.fetch_add(1, Ordering::Relaxed) % 4].clone());
    let fixture = Arc::new(fixture);
    let policy = WebhookPolicy::default().allow_ports([80]);
    let sender = fixture.sender(policy);
    let mut target = sender.policy.check("https://rebound.example/").unwrap();
    target.encrypted = false;
    let (mut reached, mut refused) = (0, 0);
    for _ in 0..10_000 {
        match sender.connector.connect(&target).await {
            Ok(_) => reached += 1,
            Err(Reason::Refused(Refusal::Resolves)) => refused += 1,
            Err(reason) => panic!("{reason}"),
        }
    }
    assert_eq!((reached, refused), (2500, 7500));
    let connected = fixture.connected();
    assert_eq!(connected.len(), reached);
    assert!(connected.iter().all(|address| address.ip() == PUBLIC));
}

#[tokio::test]
async fn one_forbidden_address_is_enough() {
    for addresses in [
        &["127.0.0.1"][..],
        &["10.0.0.1"],
        &["93.184.216.34", "10.0.0.1"],
        &["2606:4700::1", "::1"],
        &["::ffff:127.0.0.1"],
        &["64:ff9b::7f00:1"],
        &["fe80::1"],
        &["0.0.0.0"],
    ] {
        let fixture = Arc::new(Fixture::answering(OK).names(move |_| at(addresses)));
        let refused = connect(&fixture, "https://hooks.example.com/").await;
        assert_eq!(
            refused,
            Err(Reason::Refused(Refusal::Resolves)),
            "{addresses:?}"
        );
        assert_eq!(fixture.connected(), []);
        // Hosts of the list may have any address.
        assert_eq!(connect(&fixture, "http://hooks.test:3000/").await, Ok(()));
    }
}

#[tokio::test]
async fn checked_address_is_dialled() {
    let fixture = Fixture::answering(OK).names(|name| match name {
        "mapped.test" => at(&["::ffff:93.184.216.34"]),
        "nowhere.test" => Vec::new(),
        _ => vec![PUBLIC],
    });
    let fixture = Arc::new(fixture);
    for (url, expected) in [
        ("http://hooks.test/", Some("93.184.216.34:80")),
        ("http://mapped.test:81/", Some("93.184.216.34:81")),
        ("http://127.0.0.1:82/", Some("127.0.0.1:82")),
        ("http://nowhere.test/", None),
    ] {
        let before = fixture.connected().len();
        let outcome = connect(&fixture, url).await;
        let expected: Vec<SocketAddr> = expected.iter().map(|text| text.parse().unwrap()).collect();
        assert_eq!(fixture.connected()[before..], expected);
        let lost = expected.is_empty();
        assert_eq!(outcome, if lost { Err(Reason::Resolve) } else { Ok(()) });
    }
}

#[tokio::test(start_paused = true)]
async fn addresses_are_tried_in_turn_until_the_time_limit() {
    let several = &["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"];
    for (fixture, expected, connected, seconds) in [
        (Fixture::answering(OK).closed("1.1.1.1"), Ok(()), 2, 0),
        (
            Fixture::answering(OK).hole("1.1.1.1").closed("1.1.1.2"),
            Ok(()),
            3,
            3,
        ),
        (
            several[..3]
                .iter()
                .fold(Fixture::answering(OK), |fixture, address| {
                    fixture.closed(address)
                }),
            Err(Reason::Connect),
            3,
            0,
        ),
        (
            several
                .iter()
                .fold(Fixture::answering(OK), |fixture, address| {
                    fixture.hole(address)
                }),
            Err(Reason::Timeout),
            3,
            10,
        ),
    ] {
        let fixture = Arc::new(fixture.names(|_| at(several)));
        let begin = Instant::now();
        assert_eq!(connect(&fixture, "http://hooks.test/").await, expected);
        assert_eq!(fixture.connected().len(), connected);
        assert_eq!(begin.elapsed().as_secs(), seconds);
    }
}

#[tokio::test]
async fn a_receiver_must_show_a_certificate_of_its_own() {
    let known = Authority::known();
    for (config, url, expected) in [
        (
            known.issue("hooks.example.com", 2999),
            "https://hooks.example.com/",
            Ok(()),
        ),
        (known.issue("1.1.1.1", 2999), "https://1.1.1.1/", Ok(())),
        (
            known.issue("hooks.test", 2999),
            "https://hooks.test/",
            Ok(()),
        ),
        (
            known.issue("other.example.com", 2999),
            "https://hooks.example.com/",
            Err(Reason::Tls),
        ),
        (
            known.issue("hooks.example.com", 2999),
            "https://1.1.1.1/",
            Err(Reason::Tls),
        ),
        (
            known.issue("hooks.example.com", 2020),
            "https://hooks.example.com/",
            Err(Reason::Tls),
        ),
        (
            Authority::unknown().issue("hooks.example.com", 2999),
            "https://hooks.example.com/",
            Err(Reason::Tls),
        ),
        // A host on the list needs a trusted certificate, too.
        (
            Authority::unknown().issue("hooks.test", 2999),
            "https://hooks.test/",
            Err(Reason::Tls),
        ),
    ] {
        let fixture = Fixture::new(move |wire| {
            let config = Arc::clone(&config);
            async move { answer_by_tls(config, wire, OK).await }
        });
        assert_eq!(connect(&Arc::new(fixture), url).await, expected, "{url}");
    }
    let plain = Arc::new(Fixture::new(|mut wire| async move {
        let _ = wire.write_all(b"HTTP/1.1 400 X\r\n\r\n").await;
    }));
    assert_eq!(
        connect(&plain, "https://hooks.example.com/").await,
        Err(Reason::Tls)
    );
}
