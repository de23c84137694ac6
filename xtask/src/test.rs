//! `cargo xtask test`: every check in order, the cheap ones first, up to the first that fails.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::{Failure, console, schema, tidy, workspace};

/// Makes every check.
///
/// When all hold, the last line is `tests: N passed, 0 failed`: the continuous integration reads
/// it. The line is also there when tests failed, and not when something else did.
pub(crate) fn test() -> Result<(), Failure> {
    let mut tally = Tally::default();
    let outcome = steps(&mut tally);
    if outcome.is_ok() || tally.failed > 0 {
        println!("tests: {} passed, {} failed", tally.passed, tally.failed);
    }
    outcome
}

fn steps(tally: &mut Tally) -> Result<(), Failure> {
    step("fmt", || run(cargo("fmt --all --check")))?;
    step("clippy", || {
        run(cargo(
            "clippy --workspace --all-targets --all-features -- -D warnings",
        ))
    })?;
    // Each alone, without what its features bring: no TLS, no SQLite, no compiler of C.
    step("lean", || {
        run(cargo(
            "check -p a2a-types -p a2a-jsonrpc -p a2a-transport -p a2a-client -p a2a-server --no-default-features",
        ))
    })?;
    step("test", || {
        count(cargo("test --workspace --all-features"), tally)
    })?;
    step("doc", || {
        let mut doc = cargo("doc --workspace --no-deps --all-features");
        doc.env("RUSTDOCFLAGS", "-D warnings");
        run(doc)
    })?;
    step("schema", schema::check)?;
    step("tidy", tidy::tidy)?;
    step("replay", || {
        let mut suite = suite();
        suite.arg("replay");
        run(suite)
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

/// Runs tests, lets their output through, and counts them.
fn count(mut command: Command, tally: &mut Tally) -> Result<(), Failure> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let output = child.stdout.take().expect("it is piped");
    // A test may print what is no UTF-8.
    for line in BufReader::new(output).split(b'\n') {
        let line = line.map_err(|error| error.to_string())?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        tally.add(&line);
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    match (status.success(), tally) {
        (false, _) => Err(status.to_string()),
        (true, Tally { passed: 0, .. }) => Err("no test ran".to_owned()),
        (true, _) => Ok(()),
    }
}

/// How many tests ran, over all their programs.
#[derive(Debug, Default, Eq, PartialEq)]
struct Tally {
    passed: usize,
    failed: usize,
}

impl Tally {
    /// Adds a line like `test result: ok. 7 passed; 0 failed; …`; other lines say nothing.
    fn add(&mut self, line: &str) {
        let Some((_, result)) = line.split_once("test result:") else {
            return;
        };
        self.passed += number_before(result, " passed");
        self.failed += number_before(result, " failed");
    }
}

fn number_before(text: &str, word: &str) -> usize {
    let before = text.split_once(word).map_or("", |(before, _)| before);
    let number = before.rsplit(' ').next().unwrap_or_default();
    number.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_tests_fails() {
        let mut tally = Tally::default();
        let outcome = count(cargo("--version"), &mut tally);
        assert_eq!(outcome, Err("no test ran".to_owned()));
        assert_eq!(tally, Tally::default());
    }

    #[test]
    fn results_are_added_up() {
        let mut tally = Tally::default();
        for line in [
            "running 3 tests",
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
            "test result: \x1b[31mFAILED\x1b[0m. 3 passed; 2 failed; 1 ignored",
        ] {
            tally.add(line);
        }
        let expected = Tally {
            passed: 15,
            failed: 2,
        };
        assert_eq!(tally, expected);
    }
}
