//! The commands as they are called: what they print, and with what they end.

use std::process::{Command, Output};

use serde_json::Value;

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
fn list_tells_requirements_and_checks() {
    let all = json(&["list", "--json"]);
    let of = |arguments: &[&str]| {
        let listed = json(&[&["list", "--json"], arguments].concat());
        listed["requirements"].as_array().map_or(0, Vec::len)
    };
    let total = all["requirements"].as_array().map_or(0, Vec::len);
    let by_level = ["must", "should", "may"].map(|level| of(&["--level", level]));
    assert_eq!(by_level.iter().sum::<usize>(), total);
    let by_dialect = ["0.1", "0.2", "0.3", "1.0"].map(|dialect| of(&["--dialect", dialect]));
    assert_eq!(by_dialect.iter().sum::<usize>(), total);
    let client = json(&["list", "--json", "--role", "client", "--dialect", "1.0"]);
    for requirement in client["requirements"].as_array().expect("requirements") {
        assert_eq!(requirement["dialect"], "1.0");
        let binds = requirement["binds"].as_array().expect("parties");
        assert!(binds.contains(&"client".into()), "{requirement}");
    }
    for check in client["checks"].as_array().expect("checks") {
        assert_eq!(check["role"], "client", "{check}");
    }
    let text = run(&["list", "--dialect", "0.1"], 0);
    assert!(text.contains("A2A01-6.1-M1") && text.contains("send.session"));
}

#[test]
fn a_list_of_nothing_is_an_error() {
    run(
        &[
            "list",
            "--dialect",
            "0.2",
            "--role",
            "operator",
            "--level",
            "may",
        ],
        2,
    );
    run(&["list", "--dialect", "0.9"], 2);
}

#[test]
fn explain_tells_requirements_checks_and_what_is_near() {
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
    assert!(check.contains("A2A10-3.1.1-M2"), "{check}");
    let unknown = run(&["explain", "send.ended-task-accepted"], 2);
    assert!(unknown.contains("\n  send.ended-task-refused"), "{unknown}");
}

#[test]
fn coverage_counts_every_requirement() {
    let matrices = json(&["coverage", "--json"]);
    let matrices = matrices.as_array().expect("one for each generation");
    assert_eq!(matrices.len(), 4);
    for matrix in matrices {
        let dialect = matrix["dialect"].as_str().expect("a version");
        let listed = json(&["list", "--json", "--role", "agent", "--dialect", dialect]);
        let listed = listed["requirements"].as_array().map_or(0, Vec::len) as u64;
        let cells = matrix["total"]["agent"]
            .as_object()
            .expect("levels")
            .values();
        let count = |name: &str| {
            cells
                .clone()
                .filter_map(|cell| cell[name].as_u64())
                .sum::<u64>()
        };
        assert_eq!(
            count("covered") + count("excluded") + count("missing"),
            listed
        );
    }
    let text = run(&["coverage", "--dialect", "1.0"], 0);
    assert!(
        text.contains("A2A 1.0") && !text.contains("A2A 0.3"),
        "{text}"
    );
}
