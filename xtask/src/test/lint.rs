//! The checks that only Cargo makes, one after the other: they share its lock.

use std::time::Instant;

use super::cargo;
use super::tally::Tally;
use crate::{Failure, console};

/// Name and arguments of each.
const CHECKS: [(&str, &str); 4] = [
    (
        "clippy",
        "clippy --quiet --workspace --all-targets --all-features -- -D warnings",
    ),
    // Each alone, without what its features bring: no TLS, no SQLite, no compiler of C.
    (
        "lean",
        "check --quiet -p a2a-types -p a2a-jsonrpc -p a2a-transport -p a2a-client -p a2a-server --no-default-features",
    ),
    ("doc", "doc --quiet --workspace --no-deps --all-features"),
    (
        "examples in docs",
        "test --quiet --workspace --all-features --doc",
    ),
];

/// Makes the checks up to the first that fails; prints what a check said only if it failed.
///
/// Returns how many examples passed and failed, too.
pub(super) fn lint() -> (Tally, Result<(), Failure>) {
    let mut tally = Tally::default();
    for (name, arguments) in CHECKS {
        let begun = Instant::now();
        let mut command = cargo(arguments);
        command.env("RUSTDOCFLAGS", "-D warnings");
        let output = match command.output() {
            Ok(output) => output,
            Err(error) => return (tally, Err(format!("{name}: {error}"))),
        };
        let said = String::from_utf8_lossy(&output.stdout);
        tally.add(Tally::of(&said));
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            let status = output.status;
            console::heading(&format!("== {name} failed"));
            println!("{said}{errors}");
            return (tally, Err(format!("{name}: {status}")));
        }
        println!("{name}: ok, {:.0} s", begun.elapsed().as_secs_f64());
    }
    (tally, Ok(()))
}
