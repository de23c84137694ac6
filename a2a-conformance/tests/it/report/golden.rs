//! Golden files of the sample run in every report form. They are rewritten by `A2A_REWRITE=1
//! cargo test -p agent2agent-conformance --test it report`.

use std::fs;
use std::path::Path;

use a2a_conformance::record::{Run, Verdict};
use a2a_conformance::report::{Changes, Form, Waivers, json, print, schema};

use super::sample;

/// Compares a text with a file of the crate, or writes it there.
#[track_caller]
fn check(file: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("A2A_REWRITE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, found).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    let (found_lines, expected_lines) = (found.lines(), expected.lines());
    for (number, (found, expected)) in found_lines.zip(expected_lines).enumerate() {
        assert_eq!(
            found,
            expected,
            "{file}, line {}: write it anew with A2A_REWRITE=1",
            number + 1
        );
    }
    assert_eq!(
        found.len(),
        expected.len(),
        "{file} has another length: write it anew with A2A_REWRITE=1"
    );
}

/// The sample run with two waivers, one of which is not needed.
pub(crate) fn run() -> Run {
    let mut run = sample::run();
    let waivers = "
- check: send.ended-task-refused
  protocolVersion: '0.2'
  reason: 0.2 is served by the old gateway until the end of the year
  expires: 2999-12-31
- check: 'rpc.*'
  reason: the gateway changes ids
  expires: 2999-12-31
";
    Waivers::parse(waivers).unwrap().apply(&mut run);
    run
}

#[test]
fn schema_matches_the_types() {
    check("schemas/report.schema.json", &format!("{:#}\n", schema()));
}

#[test]
fn a_run_is_as_the_schema_says() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let errors = |run: &serde_json::Value| -> Vec<String> {
        validator
            .iter_errors(run)
            .map(|error| error.to_string())
            .collect()
    };
    let mut written = run().to_json();
    assert_eq!(errors(&written), [""; 0]);
    written["checks"][0]["verdict"] = "passed".into();
    assert_ne!(errors(&written), [""; 0]);
}

#[test]
fn console_matches_golden_file() {
    let mut out = Vec::new();
    print(&run(), &mut anstream::StripStream::new(&mut out)).unwrap();
    check(
        "tests/it/report/golden/console.txt",
        &String::from_utf8(out).unwrap(),
    );
}

#[test]
fn summary_matches_golden_file() {
    check(
        "tests/it/report/golden/summary.md",
        &Form::Md.text(&run()).unwrap(),
    );
}

#[test]
fn junit_matches_golden_file() {
    let mut run = run();
    // One passed check stands for all of them.
    run.checks
        .retain(|result| result.verdict != Verdict::Pass || result.id == "rpc.parse-error");
    check(
        "tests/it/report/golden/junit.xml",
        &Form::Junit.text(&run).unwrap(),
    );
}

#[test]
fn badge_matches_golden_file() {
    check(
        "tests/it/report/golden/badge.json",
        &Form::Badge.text(&run()).unwrap(),
    );
}

#[test]
fn changes_match_golden_file() {
    let changes = Changes::between(&sample::run(), &sample::later());
    assert!(changes.is_worse());
    check("tests/it/report/golden/changes.md", &changes.markdown());
}

#[test]
fn written_run_is_read_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("report.json");
    fs::write(&path, json(&run())).unwrap();
    assert_eq!(a2a_conformance::report::read(&path).unwrap(), run());
}
