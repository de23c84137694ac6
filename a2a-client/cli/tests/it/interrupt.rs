//! Ctrl-C while standard input is read, a task runs or a server starts; other signals.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::{Agent, a2a, check, http_get, lines, text};

/// Sends a signal, named as an option of `kill`.
pub(crate) fn signal(name: &str, process: &Child) {
    let id = process.id().to_string();
    let signaled = Command::new("kill").args([name, &id]).status();
    assert!(signaled.unwrap().success());
}

/// Waits until a process that was asked to end has ended; kills it if it does not.
fn exit_code(mut process: Child) -> Option<i32> {
    let (sender, ended) = channel();
    let id = process.id().to_string();
    std::thread::spawn(move || sender.send(process.wait()));
    let status = ended
        .recv_timeout(Duration::from_secs(20))
        .unwrap_or_else(|_| {
            let _ = Command::new("kill").args(["-KILL", &id]).status();
            panic!("the process did not end")
        });
    status.unwrap().code()
}

#[test]
fn a_command_that_reads_stdin_exits_on_sigint() {
    // Repeated, because it once failed at random.
    for _ in 0..8 {
        let mut process = a2a()
            .args(["send", "http://127.0.0.1:1", "-"])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = process.stdin.take().unwrap();
        // More than a pipe holds, so the process is reading.
        input.write_all(&[b'x'; 256 << 10]).unwrap();
        signal("-INT", &process);
        assert_eq!(exit_code(process), Some(130));
    }
}

/// The address is printed before the first connection is accepted, and a signal counts from the start.
#[test]
fn a_server_can_be_interrupted_as_soon_as_it_tells_its_address() {
    let serve: &[_] = &["serve", "echo", "--address", "127.0.0.1:0", "-o", "json"];
    let inspect = &[
        "inspect",
        "--listen",
        "127.0.0.1:0",
        "-o",
        "json",
        "--no-open",
    ];
    let state = TempDir::new().unwrap();
    // Repeated, because the time in which a signal was lost is short.
    for arguments in [serve, inspect].repeat(8) {
        let mut process = a2a()
            .args(arguments)
            .env("XDG_STATE_HOME", state.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut String::new()).unwrap();
        signal("-INT", &process);
        assert_eq!(exit_code(process), Some(0), "{arguments:?}");
    }
}

/// A caller that stops waiting for a task gets its id.
#[test]
fn a_task_that_is_left_is_named() {
    let agent = Agent::named("reference");
    let url = &*agent.url;
    for options in [&[][..], &["--stream"]] {
        let process = a2a()
            .args([&["send", url, "wait"], options].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let list = ["task", "list", url, "-o", "json", "--status", "working"];
        let task = std::iter::repeat_with(|| lines(&list, ""))
            .find_map(|lists| Some(lists[0]["tasks"][0]["id"].as_str()?.to_owned()))
            .unwrap();
        signal("-INT", &process);
        let output = process.wait_with_output().unwrap();
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{stderr}");
        let hint = format!(
            "error: interrupted (A2ACLI_ERR_INTERNAL)\n  hint: the task continues: follow it with a2a task get --agent-card {url} --wait {task}\n"
        );
        assert_eq!(stderr, hint, "{options:?}");
        check(&["task", "cancel", url, &task], 0, &["State: CANCELED"]);
    }
}

#[test]
fn a_timeout_is_that_of_the_whole_command() {
    let agent = Agent::named("reference");
    let url = &*agent.url;
    for options in [
        &["send", url, "wait"][..],
        &["send", "--stream", url, "wait"],
    ] {
        let expected = [
            "timed out after 3s",
            "hint: the task continues: follow it with a2a task get",
        ];
        check(&[options, &["--timeout", "3"]].concat(), 5, &expected);
    }
    // Events do not extend the limit.
    let task = lines(
        &["send", "-o", "json", url, "--async", "chunks 100 500"],
        "",
    );
    let task = task[0]["task"]["id"].as_str().unwrap().to_owned();
    check(
        &["task", "subscribe", url, &task, "--timeout", "2s"],
        5,
        &["timed out after 2s"],
    );
}

/// With --drain a server that was asked to end still serves, and only reports that it is not ready.
#[test]
fn a_draining_server_answers_and_is_not_ready() {
    let agent = Agent::begin(&["echo", "--address", "127.0.0.1:0", "--drain", "1h"]);
    let address = agent.url.split('/').nth(2).unwrap();
    let ready = || http_get(address, address, "/readyz");
    assert!(ready().starts_with("HTTP/1.1 200"));
    signal("-TERM", &agent.process);
    let begin = Instant::now();
    while !ready().starts_with("HTTP/1.1 503") {
        assert!(begin.elapsed() < Duration::from_secs(20), "still ready");
    }
    check(&["send", &agent.url, "hello"], 0, &["hello"]);
}

/// A command gives up on a server that accepts connections and never answers for a card, without being told a limit.
#[test]
fn a_card_that_does_not_come_has_a_limit() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let begin = Instant::now();
    check(&["card", "get", &url], 3, &["A2ACLI_ERR_UNREACHABLE"]);
    assert!(begin.elapsed() < Duration::from_secs(120));
}
