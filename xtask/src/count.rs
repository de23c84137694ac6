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

/// Instructions by what is asked.
type Counts = BTreeMap<String, u64>;

/// Counts that are kept in the repository.
#[derive(Debug, Deserialize, Serialize)]
struct Kept {
    /// The compiler that built what was counted: another's counts are other ones.
    rustc: String,
    instructions: Counts,
}

/// Counts, and compares with what is kept; or keeps what was counted.
pub(crate) fn count(write: bool) -> Result<(), Failure> {
    if !is_there() {
        return Err("valgrind, which counts, is not there".to_owned());
    }
    let rustc = rustc()?;
    if write {
        let instructions = counted()?;
        let text = serde_json::to_string_pretty(&Kept {
            rustc,
            instructions,
        });
        let text = text.map_err(|error| error.to_string())? + "\n";
        return std::fs::write(kept_at(), text).map_err(|error| error.to_string());
    }
    let kept = kept()?;
    let counted = counted()?;
    for (asked, count) in &counted {
        let before = kept.instructions.get(asked).copied().unwrap_or_default();
        println!("{asked}: {count} instructions, {before} are kept");
    }
    match kept.rustc == rustc {
        true => rises(&kept.instructions, &counted)
            .iter()
            .for_each(|rise| println!("{rise}")),
        false => println!("{}", not_alike(&kept, &rustc)),
    }
    Ok(())
}

fn not_alike(kept: &Kept, rustc: &str) -> String {
    format!(
        "the counts that are kept are of {}, and this is {rustc}: they cannot be compared; `cargo xtask bench count --write` keeps those of this one",
        kept.rustc
    )
}

fn is_there() -> bool {
    let asked = Command::new("valgrind").arg("--version").output();
    asked.is_ok_and(|asked| asked.status.success())
}

fn kept_at() -> PathBuf {
    workspace::root().join("xtask/bench/instructions.json")
}

fn kept() -> Result<Kept, Failure> {
    let text = std::fs::read_to_string(kept_at()).map_err(|error| error.to_string())?;
    let failure = |error| format!("{}: {error}", kept_at().display());
    serde_json::from_str(&text).map_err(failure)
}

/// The compiler, and what it compiles for, as in `rustc 1.95.0 (59807616e 2026-04-14) for x86_64-unknown-linux-gnu`.
fn rustc() -> Result<String, Failure> {
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let told = rustc.current_dir(workspace::root()).arg("-vV").output();
    let told = told.map_err(|error| format!("rustc: {error}"))?;
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    match (told.lines().next(), host) {
        (Some(version), Some(host)) => Ok(format!("{version} for {host}")),
        _ => Err(format!("rustc tells no version, but {told:?}")),
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
    for asked in ["send", "get"] {
        // Costs that occur once, at the beginning and at the end, are in both.
        let (once, twice) = (
            run(&program, asked, REQUESTS)?,
            run(&program, asked, 2 * REQUESTS)?,
        );
        counts.insert(asked.to_owned(), twice.saturating_sub(once) / REQUESTS);
    }
    Ok(counts)
}

/// Returns the program that Cargo names in a line of JSON.
fn program(told: &str) -> Option<PathBuf> {
    let messages = told
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    messages
        .filter_map(|message| Some(PathBuf::from(message.get("executable")?.as_str()?)))
        .next_back()
}

/// The instructions of so many requests, and of all that is around them.
fn run(program: &PathBuf, asked: &str, requests: u64) -> Result<u64, Failure> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(program).args(["counted", "--ask", asked]);
    let output = valgrind.arg(format!("--requests={requests}")).output();
    let output = output.map_err(|error| error.to_string())?;
    let told = String::from_utf8_lossy(&output.stderr);
    match (output.status.success(), collected(&told)) {
        (true, Some(count)) => Ok(count),
        _ => Err(format!("valgrind counted nothing: {told}")),
    }
}

/// The number of `==123== Collected : 123456`.
fn collected(told: &str) -> Option<u64> {
    let (_, after) = told.split_once("Collected :")?;
    after.split_whitespace().next()?.parse().ok()
}

/// The requests that take noticeably more instructions than are kept.
fn rises(kept: &Counts, counted: &Counts) -> Vec<String> {
    let rises = counted.iter().filter_map(|(asked, count)| {
        let before = kept.get(asked).copied().unwrap_or_default();
        let most = before + before * MAX_RISE / 100;
        (*count > most)
            .then(|| format!("RISEN: a {asked} takes {count} instructions, and took {before}"))
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
        let kept = counts(100_000, 10_000);
        assert_eq!(rises(&kept, &counts(103_000, 9000)), [""; 0]);
        let told = rises(&kept, &counts(103_001, 10_000));
        assert_eq!(
            told,
            ["RISEN: a send takes 103001 instructions, and took 100000"]
        );
        assert_eq!(rises(&Counts::new(), &kept).len(), 2);
    }

    #[test]
    fn the_output_of_valgrind_is_parsed() {
        let told = "==7== Events    : Ir\n==7== Collected : 123456789\n==7== \n";
        assert_eq!(collected(told), Some(123_456_789));
        assert_eq!(collected("valgrind: no such file"), None);
    }

    #[test]
    fn the_output_of_cargo_is_parsed() {
        let told = "{\"reason\":\"compiler-artifact\",\"executable\":null}\n{\"executable\":\"/a/b\"}\n{\"reason\":\"build-finished\"}\n";
        assert_eq!(program(told), Some(PathBuf::from("/a/b")));
        assert_eq!(program("not JSON"), None);
    }
}
