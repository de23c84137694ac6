//! `cargo xtask test`: the checks after a change; with `--all`, every check there is.
//!
//! ```text
//! fmt, schema, tidy ─► Clippy builds ─┬─► run the tests, three programs at a time ─┬─► tests: N passed
//!                      the tests      └─► replay; with --all: examples in docs, … ─┘
//! ```
//!
//! Tests wait for timers and sockets a third of their time. A third program and the tasks of Cargo fill that time.
//! `cargo xtask nightly` has the crates without their features, and the documentation of the programs.

mod lint;
mod pass_record;
mod programs;
mod tally;

use std::process::Command;
use std::thread;

use clap::Args;

use crate::{Failure, console, schema, tidy, workspace};
use tally::Tally;

/// Selection of tests.
#[derive(Args)]
pub(crate) struct TestArgs {
    /// Make every check: also the slow tests, those of packages that passed and have not changed since, the
    /// documentation with its examples, and the public API.
    #[arg(long)]
    pub(crate) all: bool,
}

/// Makes the checks.
///
/// When all hold, the last line is `tests: N passed, 0 failed`: the continuous integration reads
/// it. The line is also there when tests failed, and not when something else did.
pub(crate) fn test(args: &TestArgs) -> Result<(), Failure> {
    let mut tally = Tally::default();
    let outcome = steps(args, &mut tally);
    if outcome.is_ok() && !args.all {
        println!("`cargo xtask test --all` makes every check.");
    }
    if outcome.is_ok() || tally.failed > 0 {
        println!("tests: {} passed, {} failed", tally.passed, tally.failed);
    }
    outcome
}

fn steps(args: &TestArgs, tally: &mut Tally) -> Result<(), Failure> {
    step("fmt", || run(cargo("fmt --all --check")))?;
    step("schema", schema::check)?;
    step("tidy", tidy::tidy)?;
    let mut built = Vec::new();
    step("clippy, build the tests", || {
        built = programs::build()?;
        Ok(())
    })?;
    console::heading("== run the tests and the other checks");
    thread::scope(|scope| {
        let linted = scope.spawn(|| lint::lint(args.all));
        let tested = programs::run(&built, args.all, tally);
        let (examples, linted) = linted.join().expect("no check panics");
        tally.add(examples);
        tested.and(linted)
    })
}

fn step(name: &str, check: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    console::heading(&format!("== {name}"));
    check().map_err(|failure| format!("{name}: {failure}"))
}

fn cargo(arguments: &str) -> Command {
    let mut cargo = workspace::cargo();
    cargo.args(arguments.split(' '));
    cargo
}

/// The conformance suite: as the tests have just built it beside this program, if it is there.
fn suite() -> Command {
    let name = format!("a2a-conformance{}", std::env::consts::EXE_SUFFIX);
    let built = std::env::current_exe().map(|xtask| xtask.with_file_name(name));
    match built {
        Ok(built) if built.exists() => {
            let mut suite = Command::new(built);
            suite.current_dir(workspace::root());
            suite
        }
        _ => cargo("run --quiet -p a2a-conformance --"),
    }
}

fn run(mut command: Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| error.to_string())?;
    if status.success() {
        Ok(())
    } else {
        Err(status.to_string())
    }
}
