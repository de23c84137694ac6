//! Output and exit codes of the commands.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Command, Output};

use a2a_transport::card_signature::{SignatureForm, canonical, sign};
use a2a_transport::webhook::{Algorithm, Jwks, SigningKey};
use serde_json::{Value, json};

#[track_caller]
fn run(arguments: &[&str], code: i32) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(env!("CARGO_BIN_EXE_a2a-conformance"))
        .args(arguments)
        .output()
        .expect("the program is built");
    let (stdout, stderr) = (text(stdout), text(stderr));
    assert_eq!(
        status.code(),
        Some(code),
        "{arguments:?}:\n{stdout}\n{stderr}"
    );
    stdout + &stderr
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("it prints text")
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&run(arguments, 0)).expect("it prints JSON")
}

#[test]
fn list_prints_requirements_and_checks() {
    let all = json(&["list", "--json"]);
    let of = |arguments: &[&str]| {
        let listed = json(&[&["list", "--json"], arguments].concat());
        listed["requirements"].as_array().map_or(0, Vec::len)
    };
    let total = all["requirements"].as_array().map_or(0, Vec::len);
    let by_level = ["must", "should", "may"].map(|level| of(&["--level", level]));
    assert_eq!(by_level.iter().sum::<usize>(), total);
    let by_protocol_version = ["0.1", "0.2", "0.3", "1.0"]
        .map(|protocol_version| of(&["--protocol-version", protocol_version]));
    assert_eq!(by_protocol_version.iter().sum::<usize>(), total);
    let client = json(&[
        "list",
        "--json",
        "--role",
        "client",
        "--protocol-version",
        "1.0",
    ]);
    for requirement in client["requirements"].as_array().expect("requirements") {
        assert_eq!(requirement["protocolVersion"], "1.0");
        let binds = requirement["binds"].as_array().expect("parties");
        assert!(binds.contains(&"client".into()), "{requirement}");
    }
    for check in client["checks"].as_array().expect("checks") {
        assert_eq!(check["role"], "client", "{check}");
    }
    let text = run(&["list", "--protocol-version", "0.1"], 0);
    assert!(text.contains("A2A01-6.1-M1") && text.contains("send.session"));
    assert!(text.contains("error.codes") && !text.contains("list.pages"));
}

#[test]
fn a_list_of_nothing_is_an_error() {
    run(
        &[
            "list",
            "--protocol-version",
            "0.2",
            "--role",
            "operator",
            "--level",
            "may",
        ],
        2,
    );
    run(&["list", "--protocol-version", "0.9"], 2);
}

#[test]
fn explain_prints_requirements_checks_and_similar_ids() {
    let requirement = run(&["explain", "A2A10-3.1.1-M2"], 0);
    for part in [
        "UnsupportedOperation",
        "must",
        "3.1.1 of A2A 1.0",
        "send.ended-task-refused",
    ] {
        assert!(requirement.contains(part), "{part} is not in {requirement}");
    }
    let excluded = run(&["explain", "A2A10-13.4-M4"], 0);
    assert!(
        excluded.contains("none: logs are not seen on the wire"),
        "{excluded}"
    );
    let check = run(&["explain", "send.ended-task-refused"], 0);
    for part in [
        "A2A10-3.1.1-M2",
        "Level    must in 0.2, 0.3, 1.0",
        "Made     a case, in 0.2, 0.3, 1.0, by JSONRPC and HTTP+JSON",
        "§3.1.1 of 1.0",
        "S07: a message to a terminal task is accepted",
    ] {
        assert!(check.contains(part), "{part} is not in {check}");
    }
    let text = run(&["explain", "error.codes"], 0);
    assert!(text.contains("It is checked in every exchange."), "{text}");
    let named = run(&["explain", "client.chunked-answer-read"], 0);
    assert!(named.contains("Source   RFC 9112 §7.1"), "{named}");
    let explained = json(&["explain", "send.ended-task-refused", "--json"]);
    let explanation = explained["explanation"].as_str().unwrap_or_default();
    assert!(explanation.starts_with("The suite calls "), "{explained}");
    assert_eq!(
        json(&["explain", "A2A10-3.1.1-M2", "--json"])["level"],
        "must"
    );
    let unknown = run(&["explain", "send.ended-task-accepted"], 2);
    assert!(unknown.contains("\n  send.ended-task-refused"), "{unknown}");
}

fn file(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("there is a place for files");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a file can be written");
    let path = path.to_str().expect("the path is text").to_owned();
    (folder, path)
}

#[test]
fn lint_prints_path_rule_and_repair() {
    let message =
        r#"{"role": "user", "messageId": "m", "parts": [{"kind": "text", "text": "hi"}]}"#;
    let (_folder, path) = file("message.json", message);
    let text = run(&["lint", &path], 1);
    for part in [
        "Message, A2A 0.2: refused",
        r#"$: "kind" is a required property (Message)"#,
        "repaired NOKIND at $.kind: An object without the member that declares its kind.",
        "0 of 1 documents accepted",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let json: Value = serde_json::from_str(&run(&["lint", "--json", &path], 1)).expect("JSON");
    assert_eq!(
        json["files"][0]["documents"][0]["repairs"][0]["code"],
        "NOKIND"
    );
}

#[test]
fn lint_ends_with_0_if_all_is_legal_and_2_if_a_file_is_not_there() {
    let task = r#"{"id": "t", "status": {"state": "TASK_STATE_WORKING"}}"#;
    let (_folder, path) = file("task.json", task);
    assert!(run(&["lint", &path], 0).contains("Task, A2A 1.0: accepted"));
    run(&["lint", &path, "--protocol-version", "0.3"], 1);
    run(&["lint", &format!("{path}.gone")], 2);
    run(&["lint"], 2);
}

#[test]
fn lint_judges_an_answer_by_its_request() {
    let request = r#"{"jsonrpc": "2.0", "id": 7, "method": "GetTask", "params": {"id": "t"}}"#;
    let answer = r#"{"jsonrpc": "2.0", "id": 8, "result": {"id": "t", "status": {"state": "TASK_STATE_WORKING"}}}"#;
    let (_one, request) = file("request.json", request);
    let (_other, answer) = file("answer.json", answer);
    run(&["lint", &answer], 0);
    let text = run(&["lint", "--request", &request, &answer], 1);
    assert!(
        text.contains("refused by the words of the specification"),
        "{text}"
    );
}

#[test]
fn lint_takes_the_kind_from_the_caller() {
    let message =
        r#"{"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}}"#;
    let (folder, path) = file("body.json", message);
    assert!(run(&["lint", &path], 0).contains("SendMessageRequest, A2A 1.0: accepted"));
    assert!(run(&["lint", "--as", "streamresponse", &path], 0).contains("StreamResponse, A2A 1.0"));
    assert!(run(&["lint", "--as", "Task", &path], 1).contains(r#""id" is a required property"#));
    run(&["lint", "--as", "Taks", &path], 2);
    run(
        &[
            "lint",
            "--as",
            "StreamResponse",
            "--protocol-version",
            "0.1",
            &path,
        ],
        2,
    );
    run(&["lint", "--request", &path, &path], 2);
    run(
        &["lint", folder.path().to_str().expect("the path is text")],
        2,
    );
    let help = run(&["lint", "--help"], 0);
    for kind in a2a_conformance::lint::DocumentKind::ALL {
        assert!(help.contains(kind.name), "{} is not in {help}", kind.name);
    }
}

#[test]
fn lint_refuses_bytes_that_are_not_text_and_judges_the_other_files() {
    let folder = tempfile::tempdir().expect("there is a place for files");
    let (bytes, task) = (
        folder.path().join("utf-16.json"),
        folder.path().join("task.json"),
    );
    std::fs::write(&bytes, b"\xff\xfe{\0}\0").expect("a file can be written");
    let text = r#"{"id": "t", "status": {"state": "TASK_STATE_WORKING"}}"#;
    std::fs::write(&task, text).expect("a file can be written");
    let path = |path: &std::path::Path| path.to_str().expect("the path is text").to_owned();
    let text = run(&["lint", &path(&bytes), &path(&task)], 1);
    assert!(text.contains("not UTF-8 from byte 0 on"), "{text}");
    assert!(text.contains("1 of 2 documents accepted"), "{text}");
}

#[test]
fn commands_print_documents_escaped() {
    let evil = "\u{1b}[2J\u{9b}\u{202e}evil\u{200b}\u{61c}\u{2028}\u{e0041}\u{7f}";
    let is_safe = |letter: char| letter == '\n' || !a2a_client::terminal::is_unsafe(letter);
    let message = json!({"kind": "message", "role": evil, "messageId": "m", "parts": [{"kind": evil}], evil: 1});
    let (_one, message) = file("message.json", &message.to_string());
    let card = json!({"name": evil, "url": evil, "protocolVersion": evil, "capabilities": evil});
    let (_two, card_path) = file("card.json", &card.to_string());
    let exchange = json!({"request": {"method": evil, "url": evil, "body": evil},
        "response": {"status": 200, "body": evil}, "failure": evil});
    let (_three, recording) = file(&format!("{evil}.json"), &exchange.to_string());
    for arguments in [
        &["lint", &message][..],
        &["lint", &message, "--json"],
        &["verify-card", &card_path],
        &["replay", &recording],
        &["replay", &recording, "--json"],
    ] {
        let printed = run(arguments, 1);
        assert!(printed.contains("evil"), "{arguments:?} {printed:?}");
        assert!(printed.chars().all(is_safe), "{arguments:?} {printed:?}");
    }
    let printed = run(&["lint", &format!("{message}{evil}")], 2);
    assert!(printed.chars().all(is_safe), "{printed:?}");
}

fn card() -> Value {
    let mut card = a2a_types::AgentCard::new("Joker", "Tells jokes").at("http://127.0.0.1:1");
    card.supported_interfaces.truncate(2);
    serde_json::to_value(card).expect("a card is JSON")
}

#[test]
fn verify_card_prints_problems() {
    let (_folder, path) = file("card.json", &card().to_string());
    let text = run(&["verify-card", &path], 0);
    assert!(
        text.contains("Joker, A2A 1.0") && text.contains("legal\n  not signed"),
        "{text}"
    );
    let mut wrong = card();
    wrong["supportedInterfaces"][0]["url"] = "/rpc".into();
    let (_folder, path) = file("card.json", &wrong.to_string());
    let text = run(&["verify-card", &path], 1);
    let explained =
        "must   $.supportedInterfaces[0].url: expected an absolute URL (A2A10-4.4.6-M1)";
    assert!(text.contains(explained), "{text}");
    let found: Value =
        serde_json::from_str(&run(&["verify-card", "--json", &path], 1)).expect("JSON");
    assert_eq!(found["problems"][0]["requirement"], "A2A10-4.4.6-M1");
    let (_folder, path) = file("card.json", "[]");
    run(&["verify-card", &path], 1);
    run(&["verify-card", "no-such-file"], 2);
    run(&["verify-card", "http://127.0.0.1:1"], 3);
}

#[test]
fn verify_card_verifies_signatures() {
    let key = SigningKey::generate(Algorithm::Es256).expect("a key");
    let (_keys, jwks) = file(
        "jwks.json",
        &String::from_utf8_lossy(&Jwks::of([&key]).to_json()),
    );
    let mut signed = card();
    signed["signatures"] = serde_json::json!(sign(&signed, &key, None).expect("signatures"));
    let (_folder, path) = file("card.json", &signed.to_string());
    assert!(run(&["verify-card", &path], 0).contains("signed, but not verified"));
    let text = run(&["verify-card", &path, "--jwks", &jwks], 0);
    assert!(
        text.contains(&format!(
            "signed by the key {} (ES256): the whole card, by the text of the specification",
            key.id()
        )),
        "{text}"
    );
    let bytes = run(&["verify-card", &path, "--canonical"], 0);
    assert_eq!(
        bytes.into_bytes(),
        canonical(&signed, SignatureForm::Specification).expect("the canonical form")
    );

    signed["description"] = "Tells lies".into();
    let (_folder, path) = file("card.json", &signed.to_string());
    let text = run(&["verify-card", &path, "--jwks", &jwks], 1);
    assert!(
        text.contains("not verified: signatures[0]: it does not match this card and key"),
        "{text}"
    );
    let (_folder, path) = file("card.json", &card().to_string());
    assert!(run(&["verify-card", &path, "--jwks", &jwks], 1).contains("the card has no signature"));
}

#[test]
fn the_keys_of_a_card_are_read_before_the_agent_is_asked() {
    let tested = |jwks: &str, code| run(&["agent", "http://127.0.0.1:1", "--jwks", jwks], code);
    assert!(tested("no-such-file", 2).contains("no-such-file: "));
    let (_folder, path) = file("keys.json", "[]");
    assert!(tested(&path, 2).contains("it is not a JSON Web Key Set"));
    let (_folder, path) = file("keys.json", r#"{"keys": []}"#);
    assert!(tested(&path, 3).contains("http://127.0.0.1:1"));
    tested("http://127.0.0.1:1/keys.json", 3);
}

#[test]
fn verify_card_finds_the_card_of_an_agent() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut reader = BufReader::new(&mut stream);
        let mut line = String::new();
        reader.read_line(&mut line).expect("a request");
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        while reader.read_line(&mut line).is_ok_and(|length| length > 2) {}
        let body = card().to_string();
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(answer.as_bytes()).expect("the peer reads");
        path
    });
    let text = run(&["verify-card", &url], 0);
    assert_eq!(
        server.join().expect("it served"),
        "/.well-known/agent-card.json"
    );
    assert!(
        text.contains(&format!("({url}/.well-known/agent-card.json)")),
        "{text}"
    );
}
