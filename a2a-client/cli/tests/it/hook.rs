//! `a2a webhook listen` with the signatures of older agents.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::SystemTime;

use a2a_transport::webhook::{Algorithm, Claims, Jwks, SigningKey};

use crate::scripted_agent::ScriptedAgent;
use crate::{Agent, a2a};

/// Google's agents of 0.1 and trpc-agent-go send such tokens.
#[test]
fn a_token_need_not_say_when_it_ends() {
    let key = SigningKey::generate(Algorithm::Es256).unwrap();
    let keys = serde_json::to_value(Jwks::of([&key])).unwrap();
    let peer = ScriptedAgent::new(move |_, _| keys.clone());
    let mut process = a2a()
        .args(["webhook", "listen", "127.0.0.1:0", "--count", "1"])
        .args(["--jwks", &peer.url])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stderr = BufReader::new(process.stderr.take().unwrap());
    stderr.read_line(&mut line).unwrap();
    let url = line.trim().trim_start_matches("listening at ").to_owned();
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let mut listener = Agent {
        process,
        url: url.clone(),
        metrics: None,
    };

    let body = r#"{"id":"T","sessionId":"S","status":{"state":"completed"}}"#;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let claims = Claims {
        exp: None,
        aud: Vec::new(),
        jti: None,
        ..Claims::of(body.as_bytes(), "", "", now.unwrap().as_secs())
    };
    let token = key.sign(&claims).unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST / HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         authorization: Bearer {token}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert_eq!(listener.process.wait().unwrap().code(), Some(0));
}
