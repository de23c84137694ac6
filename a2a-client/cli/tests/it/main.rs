//! The command line, as people and scripts use it.

mod authentication;
mod chat;
mod check;
mod deviations;
mod gateway;
mod hook;
mod inspect;
mod interrupt;
mod log;
mod login;
#[cfg(feature = "mcp")]
mod mcp;
mod metrics;
mod migrate;
mod model;
mod new;
#[cfg(feature = "opentelemetry")]
mod otlp;
mod pipe;
mod proxy;
mod report;
mod scripted_agent;
mod secrets;
mod serve;
mod settled;
mod signed_cards;
mod specification;
mod terminal;
mod tls;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use self::scripted_agent::ScriptedAgent;

/// Returns a command for `a2a` without the settings of this machine.
fn a2a() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a2a"));
    let own = std::env::vars_os().map(|(name, _)| name);
    let is_setting =
        |name: &str| name.starts_with("A2ACLI_") || name.to_lowercase().ends_with("_proxy");
    for name in own.filter(|name| is_setting(&name.to_string_lossy())) {
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
        let serve = ["serve", "-o", "json", "--local-webhooks"];
        Self::run(&[&serve, arguments].concat())
    }

    fn demo() -> Self {
        Self::run(&["demo-server", "--address", "127.0.0.1:0", "-o", "json"])
    }

    fn run(arguments: &[&str]) -> Self {
        let mut process = a2a()
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

/// Returns the response to a GET, head and body, from the server at an address.
fn http_get(address: &str, host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
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
        &["card", "get", url],
        0,
        &[
            "Name: Joker",
            "Interface: JSONRPC 0.1",
            "Capabilities: streaming",
            "Example: tell me a joke\n",
        ],
    );
    check(
        &["send", url, "tell", "me", "a", "joke"],
        0,
        &[
            "State: INPUT_REQUIRED",
            "  What about",
            "warning: the task is INPUT_REQUIRED",
        ],
    );
    let output = check(
        &["send", "--stream", url, "about", "chickens"],
        0,
        &["State: WORKING", "State: COMPLETED"],
    );
    assert!(output.contains(
        "Artifact: joke\nText:\n  Why did the chicken cross the road? To get to the other side.\n\n"
    ));
    assert!(!output.contains('\u{1b}'), "no colors where no terminal is");

    let chat = check_with(
        &["chat", url],
        "a joke\ncomputers\n",
        0,
        &["10 kinds of people"],
    );
    assert_eq!(chat.matches("State: INPUT_REQUIRED").count(), 1);
    let chat = lines(&["chat", url, "-o", "json"], "a joke\nchickens\n");
    let tasks: Vec<_> = chat
        .iter()
        .filter_map(|event| event["task"]["id"].as_str())
        .collect();
    assert!(
        tasks.len() >= 2 && tasks.iter().all(|id| *id == tasks[0]),
        "{tasks:?}"
    );

    let listed = lines(
        &[
            "task",
            "list",
            url,
            "-o",
            "json",
            "--all",
            "--status",
            "completed",
        ],
        "",
    );
    let tasks = listed[0]["tasks"].as_array().unwrap();
    assert_eq!((listed.len(), tasks.len()), (1, 3));
    let id = tasks[0]["id"].as_str().unwrap();
    let got = ["task", "get", url, id, "--history", "9"];
    let shown = check(
        &got,
        0,
        &[id, "State: COMPLETED", "History: user\nText:\n  chickens"],
    );
    assert!(shown.contains("Next: a2a send --agent-card"), "{shown}");
    check(&["task", "cancel", url, id], 1, &["TaskNotCancelableError"]);
    check(
        &["task", "subscribe", url, "nothing"],
        1,
        &["TaskNotFoundError", "--debug"],
    );
}

#[test]
fn every_outcome_has_its_code() {
    let agent = Agent::named("reference");
    let url = &*agent.url;
    check(
        &["send", url, "echo", "hello"],
        0,
        &["Artifact: echo\nText:\n  hello\n\n"],
    );
    check(
        &["send", url, "reply", "hello"],
        0,
        &["Message: agent\nText:\n  hello\n"],
    );
    // The outcome of the task is not a failure of the command.
    for (command, state) in [
        ("fail", "FAILED"),
        ("reject", "REJECTED"),
        ("auth", "AUTH_REQUIRED"),
    ] {
        let (told, warned) = (
            format!("State: {state}"),
            format!("warning: the task is {state}"),
        );
        check(
            &["send", url, command, "no paper"],
            0,
            &[&told, &warned, "  no paper"],
        );
    }
    let output = check(
        &["send", url, "--async", "wait"],
        0,
        &["Task: ", "Context: ", "--wait"],
    );
    assert!(!output.contains("History"), "{output}");
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    check(&["send", "-a", address, "echo", "hello"], 0, &["  hello"]);
    check(&["send", url], 2, &["the message is empty"]);
    check(
        &["send", "hello"],
        2,
        &["--agent-card", "A2ACLI_AGENT_CARD"],
    );
    check(
        &["send", url, "--data", "/nonexistent"],
        2,
        &["--data /nonexistent", "No such file"],
    );
    check(
        &["send", url, "hi", "--media-type", "a/b"],
        2,
        &["--media-type", "--file"],
    );
    check(
        &["send", url, "hi", "--task-id", "nothing"],
        1,
        &["Task not found", "TaskNotFoundError", "--debug"],
    );
    check(
        &["send", url, "hi", "--a2a-version", "0.5"],
        2,
        &["0.5", "1.0, 0.3, 0.2, 0.1 or auto"],
    );
    check(
        &["task", "list", url, "--a2a-version", "0.2"],
        1,
        &[
            "does not exist in version 0.2",
            "UnsupportedOperationError",
            "hint",
        ],
    );
    let unreachable = [
        "cannot connect",
        "refused",
        "check that the agent is running",
    ];
    check(&["card", "get", "http://127.0.0.1:1"], 3, &unreachable);
    check(
        &["card", "get", &format!("{url}nothing/here.json")],
        3,
        &["no agent card", "404", "A2ACLI_ERR_CARD_NOT_FOUND"],
    );
    check(
        &["card", "get", "-a", "/nonexistent/card.json"],
        3,
        &["A2ACLI_ERR_CARD_NOT_FOUND"],
    );
    check(
        &["card", "get", url, "--proxy", "ftp://h"],
        2,
        &["of a proxy"],
    );
    check(
        &["card", "get", url, "--ca", "/nonexistent"],
        2,
        &["/nonexistent", "No such file"],
    );
    check(
        &["send", url, "hi", "--svc-param", "nonsense"],
        2,
        &["nonsense", "NAME:VALUE"],
    );
    check(&["nonsense"], 2, &["--help"]);
    let answer = lines(&["send", "-o", "json", url, "chunks", "3"], "");
    let parts = &answer[0]["task"]["artifacts"][0]["parts"];
    assert_eq!(parts.as_array().unwrap().len(), 3);
    // An error is the document, in place of the result.
    let failed = ["card", "get", "http://127.0.0.1:1", "-o", "json"];
    assert_eq!(
        lines(&failed, "")[0]["error"]["code"],
        "A2ACLI_ERR_UNREACHABLE"
    );
    let wrong = ["card", "get", "--no-such-option", "-o", "json"];
    assert_eq!(lines(&wrong, "")[0]["error"]["code"], "A2ACLI_ERR_USAGE");
}

#[test]
fn files_go_out_and_come_in() {
    let agent = Agent::named("echo");
    let directory = TempDir::new().unwrap();
    let place = |name: &str| directory.path().join(name);
    std::fs::write(place("photo.png"), [1, 2, 3]).unwrap();
    std::fs::write(place("list.json"), "[1]").unwrap();
    let (photo, list) = (place("photo.png"), place("list.json"));
    let (photo, list) = (photo.to_str().unwrap(), list.to_str().unwrap());
    let send = [
        "send", "--stream", &agent.url, "look:", "--file", photo, "--data", list,
    ];
    let typed = ["--media-type", "application/x-list"];
    let output = check(
        &[&send[..], &typed].concat(),
        0,
        &["  look:", "File: photo.png, image/png, 3 bytes"],
    );
    let id = output
        .lines()
        .find_map(|line| line.strip_prefix("Task: "))
        .unwrap();
    let out = place("out");
    let out_text = out.to_str().unwrap();
    check(
        &["task", "download", &agent.url, id, "--output-dir", out_text],
        0,
        &["Saved: ", "State: COMPLETED"],
    );
    let read = |name: &str| std::fs::read(out.join(name)).unwrap();
    assert_eq!(read("photo.png"), [1, 2, 3]);
    assert_eq!(read("echo.txt"), b"look:");
    assert_eq!(read("echo.json"), b"[\n  1\n]\n");
    check_with(
        &["send", &agent.url, "-"],
        "from the input",
        0,
        &["  from the input"],
    );
    check_with(
        &["send", &agent.url, "--data", "-"],
        "{\"a\": 1}",
        0,
        &["\"a\": 1"],
    );
}

/// The parts of a message are in the order of their options.
#[test]
fn parts_keep_their_order_and_their_media_types() {
    let agent = ScriptedAgent::new(|_, _| json!({"error": {"code": -32603, "message": "seen"}}));
    let url = "https://example.com/a.pdf";
    let send = [
        "send",
        &agent.url,
        "--no-card",
        "--a2a-version",
        "1.0",
        "--text",
        "one",
        "--file",
        url,
    ];
    let more = [
        "--media-type",
        "application/pdf",
        "--text",
        "two",
        "--metadata",
        "{\"k\":[1]}",
    ];
    check(&[&send[..], &more].concat(), 1, &["InternalError"]);
    let request = &agent.requests()[0];
    let parts =
        json!([{"text": "one"}, {"url": url, "mediaType": "application/pdf"}, {"text": "two"}]);
    assert_eq!(request.body["params"]["message"]["parts"], parts);
    assert_eq!(request.body["params"]["metadata"], json!({"k": [1]}));
    assert!(
        request.head.to_lowercase().contains("a2a-version: 1.0"),
        "{}",
        request.head
    );
}

/// An option counts before the environment, that before the local file, and that before the global one.
#[test]
fn settings_come_from_options_the_environment_and_files() {
    let agent = Agent::named("echo");
    let directory = TempDir::new().unwrap();
    let file = |name: &str, content: &str| {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
    };
    file(
        "config/a2a-cli/.env",
        "A2ACLI_OUTPUT=json\nA2ACLI_BEARER=\"global-secret\"\n",
    );
    file(
        "work/.env",
        &format!(
            "# the agent\nexport A2ACLI_AGENT_CARD={}\nA2ACLI_OUTPUT=text\n",
            agent.url
        ),
    );
    file("work/below/kept", "");
    file("other.env", "A2ACLI_A2A_VERSION=0.3\n");
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        let output = a2a()
            .args(arguments)
            .env("XDG_CONFIG_HOME", directory.path().join("config"))
            .envs(variables.iter().copied())
            .current_dir(directory.path().join("work/below"))
            .output()
            .unwrap();
        text(&output.stdout) + &text(&output.stderr)
    };
    let shown = run(&["config", "show"], &[]);
    assert!(
        shown.contains(&format!("agent-card: {} (A2ACLI_AGENT_CARD in ", agent.url)),
        "{shown}"
    );
    assert!(shown.contains("bearer: *** (A2ACLI_BEARER in "), "{shown}");
    assert!(shown.contains("timeout: (not set) (default)"), "{shown}");
    assert!(!shown.contains("global-secret"), "{shown}");
    let shown = run(
        &["config", "show", "--timeout", "5s"],
        &[("A2ACLI_A2A_VERSION", "0.3")],
    );
    assert!(shown.contains("timeout: 5s (option --timeout)"), "{shown}");
    assert!(
        shown.contains("a2a-version: 0.3 (A2ACLI_A2A_VERSION in environment)"),
        "{shown}"
    );
    assert!(run(&["send", "hello"], &[]).contains("  hello"));
    assert!(run(&["send", "hello"], &[("A2ACLI_OUTPUT", "json")]).starts_with("{"));
    // The file of the option takes the place of the local one.
    let other = directory.path().join("other.env");
    let asked = run(
        &[
            "send",
            &agent.url,
            "hello",
            "--debug",
            "--config",
            other.to_str().unwrap(),
        ],
        &[],
    );
    assert!(asked.contains("\"method\":\"message/send\""), "{asked}");
    // The file may have lines of other programs.
    file(
        "work/.env",
        "KEY=\"-----BEGIN\nabc\nA2ACLI_STRICT=1\nA2ACLI_BERER=x\n",
    );
    let shown = run(&["config", "show", "-o", "text"], &[]);
    assert!(shown.contains("strict: true (A2ACLI_STRICT in "), "{shown}");
    let warning = ".env: no option has the variable A2ACLI_BERER";
    assert_eq!(shown.matches("warning: ").count(), 1, "{shown}");
    assert!(shown.contains(warning), "{shown}");
    file("work/.env", "A2ACLI_AGENT_CARD\n");
    assert!(run(&["config", "show"], &[]).contains("line 1: expected NAME=value"));
}

/// Whatever happens, the output is one document, and no command leaves a file behind.
#[test]
fn json_output_is_one_document_and_nothing_is_stored() {
    let agent = Agent::named("reference");
    let directory = TempDir::new().unwrap();
    let sent = lines(&["send", &agent.url, "echo hello", "-o", "json"], "").remove(0);
    let id = sent["task"]["id"].as_str().unwrap();
    let a = ["-a", &agent.url];
    for (command, code) in [
        (&["card", "get"][..], 0),
        (&["card", "get", "--validate"], 0),
        (&["card", "get", "--extended"], 1),
        (&["send", "echo hello"], 0),
        (&["send", "reply hello"], 0),
        (&["send", "fail no paper"], 0),
        (&["send", "crash"], 0),
        (&["send", "--async", "echo hello"], 0),
        (&["send", ""], 2),
        (&["send", "hello", "--task-id", "nothing"], 1),
        (&["send", "wait", "--timeout", "1s"], 5),
        (&["task", "get", id], 0),
        (&["task", "get", "nothing"], 1),
        (&["task", "list"], 0),
        (&["task", "list", "--status", "nonsense"], 2),
        (&["task", "cancel", id], 1),
        (&["task", "subscribe", id], 0),
        (&["task", "push-config", "list", id], 0),
        (&["config", "show"], 0),
        (&["gateway", "--address", "203.0.113.1:1"], 1),
        (&["no-such-command"], 2),
    ] {
        let output = a2a()
            .args(command)
            .args(a)
            .args(["-o", "json", "--debug"])
            .env("HOME", directory.path())
            .env_remove("XDG_CONFIG_HOME")
            .current_dir(directory.path())
            .output()
            .unwrap();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        let document: Value = serde_json::from_str(&stdout)
            .unwrap_or_else(|_| panic!("{command:?} printed {stdout:?} and {stderr}"));
        assert_eq!(
            document["error"].is_object(),
            code != 0,
            "{command:?}: {stdout}"
        );
        assert_eq!(
            output.status.code(),
            Some(code),
            "{command:?}: {stdout} {stderr}"
        );
        assert!(!stderr.contains('\u{1b}'), "{stderr}");
        let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
        assert!(left.is_empty(), "{command:?} left {left:?}");
    }
}

/// A catalog may stand where a card does.
#[test]
fn an_agent_of_a_catalog_is_called() {
    let agent = Agent::named("echo");
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("ai-catalog.json");
    let card = lines(&["card", "get", &agent.url, "-o", "json"], "").remove(0);
    let kind = "application/a2a-agent-card+json";
    let at = format!("{}.well-known/agent-card.json", agent.url);
    let catalog = json!({"specVersion": "1.0", "entries": [
        {"identifier": "urn:mcp", "type": "application/mcp-server+json", "url": "https://example.com"},
        {"identifier": "urn:echo", "type": kind, "url": at},
        {"identifier": "urn:embedded", "type": kind, "data": card},
    ]});
    std::fs::write(&file, catalog.to_string()).unwrap();
    let file = file.to_str().unwrap();
    for identifier in ["urn:echo", "urn:embedded"] {
        let reference = format!("{file}#{identifier}");
        check(&["send", "-a", &reference, "hello"], 0, &["  hello"]);
    }
    check(
        &["send", "-a", file, "hello"],
        2,
        &["urn:echo, urn:embedded", "URL#IDENTIFIER"],
    );
    let unknown = format!("{file}#urn:mcp");
    check(
        &["card", "get", "-a", &unknown],
        3,
        &[
            "cannot call `#urn:mcp`",
            "other agents: urn:echo",
            "REF#IDENTIFIER",
        ],
    );
}

/// Versions before 1.0 are not used unless they are requested.
#[test]
fn an_older_version_needs_its_option() {
    let card = |url: &str| {
        json!({"protocolVersion": "0.3.0", "name": "Old", "description": "d", "version": "1", "url": url,
            "capabilities": {}, "skills": [], "defaultInputModes": [], "defaultOutputModes": []})
    };
    let agent = ScriptedAgent::new(move |url, call| match call["method"].as_str() {
        None => card(url),
        Some(_) => json!({"result": {"kind": "message", "messageId": "m", "role": "agent",
            "parts": [{"kind": "text", "text": "hello"}]}}),
    });
    let send = ["send", &agent.url, "hi"];
    check(
        &send,
        1,
        &[
            "VersionNotSupportedError",
            "it offers 0.3",
            "--a2a-version 0.3",
        ],
    );
    assert_eq!(agent.requests().len(), 1, "the card alone");
    for version in ["0.3", "auto"] {
        check(
            &[&send[..], &["--a2a-version", version]].concat(),
            0,
            &["  hello"],
        );
    }
}

#[test]
fn webhooks_are_set_notified_listed_and_deleted() {
    let agent = Agent::named("reference");
    let mut listener = a2a()
        .args([
            "webhook",
            "listen",
            "127.0.0.1:0",
            "-o",
            "json",
            "--count",
            "2",
        ])
        .args(["--token", "of-the-hook"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stderr = BufReader::new(listener.stderr.take().unwrap());
    stderr.read_line(&mut line).unwrap();
    let hook = line.trim().trim_start_matches("listening at ").to_owned();

    let started = lines(&["send", "-o", "json", &agent.url, "--async", "wait"], "");
    let id = started[0]["task"]["id"].as_str().unwrap();
    let (url, id) = (&*agent.url, id);
    let set = [
        "task",
        "push-config",
        "create",
        url,
        id,
        "--url",
        &hook,
        "--token",
        "of-the-hook",
        "--config-id",
        "mine",
    ];
    check(&set, 0, &["mine", &hook]);
    check(
        &["task", "push-config", "list", url, id],
        0,
        &["mine", &hook],
    );
    let evil = [
        "task",
        "push-config",
        "create",
        url,
        id,
        "--url",
        "http://169.254.169.254/",
        "--token",
        "x",
    ];
    check(&evil, 1, &["refused"]);
    check(&["task", "cancel", url, id], 0, &["State: CANCELED"]);
    let second = [
        "send",
        url,
        "--webhook",
        &hook,
        "--webhook-token",
        "of-the-hook",
        "say x",
    ];
    check(&second, 0, &["State: COMPLETED"]);
    let output = listener.wait_with_output().unwrap();
    let received = text(&output.stdout);
    let received: Vec<Value> = received
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(received.len(), 2);
    assert_eq!(received[0]["task"], id);
    assert_eq!(received[0]["protocol_version"], "1.0");
    check(
        &[
            "task",
            "push-config",
            "delete",
            url,
            id,
            "--config-id",
            "mine",
        ],
        0,
        &[],
    );
    check(
        &["task", "push-config", "get", url, id],
        1,
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
        .args(["send", "--stream", &agent.url, "-o", "json", "wait"])
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
    check(
        &["task", "cancel", &agent.url, &id],
        0,
        &["State: CANCELED"],
    );
    let last = std::iter::from_fn(|| events.next()).last();
    let ended = follower.wait_with_output().unwrap();
    let said = text(&ended.stderr);
    let last = last.unwrap_or_else(|| panic!("no event came after the agent's return: {said}"));
    let last: Value = serde_json::from_str(&last.unwrap()).unwrap();
    assert_eq!(
        last["statusUpdate"]["status"]["state"], "TASK_STATE_CANCELED",
        "{last}"
    );
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert!(
        said.contains("the connection broke, and is there again"),
        "{said}"
    );
}

#[test]
fn the_version_has_the_name_of_the_program() {
    check(&["--version"], 0, &["a2a 0."]);
}

#[test]
fn there_is_help() {
    let help = check(&["--help"], 0, &["Examples:", "Exit codes:"]);
    for command in [
        "card",
        "send",
        "task",
        "chat",
        "serve",
        "config",
        "conformance",
        "db",
    ] {
        assert!(help.contains(command));
        check(&[command, "--help"], 0, &["Usage: a2a"]);
    }
    check(&["completion", "bash"], 0, &["_a2a"]);
}
