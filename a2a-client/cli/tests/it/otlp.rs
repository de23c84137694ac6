//! `a2a serve --otlp`.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::interrupt::signal;
use crate::{Agent, check};

/// Accepts one export as a collector. Returns the head and the body of the request.
fn collect(listener: &TcpListener) -> (String, Vec<u8>) {
    let (mut stream, _) = listener.accept().unwrap();
    let (mut received, mut whole) = (Vec::new(), usize::MAX);
    while received.len() < whole {
        let mut chunk = [0; 4096];
        let read = stream.read(&mut chunk).unwrap();
        assert!(read > 0, "the request is sent whole");
        received.extend(&chunk[..read]);
        if let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&received[..end]).to_lowercase();
            let length = head.split_once("content-length: ").unwrap().1;
            whole = end + 4 + length.lines().next().unwrap().parse::<usize>().unwrap();
        }
    }
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    stream.write_all(answer.as_bytes()).unwrap();
    let end = received.windows(4).position(|four| four == b"\r\n\r\n");
    let body = received.split_off(end.unwrap() + 4);
    (String::from_utf8(received).unwrap(), body)
}

#[test]
fn spans_get_to_the_collector_before_the_server_ends() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (sender, exports) = channel();
    std::thread::spawn(move || while sender.send(collect(&listener)).is_ok() {});
    let options = ["joke", "--address", "127.0.0.1:0", "--otlp", &url];
    let agent = Agent::begin(&options);
    check(&["send", &agent.url, "a joke about chickens"], 0, &[]);
    signal("-INT", &agent.process);
    let expected = [
        "service.name",
        "Joker",
        "a2a.server.request",
        "a2a.agent.turn",
    ];
    let mut exported = String::new();
    while !expected.iter().all(|word| exported.contains(word)) {
        let export = exports.recv_timeout(Duration::from_secs(30));
        let (head, body) = export.expect("all spans are exported");
        assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
        let content_type = "content-type: application/x-protobuf\r\n";
        assert!(head.contains(content_type), "{head}");
        exported += &String::from_utf8_lossy(&body);
    }
}

#[test]
fn invalid_collector_address_is_refused() {
    let options = ["serve", "joke", "--otlp", "no address at all"];
    check(&options, 2, &["--otlp: spans cannot be exported"]);
}
