//! Tests of the log of `a2a serve`.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

/// Lets an agent crash, and a caller send a body that is not JSON; returns the log.
fn log(arguments: &[&str], rust_log: Option<&str>) -> String {
    let mut command = crate::a2a();
    command.args([
        "serve",
        "reference",
        "--address",
        "127.0.0.1:0",
        "-o",
        "json",
    ]);
    match rust_log {
        Some(levels) => command.env("RUST_LOG", levels),
        None => command.env_remove("RUST_LOG"),
    };
    let server = command.args(arguments).stdout(Stdio::piped());
    let mut server = server.stderr(Stdio::piped()).spawn().unwrap();
    let startup = crate::startup(&mut server);
    let url = startup["url"].as_str().unwrap();
    crate::check(&["send", url, "crash"], 0, &["Correlation id"]);
    let address = url.trim_start_matches("http://").trim_matches('/');
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "POST / HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: 1\r\n\r\n{{"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    server.kill().unwrap();
    crate::text(&server.wait_with_output().unwrap().stderr)
}

/// Checks which of an agent's crash (an error) and a bad request (for debugging) are logged.
#[track_caller]
fn check(arguments: &[&str], rust_log: Option<&str>, [crash, bad_request]: [bool; 2]) {
    let log = log(arguments, rust_log);
    let has = |level: &str, text: &str| {
        let of = |line: &&str| line.contains(level) && line.contains(text);
        log.lines().find(of).is_some()
    };
    assert_eq!(has(" ERROR ", "the message asks for it"), crash, "{log}");
    assert_eq!(has(" DEBUG ", "refused a request"), bad_request, "{log}");
    assert_eq!(log.is_empty(), !crash && !bad_request, "{log}");
}

#[test]
fn rust_log_says_how_much_is_logged() {
    check(&[], None, [true, false]);
    check(&[], Some("debug"), [true, true]);
    check(&[], Some("off"), [false, false]);
    check(&[], Some("a2a_transport=debug"), [false, true]);
}

#[test]
fn the_option_wins_over_rust_log() {
    check(&["--log", "debug"], Some("off"), [true, true]);
    check(&["--log", "off"], Some("debug"), [false, false]);
}

#[test]
fn invalid_levels_in_rust_log_are_refused() {
    let mut serve = crate::a2a();
    serve.args(["serve", "echo", "--address", "127.0.0.1:0"]);
    let output = serve.env("RUST_LOG", "loud").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = crate::text(&output.stderr);
    assert!(stderr.contains("`loud` is not a log level"), "{stderr}");
}

#[test]
fn a_log_in_json_has_an_object_for_each_line_and_request() {
    let log = log(&["--log", "debug", "--log-format", "json"], None);
    let entries: Vec<serde_json::Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    let answered = entries
        .iter()
        .find(|entry| entry["fields"]["message"] == "answered a request");
    let answered = answered.expect(&log);
    assert_eq!(answered["fields"]["status"], 200, "{answered}");
    assert!(answered["fields"]["ms"].is_u64(), "{answered}");
}
