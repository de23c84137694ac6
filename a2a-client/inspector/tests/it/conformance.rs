//! Runs of the conformance suite, and what it reads.

use a2a_auth::{AnyOf, ApiKey, ApiKeys};
use a2a_conformance::recorded;
use a2a_server::demo::Reference;
use http::StatusCode;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::exchanges::exchange_of;
use crate::harness::{Events, Page, builder, reference, started};

/// Starts a run of an agent with the behaviour contract, and returns its id.
async fn start(page: &Page, agent: &Value, mut wanted: Value) -> String {
    wanted["agent"] = agent["id"].clone();
    wanted["instrumented"] = json!(true);
    let started = page.post("/api/runs", wanted).await;
    started["id"].as_str().unwrap().to_owned()
}

/// Waits for the end of a run; returns the number of verdicts that came as changes, and the run.
async fn ended(page: &Page, changes: &mut Events, id: &str) -> (usize, Value) {
    let mut verdicts = 0;
    loop {
        let change = changes.named("run").await;
        if change["id"] != *id {
            continue;
        }
        verdicts += usize::from(change["last"]["verdict"].is_string());
        assert!(
            change["completed"].as_u64() <= change["total"].as_u64(),
            "{change}"
        );
        if change["state"] != "running" {
            return (verdicts, page.get(&format!("/api/runs/{id}")).await);
        }
    }
}

#[tokio::test]
async fn a_run_tells_its_progress_and_has_reports() {
    let page = Page::open().await;
    let mut changes = page.events("GET", "/api/changes", None).await;
    let agent = page.connect(&reference().await, json!({})).await;
    let wanted = json!({"run": ["send.*"], "levels": ["must"], "versions": ["1.0"], "jobs": 4});
    let first = start(&page, &agent, wanted.clone()).await;
    let running = page
        .call(
            "GET",
            &format!("/api/runs/{first}/report?format=json"),
            None,
        )
        .await;
    assert!(running.status == StatusCode::CONFLICT || running.status == StatusCode::OK);
    let (verdicts, run) = ended(&page, &mut changes, &first).await;
    assert_eq!(run["state"], "done", "{run}");
    assert_eq!(run["completed"], run["total"]);
    assert_eq!(run["total"], verdicts, "every check has a change");
    assert_eq!(run["exitCode"], 0, "{}", run["score"]);
    assert!(run["score"]["must"]["met"].as_u64().unwrap() > 0);
    assert_eq!(run["run"]["settings"]["profile"], "instrumented");
    let checks = run["run"]["checks"].as_array().unwrap();
    assert!(
        checks
            .iter()
            .all(|check| check["id"].as_str().unwrap().starts_with("send."))
    );

    for (format, media_type, beginning) in [
        ("json", "application/json", "{"),
        ("html", "text/html", "<!"),
        ("markdown", "text/markdown", "## A2A conformance"),
        ("junit", "application/xml", "<?xml"),
    ] {
        let report = format!("/api/runs/{first}/report?format={format}");
        let report = page.call("GET", &report, None).await;
        assert_eq!(report.status, StatusCode::OK, "{format}");
        assert!(
            report.headers["content-type"]
                .to_str()
                .unwrap()
                .starts_with(media_type)
        );
        let text = String::from_utf8(report.body.to_vec()).unwrap();
        assert!(text.trim_start().starts_with(beginning), "{format}: {text}");
    }
    let unknown = page
        .call("GET", &format!("/api/runs/{first}/report?format=pdf"), None)
        .await;
    assert_eq!(unknown.status, StatusCode::BAD_REQUEST);

    let mut fewer = wanted;
    fewer["skip"] = json!([checks[0]["id"]]);
    let second = start(&page, &agent, fewer).await;
    ended(&page, &mut changes, &second).await;
    let compared = page
        .get(&format!("/api/runs/compare?before={first}&after={second}"))
        .await;
    assert_eq!(compared["isWorse"], false);
    let gone = compared["changes"].as_array().unwrap();
    assert!(
        gone.iter()
            .any(|change| change["kind"] == "gone" && change["id"] == checks[0]["id"])
    );
    let all = page.get("/api/runs").await;
    let states: Vec<_> = all["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| &run["state"])
        .collect();
    assert_eq!(states, ["done", "done"]);
    let none = page
        .call(
            "GET",
            &format!("/api/runs/compare?before={first}&after=9"),
            None,
        )
        .await;
    assert_eq!(none.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_interrupted_run_keeps_its_results() {
    let page = Page::open().await;
    let mut changes = page.events("GET", "/api/changes", None).await;
    let agent = page.connect(&reference().await, json!({})).await;
    let id = start(&page, &agent, json!({"jobs": 1})).await;
    loop {
        let change = changes.named("run").await;
        if change["completed"].as_u64() >= Some(2) {
            break;
        }
    }
    let stopped = page.call("DELETE", &format!("/api/runs/{id}"), None).await;
    assert_eq!(stopped.status, StatusCode::NO_CONTENT);
    let (_, run) = ended(&page, &mut changes, &id).await;
    assert_eq!(run["state"], "interrupted");
    assert!(run["run"]["notMade"].as_u64().unwrap() > 0);
    assert!(run["run"]["checks"].as_array().unwrap().len() >= 2);
    // A run that has ended is removed.
    page.call("DELETE", &format!("/api/runs/{id}"), None)
        .await
        .ok();
    assert_eq!(page.get("/api/runs").await, json!({"runs": []}));
}

#[tokio::test]
async fn a_run_that_cannot_be_made_says_why() {
    let page = Page::open().await;
    let mut changes = page.events("GET", "/api/changes", None).await;
    let settings = json!({"noCard": true, "version": "1.0"});
    let agent = page.connect("http://127.0.0.1:1", settings).await;
    let id = start(&page, &agent, json!({})).await;
    let (_, run) = ended(&page, &mut changes, &id).await;
    assert_eq!(run["state"], "failed");
    assert!(
        run["failure"]
            .as_str()
            .unwrap()
            .contains("cannot be tested"),
        "{run}"
    );
    let report = page
        .call("GET", &format!("/api/runs/{id}/report?format=json"), None)
        .await;
    assert_eq!(report.status, StatusCode::CONFLICT);

    let wanted = |member: &str, value: Value| {
        let mut wanted = json!({"agent": agent["id"]});
        wanted[member] = value;
        wanted
    };
    for (wanted, status) in [
        (wanted("agent", json!("none")), StatusCode::NOT_FOUND),
        (wanted("jobs", json!(0)), StatusCode::BAD_REQUEST),
        (wanted("versions", json!(["9"])), StatusCode::BAD_REQUEST),
        (wanted("bindings", json!(["SOAP"])), StatusCode::BAD_REQUEST),
        (wanted("levels", json!(["x"])), StatusCode::BAD_REQUEST),
    ] {
        let refused = page.call("POST", "/api/runs", Some(wanted.clone())).await;
        assert_eq!(refused.status, status, "{wanted}");
        refused.problem();
    }
}

#[tokio::test]
async fn a_run_has_the_credentials_of_the_connection_and_does_not_show_them() {
    const KEY: &str = "CANARY-of-the-test";
    let page = Page::open().await;
    let mut changes = page.events("GET", "/api/changes", None).await;
    let keys = ApiKeys::header("x-api-key").unwrap();
    let keys = keys.key(ApiKey::new(KEY, "me").unwrap()).unwrap();
    let server = builder(Reference::card(), Reference).authenticator(AnyOf::new(("key", keys)));
    let url = started(server).await;
    let wanted = json!({"run": ["send.*"], "levels": ["must"], "versions": ["1.0"]});
    for (settings, is_met) in [(json!({"apiKey": KEY}), true), (json!({}), false)] {
        let agent = page.connect(&url, settings).await;
        let id = start(&page, &agent, wanted.clone()).await;
        let (_, run) = ended(&page, &mut changes, &id).await;
        assert_eq!(run["state"], "done");
        assert_eq!(run["exitCode"] == 0, is_met, "{}", run["score"]);
        let checks = run["run"]["checks"].as_array().unwrap();
        for check in checks.iter().filter(|check| check["verdict"] == "fail") {
            let command = &check["evidence"][0]["curl"];
            let command = command.as_str().unwrap();
            assert!(
                command.starts_with("curl ") || command.starts_with("grpcurl "),
                "{check}"
            );
        }
        assert!(!run.to_string().contains(KEY));
        let report = page
            .call("GET", &format!("/api/runs/{id}/report?format=html"), None)
            .await;
        assert!(!String::from_utf8_lossy(&report.body).contains(KEY));
    }
}

#[tokio::test]
async fn the_suite_reads_a_recording() {
    let page = Page::open().await;
    let url = reference().await;
    for version in ["0.1", "0.2", "0.3", "1.0"] {
        let agent = page.connect(&url, json!({"version": version})).await;
        let agent = format!("/api/agents/{}", agent["id"].as_str().unwrap());
        exchange_of(&page, &agent, "chunks 2", true).await;
        exchange_of(&page, &agent, "echo hi", false).await;
    }
    let recording = page.call("GET", "/api/export/recording", None).await;
    let text = std::str::from_utf8(&recording.body).unwrap();
    let exchanges = recorded::read(text).unwrap();
    let findings: Vec<_> = exchanges.iter().map(recorded::check).collect();
    for found in &findings {
        assert!(found.passes() && found.mended.is_empty(), "{found:?}");
    }
    let streams = findings.iter().filter(|found| found.events > 0);
    let versions: Vec<_> = streams
        .map(|found| found.protocol_version.unwrap())
        .collect();
    // 0.2 and 0.3 spell it alike.
    assert_eq!(versions, ["0.1", "0.3", "0.3", "1.0"]);
}

/// Starts a server with a card that answers with the headers that it is sent, and returns its URL.
async fn reflecting_agent() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let card = json!({
        "name": "n", "description": "d", "version": "1", "capabilities": {}, "skills": [],
        "defaultInputModes": [], "defaultOutputModes": [],
        "supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
    });
    let card = card.to_string();
    let reflect = async |headers: http::HeaderMap| format!("{headers:?}");
    let router = axum::Router::new()
        .route(
            "/.well-known/agent-card.json",
            axum::routing::get(move || std::future::ready(card)),
        )
        .fallback(reflect);
    tokio::spawn(async { axum::serve(listener, router).await });
    url
}

#[tokio::test]
async fn a_secret_that_the_agent_reflects_is_not_shown() {
    const SECRET: &str = "CANARY-of-the-test";
    let page = Page::open().await;
    let mut changes = page.events("GET", "/api/changes", None).await;
    let settings = json!({"headers": [["X-Team", SECRET]]});
    let agent = page.connect(&reflecting_agent().await, settings).await;
    let wanted = json!({"run": ["send.task-or-message"]});
    let id = start(&page, &agent, wanted).await;
    let run = loop {
        let change = changes.named("run").await;
        assert!(!change.to_string().contains(SECRET), "{change}");
        if change["id"] == *id && change["state"] != "running" {
            break page.get(&format!("/api/runs/{id}")).await;
        }
    };
    let evidence = &run["run"]["checks"][0]["evidence"][0];
    let body = evidence["response"]["body"].as_str().unwrap();
    assert!(
        body.contains("x-team") && body.contains("***"),
        "{evidence}"
    );
    assert!(!run.to_string().contains(SECRET), "{run}");
}
