//! `a2a db migrate`, and `a2a serve` with a database that is not there.

use crate::{a2a, check};

#[test]
fn migrate_prints_statements_without_a_database() {
    let names = ["create schema \"tasks\"", "create table \"tasks\".task ("];
    check(
        &["db", "migrate", "--print", "--db-schema", "tasks"],
        0,
        &names,
    );
    check(
        &["db", "migrate", "--print", "-o", "json"],
        0,
        &["{\"sql\":\""],
    );
}

#[test]
fn a_database_that_cannot_be_used_is_an_error_of_this_machine() {
    // No server listens there.
    let nowhere = "postgres://a2a@127.0.0.1:1/a2a?sslmode=disable";
    check(
        &["db", "migrate", nowhere],
        1,
        &["migrate", "no connection to the database"],
    );
    check(
        &["serve", "echo", "--db", nowhere],
        1,
        &["--db", "no connection to the database"],
    );
    check(
        &["db", "migrate", "postgres://"],
        1,
        &["the URL of the database"],
    );
    check(&["db", "migrate"], 2, &["<URL>"]);
}

#[test]
fn a_database_without_tls_needs_no_certificate_authorities() {
    let mut migrate = a2a();
    migrate.args([
        "db",
        "migrate",
        "postgres://a2a@127.0.0.1:1/a2a?sslmode=disable",
    ]);
    migrate.env("SSL_CERT_FILE", "/nonexistent");
    migrate.env("SSL_CERT_DIR", "/nonexistent");
    let output = migrate.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("no connection to the database"), "{error}");
}
