//! The checks that are no programs of tests, one after the other: Cargo's share its lock.

use std::process::Command;
use std::time::Instant;

use super::tally::Tally;
use super::{cargo, suite};
use crate::{Failure, api, console};

/// Makes Cargo compile the packages of the workspace by Clippy, which refuses what it warns of.
///
/// `cargo clippy` would check every dependency, and every package once more, in two minutes of a processor.
/// The file `.ci/run` sets the same variables: what it builds is used here.
pub(super) fn compile_with_clippy(cargo: &mut Command) {
    cargo.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
    cargo.env(
        "CLIPPY_ARGS",
        "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__",
    );
}

/// Makes the checks up to the first that fails; prints what a check said only if it failed.
///
/// Returns how many examples passed and failed, too.
pub(super) fn lint(all: bool) -> (Tally, Result<(), Failure>) {
    let mut tally = Tally::default();
    let outcome = checks(all, &mut tally);
    (tally, outcome)
}

fn checks(all: bool, tally: &mut Tally) -> Result<(), Failure> {
    check("replay", |said| {
        let mut replay = suite();
        replay.arg("replay");
        output(replay, said)
    })?;
    if !all {
        return Ok(());
    }
    let mut examples = cargo("test --quiet --workspace --all-features --doc");
    compile_with_clippy(&mut examples);
    api::beside_examples(&mut examples)?;
    examples.env("RUSTDOCFLAGS", "-D warnings");
    check("doc, examples in docs", |said| {
        output(examples, said)?;
        tally.add(Tally::of(said));
        Ok(())
    })?;
    check("public API", |_| api::compare())
}

/// Makes one check, and prints what it said if it failed.
fn check(
    name: &str,
    check: impl FnOnce(&mut String) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let begun = Instant::now();
    let mut said = String::new();
    if let Err(failure) = check(&mut said) {
        console::heading(&format!("== {name} failed"));
        println!("{said}");
        return Err(format!("{name}: {failure}"));
    }
    println!("{name}: ok, {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// Runs a command to its end; appends what it says.
fn output(mut command: Command, said: &mut String) -> Result<(), Failure> {
    let output = command.output().map_err(|error| error.to_string())?;
    *said += &String::from_utf8_lossy(&output.stdout);
    *said += &String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => Ok(()),
        false => Err(output.status.to_string()),
    }
}
