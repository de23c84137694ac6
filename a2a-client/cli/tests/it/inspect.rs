//! `a2a inspect`: its page, and its end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use tempfile::TempDir;

use crate::{Agent, a2a, check, http_get, interrupt, startup};

/// An inspector in a process of its own, killed on drop.
struct Inspector {
    process: Child,
    address: String,
    token: String,
    proxy: Option<String>,
    _state: TempDir,
}

impl Inspector {
    fn begin(arguments: &[&str]) -> Self {
        let state = tempfile::tempdir().unwrap();
        let mut process = a2a()
            .args(["inspect", "-o", "json", "--no-open"])
            .args(arguments)
            .env("XDG_STATE_HOME", state.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let startup = startup(&mut process);
        let url = startup["url"].as_str().unwrap();
        let (address, token) = url.split_once("/#token=").unwrap();
        Self {
            address: address.trim_start_matches("http://").to_owned(),
            token: token.to_owned(),
            proxy: startup["proxy"].as_str().map(str::to_owned),
            process,
            _state: state,
        }
    }

    fn request(&self, path: &str) -> TcpStream {
        self.call("GET", path, "")
    }

    fn call(&self, method: &str, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let Self { address, token, .. } = self;
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        stream
    }

    fn post(&self, path: &str, body: &str) -> String {
        let mut answer = String::new();
        let mut stream = self.call("POST", path, body);
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn get(&self, path: &str) -> String {
        let mut answer = String::new();
        self.request(path).read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        answer
    }
}

impl Drop for Inspector {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn the_named_agent_is_connected_with_its_options() {
    let agent = Agent::named("joke");
    let arguments = [
        &*agent.url,
        "--a2a-version",
        "0.3",
        "--transport",
        "HTTP+JSON",
        "--bearer",
        "CANARY",
    ];
    let inspector = Inspector::begin(&arguments);
    let mut changes = BufReader::new(inspector.request("/api/changes"));
    // From the head of the answer on, no change is missed.
    let mut line = String::new();
    changes.read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 200 "), "{line}");
    let mut agents = inspector.get("/api/agents");
    if !agents.contains("Joker") {
        while !line.contains("event: agents") {
            line.clear();
            assert!(changes.read_line(&mut line).unwrap() > 0);
        }
        agents = inspector.get("/api/agents");
    }
    for part in [
        r#""name":"Joker""#,
        r#""version":"0.3""#,
        r#""binding":"HTTP+JSON""#,
    ] {
        assert!(agents.contains(part), "no {part} in {agents}");
    }
    assert!(!agents.contains("CANARY"), "{agents}");
    assert!(inspector.get("/").contains("<!doctype html>"));
}

#[test]
fn an_agent_of_a_catalog_is_connected() {
    let agent = Agent::named("joke");
    let catalog = format!("{}.well-known/ai-catalog.json", agent.url);
    let inspector = Inspector::begin(&[]);
    let settings = format!(r#"{{"url":"{catalog}"}}"#);
    let connected = inspector.post("/api/agents", &settings);
    assert!(connected.contains(r#""name":"Joker""#), "{connected}");
    let other = format!(r##"{{"url":"{catalog}#urn:air:nothing"}}"##);
    let refused = inspector.post("/api/agents", &other);
    assert!(refused.contains("urn:air:nothing"), "{refused}");
}

#[test]
fn a_proxy_is_started_with_the_page() {
    let agent = Agent::named("joke");
    let arguments = ["--proxy-listen", "127.0.0.1:0", "--upstream", &agent.url];
    let inspector = Inspector::begin(&arguments);
    let proxy = inspector.proxy.clone().unwrap();
    check(
        &["send", &proxy, "about chickens"],
        0,
        &["State: COMPLETED"],
    );
    let exchanges = inspector.get("/api/exchanges");
    assert!(exchanges.contains(r#""source":"proxy""#), "{exchanges}");
}

#[test]
fn a_page_that_is_pointed_at_the_proxy_is_refused() {
    let agent = Agent::named("joke");
    let arguments = [
        "--proxy-listen",
        "127.0.0.1:0",
        "--upstream",
        &agent.url,
        "--proxy-origin",
        "https://api.example",
    ];
    let inspector = Inspector::begin(&arguments);
    let proxy = inspector.proxy.clone().unwrap();
    let address = proxy.trim_start_matches("http://").trim_end_matches('/');
    for (host, expected) in [("rebound.example", "403"), (address, "200")] {
        let answer = http_get(address, host, "/.well-known/agent-card.json");
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {expected} ")),
            "{host}: {answer}"
        );
    }
    let proxies = inspector.get("/api/proxies");
    assert!(proxies.contains("https://api.example"), "{proxies}");
}

#[test]
fn several_are_started_at_once() {
    let (one, other) = (Inspector::begin(&[]), Inspector::begin(&[]));
    assert_ne!(one.address, other.address);
    for inspector in [one, other] {
        assert!(inspector.get("/api/info").contains(&inspector.address));
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_although_a_page_is_open() {
    for signal in ["-INT", "-TERM"] {
        let mut inspector = Inspector::begin(&[]);
        let mut changes = BufReader::new(inspector.request("/api/changes"));
        let mut line = String::new();
        changes.read_line(&mut line).unwrap();
        interrupt::signal(signal, &inspector.process);
        let status = inspector.process.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{signal}: {status}");
    }
}

#[test]
fn addresses_that_cannot_be_used_are_named() {
    let inspect = |arguments: &[&str], code: i32, expected: &str| {
        let all = [&["inspect", "--no-open"], arguments].concat();
        check(&all, code, &[expected]);
    };
    inspect(
        &["--listen", "0.0.0.0:0"],
        2,
        "expected an address of this machine alone",
    );
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    inspect(&["--listen", &address], 1, &format!("--listen {address}"));
    inspect(&["--proxy-listen", "127.0.0.1:0"], 2, "--upstream");
}
