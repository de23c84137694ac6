//! `a2a migrate`, and `a2a serve` with a database that is not there.

use crate::check;

#[test]
fn migrate_prints_statements_without_a_database() {
    let names = ["create schema \"tasks\"", "create table \"tasks\".task ("];
    check(&["migrate", "--print", "--db-schema", "tasks"], 0, &names);
    check(&["migrate", "--print", "--json"], 0, &["{\"sql\":\""]);
}

#[test]
fn a_database_that_cannot_be_used_is_an_error_of_this_machine() {
    // Nobody listens there.
    let nowhere = "postgres://a2a@127.0.0.1:1/a2a?sslmode=disable";
    check(
        &["migrate", nowhere],
        2,
        &["migrate", "no connection to the database"],
    );
    check(
        &["serve", "echo", "--db", nowhere],
        2,
        &["--db", "no connection to the database"],
    );
    check(&["migrate", "postgres://"], 2, &["the URL of the database"]);
    check(&["migrate"], 2, &["<URL>"]);
}
