//! The command line, as people and scripts use it.

mod authentication;
mod chat;
mod check;
mod deviations;
mod hook;
mod inspect;
mod interrupt;
mod log;
mod metrics;
mod migrate;
#[cfg(feature = "opentelemetry")]
mod otlp;
mod pipe;
mod scripted_agent;
mod secrets;
mod serve;
mod settled;
mod signed_cards;
mod terminal;
mod tls;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Returns a command for `a2a` without the settings of this machine.
fn a2a() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a2a"));
    let own = std::env::vars_os().map(|(name, _)| name);
    for name in own.filter(|name| name.to_string_lossy().starts_with("A2A_")) {
        command.env_remove(name);
    }
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

/// An agent in a process of its own, killed on drop.
struct Agent {
    process: Child,
    url: String,
    metrics: Option<String>,
}

impl Agent {
    fn begin(arguments: &[&str]) -> Self {
        let mut process = a2a()
            .args(["serve", "--json", "--local-webhooks"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let startup = startup(&mut process);
        let url = startup["url"].as_str().unwrap().to_owned();
        Self {
            process,
            url,
            metrics: startup["metrics"].as_str().map(str::to_owned),
        }
    }

    fn named(name: &str) -> Self {
        Self::begin(&[name, "--address", "127.0.0.1:0"])
    }
}

/// Returns the line in which a process says where it listens.
fn startup(process: &mut Child) -> Value {
    let mut line = String::new();
    let output = process.stdout.take().unwrap();
    BufReader::new(output).read_line(&mut line).unwrap();
    serde_json::from_str(&line).expect(&line)
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn ask(arguments: &[&str], input: &str) -> Output {
    let mut child = a2a()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A process that ends before it reads its input does not need it.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Checks the exit code and texts of the output.
#[track_caller]
fn check(arguments: &[&str], code: i32, expected: &[&str]) -> String {
    check_with(arguments, "", code, expected)
}

#[track_caller]
fn check_with(arguments: &[&str], input: &str, code: i32, expected: &[&str]) -> String {
    let output = ask(arguments, input);
    let all = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {all}");
    for text in expected {
        assert!(all.contains(text), "{arguments:?}: no `{text}` in: {all}");
    }
    all
}

/// Runs a command, and returns the lines of its output, each of which is JSON.
#[track_caller]
fn lines(arguments: &[&str], input: &str) -> Vec<Value> {
    let output = ask(arguments, input);
    let lines = text(&output.stdout);
    lines
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect()
}

#[test]
fn a_conversation_is_sent_streamed_chatted_and_listed() {
    let agent = Agent::named("joke");
    let url = &*agent.url;
    check(
        &["card", url],
        0,
        &[
            "Joker",
            "interfaces",
            "0.1",
            "1.0",
            "streams",
            "“tell me a joke”",
        ],
    );
    check(
        &["send", url, "tell", "me", "a", "joke"],
        7,
        &["input required: What about"],
    );
    let output = check(
        &["stream", url, "about", "chickens"],
        0,
        &["● working", "● completed"],
    );
    assert!(
        output.contains("◆ joke Why did the chicken cross the road? To get to the other side.\n")
    );
    assert!(!output.contains('\u{1b}'), "no colors where no terminal is");

    let chat = check_with(
        &["chat", url],
        "a joke\ncomputers\n",
        0,
        &["10 kinds of people"],
    );
    assert_eq!(chat.matches("● input required").count(), 1);
    let chat = lines(&["chat", url, "--json"], "a joke\nchickens\n");
    let tasks: Vec<_> = chat
        .iter()
        .filter_map(|event| event["task"]["id"].as_str())
        .collect();
    assert!(
        tasks.len() >= 2 && tasks.iter().all(|id| *id == tasks[0]),
        "{tasks:?}"
    );

    let listed = lines(
        &["list", url, "--json", "--all", "--state", "completed"],
        "",
    );
    assert_eq!(listed.len(), 3);
    let id = listed[0]["task"]["id"].as_str().unwrap();
    check(
        &["get", url, id, "--history", "9"],
        0,
        &[id, "● completed", "you chickens"],
    );
    check(&["cancel", url, id], 3, &["cannot be canceled"]);
    check(&["subscribe", url, "nothing"], 3, &["not found"]);
}

#[test]
fn every_outcome_has_its_code() {
    let agent = Agent::named("reference");
    let url = &*agent.url;
    check(&["send", url, "echo", "hello"], 0, &["◆ echo hello"]);
    check(&["send", url, "reply", "hello"], 0, &["hello"]);
    check(
        &["send", url, "fail", "no paper"],
        1,
        &["● failed: no paper"],
    );
    check(
        &["send", url, "reject", "not mine"],
        1,
        &["● rejected: not mine"],
    );
    check(
        &["send", url, "auth", "log in there"],
        7,
        &["● auth required: log in there"],
    );
    let output = check(
        &["send", url, "--no-wait", "wait"],
        0,
        &["task ", "  context "],
    );
    assert!(!output.contains("you wait"), "{output}");
    check(
        &["send", url, "--history", "9", "echo", "hello"],
        0,
        &["◆ echo hello\nyou echo hello\n"],
    );
    let address = url.trim_start_matches("http://");
    check(&["send", address, "echo", "hello"], 0, &["◆ echo hello"]);
    check(&["send", url], 2, &["the message is empty"]);
    check(&["send", url, "--data", "{"], 2, &["EOF", "--data"]);
    check(
        &["send", url, "hi", "--task", "nothing"],
        3,
        &["the agent answered", "not found"],
    );
    check(
        &["send", url, "hi", "--protocol-version", "0.5"],
        2,
        &["0.5", "0.1, 0.2, 0.3, 1.0"],
    );
    check(
        &["list", url, "--protocol-version", "0.2"],
        3,
        &["does not exist in version 0.2", "hint"],
    );
    check(
        &["card", "http://127.0.0.1:1"],
        4,
        &[
            "cannot connect",
            "refused",
            "check that the agent is running",
        ],
    );
    check(
        &["card", "agent.example"],
        2,
        &["is not a URL", "or name of an agent"],
    );
    check(
        &["card", &format!("{url}nothing/here.json")],
        6,
        &["no agent card", "404"],
    );
    check(&["card", url, "--proxy", "ftp://h"], 2, &["of a proxy"]);
    check(
        &["card", url, "--ca", "/nonexistent"],
        2,
        &["/nonexistent", "No such file"],
    );
    check(
        &["card", url, "-H", "nonsense"],
        2,
        &["`nonsense`", "NAME: VALUE"],
    );
    check(
        &["card", url, "--bearer", "$A2A_NO_SUCH"],
        2,
        &["$A2A_NO_SUCH"],
    );
    check(&["nonsense"], 2, &["--help"]);
    let events = lines(&["--json", "send", url, "chunks", "3"], "");
    assert_eq!(
        events[0]["task"]["artifacts"][0]["parts"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    let output = ask(&["--json", "card", "http://127.0.0.1:1"], "");
    let report: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(report["error"]["exitCode"], 4);
}

#[test]
fn files_go_out_and_come_in() {
    let agent = Agent::named("echo");
    let directory = TempDir::new().unwrap();
    let place = |name: &str| directory.path().join(name);
    std::fs::write(place("photo.png"), [1, 2, 3]).unwrap();
    let out = place("out");
    let (photo, out_text) = (place("photo.png"), out.to_str().unwrap());
    let send = [
        "stream",
        &agent.url,
        "look:",
        "-f",
        photo.to_str().unwrap(),
        "--data",
        "[1]",
    ];
    let output = check(
        &[&send[..], &["--out", out_text]].concat(),
        0,
        &["look:", "photo.png", "saved"],
    );
    assert!(output.contains("image/png"), "{output}");
    let read = |name: &str| std::fs::read(out.join(name)).unwrap();
    assert_eq!(read("photo.png"), [1, 2, 3]);
    assert_eq!(read("echo.txt"), b"look:");
    assert_eq!(read("echo.json"), b"[\n  1\n]\n");
    check_with(
        &["send", &agent.url, "-"],
        "from the input",
        0,
        &["◆ echo from the input"],
    );
}

#[test]
fn agents_have_names() {
    let agent = Agent::named("echo");
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("config.toml");
    let config = format!(
        "[agents.parrot]\nurl = \"{}\"\nprotocol-version = \"0.3\"\n",
        agent.url
    );
    std::fs::write(&file, config).unwrap();
    let ask = |arguments: &[&str], file: &Path| {
        let output = a2a()
            .args(arguments)
            .env("A2A_CONFIG", file)
            .output()
            .unwrap();
        (
            output.status.code(),
            text(&output.stdout) + &text(&output.stderr),
        )
    };
    let (code, output) = ask(&["send", "parrot", "hello", "--verbose"], &file);
    assert_eq!(code, Some(0), "{output}");
    assert!(output.contains("\"method\":\"message/send\""), "{output}");
    let (code, output) = ask(&["send", "owl", "hello"], &file);
    assert_eq!(code, Some(2));
    assert!(
        output.contains("the configuration file names parrot"),
        "{output}"
    );
    std::fs::write(&file, "[agents.parrot]\nuri = \"x\"").unwrap();
    let (code, output) = ask(&["send", "parrot", "hello"], &file);
    assert_eq!(code, Some(2));
    assert!(
        output.contains("config.toml") && output.contains("uri"),
        "{output}"
    );
    let (code, _) = ask(&["send", "parrot", "hello"], Path::new("/nonexistent"));
    assert_eq!(code, Some(2));
}

#[test]
fn webhooks_are_set_notified_listed_and_deleted() {
    let agent = Agent::named("reference");
    let mut listener = a2a()
        .args(["webhook", "listen", "127.0.0.1:0", "--json", "--count", "2"])
        .args(["--token", "of-the-hook"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stderr = BufReader::new(listener.stderr.take().unwrap());
    stderr.read_line(&mut line).unwrap();
    let hook = line.trim().trim_start_matches("listening at ").to_owned();

    let started = lines(&["--json", "send", &agent.url, "--no-wait", "wait"], "");
    let id = started[0]["task"]["id"].as_str().unwrap();
    let (url, id) = (&*agent.url, id);
    let set = [
        "push",
        "set",
        url,
        id,
        &hook,
        "--token",
        "of-the-hook",
        "--id",
        "mine",
    ];
    check(&set, 0, &["mine", &hook]);
    check(&["push", "list", url, id], 0, &["mine", &hook]);
    let evil = [
        "push",
        "set",
        url,
        id,
        "http://169.254.169.254/",
        "--token",
        "x",
    ];
    check(&evil, 3, &["refused"]);
    check(&["cancel", url, id], 0, &["● canceled"]);
    let second = [
        "send",
        url,
        "--webhook",
        &hook,
        "--webhook-token",
        "of-the-hook",
        "say x",
    ];
    check(&second, 0, &["● completed"]);
    let output = listener.wait_with_output().unwrap();
    let received = text(&output.stdout);
    let received: Vec<Value> = received
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(received.len(), 2);
    assert_eq!(received[0]["task"], id);
    assert_eq!(received[0]["protocol_version"], "1.0");
    check(&["push", "delete", url, id, "mine"], 0, &[]);
    check(
        &["push", "get", url, id],
        3,
        &["no such push notification config"],
    );
}

/// A stream resumes when the agent is killed and restarted.
#[test]
fn a_stream_survives_its_agent() {
    let directory = TempDir::new().unwrap();
    let db = directory.path().join("tasks.db");
    let db = db.to_str().unwrap();
    // The system gives this port to no other process while the agent is away.
    let address = format!("127.0.0.1:{}", 10_000 + std::process::id() % 20_000);
    let mut agent = Agent::begin(&["reference", "--address", &address, "--db", db]);
    let mut follower = a2a()
        .args(["stream", &agent.url, "--json", "wait"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut events = BufReader::new(follower.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&events.next().unwrap().unwrap()).unwrap() };
    let id = loop {
        let event = next();
        if event["statusUpdate"]["status"]["state"] == "TASK_STATE_WORKING" {
            break event["statusUpdate"]["taskId"].as_str().unwrap().to_owned();
        }
    };
    agent.process.kill().unwrap();
    agent.process.wait().unwrap();
    let agent = Agent::begin(&["reference", "--address", &address, "--db", db]);
    check(&["cancel", &agent.url, &id], 0, &["● canceled"]);
    let last = std::iter::from_fn(|| events.next()).last();
    let ended = follower.wait_with_output().unwrap();
    let said = text(&ended.stderr);
    let last = last.unwrap_or_else(|| panic!("no event came after the agent's return: {said}"));
    let last: Value = serde_json::from_str(&last.unwrap()).unwrap();
    assert_eq!(
        last["statusUpdate"]["status"]["state"], "TASK_STATE_CANCELED",
        "{last}"
    );
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("the connection broke; reconnected"));
}

#[test]
fn the_version_has_the_name_of_the_program() {
    check(&["--version"], 0, &["a2a 0."]);
}

#[test]
fn there_is_help() {
    let help = check(&["--help"], 0, &["Examples:", "Exit codes:"]);
    for command in ["card", "send", "stream", "get", "list", "chat", "serve"] {
        assert!(help.contains(command));
        check(&[command, "--help"], 0, &["Usage: a2a"]);
    }
    check(&["completions", "bash"], 0, &["_a2a"]);
}
