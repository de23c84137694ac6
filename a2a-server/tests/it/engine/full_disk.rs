//! A full disk: a file system of 2 MiB that only this test sees.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use a2a_server::{Server, SqliteStore};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::engine::{Worker, card};
use crate::waiting::eventually;

/// Set in the process that has the small file system, to its directory.
const SMALL_DISK: &str = "A2A_SMALL_DISK";

/// Mounts the file system where no other process has it, then runs the test there.
const ON_A_SMALL_DISK: &str = "mount -t tmpfs -o size=2m tmpfs \"$A2A_SMALL_DISK\" \
    && exec \"$0\" --exact --nocapture \"$1\"";

/// The test runs itself again, with mounts of its own.
#[test]
fn a_full_disk_refuses_sends_until_there_is_room() {
    if let Some(disk) = std::env::var_os(SMALL_DISK) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        return runtime.block_on(until_there_is_room(Path::new(&disk)));
    }
    let directory = tempfile::tempdir().unwrap();
    let unshare = |command: &[&str]| -> std::io::Result<Output> {
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "--mount"]);
        unshare.args(command).env(SMALL_DISK, directory.path());
        unshare.output()
    };
    let mounted = unshare(&["sh", "-c", "mount -t tmpfs tmpfs \"$A2A_SMALL_DISK\""]);
    if !mounted.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: a small disk needs `unshare`, `mount` and user namespaces");
        return;
    }
    let this = std::env::current_exe().unwrap();
    let name = "engine::full_disk::a_full_disk_refuses_sends_until_there_is_room";
    let output = unshare(&["sh", "-c", ON_A_SMALL_DISK, this.to_str().unwrap(), name]).unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}\n{problems}");
    assert!(stdout.contains("1 passed"), "{stdout}");
}

async fn until_there_is_room(disk: &Path) {
    let file = disk.join("tasks.db");
    let store = SqliteStore::open(&file).unwrap();
    let server = Server::builder(card(), Worker::default()).store(store);
    let bound = server.build().unwrap().bind("127.0.0.1:0").await.unwrap();
    let address = bound.local_addr();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(bound.run(async { drop(stopped.await) }));
    until_ready(address).await;
    let asked = send(address, "asked", "ask which").await;
    let waiting = task(&check(asked, 200, "TASK_STATE_INPUT_REQUIRED"));

    let ballast = fill(disk);
    for text in ["echo hello", "reply hello"] {
        // Some of them are written in one transaction, some alone.
        let ids = ["1", "2", "3", "4", "5", "6", "7", "8"];
        let sent = join_all(ids.map(|id| send(address, id, text)));
        let answers = tokio::time::timeout(MAX_REFUSAL_TIME, sent).await;
        for answer in answers.expect("the refusals come at once") {
            check_refused(answer);
        }
        check_refused(send(address, "alone", text).await);
    }
    let on = json!({"messageId": "m", "taskId": waiting, "role": "ROLE_USER", "parts": [{"text": "reply this"}]});
    check_refused(send_message(address, &on).await);
    let answer = get(address, "/readyz").await;
    check(answer, 503, "store unavailable");
    check(get(address, "/healthz").await, 200, "alive");
    let path = format!("/tasks/{waiting}");
    check(get(address, &path).await, 200, "TASK_STATE_INPUT_REQUIRED");

    std::fs::remove_file(ballast).unwrap();
    until_ready(address).await;
    // The refused message has left nothing behind: it is taken as if it were sent for the first time.
    for id in ["alone", "1", "after"] {
        let sent = send(address, id, "echo hello").await;
        check(sent, 200, "TASK_STATE_COMPLETED");
    }
    let on = send_message(address, &on).await;
    check(on, 200, "TASK_STATE_COMPLETED");
    stop.send(()).unwrap();
    serving.await.unwrap().unwrap();
    let report = SqliteStore::check(&file).unwrap();
    assert_eq!((report.unfinished, report.ended), (0, 4));
    assert_eq!(report.damages, Vec::<String>::new());
}

async fn until_ready(address: SocketAddr) {
    eventually(async || {
        let answer = get(address, "/readyz").await;
        answer.starts_with("HTTP/1.1 200 ").then_some(())
    })
    .await;
}

/// Writes a file that takes all the room there is.
fn fill(disk: &Path) -> PathBuf {
    let path = disk.join("ballast");
    let mut file = File::create(&path).unwrap();
    for piece in [64 << 10, 4 << 10, 1] {
        let error = loop {
            match file.write_all(&vec![0; piece]) {
                Ok(()) => {}
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::StorageFull);
    }
    path
}

/// Sends a message for a new task, and waits until the agent is done.
async fn send(address: SocketAddr, id: &str, text: &str) -> String {
    let parts = [json!({"text": text})];
    let message = json!({"messageId": id, "role": "ROLE_USER", "parts": parts});
    send_message(address, &message).await
}

/// Sends a message by HTTP+JSON.
async fn send_message(address: SocketAddr, message: &Value) -> String {
    let body = json!({"message": message}).to_string();
    ask(address, "POST /message:send", &body).await
}

/// Returns the id of the task in an answer.
fn task(answer: &str) -> String {
    let (_, body) = answer.split_once("\r\n\r\n").expect(answer);
    let body: Value = serde_json::from_str(body).expect(answer);
    body["task"]["id"].as_str().expect(answer).to_owned()
}

async fn get(address: SocketAddr, path: &str) -> String {
    ask(address, &format!("GET {path}"), "").await
}

/// Returns the whole answer, on a separate connection.
async fn ask(address: SocketAddr, line: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "{line} HTTP/1.1\r\nhost: {address}\r\na2a-version: 1.0\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

/// Checks the status and a text of an answer; returns the answer.
#[track_caller]
fn check(answer: String, status: u16, text: &str) -> String {
    let line = format!("HTTP/1.1 {status} ");
    assert!(answer.starts_with(&line), "expected {status}: {answer}");
    assert!(answer.contains(text), "{answer}");
    answer
}

/// Checks that the answer reports a lack of space, and has `Retry-After`.
#[track_caller]
fn check_refused(answer: String) {
    let answer = check(answer, 503, "UNAVAILABLE").to_lowercase();
    assert!(answer.contains("\nretry-after: "), "{answer}");
}

/// Time in which a server says that it cannot: less than it takes to try again.
const MAX_REFUSAL_TIME: Duration = Duration::from_secs(5);
