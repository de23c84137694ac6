//! `cargo xtask nightly`: the exhaustive checks and the experiments, for the night or before a release.
//!
//! Each runs, also if others failed. Their figures are written to `xtask/nightly.md` with the date,
//! the machine and the commit.

use std::fmt::Write as _;
use std::iter;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use clap::Args;
use serde_json::Value;

use crate::{Failure, console, harness, workspace};

/// The checks and experiments, in this order: name, command. A command that begins with `xtask` is a task
/// of this program; `a2a-conformance` is the suite.
const JOBS: &[(&str, &str)] = &[
    ("all mutants", "a2a-conformance self-test"),
    ("dependencies with their assertions", ASSERTED),
    (
        "all wire mutations",
        "cargo test -p a2a-conformance --test it -- wire_mutations --nocapture",
    ),
    (
        "faults of replays",
        "cargo test -p a2a-conformance --test it -- replay",
    ),
    (
        "faults of stores",
        "cargo test -p a2a-server --all-features --test it -- suite",
    ),
    (
        "PostgreSQL: faults, and behind a pooler",
        "cargo test -p a2a-postgres --test it -- suite faults",
    ),
    (
        "accessibility in every view",
        "cargo test -p a2a-inspector --all-features --test it -- accessibility",
    ),
    ("crash", "xtask crash"),
    ("disconnects", "xtask disconnects"),
    ("disconnects of the client", "xtask disconnects --client"),
    ("followers", "xtask followers"),
    ("duplicates", "xtask duplicates"),
    ("webhooks", "xtask webhooks"),
    ("cost of the client", "xtask client"),
    (
        "hostile peers",
        "xtask hostile readers heads handshakes bodies descriptors",
    ),
    ("memory", "xtask hostile memory"),
    ("instructions", "xtask bench count"),
    ("rate of ten minutes", "xtask sends --seconds 600"),
    ("documentation", DOC),
    (
        "digests of messages with preserve_order",
        "cargo test -p a2a-server --lib --features serde_json/preserve_order -- message_digest",
    ),
    ("packages", "xtask package"),
    ("dependencies", "cargo deny check"),
    ("oldest compiler", MSRV),
];

/// The whole documentation: `cargo xtask test` has that of the libraries.
const DOC: &str = r#"cargo doc --quiet --workspace --no-deps --all-features --config build.rustdocflags=["-Dwarnings"]"#;

/// All tests, with what dependencies assert of themselves: builds for tests leave it out.
const ASSERTED: &str = r#"cargo test --quiet --no-fail-fast --workspace --all-features --config profile.dev.package."*".debug-assertions=true --config profile.dev.package."*".overflow-checks=true"#;

/// Replaced by a build with the `rust-version` of the workspace.
const MSRV: &str = "cargo check --workspace --all-features with the oldest compiler";

/// Selection of jobs, and what to do with their figures.
#[derive(Args)]
pub(crate) struct NightlyArgs {
    /// Only the jobs with one of these words in their names.
    only: Vec<String>,
    /// Name the jobs and their commands, and run none.
    #[arg(long)]
    list: bool,
    /// Write the figures to xtask/nightly.md.
    #[arg(long)]
    write: bool,
}

/// Runs the jobs; fails if one of them did, after the last of them.
pub(crate) fn nightly(args: &NightlyArgs) -> Result<(), Failure> {
    let jobs = jobs()?;
    let chosen = jobs.iter().filter(|job| args.chooses(job));
    if args.list {
        chosen.for_each(|job| println!("{:40} {}", job.name, job.command));
        return Ok(());
    }
    let mut results = Vec::new();
    for job in chosen {
        results.push(job.run());
        // After each: they take an hour, and the last may be stopped.
        if args.write {
            std::fs::write(page_path(), page(&results)?).map_err(|error| error.to_string())?;
        }
    }
    if results.is_empty() {
        return Err(format!("no job has {:?} in its name", args.only));
    }
    println!("{}", table(&results));
    let failed = results
        .iter()
        .filter(|result| result.outcome == Outcome::Failed);
    let failed: Vec<_> = failed.map(|result| result.job.name.as_str()).collect();
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("failed: {}", failed.join(", "))),
    }
}

impl NightlyArgs {
    fn chooses(&self, job: &Job) -> bool {
        self.only.is_empty()
            || self
                .only
                .iter()
                .any(|word| job.name.contains(word.as_str()))
    }
}

/// A command, and the name that its figures stand under.
struct Job {
    name: String,
    command: String,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Outcome {
    Passed,
    Failed,
    /// A tool that it needs is not installed here.
    Skipped,
}

struct JobResult<'j> {
    job: &'j Job,
    outcome: Outcome,
    seconds: u64,
    output: String,
}

/// All jobs: the fixed ones, and for each crate one without its features and one for each of them.
fn jobs() -> Result<Vec<Job>, Failure> {
    let metadata = metadata()?;
    let fixed = JOBS.iter().map(|&(name, command)| Job {
        name: name.to_owned(),
        command: match command {
            MSRV => format!(
                "cargo +{} check --workspace --all-features",
                rust_version(&metadata)
            ),
            command => command.to_owned(),
        },
    });
    Ok(fixed.chain(features(&metadata)).collect())
}

/// For each crate: Clippy on it without its features, so with no TLS, no SQLite and no compiler of C; then a check of
/// each feature by itself.
fn features(metadata: &Value) -> Vec<Job> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let packages = packages.filter(|package| package["name"] != "xtask");
    let jobs = packages.flat_map(|package| {
        let name = package["name"].as_str().unwrap_or_default();
        let features = package["features"].as_object().into_iter().flatten();
        let alone = features.map(move |(feature, _)| Job {
            name: format!("feature {feature} of {name}"),
            command: format!("cargo check -p {name} --no-default-features --features {feature}"),
        });
        let none = Job {
            name: format!("no features of {name}"),
            command: format!("cargo clippy -p {name} --no-default-features -- -Dwarnings"),
        };
        iter::once(none).chain(alone)
    });
    jobs.collect()
}

fn metadata() -> Result<Value, Failure> {
    let mut cargo = workspace::cargo();
    cargo.args(["metadata", "--no-deps", "--format-version=1"]);
    let output = cargo.output().map_err(|error| error.to_string())?;
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

fn rust_version(metadata: &Value) -> &str {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let mut versions = packages.filter_map(|package| package["rust_version"].as_str());
    versions.next().unwrap_or("stable")
}

impl Job {
    fn run(&self) -> JobResult<'_> {
        console::heading(&format!("== {}: {}", self.name, self.command));
        let begun = Instant::now();
        let (outcome, output) = match self.missing() {
            Some(tool) => (Outcome::Skipped, format!("{tool} is not installed here\n")),
            None => self.output(),
        };
        print!("{output}");
        JobResult {
            job: self,
            outcome,
            seconds: begun.elapsed().as_secs(),
            output,
        }
    }

    /// The tool that the job needs and that is not there.
    fn missing(&self) -> Option<&str> {
        let mut words = self.command.split(' ').skip(1);
        let tool = words.next()?;
        let mut probe = Command::new("cargo");
        match tool {
            "deny" => probe.args(["deny", "--version"]),
            "bench" => {
                probe = Command::new("valgrind");
                probe.arg("--version")
            }
            oldest if oldest.starts_with('+') => probe.args([oldest, "--version"]),
            _ => return None,
        };
        let there = probe.output().is_ok_and(|output| output.status.success());
        (!there).then_some(match tool {
            "deny" => "cargo-deny",
            "bench" => "valgrind",
            oldest => oldest,
        })
    }

    fn output(&self) -> (Outcome, String) {
        let mut words = self.command.split(' ');
        let mut command = match words.next() {
            Some("xtask") => {
                let this = std::env::current_exe().unwrap_or_else(|_| "xtask".into());
                Command::new(this)
            }
            Some("a2a-conformance") => {
                let mut cargo = workspace::cargo();
                cargo.args([
                    "run",
                    "--quiet",
                    harness::PROFILE,
                    "-p",
                    "a2a-conformance",
                    "--",
                ]);
                cargo
            }
            // `+1.89` is an argument of rustup's `cargo`.
            _ => Command::new("cargo"),
        };
        command.args(words).current_dir(workspace::root());
        command.env("A2A_EXHAUSTIVE", "1").env("NO_COLOR", "1");
        match command.stderr(std::process::Stdio::inherit()).output() {
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                let outcome = match output.status.success() {
                    true => Outcome::Passed,
                    false => Outcome::Failed,
                };
                (outcome, text)
            }
            Err(error) => (Outcome::Failed, format!("{error}\n")),
        }
    }
}

/// A line for each job.
fn table(results: &[JobResult<'_>]) -> String {
    let mut table = "| job | result | seconds |\n|---|---|---|\n".to_owned();
    for JobResult {
        job,
        outcome,
        seconds,
        ..
    } in results
    {
        let outcome = format!("{outcome:?}").to_lowercase();
        writeln!(table, "| {} | {outcome} | {seconds} |", job.name).expect("a String takes it");
    }
    table
}

/// Returns the page that is kept: the machine, the table, and the output of each job.
fn page(results: &[JobResult<'_>]) -> Result<String, Failure> {
    let mut page = format!(
        "# Figures of the last nightly run\n\n\
         Written by `cargo xtask nightly --write` on {} at commit {}, on {}.\n\n{}",
        output_of("date", &["-u", "+%F"])?,
        output_of("git", &["rev-parse", "--short", "HEAD"])?,
        machine()?,
        table(results)
    );
    for result in results
        .iter()
        .filter(|result| !result.output.trim().is_empty())
    {
        let (name, command) = (&result.job.name, &result.job.command);
        let output = shortened(result.output.trim_end());
        write!(
            page,
            "\n## {name}\n\n`{command}`\n\n```text\n{output}\n```\n"
        )
        .expect("a String takes it");
    }
    Ok(page)
}

/// The end of a text, where the figures are.
fn shortened(output: &str) -> String {
    let lines: Vec<_> = output.lines().collect();
    lines[lines.len().saturating_sub(MAX_LINES)..].join("\n")
}

/// Lines of a job's output that are kept.
const MAX_LINES: usize = 130;

/// Processors and memory.
fn machine() -> Result<String, Failure> {
    let cores = std::thread::available_parallelism().map_err(|error| error.to_string())?;
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = memory
        .split_whitespace()
        .nth(1)
        .and_then(|kib| kib.parse::<u64>().ok());
    let memory = kib.map_or(String::new(), |kib| {
        format!(", {} GiB of memory", kib >> 20)
    });
    let system = output_of("uname", &["-sm"])?;
    Ok(format!("{cores} processors{memory}, {system}"))
}

fn output_of(program: &str, arguments: &[&str]) -> Result<String, Failure> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(workspace::root())
        .output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn page_path() -> PathBuf {
    workspace::root().join("xtask/nightly.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_is_built_by_itself() {
        let jobs = jobs().expect("cargo tells of the workspace");
        let commands: Vec<_> = jobs.iter().map(|job| job.command.as_str()).collect();
        let sqlite = "cargo check -p a2a-server --no-default-features --features sqlite";
        assert!(commands.contains(&sqlite), "{commands:?}");
        let none = "cargo clippy -p a2a-server --no-default-features -- -Dwarnings";
        assert!(commands.contains(&none), "{commands:?}");
    }

    #[test]
    fn a_failed_job_does_not_hide_the_others() {
        let job = |command: &str| Job {
            name: command.to_owned(),
            command: command.to_owned(),
        };
        let [failed, passed] = [job("cargo no-such-command"), job("cargo --version")];
        let results = [failed.run(), passed.run()];
        let outcomes = results.each_ref().map(|result| result.outcome);
        assert_eq!(outcomes, [Outcome::Failed, Outcome::Passed]);
        assert!(table(&results).contains("| cargo no-such-command | failed |"));
        assert!(results[1].output.starts_with("cargo "));
    }

    #[test]
    fn a_missing_tool_is_skipped() {
        let job = Job {
            name: "old".to_owned(),
            command: "cargo +0.0.1 check".to_owned(),
        };
        assert_eq!(job.run().outcome, Outcome::Skipped);
    }
}
