//! The log of exchanges, and its exports.

use http::StatusCode;
use serde_json::{Value, json};

use crate::harness::{Page, agent_with_slips, document, message, reference};

/// Waits until an exchange has ended, and returns it.
pub(crate) async fn ended(page: &Page, number: &Value) -> Value {
    let mut changes = page.events("GET", "/api/changes", None).await;
    loop {
        let exchange = page.get(&format!("/api/exchanges/{number}")).await;
        if exchange["state"] != "open" {
            return exchange;
        }
        changes.named("exchange").await;
    }
}

/// Sends a message to the agent that obeys it, and returns the number of its exchange, which has ended.
pub(crate) async fn exchange_of(page: &Page, agent: &str, text: &str, stream: bool) -> u64 {
    let sent = json!({"message": message(text), "stream": stream});
    let events = page.message(agent, sent).await;
    let begun = events.iter().find(|(name, _)| name == "exchange");
    let number = &begun.expect("an exchange").1["number"];
    ended(page, number).await;
    number.as_u64().unwrap()
}

#[tokio::test]
async fn a_stream_is_kept_with_its_frames() {
    let page = Page::open().await;
    let agent = page.path_of(&reference().await).await;
    let number = exchange_of(&page, &agent, "chunks 3", true).await;
    let exchange = page.get(&format!("/api/exchanges/{number}")).await;
    assert_eq!(exchange["operation"], "SendStreamingMessage");
    assert_eq!(exchange["version"], "1.0");
    assert_eq!(exchange["source"], "client");
    assert_eq!(exchange["state"], "done");
    assert_eq!(exchange["status"], 200);
    assert_eq!(exchange["response"]["httpVersion"], "HTTP/1.1");
    let frames = exchange["response"]["frames"].as_array().unwrap();
    assert_eq!(exchange["frames"], frames.len());
    assert!(frames.len() >= 4, "{frames:?}");
    let mut last = 0.0;
    for frame in frames {
        assert!(frame["ms"].as_f64().unwrap() >= last, "{frames:?}");
        last = frame["ms"].as_f64().unwrap();
        assert!(frame["id"].as_str().unwrap().parse::<u64>().is_ok());
        let data: Value = serde_json::from_str(frame["data"].as_str().unwrap()).unwrap();
        assert!(data.is_object());
    }
    assert!(exchange["durationMs"].as_f64().unwrap() >= last);
    let body = exchange["response"]["body"].as_str().unwrap();
    assert_eq!(exchange["responseBytes"], body.len());
    assert_eq!(exchange["response"]["omittedBytes"], 0);
}

#[tokio::test]
async fn an_answer_with_slips_is_shown_with_its_deviations() {
    let page = Page::open().await;
    let agent = page.path_of(&agent_with_slips().await).await;
    let number = exchange_of(&page, &agent, "hello", false).await;
    let codes = async |number: u64| {
        let exchange = page.get(&format!("/api/exchanges/{number}")).await;
        let deviations = exchange["deviations"].as_array().unwrap().iter();
        let shown = |it: &Value| {
            assert!(it["about"].as_str().is_some_and(|about| !about.is_empty()));
            format!("{} {}", it["path"], it["code"]).replace('"', "")
        };
        deviations.map(shown).collect::<Vec<_>>()
    };
    assert_eq!(codes(1).await, ["$.capabilities TYPE"]);
    let expected = [
        "$.result.task.artifacts[0].artifactId MISSING",
        "$.result.task.id TYPE",
        "$.result.task.status.state UNKNOWN",
        "$.result.task.status.timestamp NOTZ",
    ];
    assert_eq!(codes(number).await, expected);
    let versions = page.get(&format!("/api/exchanges/{number}/versions")).await;
    let form = versions["response"].as_array().unwrap().last().unwrap();
    let body: Value = serde_json::from_str(form["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    // The headers that the client's connection adds are shown, too.
    let card = page.get("/api/exchanges/1").await;
    let headers = card["request"]["headers"].as_array().unwrap();
    assert!(
        headers.iter().any(|header| header[0] == "host"),
        "{headers:?}"
    );
}

#[tokio::test]
async fn pages_get_each_change_and_read_on_from_a_number() {
    let page = Page::open().await;
    let mut changes = page.events("GET", "/api/changes", None).await;
    let agent = page.path_of(&reference().await).await;
    let number = exchange_of(&page, &agent, "echo hi", false).await;
    loop {
        let change = changes.named("exchange").await;
        if change["number"] == number && change["state"] == "done" {
            assert_eq!(change["operation"], "SendMessage");
            break;
        }
    }
    let all = page.get("/api/exchanges").await;
    let first = &all["exchanges"][0];
    assert_eq!(first["operation"], "GetAgentCard");
    assert!(all["bytes"].as_u64().unwrap() > 0);
    assert_eq!(all["dropped"], 0);
    let later = page
        .get(&format!("/api/exchanges?after={}&limit=1", first["number"]))
        .await;
    assert_eq!(later["exchanges"].as_array().unwrap().len(), 1);
    assert_ne!(later["exchanges"][0]["number"], first["number"]);

    let cleared = page.call("DELETE", "/api/exchanges", None).await;
    assert_eq!(cleared.status, StatusCode::NO_CONTENT);
    let all = page.get("/api/exchanges").await;
    assert_eq!((&all["exchanges"], &all["bytes"]), (&json!([]), &json!(0)));
    let gone = page
        .call("GET", &format!("/api/exchanges/{number}"), None)
        .await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
    gone.problem();
}

/// Returns an agent's page whose requests have a bearer token, an API key in the query and a header.
async fn with_secrets(page: &Page) -> String {
    let card = json!({
        "name": "n", "description": "d", "version": "1", "capabilities": {}, "skills": [],
        "defaultInputModes": [], "defaultOutputModes": [],
        "supportedInterfaces": [{"url": "{url}/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "securitySchemes": {
            "key": {"apiKeySecurityScheme": {"location": "query", "name": "key"}},
            "bearer": {"httpAuthSecurityScheme": {"scheme": "bearer"}},
        },
        "securityRequirements": [{"schemes": {"key": {"list": []}, "bearer": {"list": []}}}],
    });
    let url = document(card.to_string()).await;
    let settings = json!({"bearer": "sesame", "apiKey": "k3y", "headers": [["X-Team", "s3cret"]]});
    let agent = page.connect(&url, settings).await;
    let path = format!("/api/agents/{}/tasks/t", agent["id"].as_str().unwrap());
    // The document is not an answer.
    page.call("GET", &path, None).await.problem();
    url
}

#[tokio::test]
async fn no_view_of_an_exchange_has_secrets() {
    let page = Page::open().await;
    with_secrets(&page).await;
    let all = page.get("/api/exchanges").await;
    let last = all["exchanges"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["operation"], "GetTask");
    let shown = last["url"].as_str().unwrap();
    assert!(shown.ends_with("?key=***"), "{shown}");
    let number = &last["number"];
    let one = page.get(&format!("/api/exchanges/{number}")).await;
    let headers = one["request"]["headers"].as_array().unwrap();
    for name in ["authorization", "x-team"] {
        assert!(headers.contains(&json!([name, "***"])), "{headers:?}");
    }
    let curl = page.get(&format!("/api/exchanges/{number}/curl")).await;
    let command = curl["command"].as_str().unwrap();
    for part in [
        "\"$A2A_KEY\"",
        "Bearer '\"$A2A_AUTHORIZATION\"",
        "'\"$A2A_X_TEAM\"",
        "--data-raw",
    ] {
        assert!(command.contains(part), "{part} in {command}");
    }
    let views = [
        all.to_string(),
        one.to_string(),
        command.to_owned(),
        page.get(&format!("/api/exchanges/{number}/versions"))
            .await
            .to_string(),
        page.get("/api/export/har").await.to_string(),
        page.get("/api/export/recording").await.to_string(),
    ];
    for secret in ["sesame", "k3y", "s3cret"] {
        for view in &views {
            assert!(!view.contains(secret), "{secret} in {view}");
        }
    }
}

/// Checks that an object has members, and returns it.
#[track_caller]
fn has<'v>(object: &'v Value, members: &[&str]) -> &'v Value {
    for member in members {
        assert!(object.get(*member).is_some(), "{member} in {object}");
    }
    object
}

#[tokio::test]
async fn an_archive_has_the_members_that_its_specification_requires() {
    let page = Page::open().await;
    let agent = page.path_of(&reference().await).await;
    let number = exchange_of(&page, &agent, "chunks 2", true).await;
    let closed = page
        .connect(
            "http://127.0.0.1:1",
            json!({"noCard": true, "version": "1.0"}),
        )
        .await;
    let closed = format!("/api/agents/{}/tasks/t?x=1", closed["id"].as_str().unwrap());
    page.call("GET", &closed, None).await.problem();

    let answer = page.call("GET", "/api/export/har", None).await;
    assert!(
        answer.headers["content-disposition"]
            .to_str()
            .unwrap()
            .contains("a2a.har")
    );
    let archive = answer.ok();
    let log = has(&archive["log"], &["version", "creator", "entries"]);
    assert_eq!(log["version"], "1.2");
    has(&log["creator"], &["name", "version"]);
    let entries = log["entries"].as_array().unwrap();
    for entry in entries {
        has(
            entry,
            &[
                "startedDateTime",
                "time",
                "request",
                "response",
                "cache",
                "timings",
            ],
        );
        let began = entry["startedDateTime"].as_str().unwrap();
        assert!(began.parse::<jiff::Timestamp>().is_ok(), "{began}");
        for timing in ["send", "wait", "receive"] {
            assert!(entry["timings"][timing].as_f64().unwrap() >= 0.0, "{entry}");
        }
        let of_both = [
            "httpVersion",
            "cookies",
            "headers",
            "headersSize",
            "bodySize",
        ];
        let request = has(&entry["request"], &["method", "url", "queryString"]);
        let response = has(
            &entry["response"],
            &["status", "statusText", "content", "redirectURL"],
        );
        for half in [request, response] {
            for header in has(half, &of_both)["headers"].as_array().unwrap() {
                has(header, &["name", "value"]);
            }
        }
        has(&response["content"], &["size", "mimeType"]);
        if request["method"] == "POST" {
            has(&request["postData"], &["mimeType", "text"]);
        }
    }
    let unreached = entries.last().unwrap();
    assert_eq!(unreached["response"]["status"], 0);
    assert!(unreached["comment"].is_string());

    let one = page.get(&format!("/api/export/har?numbers={number}")).await;
    let entries = one["log"]["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!(
        entries[0]["response"]["content"]["mimeType"],
        "text/event-stream"
    );
    let ranges = format!("/api/export/har?numbers=1-{number},9999");
    let ranges = page.get(&ranges).await;
    let entries = ranges["log"]["entries"].as_array().unwrap();
    assert_eq!(entries.len() as u64, number);
    let wrong = page.call("GET", "/api/export/har?numbers=1,x", None).await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
}
