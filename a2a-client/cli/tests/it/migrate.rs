//! `a2a db migrate`, and `a2a serve` with a database that is not there.

use std::io::{Read, Write};
use std::net::TcpListener;

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
        &["serve", "echo", "--address=127.0.0.1:0", "--db", nowhere],
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

/// The server says that it has no TLS: the database of this machine is then called without, unless the URL wants it.
#[test]
fn a_database_of_this_machine_may_have_no_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://a2a@{}/a2a", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        for begins_in_the_clear in [true, false] {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 8];
            stream.read_exact(&mut request).unwrap();
            stream.write_all(b"N").unwrap();
            let next = stream.read(&mut [0; 64]).unwrap();
            assert_eq!(next > 0, begins_in_the_clear);
        }
    });
    check(
        &["db", "migrate", &url],
        1,
        &["no connection to the database"],
    );
    let with_tls = format!("{url}?sslmode=require");
    let expected = ["does not support TLS", "`sslmode=disable` in the URL"];
    check(&["db", "migrate", &with_tls], 1, &expected);
    server.join().unwrap();
}
