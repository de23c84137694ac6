//! `a2a serve` when it cannot start or an agent fails.

use std::process::Stdio;

use tempfile::TempDir;

use crate::{Agent, check};

#[test]
fn a_file_that_another_process_writes_to_is_left_to_it() {
    let directory = TempDir::new().unwrap();
    let db = directory.path().join("tasks.db");
    let options = ["--address", "127.0.0.1:0", "--db", db.to_str().unwrap()];
    let _first = Agent::begin(&[&["echo"], &options[..]].concat());
    let second = [&["serve", "echo"], &options[..]].concat();
    check(&second, 1, &["tasks.db", "is in use by another process"]);
}

#[test]
fn an_address_that_is_taken_is_named() {
    let agent = Agent::named("echo");
    let address = agent.url.trim_start_matches("http://").trim_matches('/');
    let second = ["serve", "echo", "--address", address];
    check(&second, 1, &[address, "in use"]);
}

/// A failure of the agent is in the server's log, under the id that the caller receives.
#[test]
fn a_failure_is_logged_under_its_correlation_id() {
    let mut server = crate::a2a()
        .args([
            "serve",
            "reference",
            "--address",
            "127.0.0.1:0",
            "-o",
            "json",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let startup = crate::startup(&mut server);
    let sent = crate::ask(&["send", startup["url"].as_str().unwrap(), "crash"], "");
    let answer = crate::text(&sent.stdout) + &crate::text(&sent.stderr);
    let (_, id) = answer.split_once("Correlation id: ").expect(&answer);
    let id: String = id.chars().take(36).collect();
    server.kill().unwrap();
    let log = crate::text(&server.wait_with_output().unwrap().stderr);
    let logged = log.lines().find(|line| line.contains(&id)).expect(&log);
    assert!(logged.contains("ERROR"), "{logged}");
    assert!(logged.contains("the message asks for it"), "{logged}");
}

#[test]
fn sealing_keys_that_cannot_be_used_are_named() {
    let directory = TempDir::new().unwrap();
    let keys = directory.path().join("seal-keys");
    let keys = keys.to_str().unwrap();
    let serve = ["serve", "echo", "--encryption-key-file", keys];
    check(&serve, 1, &[keys, "cannot be read", "No such file"]);
    std::fs::write(keys, "k c2VjcmV0\n").unwrap();
    let report = check(&serve, 1, &[keys, "sealing key 1", "32 bytes in Base64"]);
    assert!(!report.contains("c2VjcmV0"), "{report}");
    std::fs::write(keys, format!("k {}=\n", "A".repeat(43))).unwrap();
    let options = [
        "echo",
        "--address",
        "127.0.0.1:0",
        "--encryption-key-file",
        keys,
    ];
    check(&["card", "get", &Agent::begin(&options).url], 0, &["Echo"]);
}

#[test]
fn a_log_level_that_is_none_is_refused() {
    check(&["serve", "echo", "--log", "loud"], 2, &["loud", "--log"]);
}
