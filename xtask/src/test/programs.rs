//! The programs of the tests: Cargo builds them, this runs them.

use std::env;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use super::lint;
use super::pass_record::PassRecord;
use super::tally::Tally;
use crate::{Failure, console, workspace};

/// Number of programs that run at the same time, each with a thread for each processor.
const PROGRAMS_AT_ONCE: usize = 3;

/// One program of tests.
#[derive(Debug)]
pub(super) struct Program {
    /// Directory of its package, in which the tests run.
    package: PathBuf,
    target: String,
    path: PathBuf,
}

impl Program {
    fn name(&self) -> String {
        let package = self.package.file_name().unwrap_or_default();
        format!("{} {}", package.to_string_lossy(), self.target)
    }

    /// Arguments that leave out the slow tests of this program.
    fn without_slow(&self) -> impl Iterator<Item = String> {
        let name = self.name();
        let slow = SLOW.iter().filter(move |(program, _)| *program == name);
        slow.map(|(_, tests)| format!("--skip={tests}"))
    }

    fn of(artifact: &Value) -> Option<Self> {
        // A bench is also built as a test, and is none.
        let is_test = artifact["profile"]["test"].as_bool()? && artifact["target"]["test"] == true;
        let path = artifact["executable"].as_str().filter(|_| is_test)?;
        Some(Self {
            package: Path::new(artifact["manifest_path"].as_str()?)
                .parent()?
                .to_owned(),
            target: artifact["target"]["name"].as_str()?.to_owned(),
            path: path.into(),
        })
    }
}

/// Builds the tests of the workspace, and the examples: a test runs one of them. Clippy lints all of it.
pub(super) fn build() -> Result<Vec<Program>, Failure> {
    let mut cargo = super::cargo(
        "build --workspace --all-features --tests --examples --benches --message-format=json-render-diagnostics",
    );
    lint::compile_with_clippy(&mut cargo);
    let output = cargo.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(output.status.to_string());
    }
    let lines = String::from_utf8_lossy(&output.stdout);
    let messages = lines
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let programs: Vec<_> = messages
        .filter_map(|message| Program::of(&message))
        .collect();
    let mut programs = programs;
    // The sort is stable: what is not named keeps Cargo's order.
    programs.sort_by_key(|program| {
        BY_DURATION
            .iter()
            .position(|name| *name == program.name())
            .unwrap_or(BY_DURATION.len())
    });
    match programs.is_empty() {
        true => Err("Cargo built no test".to_owned()),
        false => Ok(programs),
    }
}

/// Programs that run longest, and so start first: none of them runs alone at the end.
const BY_DURATION: &[&str] = &[
    "a2a-conformance it",
    "postgres it",
    "inspector it",
    "a2a-server it",
    "a2a-client it",
    "a2a-server canaries",
    "bench bench",
    "a2a-server memory",
    "a2a-types it",
    "xtask xtask",
];

/// Tests that take a processor for 5 seconds or run for 10, by their program and a part of their names; an empty part
/// names all. Only `--all` runs them.
const SLOW: &[(&str, &str)] = &[
    ("a2a-conformance it", "broken_agents::"),
    ("a2a-conformance it", "broken_clients::"),
    ("a2a-conformance it", "replay::every_fault_is_noticed"),
    ("a2a-conformance it", "self_test::"),
    ("a2a-conformance it", "wire_mutations::"),
    ("a2a-server it", "harness::webhooks"),
    ("a2a-server it", "interoperability::large"),
    ("a2a-server memory", ""),
    ("bench bench", ""),
    ("inspector it", "browser::"),
    ("postgres it", "faults::"),
    ("postgres it", "leases::task_that_is_worked_on"),
    ("postgres it", "listing::page_reads_no_row"),
    ("postgres it", "outbox::backlog_of_a_receiver"),
    ("postgres it", "suite::keeps_every_promise_behind_a_pooler"),
];

/// Runs the programs, and counts their tests; prints the output of a program only if it failed.
///
/// Without `all`, it leaves out the slow tests, and the programs that passed since they, and what they depend on, last
/// changed.
pub(super) fn run(programs: &[Program], all: bool, tally: &mut Tally) -> Result<(), Failure> {
    let begun = SystemTime::now();
    let mut passed = PassRecord::read(workspace::root());
    // Variables of this name change what tests do.
    let all = all || env::vars_os().any(|(name, _)| name.to_string_lossy().starts_with("A2A_"));
    let (waiting, unchanged): (Vec<_>, Vec<_>) = programs
        .iter()
        .partition(|it| all || !passed.holds(&it.package, &it.path));
    for program in unchanged {
        println!("{}: unchanged since it passed", program.name());
    }
    let queue = Mutex::new(waiting.into_iter());
    let next = || queue.lock().expect("no thread panics").next();
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..PROGRAMS_AT_ONCE {
            scope.spawn(|| {
                while let Some(program) = next() {
                    let result = run_one(program, all);
                    results
                        .lock()
                        .expect("no thread panics")
                        .push((program, result));
                }
            });
        }
    });
    let mut failed = Vec::new();
    for (program, result) in results.into_inner().expect("no thread panics") {
        match result {
            Ok(result) => {
                tally.add(result);
                passed.keep(&program.path, begun);
            }
            Err(result) => {
                tally.add(result);
                passed.forget(&program.path);
                failed.push(program.name());
            }
        }
    }
    passed.write()?;
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("tests failed: {}", failed.join(", "))),
    }
}

/// Runs one program. Its tests are counted whether they passed or not.
fn run_one(program: &Program, all: bool) -> Result<Tally, Tally> {
    let begun = Instant::now();
    let mut command = Command::new(&program.path);
    command
        .current_dir(&program.package)
        .env("CARGO_MANIFEST_DIR", &program.package)
        .args(program.without_slow().filter(|_| !all));
    let name = program.name();
    let (well, text) = match output_within(MAX_DURATION, command) {
        Ok((status, text)) => (status.success(), text),
        Err(error) => (false, error.to_string()),
    };
    let tally = Tally::of(&text);
    let seconds = begun.elapsed().as_secs_f64();
    if well {
        let left = match tally.left_out {
            0 => String::new(),
            slow => format!(", {slow} slow left to --all"),
        };
        println!("{name}: {} passed{left}, {seconds:.0} s", tally.passed);
        return Ok(tally);
    }
    let mut said = String::new();
    for line in text.lines().filter(|line| !line.ends_with(" ... ok")) {
        said.push_str(line);
        said.push('\n');
    }
    console::heading(&format!("== {name} failed after {seconds:.0} s"));
    println!("{said}");
    // A program that died before it counted has failed, too.
    Err(Tally {
        failed: tally.failed.max(1),
        ..tally
    })
}

/// Limit on the time of one program. A test that waits forever fails the run, and does not hold it up forever.
const MAX_DURATION: Duration = Duration::from_secs(600);

/// Runs a command, and returns its status and the lines that it printed. It is killed when the time is over.
fn output_within(limit: Duration, mut command: Command) -> io::Result<(ExitStatus, String)> {
    let begun = Instant::now();
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let (sender, lines) = mpsc::channel();
    send_lines(child.stdout.take(), sender.clone());
    send_lines(child.stderr.take(), sender);
    let mut text = String::new();
    loop {
        match lines.recv_timeout(limit.saturating_sub(begun.elapsed())) {
            Ok(line) => text += &line,
            Err(RecvTimeoutError::Disconnected) => return Ok((child.wait()?, text)),
            Err(RecvTimeoutError::Timeout) => break,
        }
    }
    child.kill()?;
    text += &format!(
        "killed: it ran for longer than {limit:?}, or a process that it left behind did\n"
    );
    Ok((child.wait()?, text))
}

/// Sends each line of a stream, with its end. What is no UTF-8 is replaced: a test may print anything.
fn send_lines(stream: Option<impl Read + Send + 'static>, lines: Sender<String>) {
    let Some(stream) = stream else { return };
    thread::spawn(move || {
        for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line) + "\n";
            // Nobody waits for it any more after the time is over.
            let _ = lines.send(line.into_owned());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn program(path: &str) -> Program {
        Program {
            package: workspace::root().to_owned(),
            target: "it".to_owned(),
            path: path.into(),
        }
    }

    #[test]
    fn a_program_that_fails_without_a_count_has_failed() {
        let failed = Tally {
            failed: 1,
            ..Tally::default()
        };
        assert_eq!(run_one(&program("false"), true), Err(failed));
        assert_eq!(run_one(&program("no-such-program"), true), Err(failed));
    }

    #[test]
    fn a_program_that_never_ends_is_killed() {
        let mut endless = Command::new("sh");
        endless.args(["-c", "echo begun; exec tail -f /dev/null"]);
        let (status, text) = output_within(Duration::from_millis(500), endless).unwrap();
        assert!(!status.success());
        assert!(
            text.contains("killed: it ran for longer than 500ms"),
            "{text}"
        );
    }

    #[test]
    fn only_tests_are_programs_of_tests() {
        let artifact = |target: bool, profile: bool| {
            json!({
                "reason": "compiler-artifact", "manifest_path": "/w/a2a-types/Cargo.toml",
                "target": {"name": "it", "test": target}, "profile": {"test": profile},
                "executable": "/w/target/it",
            })
        };
        let program = Program::of(&artifact(true, true)).expect("it is a test");
        assert_eq!(program.name(), "a2a-types it");
        assert!(Program::of(&artifact(true, false)).is_none(), "a program");
        assert!(Program::of(&artifact(false, true)).is_none(), "a bench");
        assert!(Program::of(&json!({"reason": "build-finished"})).is_none());
    }
}
