//! `cargo xtask bench count`: how many instructions a request takes. They are the same on a busy
//! machine as on an idle one, so that a change that costs something shows.
//!
//! The counted program is a server with its tasks in memory, without webhooks and with the system's
//! allocator, and its caller: so it is built in little time.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::{Failure, console, workspace};

/// Number of instructions by kind of request.
type Counts = BTreeMap<String, u64>;

/// Baseline counts in the repository.
#[derive(Debug, Deserialize, Serialize)]
struct Baseline {
    /// The compiler that built what was counted: another's counts are other ones.
    rustc: String,
    instructions: Counts,
}

/// Counts instructions and compares them with the baseline, or writes a new baseline.
pub(crate) fn count(write: bool) -> Result<(), Failure> {
    if !is_there() {
        return Err("valgrind, which counts, is not there".to_owned());
    }
    let rustc = rustc()?;
    if write {
        let instructions = counted()?;
        let text = serde_json::to_string_pretty(&Baseline {
            rustc,
            instructions,
        });
        let text = text.map_err(|error| error.to_string())? + "\n";
        return std::fs::write(baseline_path(), text).map_err(|error| error.to_string());
    }
    let baseline = baseline()?;
    let counted = counted()?;
    for (request, count) in &counted {
        let before = baseline
            .instructions
            .get(request)
            .copied()
            .unwrap_or_default();
        println!("{request}: {count} instructions, baseline {before}");
    }
    match baseline.rustc == rustc {
        true => rises(&baseline.instructions, &counted)
            .iter()
            .for_each(|rise| println!("{rise}")),
        false => println!("{}", not_alike(&baseline, &rustc)),
    }
    Ok(())
}

fn not_alike(baseline: &Baseline, rustc: &str) -> String {
    format!(
        "the baseline was counted with {} and this is {rustc}: the counts cannot be compared; `cargo xtask bench count --write` writes a new baseline",
        baseline.rustc
    )
}

fn is_there() -> bool {
    let request = Command::new("valgrind").arg("--version").output();
    request.is_ok_and(|request| request.status.success())
}

fn baseline_path() -> PathBuf {
    workspace::root().join("xtask/bench/instructions.json")
}

fn baseline() -> Result<Baseline, Failure> {
    let text = std::fs::read_to_string(baseline_path()).map_err(|error| error.to_string())?;
    let failure = |error| format!("{}: {error}", baseline_path().display());
    serde_json::from_str(&text).map_err(failure)
}

/// The compiler, and what it compiles for, as in `rustc 1.95.0 (59807616e 2026-04-14) for x86_64-unknown-linux-gnu`.
fn rustc() -> Result<String, Failure> {
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let output = rustc.current_dir(workspace::root()).arg("-vV").output();
    let output = output.map_err(|error| format!("rustc: {error}"))?;
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = output.lines().find_map(|line| line.strip_prefix("host: "));
    match (output.lines().next(), host) {
        (Some(version), Some(host)) => Ok(format!("{version} for {host}")),
        _ => Err(format!("no version in the output of rustc: {output:?}")),
    }
}

fn counted() -> Result<Counts, Failure> {
    console::heading("building what is counted");
    let mut build = workspace::cargo();
    build.args(["build", "--quiet", "--profile", "experiment"]);
    build.args(["--package", "a2a-bench", "--bin", "a2a-bench"]);
    build.args(["--no-default-features", "--message-format"]);
    build.arg("json-render-diagnostics");
    build.stderr(std::process::Stdio::inherit());
    let built = build.output().map_err(|error| error.to_string())?;
    if !built.status.success() {
        return Err(built.status.to_string());
    }
    let program =
        program(&String::from_utf8_lossy(&built.stdout)).ok_or("Cargo has built no program")?;
    let mut counts = Counts::new();
    for request in ["send", "get"] {
        // Costs that occur once, at the beginning and at the end, are in both.
        let (once, twice) = (
            run(&program, request, REQUESTS)?,
            run(&program, request, 2 * REQUESTS)?,
        );
        counts.insert(request.to_owned(), twice.saturating_sub(once) / REQUESTS);
    }
    Ok(counts)
}

/// Returns the program that Cargo names in a line of JSON.
fn program(output: &str) -> Option<PathBuf> {
    let messages = output
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    messages
        .filter_map(|message| Some(PathBuf::from(message.get("executable")?.as_str()?)))
        .next_back()
}

/// The instructions of so many requests, and of all that is around them.
fn run(program: &PathBuf, request: &str, requests: u64) -> Result<u64, Failure> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(program).args(["counted", "--ask", request]);
    let output = valgrind.arg(format!("--requests={requests}")).output();
    let output = output.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stderr);
    match (output.status.success(), collected(&text)) {
        (true, Some(count)) => Ok(count),
        _ => Err(format!("valgrind counted nothing: {text}")),
    }
}

/// The number of `==123== Collected : 123456`.
fn collected(output: &str) -> Option<u64> {
    let (_, after) = output.split_once("Collected :")?;
    after.split_whitespace().next()?.parse().ok()
}

/// The requests that take noticeably more instructions than the baseline.
fn rises(baseline: &Counts, counted: &Counts) -> Vec<String> {
    let rises = counted.iter().filter_map(|(request, count)| {
        let before = baseline.get(request).copied().unwrap_or_default();
        let most = before + before * MAX_RISE / 100;
        (*count > most)
            .then(|| format!("RISEN: a {request} takes {count} instructions, and took {before}"))
    });
    rises.collect()
}

/// Number of requests that are counted.
const REQUESTS: u64 = 500;

/// Percent by which a request may take more without being reported.
const MAX_RISE: u64 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(send: u64, get: u64) -> Counts {
        Counts::from([("send".to_owned(), send), ("get".to_owned(), get)])
    }

    #[test]
    fn a_rise_of_more_than_three_percent_is_reported() {
        let baseline = counts(100_000, 10_000);
        assert_eq!(rises(&baseline, &counts(103_000, 9000)), [""; 0]);
        let rises_found = rises(&baseline, &counts(103_001, 10_000));
        assert_eq!(
            rises_found,
            ["RISEN: a send takes 103001 instructions, and took 100000"]
        );
        assert_eq!(rises(&Counts::new(), &baseline).len(), 2);
    }

    #[test]
    fn the_output_of_valgrind_is_parsed() {
        let output = "==7== Events    : Ir\n==7== Collected : 123456789\n==7== \n";
        assert_eq!(collected(output), Some(123_456_789));
        assert_eq!(collected("valgrind: no such file"), None);
    }

    #[test]
    fn the_output_of_cargo_is_parsed() {
        let output = "{\"reason\":\"compiler-artifact\",\"executable\":null}\n{\"executable\":\"/a/b\"}\n{\"reason\":\"build-finished\"}\n";
        assert_eq!(program(output), Some(PathBuf::from("/a/b")));
        assert_eq!(program("not JSON"), None);
    }
}
