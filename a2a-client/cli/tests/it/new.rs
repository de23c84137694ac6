//! `a2a new`.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::{a2a, text};

fn new(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = a2a();
    let command = command.arg("new").args(arguments);
    command.current_dir(directory).output().unwrap()
}

/// Writes a package with `-o json`, and returns the output.
#[track_caller]
fn written(directory: &Path, arguments: &[&str]) -> Value {
    let output = new(directory, &[arguments, &["-o", "json"]].concat());
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{arguments:?}: {stdout}{stderr}");
    serde_json::from_str(&stdout).unwrap()
}

/// Checks that the arguments are refused with these words, and that nothing is written.
#[track_caller]
fn refused(arguments: &[&str], words: &[&str]) {
    let directory = TempDir::new().unwrap();
    let output = new(directory.path(), arguments);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    for word in words {
        assert!(
            stderr.contains(word),
            "{arguments:?}: no `{word}` in: {stderr}"
        );
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

fn templates() -> Vec<String> {
    let directory = TempDir::new().unwrap();
    let listed = written(directory.path(), &["--list"]);
    let rows = listed["templates"].as_array().unwrap();
    let names = rows.iter().map(|row| row["name"].as_str().unwrap());
    names.map(str::to_owned).collect()
}

#[test]
fn every_template_is_a_package() {
    for template in templates() {
        let directory = TempDir::new().unwrap();
        let place = directory.path().join("hello");
        let shown = written(directory.path(), &["hello", "--template", &template]);
        assert_eq!(shown["next"][0], "cd hello");
        let paths = shown["files"].as_array().unwrap();
        for path in paths.iter().map(|path| path.as_str().unwrap()) {
            let content = std::fs::read_to_string(place.join(path)).unwrap();
            assert!(content.ends_with('\n'), "{template}: {path}");
        }
        let program = std::fs::read_to_string(place.join("src/main.rs")).unwrap();
        assert!(program.contains("fn main("), "{template}");
        let test = std::fs::read_to_string(place.join("tests/calls.rs")).unwrap();
        assert!(test.contains("#[tokio::test"), "{template}");

        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["metadata", "--no-deps", "--offline", "--format-version=1"]);
        let output = cargo.current_dir(&place).output().unwrap();
        assert!(
            output.status.success(),
            "{template}: {}",
            text(&output.stderr)
        );
        let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
        let package = &metadata["packages"][0];
        assert_eq!(package["name"], "hello");
        let dependencies = package["dependencies"].as_array().unwrap();
        let mut ours = dependencies.iter().filter(|it| it["name"] == "agent2agent");
        let ours = ours.next().unwrap();
        let source = ours["source"].as_str().unwrap();
        assert_eq!(source, "git+https://github.com/a2a-rust/a2a", "{template}");
    }
}

#[test]
fn first_template_is_the_default() {
    let directory = TempDir::new().unwrap();
    let output = new(directory.path(), &["my-notes"]);
    let shown = text(&output.stdout);
    let next = "Next:\n  cd my-notes\n  cargo run\n  a2a send http://127.0.0.1:8080 \"TODO";
    assert!(shown.contains("Template: first_agent\n"), "{shown}");
    assert!(shown.contains(next), "{shown}");
    let readme = std::fs::read_to_string(directory.path().join("my-notes/README.md")).unwrap();
    assert!(
        readme.starts_with("# my-notes\n\nAn agent in one file"),
        "{readme}"
    );
    assert!(readme.contains("\n$ cargo run\n"), "{readme}");
}

#[test]
fn empty_directory_is_filled_and_another_is_kept() {
    let directory = TempDir::new().unwrap();
    std::fs::create_dir(directory.path().join("notes")).unwrap();
    written(directory.path(), &["notes"]);
    std::fs::write(directory.path().join("file"), "").unwrap();
    for name in ["notes", "file"] {
        let output = new(directory.path(), &[name, "--template", "client"]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        let expected = format!("cannot write to {name}: it exists, expected a new name");
        assert!(stderr.contains(&expected), "{stderr}");
    }
    let manifest = std::fs::read_to_string(directory.path().join("notes/Cargo.toml")).unwrap();
    assert!(
        manifest.starts_with("[package]\nname = \"notes\"\n"),
        "{manifest}"
    );
}

#[test]
fn names_that_cargo_does_not_accept_are_refused() {
    let long = "a".repeat(65);
    for name in ["", "1st", "_a", "my notes", "a/b", "..", "nöte", &long] {
        refused(
            &[name],
            &["cannot name a package", "expected at most 64 letters"],
        );
    }
    for name in ["test", "tokio", "agent2agent"] {
        refused(&[name], &["cannot name a package", "expected another"]);
    }
    refused(&[], &["<NAME>"]);
}

#[test]
fn unknown_template_is_refused_with_a_list() {
    let names = templates().join(", ");
    let expected = format!("--template poem: unknown, expected one of {names}");
    refused(&["notes", "--template", "poem"], &[&expected]);
}

#[test]
fn path_is_that_of_the_crate() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let directory = TempDir::new().unwrap();
    written(directory.path(), &["notes", "--path", root]);
    let manifest = std::fs::read_to_string(directory.path().join("notes/Cargo.toml")).unwrap();
    let root = std::fs::canonicalize(root).unwrap();
    let expected = format!("agent2agent = {{ path = {root:?} }}\n");
    assert!(manifest.contains(&expected), "{manifest}");
    let expected = "expected a directory with the package agent2agent";
    refused(
        &["notes", "--path", "nowhere"],
        &["--path nowhere: ", expected],
    );
    refused(
        &["notes", "--path", env!("CARGO_MANIFEST_DIR")],
        &["that of another package", expected],
    );
}
