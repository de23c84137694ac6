//! Behaviour of receivers, and the outcome of each.

use std::future::pending;
use std::sync::Mutex;

use futures_util::future::join_all;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use super::*;
use crate::webhook::fixture::{Authority, Fixture, answer_by_tls, read_request};
use crate::webhook::refusal::Refusal;

fn policy() -> WebhookPolicy {
    WebhookPolicy::default().allow_hosts(["*.test", "127.0.0.1"])
}

fn to(url: &str) -> DeliveryRequest {
    DeliveryRequest {
        url: url.to_owned(),
        headers: HeaderMap::new(),
        content_type: HeaderValue::from_static("application/a2a+json"),
        body: Bytes::from_static(b"{\"canary\":1}"),
    }
}

fn later(reason: Reason) -> DeliveryOutcome {
    DeliveryOutcome::Later {
        after: None,
        reason,
    }
}

/// Returns the outcome of a delivery to a receiver, and the seconds that it took.
async fn deliver(fixture: Fixture) -> (DeliveryOutcome, u64) {
    let sender = Arc::new(fixture).sender(policy());
    let begin = Instant::now();
    let outcome = sender.attempt(to("http://hooks.test/")).await;
    (outcome, begin.elapsed().as_secs())
}

#[tokio::test]
async fn a_status_says_what_became_of_it() {
    for status in [200, 201, 202, 204, 299] {
        let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n");
        assert_eq!(
            deliver(Fixture::answering(answer)).await.0,
            DeliveryOutcome::Delivered,
            "{status}"
        );
    }
    let gone = Fixture::answering("HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n");
    assert_eq!(deliver(gone).await.0, DeliveryOutcome::Gone);
    for status in [
        300, 304, 400, 401, 403, 404, 413, 429, 500, 502, 503, 504, 599,
    ] {
        let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 6\r\n\r\nsecret");
        let expected = later(Reason::Status(status));
        assert_eq!(deliver(Fixture::answering(answer)).await.0, expected);
    }
    let busy = "HTTP/1.1 503 X\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n";
    let expected = DeliveryOutcome::Later {
        after: Some(Duration::from_secs(7)),
        reason: Reason::Status(503),
    };
    assert_eq!(deliver(Fixture::answering(busy)).await.0, expected);
}

#[tokio::test]
async fn a_redirection_is_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let answer = format!(
            "HTTP/1.1 {status} X\r\nlocation: http://other.test/\r\ncontent-length: 0\r\n\r\n"
        );
        let fixture = Arc::new(Fixture::answering(answer));
        let sender = fixture.sender(policy());
        let outcome = sender.attempt(to("http://hooks.test/")).await;
        assert_eq!(outcome, later(Reason::Status(status)));
        assert_eq!(fixture.connected().len(), 1);
    }
}

#[tokio::test]
async fn a_request_is_what_was_asked_for() {
    let seen = Arc::new(Mutex::new(String::new()));
    let fixture = {
        let seen = Arc::clone(&seen);
        Arc::new(Fixture::new(move |mut wire| {
            let seen = Arc::clone(&seen);
            async move {
                *seen.lock().unwrap() = read_request(&mut wire).await;
                let _ = wire.write_all(b"HTTP/1.1 204 X\r\n\r\n").await;
            }
        }))
    };
    let sender = fixture.sender(policy());
    let mut outgoing = to("http://HOOKS.test:81/a%20b/\u{e4}?c=d#e");
    for (name, value) in [
        ("authorization", "Bearer abc"),
        ("host", "other.test"),
        ("content-type", "text/html"),
        ("connection", "keep-alive"),
    ] {
        outgoing
            .headers
            .insert(name, HeaderValue::from_static(value));
    }
    assert_eq!(sender.attempt(outgoing).await, DeliveryOutcome::Delivered);
    let mut lines: Vec<_> = seen.lock().unwrap().lines().map(str::to_owned).collect();
    lines[1..].sort_unstable();
    let agent = format!("user-agent: a2a-server/{}", env!("CARGO_PKG_VERSION"));
    let expected = [
        "POST /a%20b/%C3%A4?c=d HTTP/1.1",
        "",
        "authorization: Bearer abc",
        "connection: close",
        "content-length: 12",
        "content-type: application/a2a+json",
        "host: hooks.test:81",
        &agent,
        "{\"canary\":1}",
    ];
    assert_eq!(lines, expected);
}

/// Writes this again and again, each second if `slowly`, until the reader is gone.
async fn repeat(mut wire: tokio::io::DuplexStream, head: &str, more: &str, slowly: bool) {
    read_request(&mut wire).await;
    let mut second = tokio::time::interval(Duration::from_secs(1));
    let mut written = wire.write_all(head.as_bytes()).await;
    while written.is_ok() {
        if slowly {
            second.tick().await;
        }
        written = wire.write_all(more.as_bytes()).await;
    }
}

#[tokio::test(start_paused = true)]
async fn no_receiver_takes_long() {
    const BODY: &str = "HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n";
    const HEAD: &str = "HTTP/1.1 200 X\r\n";
    let repeats = |head, more, slowly| Fixture::new(move |wire| repeat(wire, head, more, slowly));
    let silent = Fixture::new(|mut wire| async move {
        read_request(&mut wire).await;
        pending::<()>().await;
    });
    // Its window is full before the request is through.
    let deaf = Fixture::new(|wire| async move {
        let _wire = wire;
        pending::<()>().await;
    });
    for (name, fixture, outcome, seconds) in [
        ("silent", silent, later(Reason::Timeout), 15),
        ("deaf", deaf, later(Reason::Timeout), 15),
        (
            "hole",
            Fixture::answering("").hole("93.184.216.34"),
            later(Reason::Timeout),
            10,
        ),
        (
            "slow head",
            repeats(HEAD, "a: b\r\n", true),
            later(Reason::Timeout),
            15,
        ),
        (
            "endless head",
            repeats(HEAD, "a: b\r\n", false),
            later(Reason::Http),
            0,
        ),
        (
            "endless line",
            repeats("HTTP/1.1 200 ", "aaaaaaa", false),
            later(Reason::Http),
            0,
        ),
        (
            "slow body",
            repeats(BODY, "1\r\na\r\n", true),
            DeliveryOutcome::Delivered,
            2,
        ),
        (
            "endless body",
            repeats(BODY, "7\r\naaaaaaa\r\n", false),
            DeliveryOutcome::Delivered,
            0,
        ),
        (
            "endless promise",
            repeats("", "HTTP/1.1 100 X\r\n\r\n", true),
            later(Reason::Timeout),
            15,
        ),
        (
            "no HTTP",
            Fixture::answering("SSH-2.0-OpenSSH_9.6\r\n"),
            later(Reason::Http),
            0,
        ),
        ("no answer", Fixture::answering(""), later(Reason::Http), 0),
        (
            "half a head",
            Fixture::answering("HTTP/1.1 200"),
            later(Reason::Http),
            0,
        ),
        (
            "half a body",
            Fixture::answering("HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\n"),
            DeliveryOutcome::Delivered,
            0,
        ),
    ] {
        assert_eq!(deliver(fixture).await, (outcome, seconds), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_never_answers_does_not_hold_up_others() {
    let fixture = Fixture::answering("HTTP/1.1 204 X\r\n\r\n")
        .names(|name| match name {
            "hole.test" => vec!["1.1.1.1".parse().unwrap()],
            _ => vec!["1.1.1.2".parse().unwrap()],
        })
        .hole("1.1.1.1");
    let fixture = Arc::new(fixture);
    let sender = fixture.sender(policy());
    let attempts = |host: &'static str, count| {
        let sender = &sender;
        join_all((0..count).map(move |index| {
            let host = host.replace('#', &index.to_string());
            async move {
                let begin = Instant::now();
                let outcome = sender.attempt(to(&format!("http://{host}/"))).await;
                (outcome, begin.elapsed().as_secs())
            }
        }))
    };
    let (stuck, others) = tokio::join!(attempts("hole.test", 20), attempts("h#.test", 1000));
    assert!(
        others
            .iter()
            .all(|other| *other == (DeliveryOutcome::Delivered, 0))
    );
    let count = |expected| stuck.iter().filter(|each| **each == expected).count();
    assert_eq!(count((later(Reason::Timeout), 10)), 4);
    // From then on, requests are sent one at a time.
    assert_eq!(count((later(Reason::Timeout), 20)), 1);
    assert_eq!(count((later(Reason::Busy), 15)), 15);
    // A request that got no slot made no connection either.
    assert_eq!(fixture.connected().len(), 1005);
}

#[tokio::test]
async fn url_that_the_policy_refuses_is_not_dialled() {
    let fixture = Arc::new(Fixture::answering("").names(|_| vec!["10.0.0.1".parse().unwrap()]));
    let sender = fixture.sender(policy());
    for (url, refusal) in [
        ("http://hooks.example.com/", Refusal::Scheme),
        ("https://169.254.169.254/", Refusal::Address("link-local")),
        ("https://hooks.example.com/", Refusal::Resolves),
    ] {
        let outcome = sender.attempt(to(url)).await;
        assert_eq!(outcome, later(Reason::Refused(refusal)));
    }
    assert_eq!(fixture.connected(), []);
}

#[tokio::test]
async fn it_is_delivered_by_tls() {
    let config = Authority::known().issue("hooks.example.com", 2999);
    let fixture = Fixture::new(move |wire| {
        let config = Arc::clone(&config);
        async move { answer_by_tls(config, wire, "HTTP/1.1 204 X\r\n\r\n").await }
    });
    let fixture = Arc::new(fixture);
    let sender = fixture.sender(WebhookPolicy::default());
    let outcome = sender.attempt(to("https://hooks.example.com:8443/")).await;
    assert_eq!(outcome, DeliveryOutcome::Delivered);
}

#[tokio::test]
async fn it_is_delivered_through_the_sockets_of_this_machine() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let trusting = policy().trust_issuer(Authority::known().certificate());
    let sender = WebhookSender::new(trusting).unwrap();
    let receive = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let request = read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 204 X\r\n\r\n").await.unwrap();
        request
    };
    let (outcome, request) = tokio::join!(sender.attempt(to(&url)), receive);
    assert_eq!(outcome, DeliveryOutcome::Delivered);
    assert!(request.starts_with("POST /hook HTTP/1.1\r\n"), "{request}");
    // No server listens there.
    let outcome = sender.attempt(to("http://127.0.0.1:1/")).await;
    assert_eq!(outcome, later(Reason::Connect));
}
