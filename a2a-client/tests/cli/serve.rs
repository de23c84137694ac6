//! `a2a serve`, where it cannot.

use tempfile::TempDir;

use crate::{Agent, check};

#[test]
fn a_file_that_another_process_writes_to_is_left_to_it() {
    let directory = TempDir::new().unwrap();
    let db = directory.path().join("tasks.db");
    let options = ["--address", "127.0.0.1:0", "--db", db.to_str().unwrap()];
    let _first = Agent::begin(&[&["echo"], &options[..]].concat());
    let second = [&["serve", "echo"], &options[..]].concat();
    check(&second, 2, &["tasks.db", "is in use by another process"]);
}

#[test]
fn an_address_that_is_taken_is_named() {
    let agent = Agent::named("echo");
    let address = agent.url.trim_start_matches("http://").trim_matches('/');
    let second = ["serve", "echo", "--address", address];
    check(&second, 2, &[address, "in use"]);
}
