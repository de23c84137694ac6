//! `a2a db check`.

use tempfile::TempDir;

use crate::{Agent, check};

#[test]
fn check_reports_intact_damaged_and_missing_files() {
    let directory = TempDir::new().unwrap();
    let db = directory.path().join("tasks.db");
    let file = db.to_str().unwrap();
    let agent = Agent::begin(&["echo", "--address", "127.0.0.1:0", "--db", file]);
    check(&["send", &agent.url, "hello"], 0, &["hello"]);
    // Checked while the server runs, and again after it was killed.
    let intact = ["tasks.db: intact; 0 unfinished tasks, 1 ended tasks, 1 remembered messages"];
    check(&["db", "check", file], 0, &intact);
    drop(agent);
    check(&["db", "check", file], 0, &intact);
    check(
        &["db", "check", file, "-o", "json"],
        0,
        &["\"damages\":[]", "\"ended\":1"],
    );

    let other = directory.path().join("other.db");
    std::fs::write(&other, [7; 8192]).unwrap();
    let other = other.to_str().unwrap();
    check(
        &["db", "check", other],
        1,
        &["other.db: damaged", "not a database"],
    );
    let none = directory.path().join("none.db");
    check(&["db", "check", none.to_str().unwrap()], 1, &["none.db"]);
    assert!(!none.exists());
}
