//! The bench comes to figures: each load a little, to see that it still can.

use std::process::Command;

use serde_json::Value;

/// Runs the benchmark and returns its output; the figures of a test build mean nothing.
#[track_caller]
fn check(scenarios: &str, expected: &[&str]) {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let file = directory.path().join("bench.json");
    let mut bench = Command::new(env!("CARGO_BIN_EXE_a2a-bench"));
    bench.args(scenarios.split(' '));
    bench.args([
        "--rounds=1",
        "--seconds=0.5",
        "--connections=2",
        "--sends=100",
    ]);
    let output = bench.arg("--json").arg(&file).output();
    let output = output.expect("Cargo has built it");
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{scenarios}: {problems}");
    let written = std::fs::read(&file).expect("it was written");
    let written: Vec<Value> = serde_json::from_slice(&written).expect("it is JSON");
    let loads: Vec<_> = written.iter().map(|one| one["load"].as_str()).collect();
    assert_eq!(
        loads,
        expected.iter().copied().map(Some).collect::<Vec<_>>()
    );
    for one in &written {
        for server in one["servers"].as_array().expect("servers are listed") {
            let figures = server["rounds"][0].as_array().expect("there was a round");
            assert_eq!(
                figures.len(),
                one["columns"].as_array().map_or(0, Vec::len),
                "{one}"
            );
            assert!(
                figures.iter().all(|figure| figure.as_f64() > Some(0.0)),
                "{one}"
            );
        }
    }
}

#[test]
fn loads_of_requests_have_figures() {
    check(
        "send get users versions stores http2 tls",
        &[
            "send, 2 connections",
            "get, 2 connections",
            "get, by cache, 16 connections",
            "send, 50 users, one processor, 512 MiB",
            "send, by version, 16 connections",
            "send, by store, 16 connections",
            "send, by store, 64 connections",
            "send over HTTP/2, 4 connections, 64 at once",
            "send, by TLS, 2 connections",
        ],
    );
}

#[test]
fn loads_of_streams_have_figures() {
    check(
        "stream crowd",
        &[
            "send and stream, 2 connections",
            "100 streams of a task of 2000 events",
        ],
    );
}

#[test]
fn loads_of_grpc_have_figures() {
    check(
        "grpc grpc-chunks",
        &[
            "send by gRPC, 2 connections",
            "send by gRPC, 4 connections, 16 at once on each",
            "a stream of 10000 chunks by gRPC",
        ],
    );
}
