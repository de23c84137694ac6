//! Redaction of secrets in output and recordings.

use std::io::{BufRead, BufReader, Write};

use serde_json::json;
use tempfile::TempDir;

use crate::scripted_agent::ScriptedAgent;
use crate::{Agent, a2a, text};

#[test]
fn secrets_are_not_shown() {
    let agent = Agent::named("echo");
    let directory = TempDir::new().unwrap();
    let record = directory.path().join("record");
    let arguments = [
        "send",
        &agent.url,
        "hi",
        "--debug",
        "--record",
        record.to_str().unwrap(),
    ];
    let output = a2a()
        .args(arguments)
        .args(["--svc-param", "x-plain:s3cret-key"])
        .env("A2ACLI_BEARER", "s3cret-token")
        .output()
        .unwrap();
    let output = text(&output.stdout) + &text(&output.stderr);
    assert!(output.contains("> x-plain: ***"), "{output}");
    assert!(output.contains("> authorization: ***"), "{output}");
    assert!(!output.contains("s3cret"), "{output}");
    let recorded = std::fs::read_dir(&record).unwrap();
    let recorded: Vec<_> = recorded
        .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    assert_eq!(recorded.len(), 2, "the card and the message");
    // Nothing that identifies the caller is sent for the card.
    assert_eq!(
        recorded.iter().filter(|text| text.contains("***")).count(),
        1
    );
    assert!(recorded.iter().all(|text| !text.contains("s3cret")));
}

#[test]
fn a_key_in_the_query_is_not_shown() {
    let peer = ScriptedAgent::new(|url, call| match call["method"].as_str() {
        Some(_) => json!({"result": {"message": {"messageId": "m", "role": "ROLE_AGENT",
            "parts": [{"text": "hello"}]}}}),
        None => {
            let interface = json!({"url": format!("{url}?of=1"), "protocolBinding": "JSONRPC",
                "protocolVersion": "1.0"});
            let key = json!({"location": "query", "name": "a key"});
            json!({"name": "n", "description": "d", "version": "1", "capabilities": {},
                "skills": [], "defaultInputModes": [], "defaultOutputModes": [],
                "supportedInterfaces": [interface],
                "securitySchemes": {"k": {"apiKeySecurityScheme": key}},
                "securityRequirements": [{"schemes": {"k": {}}}]})
        }
    });
    let directory = TempDir::new().unwrap();
    let record = directory.path().join("record");
    let output = a2a()
        .args([
            "send",
            &peer.url,
            "hi",
            "--debug",
            "--api-key",
            "s3cret/key",
        ])
        .args(["--record", record.to_str().unwrap()])
        .output()
        .unwrap();
    let output = text(&output.stdout) + &text(&output.stderr);
    let requests = peer.requests();
    let call = &requests.last().unwrap().head;
    assert!(
        call.starts_with("POST /?of=1&a%20key=s3cret%2Fkey "),
        "{call}"
    );
    let shown = format!("{}?of=1&a%20key=***", peer.url);
    assert!(output.contains(&format!("> POST {shown}\n")), "{output}");
    assert!(!output.contains("s3cret"), "{output}");
    let recorded = std::fs::read_to_string(record.join("0002.json")).unwrap();
    assert!(recorded.contains(&shown), "{recorded}");
    assert!(!recorded.contains("s3cret"), "{recorded}");
}

#[test]
fn secrets_of_agents_are_not_shown_either() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(
        "http://{}/?access_token=s3cret",
        listener.local_addr().unwrap()
    );
    let agent = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0);
        }
        let body = r#"{"jsonrpc":"2.0","id":1,"result":{"id":"c","taskId":"t","url":"https://h/?sig=s3cret","token":"s3cret-\"s3cret"}}"#;
        let length = body.len();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nX-Access-Token: s3cret\r\n\
             DPoP-Nonce: s3cret\r\nLocation: /x?code=s3cret\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        // Sent in pieces, some of which end within a secret.
        for piece in body.as_bytes().chunks(7) {
            stream.write_all(piece).unwrap();
            stream.flush().unwrap();
            std::thread::yield_now();
        }
    });
    let directory = TempDir::new().unwrap();
    let record = directory.path().to_str().unwrap();
    let output = a2a()
        .args([
            "task",
            "push-config",
            "get",
            &url,
            "t",
            "--config-id",
            "c",
            "--no-card",
            "--a2a-version",
            "1.0",
        ])
        .args(["--debug", "--record", record])
        .args(["--svc-param", "X-Access-Token:s3cret"])
        .output()
        .unwrap();
    agent.join().unwrap();
    let verbose = text(&output.stderr);
    for shown in [
        "?access_token=***",
        "< x-access-token: ***",
        "< dpop-nonce: ***",
        "< location: /x?code=***",
        r#""token":"***""#,
    ] {
        assert!(verbose.contains(shown), "no {shown} in {verbose}");
    }
    let recorded = std::fs::read_to_string(directory.path().join("0001.json")).unwrap();
    let printed = text(&output.stdout);
    assert!(printed.contains("https://h/?sig=***"), "{printed}");
    for output in [verbose, recorded, printed] {
        assert!(!output.contains("s3cret"), "{output}");
    }
}
