//! The commands `report` and `diff`, as scripts use them.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output};

use a2a_conformance::record::{Run, Verdict};
use a2a_conformance::report::json;
use tempfile::TempDir;

use super::sample;

pub(super) fn program(directory: &TempDir, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(env!("CARGO_BIN_EXE_a2a-conformance"))
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

pub(super) fn directory(runs: &[(&str, &Run)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, run) in runs {
        fs::write(directory.path().join(name), json(run)).unwrap();
    }
    directory
}

pub(super) fn files(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = names
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The sample run with only what is met.
fn met() -> Run {
    let mut run = sample::run();
    run.checks.retain(|result| result.verdict == Verdict::Pass);
    run
}

#[test]
fn reports_are_written_where_they_are_wanted() {
    let directory = directory(&[("run.json", &sample::run())]);
    let forms = "json,html,junit,md,badge";
    let (code, out, _) = program(
        &directory,
        &["report", "run.json", "--report", forms, "-o", "out/new"],
    );
    assert_eq!(code, Some(1));
    assert!(out.contains("7 checks are not met."), "{out}");
    assert!(!out.contains('\u{1b}'), "no terminal, no colors: {out}");
    let written = directory.path().join("out/new");
    assert_eq!(
        files(&written),
        [
            "badge.json",
            "junit.xml",
            "report.html",
            "report.json",
            "summary.md"
        ]
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(written.join("report.html"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o644, "a web server may read the page");
    }
    let (_, out, _) = program(&directory, &["report", "run.json", "--json"]);
    assert_eq!(
        out,
        fs::read_to_string(written.join("report.json")).unwrap()
    );
}

#[test]
fn a_report_that_cannot_be_written_leaves_the_old_one() {
    let directory = directory(&[("run.json", &met())]);
    fs::create_dir(directory.path().join("report.html")).unwrap();
    let (code, out, error) = program(&directory, &["report", "run.json", "--report", "html"]);
    assert_eq!(code, Some(4));
    assert!(
        error.contains("report.html: cannot be written: "),
        "{error}"
    );
    assert!(out.contains("Everything that is required is met."), "{out}");
    assert_eq!(files(directory.path()), ["report.html", "run.json"]);
}

#[test]
fn reports_are_written_atomically() {
    let directory = directory(&[("run.json", &sample::run()), ("met.json", &met())]);
    let write = |run: &str| program(&directory, &["report", run, "--report", "md"]);
    write("run.json");
    let path = directory.path().join("summary.md");
    let (old, mut reader) = (
        fs::read_to_string(&path).unwrap(),
        fs::File::open(&path).unwrap(),
    );
    write("met.json");
    assert_ne!(fs::read_to_string(&path).unwrap(), old);
    let mut read = String::new();
    reader.read_to_string(&mut read).unwrap();
    assert_eq!(read, old, "the old report was written over, not replaced");
}

#[test]
fn met_run_succeeds_and_stale_waiver_fails() {
    let directory = directory(&[("run.json", &met())]);
    assert_eq!(program(&directory, &["report", "run.json"]).0, Some(0));
    let waivers = directory.path().join("waivers.yaml");
    fs::write(
        &waivers,
        "- {check: 'send.*', reason: later, expires: 2999-01-01}",
    )
    .unwrap();
    let (code, out, _) = program(
        &directory,
        &["report", "run.json", "--waivers", "waivers.yaml"],
    );
    assert_eq!(code, Some(5), "{out}");
    assert!(out.contains("the waiver of send.* waives nothing"), "{out}");
    fs::write(&waivers, "- {check: 'send.*', expires: 2999-01-01}").unwrap();
    let (code, _, error) = program(
        &directory,
        &["report", "run.json", "--waivers", "waivers.yaml"],
    );
    assert_eq!(code, Some(2));
    assert!(
        error.contains("waivers.yaml: ") && error.contains("reason"),
        "{error}"
    );
}

#[test]
fn waived_run_succeeds() {
    let mut run = met();
    let failed = sample::run()
        .checks
        .into_iter()
        .find(|result| result.verdict == Verdict::Fail);
    run.checks.extend(failed);
    let directory = directory(&[("run.json", &run)]);
    assert_eq!(program(&directory, &["report", "run.json"]).0, Some(1));
    let waivers = "- {check: 'send.*', reason: later, expires: 2999-01-01}";
    fs::write(directory.path().join("waivers.yaml"), waivers).unwrap();
    let (code, out, _) = program(
        &directory,
        &["report", "run.json", "--waivers", "waivers.yaml"],
    );
    assert_eq!(code, Some(0), "{out}");
}

#[test]
fn user_redactions_are_applied() {
    let directory = directory(&[("run.json", &sample::run())]);
    let (code, out, _) = program(
        &directory,
        &["report", "run.json", "--json", "--redact", "m-1f2e|Recipe"],
    );
    assert_eq!(code, Some(1));
    assert!(!out.contains("m-1f2e") && !out.contains("Recipe"));
    let (code, _, error) = program(&directory, &["report", "run.json", "--redact", "("]);
    assert_eq!(code, Some(2));
    assert!(error.contains("is not a regular expression"), "{error}");
}

#[test]
fn other_files_are_refused() {
    let directory = directory(&[("run.json", &Run::default())]);
    let (code, _, error) = program(&directory, &["report", "run.json"]);
    assert_eq!(code, Some(2));
    assert!(
        error.contains(r#"run.json: its format is "", not "a2a-conformance/1""#),
        "{error}"
    );
    fs::write(directory.path().join("run.json"), "{}").unwrap();
    let (code, _, error) = program(&directory, &["diff", "run.json", "none.json"]);
    assert_eq!(code, Some(2));
    assert!(
        error.contains("run.json: no report of this suite"),
        "{error}"
    );
}

#[test]
fn regressions_come_first() {
    let runs = [("old.json", &sample::run()), ("new.json", &sample::later())];
    let directory = directory(&runs);
    let (code, out, _) = program(&directory, &["diff", "old.json", "new.json"]);
    assert_eq!(code, Some(1));
    assert!(
        out.starts_with("worse\n  rpc.id-echoed  1.0 HTTP+JSON: met → not met\n"),
        "{out}"
    );
    assert!(
        out.ends_with("4 worse, 3 better, 1 otherwise changed, 1 new, 1 gone, 123 as before\n"),
        "{out}"
    );
    let (code, out, _) = program(&directory, &["diff", "old.json", "new.json", "--json"]);
    assert_eq!(code, Some(1));
    let changes: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(changes["changes"][0]["kind"], "worse");
    assert_eq!(changes["changes"][0]["protocolVersion"], "1.0");
    assert_eq!(changes["unchanged"], 123);
    let (_, out, _) = program(&directory, &["diff", "old.json", "new.json", "--markdown"]);
    assert!(out.starts_with("## What changed\n"), "{out}");
}

#[test]
fn diff_without_regression_succeeds() {
    let runs = [("old.json", &sample::run()), ("new.json", &met())];
    let directory = directory(&runs);
    let (code, out, _) = program(&directory, &["diff", "old.json", "new.json"]);
    assert_eq!(code, Some(0), "gone is not worse: {out}");
    let (code, out, _) = program(&directory, &["diff", "new.json", "new.json"]);
    assert_eq!(
        (code, out),
        (Some(0), format!("{} as before\n", met().checks.len()))
    );
}
