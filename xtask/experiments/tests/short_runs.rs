//! Short runs of the experiments: each meets its targets.

use std::process::Command;

/// Runs an experiment, which must meet its targets.
#[track_caller]
fn check(arguments: &str) {
    let mut harness = Command::new(env!("CARGO_BIN_EXE_harness"));
    let output = harness.args(arguments.split(' ')).output().unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {report}\n{problems}");
}

/// The cost of the client is reported by builds for release only.
#[test]
fn client_experiment_meets_its_targets() {
    check("client --rounds 1 --millis 50 --connections 1,2 --most-cpu 1000 --seed 1");
}

#[test]
fn crash_experiment_meets_its_targets() {
    check("crash --rounds 4 --seed 1");
}

#[test]
fn disconnects_experiment_meets_its_targets() {
    check("disconnects --tasks 6 --seed 1");
}

#[test]
fn client_disconnects_experiment_meets_its_targets() {
    check("disconnects --client --tasks 8 --cuts 20 --seed 1");
}

#[test]
fn sends_experiment_meets_its_targets() {
    check("sends --seconds 1 --connections 4 --target 1 --sustained 0 --seed 1");
}

#[test]
fn followers_experiment_meets_its_targets() {
    check("followers --events 300 --followers 8 --rounds 1 --seed 1");
}

#[test]
fn duplicates_experiment_meets_its_targets() {
    check("duplicates --groups 3 --twins 20 --seed 1");
}

#[test]
fn webhooks_experiment_meets_its_targets() {
    check(
        "webhooks --kills 3 --callers 4 --endpoints 4 --rounds 1 --seconds 1 --slowdown 1000 --seed 1",
    );
}
