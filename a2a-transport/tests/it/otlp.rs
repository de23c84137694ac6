//! Export of spans to a collector of OpenTelemetry.

use std::time::Duration;

use a2a_transport::otlp::{BadOtlp, Otlp};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tracing_subscriber::layer::SubscriberExt;

/// Accepts one export as a collector. Returns the head and the body of the request.
async fn collected(listener: TcpListener) -> (String, Vec<u8>) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let (mut got, mut whole) = (Vec::new(), usize::MAX);
    while got.len() < whole {
        let read = stream.read_buf(&mut got).await.unwrap();
        assert!(read > 0, "it is sent whole");
        if let Some(end) = got.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&got[..end]).to_lowercase();
            let length = head.split_once("content-length: ").unwrap().1;
            whole = end + 4 + length.lines().next().unwrap().parse::<usize>().unwrap();
        }
    }
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    stream.write_all(answer.as_bytes()).await.unwrap();
    let end = got.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let body = got.split_off(end + 4);
    (String::from_utf8(got).unwrap(), body)
}

#[tokio::test]
async fn spans_get_to_the_collector() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let collector = tokio::spawn(collected(listener));
    let otlp = Otlp::of("joker").collector(url).header("x-key", "s3cret");
    assert!(!format!("{otlp:?}").contains("s3cret"));
    let (layer, exporting) = otlp.layer().unwrap();
    let subscriber = tracing_subscriber::registry().with(layer);
    tracing::subscriber::with_default(subscriber, || {
        drop(tracing::info_span!("what is measured", answer = 42).entered());
    });
    exporting.shutdown().await;
    let sent = tokio::time::timeout(Duration::from_secs(20), collector).await;
    let (head, body) = sent.expect("something is sent").unwrap();
    assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("x-key: s3cret\r\n"), "{head}");
    assert!(
        head.contains("content-type: application/x-protobuf\r\n"),
        "{head}"
    );
    let text = String::from_utf8_lossy(&body);
    for word in ["service.name", "joker", "what is measured", "answer"] {
        assert!(text.contains(word), "{word} in {text}");
    }
}

#[test]
fn without_a_runtime_nothing_is_exported() {
    let otlp = Otlp::of("joker").layer::<tracing_subscriber::Registry>();
    assert!(matches!(otlp, Err(BadOtlp::NoRuntime)));
}

#[tokio::test]
async fn invalid_collector_address_is_refused() {
    let otlp = Otlp::of("joker").collector("no address at all");
    let otlp = otlp.layer::<tracing_subscriber::Registry>();
    assert!(matches!(otlp, Err(BadOtlp::Settings(_))));
}
