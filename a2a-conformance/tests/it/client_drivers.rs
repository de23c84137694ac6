//! Three ways to drive a client, written in any language.

use std::process::{Command, Output};

use a2a_conformance::client::{CaseServer, Selection};
use a2a_conformance::record::{CheckResult, Run, Verdict};
use a2a_conformance::requirement::Level;
use a2a_types::ProtocolVersion;
use serde_json::{Value, json};

const SUITE: &str = env!("CARGO_BIN_EXE_a2a-conformance");

fn suite(arguments: &[&str]) -> Output {
    let mut command = Command::new(SUITE);
    command.arg("client").args(arguments).output().unwrap()
}

/// The report of a run that must have ended with this exit code.
#[track_caller]
fn report(code: i32, arguments: &[&str]) -> Run {
    let output = suite(&[arguments, &["--json"]].concat());
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let run: Run = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out} {err}"));
    let unmet: Vec<_> = run.unmet().collect();
    let ended = output.status.code();
    assert_eq!(ended, Some(code), "{arguments:?}: {unmet:#?} {err}");
    run
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn only(run: &Run, verdict: Verdict) -> Vec<&str> {
    let checks = run.checks.iter().filter(|check| check.verdict == verdict);
    checks.map(|check| check.id.as_str()).collect()
}

#[test]
fn unimplemented_features_are_reported() {
    let arguments = [
        "--exec",
        "exit 89; :",
        "--protocol-version",
        "1.0",
        "--binding",
        "jsonrpc",
    ];
    let run = report(1, &arguments);
    // A missing feature counts against the client only if every client must have it.
    assert!(
        only(&run, Verdict::Untestable).contains(&"client.message-is-answered"),
        "{run:#?}"
    );
    assert!(only(&run, Verdict::NotApplicable).contains(&"webhook.idempotent"));
}

#[test]
fn a_client_that_never_does_anything_is_one_finding() {
    let run = report(1, &["--exec", "exit 1; :", "--protocol-version", "1.0"]);
    let missing = run.checks.iter().filter(|check| check.is_missing());
    let counted: Vec<_> = missing
        .filter(|check| check.same_cause_as.is_none())
        .collect();
    assert_eq!(counted.len(), 1, "{counted:#?}");
    let found = &counted[0].mismatches[0].found;
    assert_eq!(found, "nothing at all, in any case");
}

/// Such a client sends no credentials to anyone, either.
#[test]
fn a_client_that_is_not_there_meets_nothing() {
    for driver in ["--exec", "--stdio"] {
        for command in ["/no/such/program", "true"] {
            let run = report(1, &[driver, command, "--run", "client.redirect-*"]);
            assert_eq!(only(&run, Verdict::Pass), [""; 0], "{driver} {command}");
            let reason = run.checks[0].reason.as_deref().unwrap_or_default();
            assert!(
                reason.starts_with("check that the command starts"),
                "{reason}"
            );
        }
    }
    let run = report(0, &["--exec", "true", "--run", "client.tls-verified"]);
    assert!(!only(&run, Verdict::Pass).is_empty(), "{run:#?}");
}

#[test]
fn hanging_client_is_killed_with_its_children() {
    let run = report(
        1,
        &[
            "--exec",
            "tail -f /dev/null & wait; :",
            "--run",
            "client.silent-answer-given-up",
            "--run",
            "client.request-valid",
            "--protocol-version",
            "1.0",
            "--timeout-scale",
            "0.05",
        ],
    );
    assert_eq!(
        only(&run, Verdict::Fail),
        ["client.request-valid"; 3],
        "{run:#?}"
    );
}

#[test]
fn wrong_usage_has_its_exit_code() {
    for (code, arguments) in [
        (2, &["--stdio", "cat", "--run", "no.such-check"][..]),
        (2, &["--run", "client.*"]),
    ] {
        let output = suite(arguments);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?} {}",
            text(&output.stderr)
        );
    }
}

/// The shims meet every MUST of what they can do. They are not run where their language is not.
#[test]
fn python_shims_meet_every_must() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("NOT RUN: there is no python3 here, so shims/*.py were not tested");
        return;
    }
    check_shim("python3", "client.py", 25);
    check_shim("python3", "client_streams.py", 45);
}

#[test]
fn typescript_shim_meets_every_must() {
    let version = Command::new("node").arg("--version").output();
    let version = version
        .map(|output| text(&output.stdout))
        .unwrap_or_default();
    let mut numbers = version.trim().trim_start_matches('v').split('.');
    let mut number = || numbers.next().and_then(|part| part.parse::<u32>().ok());
    if (number(), number()) < (Some(22), Some(18)) {
        eprintln!(
            "NOT RUN: Node 22.18 runs TypeScript, here is {version:?}: shims/client.mts was not tested"
        );
        return;
    }
    check_shim("node", "client.mts", 45);
}

#[track_caller]
fn check_shim(program: &str, name: &str, at_least: usize) {
    let command = format!("{program} {}/shims/{name}", env!("CARGO_MANIFEST_DIR"));
    let arguments = [
        "--protocol-version",
        "1.0",
        "--binding",
        "jsonrpc",
        "--level",
        "must",
    ];
    let run = report(0, &[&["--stdio", &command], &arguments[..]].concat());
    let score = run.score(Level::Must, None, None);
    let all = score.met >= at_least && score.met == score.scored;
    assert!(all, "{name}: {score:?}");
}

/// A client that fetches and runs the cases itself, here by sockets alone.
#[tokio::test(flavor = "multi_thread")]
async fn client_that_fetches_its_cases_passes() {
    let selection = Selection {
        run: vec![
            "client.message-is-answered".to_owned(),
            "client.fetches-card".to_owned(),
        ],
        protocol_versions: vec![ProtocolVersion::V1_0],
        ..Selection::default()
    };
    let reception = CaseServer::open("127.0.0.1:0".parse().unwrap(), &selection)
        .await
        .unwrap();
    let place = format!("http://{}", reception.address());
    let results = tokio::spawn(reception.receive());
    let keys = ask("GET", &format!("{place}/cases"), Value::Null).await;
    let keys = keys.as_array().unwrap();
    assert_eq!(keys.len(), 6, "{keys:?}");
    for key in keys.iter().filter_map(Value::as_str) {
        let about = format!("{place}/case/{key}");
        let context = ask("GET", &about, Value::Null).await;
        // An agent by gRPC has a port of its own.
        let is_below = context["url"] == format!("{about}/");
        assert_eq!(is_below, !key.ends_with("~grpc"), "{context:#}");
        let status = ask("GET", &format!("{place}/status/{key}"), Value::Null).await;
        assert_eq!(status["running"], true);
        let reported = use_agent(&context).await;
        let verdict = ask(
            "POST",
            &format!("{about}/done"),
            json!({"reports": [reported]}),
        )
        .await;
        assert_eq!(verdict["verdict"], "pass", "{verdict:#}");
    }
    ask("POST", &format!("{place}/end"), Value::Null).await;
    let results: Vec<CheckResult> = results.await.unwrap();
    assert_eq!(results.len(), 6);
}

/// Follows the instructions of a context with our client.
async fn use_agent(context: &Value) -> Value {
    let protocol_version =
        ProtocolVersion::from_version(context["ask"][0]["protocol_version"].as_str().unwrap())
            .unwrap();
    let binding = match context["ask"][0]["binding"].as_str() {
        Some("HTTP+JSON") => a2a_transport::Binding::HttpJson,
        Some("GRPC") => a2a_transport::Binding::Grpc,
        _ => a2a_transport::Binding::JsonRpc,
    };
    let client = a2a_client::Client::builder(context["url"].as_str().unwrap());
    let client = client
        .protocol_version(protocol_version)
        .binding(binding)
        .connect()
        .await
        .unwrap();
    let answer = client.send("hello").await.unwrap();
    let a2a_client::SendMessageResponse::Task(task) = answer else {
        panic!("{answer:?}")
    };
    let text: String = task.artifacts[0]
        .parts
        .iter()
        .filter_map(|part| part.as_text())
        .collect();
    json!({"result": {"task": {"state": "completed", "artifacts": [{"text": text}]}}})
}

async fn ask(method: &str, url: &str, body: Value) -> Value {
    use http_body_util::{BodyExt, Full};
    let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new());
    let client = client.build_http::<Full<bytes::Bytes>>();
    let request = http::Request::builder().method(method).uri(url);
    let request = request.body(Full::from(body.to_string())).unwrap();
    let answer = client.request(request).await.unwrap();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap_or_else(|_| panic!("{url}: {body:?}"))
}

#[test]
fn the_schema_of_cases_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/client-cases.json");
    let current = format!("{:#}\n", a2a_conformance::client::schema());
    if std::env::var_os("A2A_WRITE_SCHEMAS").is_some() {
        std::fs::write(path, &current).unwrap();
    }
    let recorded = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        recorded == current,
        "A2A_WRITE_SCHEMAS=1 cargo test -p agent2agent-conformance --test it client_drivers"
    );
}
