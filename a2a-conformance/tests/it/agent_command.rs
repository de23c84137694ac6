//! Messages of the command `agent` where a first use goes wrong.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use a2a_conformance::report;
use a2a_types::AgentCard;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a2a-conformance"));
    command.arg("agent").args(arguments).stdin(Stdio::null());
    command
}

#[track_caller]
fn check(arguments: &[&str], code: i32, expected: &[&str]) {
    let Output {
        status,
        stdout,
        stderr,
    } = command(arguments).output().unwrap();
    let output = String::from_utf8([stdout, stderr].concat()).unwrap();
    assert_eq!(status.code(), Some(code), "{arguments:?}: {output}");
    for part in expected {
        assert!(
            output.contains(part),
            "{arguments:?}: no {part:?} in {output}"
        );
    }
    assert!(
        !output.contains('\u{1b}'),
        "no terminal, no colors: {output}"
    );
}

/// Starts a server that answers by `answer`, called with its URL and the request line, or never if
/// that is `None`; returns its URL.
fn server(answer: impl Fn(&str, &str) -> Option<String> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (answer, place) = (Arc::new(answer), url.clone());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (answer, place) = (Arc::clone(&answer), place.clone());
            std::thread::spawn(move || serve(stream, &|first| answer(&place, first)));
        }
    });
    url
}

fn serve(stream: TcpStream, answer: &dyn Fn(&str) -> Option<String>) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut first, mut line, mut length) = (String::new(), String::new(), 0);
        if !reader.read_line(&mut first).is_ok_and(|read| read > 0) {
            return;
        }
        while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
            let header = line.to_ascii_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            line.clear();
        }
        std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink()).unwrap();
        match answer(&first) {
            Some(answer) => reader.get_mut().write_all(answer.as_bytes()).unwrap(),
            // The client closes the connection.
            None => drop(reader.read(&mut [0])),
        }
    }
}

fn http(status: &str, kind: &str, body: &str) -> Option<String> {
    let length = body.len();
    Some(format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}"
    ))
}

/// Starts an agent that serves its card and answers nothing else; it sends on `asked` for each
/// POST.
fn silent(reader: Sender<()>) -> String {
    server(move |url, first| {
        let is_card = first.starts_with("GET /.well-known/agent-card.json");
        if first.starts_with("POST") {
            reader.send(()).unwrap();
        }
        let mut card = AgentCard::new("Silent", "Says nothing").at(url);
        card.supported_interfaces.truncate(1);
        let card = serde_json::to_string(&card).unwrap();
        is_card.then_some(http("200 OK", "application/json", &card))?
    })
}

#[test]
fn wrong_url_is_rejected_with_a_hint() {
    let guess = "expected http:// or https:// before it: http://localhost:8080";
    check(&["localhost:8080"], 2, &[guess]);
    check(
        &["nowhere at all"],
        2,
        &["expected a URL like http://127.0.0.1:8080"],
    );
    check(&[], 2, &["which agent?", "--exec COMMAND"]);
}

#[test]
fn unreachable_agent_is_reported() {
    let url = "http://127.0.0.1:1";
    check(&[url], 3, &[url, "refused", "is it running"]);
    let secure =
        server(|_, _| http("400 Bad Request", "text/plain", "")).replace("http:", "https:");
    check(&[&secure], 3, &["try http://"]);
    let ends = &["--exec", "exit 7"];
    check(
        ends,
        3,
        &["`exit 7` ended before it could be asked: exit status: 7"],
    );
}

#[test]
fn a_web_page_is_not_taken_for_an_agent() {
    let page = || http("200 OK", "text/html", "<html><body>Welcome</body></html>");
    let url = server(move |_, _| page());
    check(&[&url], 3, &["no agent card", "verify-card"]);
    let url = server(|_, _| http("404 Not Found", "text/html", "<html></html>"));
    check(
        &[&url],
        3,
        &["no agent card was found", "/.well-known/agent-card.json"],
    );
    let url = server(|_, _| http("401 Unauthorized", "text/plain", ""));
    check(&[&url], 3, &["-H 'Authorization"]);
}

/// Starts an agent that answers each request with the same task; its card is `card`, in which `URL`
/// stands for its own.
fn agreeing(card: serde_json::Value) -> String {
    const TASK: &str = r#"{"jsonrpc": "2.0", "id": 1, "result": {"task": {"id": "t", "contextId": "c",
        "status": {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-01-01T00:00:00Z"}}}}"#;
    server(move |url, first| {
        let card = card.to_string().replace("URL", url);
        let body = match first.contains("/.well-known/") {
            true => card.as_str(),
            false => TASK,
        };
        http("200 OK", "application/json", body)
    })
}

fn card(interface: serde_json::Value, capabilities: serde_json::Value) -> serde_json::Value {
    serde_json::json!({
        "name": "Agrees", "description": "Agrees to everything", "version": "1",
        "capabilities": capabilities, "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"], "skills": [], "supportedInterfaces": [interface],
    })
}

#[test]
fn card_without_version_is_tested_and_reported() {
    let interface = serde_json::json!({"url": "URL", "protocolBinding": "JSONRPC"});
    let url = agreeing(card(interface, serde_json::json!({})));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    check(
        &[&url, "--black-box", "--report", "json", "-o", path],
        1,
        &["card.valid", "protocolVersion", "checks are not met"],
    );
    let run = report::read(&directory.path().join("report.json")).unwrap();
    assert_eq!(run.not_made, 0);
    let found = run.checks.iter().find(|result| result.id == "card.valid");
    let mismatches = &found.unwrap().mismatches;
    let names_it = mismatches.iter().any(|mismatch| {
        let output = format!("{} {}", mismatch.place, mismatch.found);
        output.contains("supportedInterfaces[0]") && output.contains("protocolVersion")
    });
    assert!(names_it, "{mismatches:#?}");
}

#[test]
fn webhook_timeout_is_the_patience_option() {
    let interface =
        serde_json::json!({"url": "URL", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
    let url = agreeing(card(
        interface,
        serde_json::json!({"pushNotifications": true}),
    ));
    let arguments = [&url, "--run", "push.delivered", "--patience", "0.25"];
    check(&arguments, 1, &["within 0.25 s (--patience waits longer)"]);
    let arguments = [&arguments[..], &["--timeout-scale", "0.5"]].concat();
    check(&arguments, 1, &["within 0.125 s (--patience waits longer)"]);
}

#[test]
fn silent_agent_times_out() {
    let url = server(|_, _| None);
    check(
        &[&url, "--timeout", "0.2"],
        3,
        &["no answer within 0.2 s", "--timeout"],
    );
}

#[test]
fn command_line_errors_come_before_any_request() {
    let url = server(|_, first| panic!("no request is expected: {first}"));
    check(
        &[&url, "--run", "sned.*"],
        2,
        &["no check matches", "a2a-conformance list"],
    );
    check(&[&url, "--run", "{send"], 2, &["--run <PATTERN>"]);
    check(&[&url, "--timeout", "0"], 2, &["more than 0 seconds"]);
    check(
        &[&url, "--waivers", "no-such-file"],
        2,
        &["no-such-file: cannot be read"],
    );
    check(&[&url, "--redact", "("], 2, &["not a regular expression"]);
    check(&[&url, "--ca", "no-such-file"], 2, &["--ca no-such-file"]);
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    check(&[&url, "--ca", path], 2, &["BEGIN CERTIFICATE"]);
    check(
        &[&url, "--report", "html", "-o", path],
        2,
        &[path, "reports cannot be written there"],
    );
}

#[cfg(unix)]
#[test]
fn interrupted_run_writes_reports_of_finished_checks() {
    use rustix::process::{Pid, Signal, kill_process};
    for signal in [Signal::INT, Signal::TERM] {
        let (reader, lines) = channel();
        let directory = tempfile::tempdir().unwrap();
        let mut running = command(&[&silent(reader), "--jobs", "1", "--black-box"]);
        running.args([
            "--run",
            "card.valid",
            "--run",
            "send.task-or-message",
            "--report",
            "json,html",
        ]);
        let running = running
            .arg("-o")
            .arg(directory.path())
            .stdout(Stdio::piped())
            .spawn();
        let running = running.unwrap();
        // It is asked within seconds, or never.
        lines.recv_timeout(Duration::from_secs(60)).unwrap();
        let id = i32::try_from(running.id()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
        let ended = running.wait_with_output().unwrap();
        let output = String::from_utf8(ended.stdout).unwrap();
        assert_eq!(ended.status.code(), Some(130), "{output}");
        assert!(
            output.contains("Interrupted: 1 of 2 checks were made."),
            "{output}"
        );
        let run = report::read(&directory.path().join("report.json")).unwrap();
        assert_eq!(run.not_made, 1);
        assert_eq!(run.checks.len(), 1);
        assert!(Path::new(&directory.path().join("report.html")).exists());
    }
}
