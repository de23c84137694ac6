//! `a2a serve` when it cannot start or an agent fails.

use std::io::BufRead;
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
    let address = "--address=127.0.0.1:0";
    let serve = ["serve", "echo", address, "--encryption-key-file", keys];
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
fn an_invalid_log_level_is_refused() {
    check(&["serve", "echo", "--log", "loud"], 2, &["loud", "--log"]);
}

#[test]
fn options_that_cannot_be_used_are_refused() {
    let by_name = ["serve", "echo", "--address", "localhost:8080"];
    check(&by_name, 2, &["--address", "like 127.0.0.1:8080"]);
    for option in ["--card=card.json", "--exec-json", "--max-commands=4"] {
        let name = option.split('=').next().unwrap();
        check(&["serve", "echo", option], 2, &[name, "[AGENT]"]);
    }
}

fn exec(command: &str, options: &[&str]) -> Agent {
    let serve = ["--exec", command, "--address", "127.0.0.1:0"];
    Agent::begin(&[&serve[..], options].concat())
}

#[test]
fn a_command_is_an_agent() {
    let agent = exec("printf 'ä: '; tr a-z A-Z; echo \"in $A2A_TASK_ID\"", &[]);
    let url = &*agent.url;
    check(&["card", "get", url], 0, &["Name: printf", "Skill: printf"]);
    let catalog = format!("{url}.well-known/ai-catalog.json#urn:air:127.0.0.1:agent:printf");
    check(&["card", "get", &catalog], 0, &["Name: printf"]);
    let none = ["serve", "--exec", "cat", "--max-commands", "0"];
    check(&none, 2, &["--max-commands", "1..=65535"]);
    let all = check(
        &["send", url, "hello"],
        0,
        &["State: COMPLETED", "ä: HELLOin "],
    );
    let id = all.split_once("Task: ").unwrap().1;
    let id = id.lines().next().unwrap();
    assert!(all.contains(&format!("HELLOin {id}")), "{all}");
    // Its input is longer than a pipe, and not read.
    let long = "x".repeat(1 << 20);
    let agent = exec("exit 3", &[]);
    let failed = ["The command failed: exit code 3", "FAILED"];
    crate::check_with(&["send", &agent.url, "-"], &long, 0, &failed);
}

#[test]
fn a_command_may_speak_json() {
    let script = r#"read message
        case "$message" in *blue*)
            echo '{"working": "looking"}'; echo
            echo '{"text": "a blue "}'; echo '{"text": "car"}'; echo '{"data": {"n": 1}}';;
        *bad*) echo '{"what": 1}';;
        *) echo '{"ask": "which colour?"}';;
        esac"#;
    let agent = exec(script, &["--exec-json"]);
    let url = &*agent.url;
    let all = check(
        &["send", url, "a car"],
        0,
        &["INPUT_REQUIRED", "which colour?"],
    );
    let id = all.split_once("Task: ").unwrap().1;
    let id = id.lines().next().unwrap();
    let answer = ["send", "-a", url, "--task-id", id, "blue", "--stream"];
    check(
        &answer,
        0,
        &["looking", "a blue ", "car", "\"n\": 1", "State: COMPLETED"],
    );
    check(&["send", url, "bad"], 0, &["State: FAILED"]);
}

/// A canceled task ends its command, with the programs that the command has started.
#[cfg(target_os = "linux")]
#[test]
fn a_command_is_ended_when_its_task_is_canceled() {
    let directory = TempDir::new().unwrap();
    let ended = directory.path().join("ended");
    let script = format!(
        "trap 'echo term > {0}; exit' TERM; sleep 1000 & echo $! > {0}.started; echo begun; wait",
        ended.display()
    );
    let agent = exec(&script, &[]);
    let url = &*agent.url;
    let sent = crate::lines(&["send", "-a", url, "go", "--async", "-o", "json"], "");
    let id = sent[0]["task"]["id"].as_str().unwrap();
    let mut follow = crate::a2a();
    let follow = follow.args(["task", "subscribe", "-a", url, id, "--stream", "-o", "json"]);
    let mut follow = follow.stdout(Stdio::piped()).spawn().unwrap();
    let mut events = std::io::BufReader::new(follow.stdout.take().unwrap()).lines();
    // The trap is set once the command prints.
    events
        .find(|line| line.as_ref().unwrap().contains("begun"))
        .unwrap()
        .unwrap();
    check(&["task", "cancel", "-a", url, id], 0, &["CANCELED"]);
    follow.wait().unwrap();
    drop(events);
    // The turn ends after the command.
    let mut server = agent;
    let stop = std::process::Command::new("kill")
        .arg(server.process.id().to_string())
        .status();
    assert!(stop.unwrap().success());
    server.process.wait().unwrap();
    assert_eq!(std::fs::read_to_string(&ended).unwrap(), "term\n");
    let started = std::fs::read_to_string(ended.with_extension("started")).unwrap();
    // A process that has ended may still be listed, as a zombie.
    let status = std::fs::read_to_string(format!("/proc/{}/stat", started.trim()));
    let lives = status.as_ref().is_ok_and(|status| !status.contains(") Z "));
    assert!(!lives, "{status:?}");
}

#[test]
fn an_address_for_others_needs_credentials_or_consent() {
    let serve = ["serve", "joke", "--address", "0.0.0.0:0"];
    let output = crate::ask(&serve, "");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let error = crate::text(&output.stderr);
    for expected in [
        "--api-key-file",
        "--basic",
        "--jwt-issuer",
        "--open",
        "A2ACLI_ERR_USAGE",
    ] {
        assert!(error.contains(expected), "{error}");
    }
    let agent = Agent::begin(&["joke", "--address", "0.0.0.0:0", "--open"]);
    check(&["card", "get", &agent.url], 0, &["Name: Joker"]);
}

/// With a pipe in its place, nothing asks whether standard error is a terminal.
#[cfg(target_os = "linux")]
#[test]
fn a_server_starts_in_a_terminal() {
    let serve = format!(
        "exec '{}' serve joke --address 127.0.0.1:0",
        env!("CARGO_BIN_EXE_a2a")
    );
    let mut terminal = std::process::Command::new("script")
        .args(["--quiet", "--return", "--command", &serve, "/dev/null"])
        .env("TERM", "xterm")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the program `script` of util-linux");
    let screen = terminal.stdout.take().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(screen)).map_while(Result::ok);
    let url = lines.find(|line| line.contains("http://127.0.0.1:"));
    // Ctrl-C.
    let _ = std::io::Write::write_all(&mut terminal.stdin.take().unwrap(), b"\x03");
    let rest: Vec<_> = lines.collect();
    let _ = terminal.wait();
    assert!(url.is_some(), "{rest:?}");
}
