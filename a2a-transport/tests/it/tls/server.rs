//! The server: versions, names, and peers that do not shake hands.

use std::time::{Duration, SystemTime};

use a2a_transport::http::{
    ClientAuth, HttpService, ServeOptions, ServerTls, ServerTlsError, Tls, serve_tls,
};
use a2a_types::AgentCard;
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::tls::{
    Authority, Files, H2, HTTP1, NoTasks, PATIENCE, VERSIONS, ask, ask_http1, causes, connect,
    fetch, get, serve, shown, start, start_with,
};

#[tokio::test]
async fn each_version_of_tls_carries_each_version_of_http() {
    let authority = Authority::new();
    let files = Files::new(&authority.vouch_for("localhost"));
    let address = start(&files.tls().build().unwrap()).await;
    for version in VERSIONS {
        for (alpn, expected) in [
            (&[H2, HTTP1][..], "HTTP/2.0"),
            (&[HTTP1, H2], "HTTP/2.0"),
            (&[H2], "HTTP/2.0"),
            (&[HTTP1], "HTTP/1.1"),
            (&[], "HTTP/1.1"),
        ] {
            let config = authority.config(&[version], alpn, None);
            let answer = ask(address, &config).await.unwrap();
            let expected =
                json!({"version": expected, "scheme": "https", "client": null, "others": null});
            assert_eq!(answer, expected, "{version:?} {alpn:?}");
        }
        let config = authority.config(&[version], &["h3"], None);
        let refused = ask(address, &config).await.unwrap_err().to_string();
        assert!(refused.contains("NoApplicationProtocol"), "{refused}");
    }
}

/// HTTP/2 is refused where it was not negotiated, and HTTP/1.1 where HTTP/2 was.
#[tokio::test]
async fn no_other_version_of_http_than_the_negotiated_one_is_spoken() {
    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let authority = Authority::new();
    let files = Files::new(&authority.vouch_for("localhost"));
    let address = start(&files.tls().build().unwrap()).await;
    for (alpn, bytes) in [(&[HTTP1][..], PREFACE), (&[], PREFACE), (&[H2], REQUEST)] {
        let config = authority.config(&VERSIONS, alpn, None);
        let mut stream = connect(address, "localhost", &config).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        // It may break off.
        let _ = stream.read_to_end(&mut answer).await;
        let text = String::from_utf8_lossy(&answer);
        assert!(!text.contains("HTTP/1.1 200"), "{alpn:?}: {text}");
        let speaks_http2 = answer.get(3) == Some(&4);
        assert_eq!(speaks_http2, alpn == [H2], "{alpn:?}: {text}");
    }
}

#[tokio::test]
async fn requests_in_the_clear_get_no_answer_of_http() {
    let authority = Authority::new();
    let files = Files::new(&authority.vouch_for("localhost"));
    let address = start(&files.tls().build().unwrap()).await;
    for bytes in [
        &b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"[..],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
        assert!(answer.len() < 20, "more than an alert: {answer:?}");
    }
}

#[tokio::test]
async fn our_client_refuses_wrong_names_expired_certificates_and_unknown_authorities() {
    let authority = Authority::new();
    let yesterday = SystemTime::now() - Duration::from_secs(24 * 3600);
    let trusting = Tls::default().trust(&authority.pem()).unwrap();
    let stranger = Tls::default().trust(&Authority::new().pem()).unwrap();
    let good = authority.vouch_for("localhost");
    for (identity, tls, expected) in [
        (&good, &trusting, None),
        (&good, &stranger, Some("UnknownIssuer")),
        (
            &authority.vouch_for("other.example"),
            &trusting,
            Some("not valid for name"),
        ),
        (
            &authority.vouch_until(&["localhost"], yesterday),
            &trusting,
            Some("expired"),
        ),
    ] {
        let files = Files::new(identity);
        let address = start(&files.tls().build().unwrap()).await;
        let url = format!("https://localhost:{}/", address.port());
        match (get(&url, tls.clone()).await, expected) {
            (Ok(answer), None) => assert!(answer.contains("HTTP/2.0"), "{answer}"),
            (Err(error), Some(expected)) => {
                let causes = causes(&error);
                assert!(causes.contains(expected), "{expected}: {causes}");
            }
            (outcome, expected) => panic!("{outcome:?}, expected {expected:?}"),
        }
    }
}

#[tokio::test]
async fn a_client_gets_the_certificate_of_the_name_that_it_calls() {
    let authority = Authority::new();
    let first = authority.vouch_for_all(&["localhost", "127.0.0.1"]);
    let files = Files::new(&first);
    let mut tls = files.tls();
    for (name, names) in [
        ("b", &["b.example", "c.example"][..]),
        ("w", &["*.wild.example"]),
    ] {
        let (chain, key) = authority.vouch_for_all(names);
        let chain = files.write(&format!("{name}.pem"), chain);
        tls = tls.certificate(chain, files.write(&format!("{name}-key.pem"), key));
    }
    let address = start(&tls.build().unwrap()).await;
    let config = authority.config(&VERSIONS, &[HTTP1], None);
    for name in [
        "localhost",
        "127.0.0.1",
        "b.example",
        "C.example",
        "x.wild.example",
    ] {
        let stream = connect(address, name, &config).await.expect(name);
        ask_http1(stream).await.unwrap();
    }
    // No certificate is for these: they get the first, and refuse it.
    for name in ["d.example", "a.x.wild.example"] {
        let refused = connect(address, name, &config)
            .await
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains(r#"only valid for DnsName("localhost")"#),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn a_card_says_https() {
    let authority = Authority::new();
    let files = Files::new(&authority.vouch_for("localhost"));
    let tls = files.tls().build().unwrap();
    let service = HttpService::new(NoTasks).card(&AgentCard::new("n", "d"));
    let address = serve(tls, service).await;
    let config = authority.config(&VERSIONS, &[HTTP1], None);
    let answer = fetch(address, &config, "/.well-known/agent-card.json").await;
    assert!(
        answer.contains(r#""url":"https://localhost:1/""#),
        "{answer}"
    );
    assert!(!answer.contains("http://"), "{answer}");
    let url = format!("https://localhost:{}", address.port());
    let tls = Tls::default().trust(&authority.pem()).unwrap();
    let card = get(&format!("{url}/.well-known/agent-card.json"), tls)
        .await
        .unwrap();
    assert!(card.contains(&format!(r#""url":"{url}/""#)), "{card}");
}

/// Connections that do not shake hands make room for others, and end with the time for the first request.
#[tokio::test]
async fn handshakes_that_do_not_go_on_take_no_place_and_end_in_time() {
    let authority = Authority::new();
    let files = Files::new(&authority.vouch_for("localhost"));
    let tls = files.tls().build().unwrap();
    let mut options = ServeOptions::default();
    options.connections = 5;
    let address = start_with(&tls, options.clone()).await;
    let config = authority.config(&VERSIONS, &[HTTP1], None);
    let mut silent = Vec::new();
    for beginning in [
        &b""[..],
        b"\x16\x03\x01\x02\x00",
        b"\x16\x03\x01\x02\x00\x01",
    ]
    .repeat(5)
    {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(beginning).await.unwrap();
        silent.push(stream);
        ask(address, &config).await.unwrap();
    }
    options.header_timeout = Duration::from_secs(2);
    let address = start_with(&tls, options).await;
    let mut half = TcpStream::connect(address).await.unwrap();
    half.write_all(b"\x16\x03\x01\x02\x00\x01").await.unwrap();
    // A request whose head does not go on after the handshake.
    let mut late = connect(address, "localhost", &config).await.unwrap();
    late.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
    let closing = async {
        let _ = half.read_to_end(&mut Vec::new()).await;
        let _ = late.read_to_end(&mut Vec::new()).await;
    };
    tokio::time::timeout(PATIENCE, closing).await.unwrap();
}

#[tokio::test]
async fn each_outcome_of_a_handshake_is_counted() {
    let recorder = DebuggingRecorder::new();
    let counted = recorder.snapshotter();
    let _installed = metrics::set_default_local_recorder(&recorder);
    let (authority, other) = (Authority::new(), Authority::new());
    let files = Files::new(&authority.vouch_for("localhost"));
    let pem = files.write("clients.pem", authority.pem());
    let tls = files.tls().client_authorities(&pem, ClientAuth::Required);
    let tls = tls.build().unwrap();
    let address = start_with(&tls, ServeOptions::default()).await;
    let ada = authority.vouch_for("ada");
    let yesterday = SystemTime::now() - Duration::from_secs(24 * 3600);
    let expired = authority.vouch_until(&["ada"], yesterday);
    let config = |identity| authority.config(&VERSIONS, &[HTTP1], identity);

    let good = config(Some(&ada));
    ask(address, &good).await.unwrap();
    ask(address, &good).await.unwrap();
    ask(address, &config(None)).await.unwrap_err();
    ask(address, &config(Some(&expired))).await.unwrap_err();
    ask(address, &config(Some(&other.vouch_for("ada"))))
        .await
        .unwrap_err();
    ask(address, &authority.config(&VERSIONS, &["h3"], Some(&ada)))
        .await
        .unwrap_err();
    ask(address, &other.config(&VERSIONS, &[HTTP1], Some(&ada)))
        .await
        .unwrap_err();
    for bytes in [&b""[..], b"GET / HTTP/1.1\r\n\r\n"] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }
    let mut options = ServeOptions::default();
    options.header_timeout = Duration::from_millis(300);
    let address = start_with(&tls, options).await;
    let mut silent = TcpStream::connect(address).await.unwrap();
    let _ = silent.read_to_end(&mut Vec::new()).await;

    let mut outcomes = handshakes(&counted);
    outcomes.sort();
    let expected = [
        "alert",
        "bad_certificate",
        "closed",
        "expired_certificate",
        "full",
        "incompatible",
        "no_certificate",
        "not_tls",
        "resumed",
        "timeout",
    ];
    assert_eq!(outcomes, expected.map(|outcome| (outcome.to_owned(), 1)));
}

/// Returns the outcomes of handshakes, and how many there were of each.
fn handshakes(counted: &Snapshotter) -> Vec<(String, u64)> {
    let all = counted.snapshot().into_vec().into_iter();
    let outcomes = all.filter_map(|(key, _, _, value)| {
        let key = key.key();
        let DebugValue::Counter(count) = value else {
            return None;
        };
        let label = key.labels().next().map(|label| label.value().to_owned());
        (key.name() == "a2a_server_tls_handshakes_total").then_some((label?, count))
    });
    outcomes.collect()
}

/// Checks the error about files, which names the faulty one.
#[track_caller]
fn check_fault(build: Result<ServerTls, ServerTlsError>, expected: &[&str]) {
    let error = build.unwrap_err();
    let source = std::error::Error::source(&error);
    let text = format!(
        "{error}: {}",
        source.map(ToString::to_string).unwrap_or_default()
    );
    for expected in expected {
        assert!(text.contains(expected), "no `{expected}` in: {text}");
    }
}

#[test]
fn faults_of_files_are_named() {
    let authority = Authority::new();
    let (identity, other) = (
        authority.vouch_for("localhost"),
        authority.vouch_for("localhost"),
    );
    let files = Files::new(&identity);
    let path = |name: &str| shown(&files.path(name));
    let (chain, key) = (path("chain.pem"), path("key.pem"));
    files.tls().build().unwrap();

    check_fault(
        ServerTls::builder(path("none"), &key).build(),
        &[&path("none"), "cannot be read"],
    );
    check_fault(
        ServerTls::builder(&chain, path("none")).build(),
        &[&path("none")],
    );
    check_fault(
        ServerTls::builder(&key, &key).build(),
        &[&key, "BEGIN CERTIFICATE"],
    );
    check_fault(
        ServerTls::builder(&chain, &chain).build(),
        &[&chain, "BEGIN PRIVATE KEY"],
    );
    let half = files.write("half.pem", &identity.0[..identity.0.len() / 2]);
    check_fault(
        ServerTls::builder(&half, &key).build(),
        &[&shown(&half), "whole"],
    );
    let half = files.write(
        "half-chain.pem",
        format!("{}{}", identity.0, &other.0[..200]),
    );
    check_fault(
        ServerTls::builder(&half, &key).build(),
        &[&shown(&half), "whole"],
    );
    let half = files.write("half-key.pem", &identity.1[..identity.1.len() / 2]);
    check_fault(
        ServerTls::builder(&chain, &half).build(),
        &[&shown(&half), "whole"],
    );
    let garbage = "-----BEGIN CERTIFICATE-----\nMTIzNDU2Nzg5\n-----END CERTIFICATE-----\n";
    let garbage = files.write("garbage.pem", garbage);
    check_fault(
        ServerTls::builder(&garbage, &key).build(),
        &[&shown(&garbage), "cannot be used"],
    );
    let with_authorities = |file| files.tls().client_authorities(file, ClientAuth::Required);
    check_fault(
        with_authorities(&garbage).build(),
        &[&shown(&garbage), "cannot be used"],
    );
    let leaf = files.path("chain.pem");
    check_fault(
        with_authorities(&leaf).build(),
        &[&chain, "is not an authority", "CA:TRUE"],
    );
    check_fault(
        with_authorities(&files.path("key.pem")).build(),
        &[&key, "BEGIN CERTIFICATE"],
    );
    let foreign = files.write("foreign.pem", &other.1);
    check_fault(
        ServerTls::builder(&chain, &foreign).build(),
        &[&shown(&foreign), &chain, "is not that"],
    );
    let large = files.write("large.pem", vec![b'\n'; (4 << 20) + 1]);
    check_fault(
        ServerTls::builder(&large, &key).build(),
        &[&shown(&large), "larger than"],
    );
}

#[tokio::test]
async fn shutdown_does_not_wait_for_handshakes() {
    let authority = Authority::new();
    let files = Files::new(&authority.vouch_for("localhost"));
    let tls = files.tls().build().unwrap();
    let service = HttpService::new(NoTasks);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let mut options = ServeOptions::default();
    options.grace = PATIENCE * 2;
    let serving = tokio::spawn(serve_tls(listener, tls, service, options, async {
        let _ = stopped.await;
    }));
    let config = authority.config(&VERSIONS, &[HTTP1], None);
    let mut half = TcpStream::connect(address).await.unwrap();
    half.write_all(b"\x16\x03\x01\x02\x00\x01").await.unwrap();
    // A later connection is served, so the first has been accepted.
    drop(connect(address, "localhost", &config).await.unwrap());
    stop.send(()).unwrap();
    tokio::time::timeout(PATIENCE, serving)
        .await
        .unwrap()
        .unwrap();
}
