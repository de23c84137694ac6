//! Connections to agents.

use std::sync::{Arc, Mutex};

use a2a_inspector::{Inspector, Settings};
use a2a_server::demo::Echo;
use a2a_types::AgentCard;
use http::StatusCode;
use serde_json::{Value, json};

use crate::harness::{Page, builder, message, reference, router, started, state};

#[tokio::test]
async fn every_version_and_binding_is_connected_and_called() {
    let page = Page::open().await;
    let url = reference().await;
    for (version, binding) in [
        ("0.1", "JSONRPC"),
        ("0.2", "JSONRPC"),
        ("0.3", "JSONRPC"),
        ("0.3", "HTTP+JSON"),
        ("1.0", "JSONRPC"),
        ("1.0", "HTTP+JSON"),
    ] {
        let agent = page
            .connect(&url, json!({"version": version, "binding": binding}))
            .await;
        assert_eq!(
            (&agent["version"], &agent["binding"]),
            (&json!(version), &json!(binding))
        );
        assert_eq!(agent["name"], "Reference");
        let path = format!("/api/agents/{}", agent["id"].as_str().unwrap());
        for stream in [true, false] {
            let sent = json!({"message": message("echo hello"), "stream": stream});
            let events = page.message(&path, sent).await;
            assert_eq!(
                state(&events),
                "TASK_STATE_COMPLETED",
                "{version} {binding}: {events:?}"
            );
        }
    }
    let listed = page.get("/api/agents").await;
    assert_eq!(listed["agents"].as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn an_agent_tells_what_its_card_offers() {
    let page = Page::open().await;
    let agent = page.connect(&reference().await, json!({})).await;
    assert_eq!(agent["version"], "1.0");
    assert_eq!(agent["binding"], "JSONRPC");
    assert_eq!(agent["capabilities"]["streaming"], true);
    assert_eq!(agent["interfaces"].as_array().unwrap().len(), 8);
    assert_eq!(agent["skills"][0]["id"], "reference");
    assert_eq!(agent["inputModes"], json!(["text/plain"]));
    assert_eq!(
        (&agent["hasCard"], &agent["hasSecret"]),
        (&json!(true), &json!(false))
    );
    let id = agent["id"].as_str().unwrap();
    assert_eq!(page.get(&format!("/api/agents/{id}")).await, agent);
}

#[tokio::test]
async fn an_agent_without_a_card_is_called_by_its_version() {
    let page = Page::open().await;
    let url = reference().await;
    let settings = json!({"url": url, "noCard": true});
    let refused = page.call("POST", "/api/agents", Some(settings)).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    let agent = page
        .connect(&url, json!({"noCard": true, "version": "0.2"}))
        .await;
    assert_eq!(
        (&agent["hasCard"], &agent["version"]),
        (&json!(false), &json!("0.2"))
    );
    let path = format!("/api/agents/{}", agent["id"].as_str().unwrap());
    let events = page
        .message(&path, json!({"message": message("echo x")}))
        .await;
    assert_eq!(state(&events), "TASK_STATE_COMPLETED");
    let card = page.call("GET", &format!("{path}/card"), None).await;
    assert_eq!(card.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn settings_that_cannot_be_used_are_refused() {
    let page = Page::open().await;
    let url = reference().await;
    for (settings, status, part) in [
        (json!({}), 400, "the URL of the agent is missing"),
        (json!({"url": "x"}), 400, "cannot call `x`"),
        (json!({"url": "ftp://x"}), 400, "expected `https://host"),
        (json!({"url": "http://me:pass@127.0.0.1"}), 400, "`basic`"),
        (
            json!({"url": url, "version": "2.0"}),
            400,
            "expected 0.1, 0.2, 0.3 or 1.0",
        ),
        (
            json!({"url": url, "binding": "PIGEON"}),
            400,
            "expected `JSONRPC`, `HTTP+JSON` or `GRPC`",
        ),
        (
            json!({"url": url, "surprise": 1}),
            400,
            "unknown field `surprise`",
        ),
        (
            json!({"url": url, "basic": "nobody"}),
            400,
            "expected `name:password`",
        ),
        (
            json!({"url": url, "headers": [["a b", "c"]]}),
            400,
            "the header `a b`",
        ),
        (
            json!({"url": url, "headers": [["a", "b\nc"]]}),
            400,
            "the header `a`",
        ),
        (json!({"url": url, "authorities": "none"}), 400, ""),
        (json!({"url": "http://127.0.0.1:1"}), 502, "cannot connect"),
    ] {
        let answer = page
            .call("POST", "/api/agents", Some(settings.clone()))
            .await;
        let problem = answer.problem();
        assert_eq!(answer.status.as_u16(), status, "{settings}: {problem}");
        let message = problem["message"].as_str().unwrap();
        assert!(message.contains(part), "{settings}: {message}");
    }
    let huge = json!({"url": url, "authorities": "x".repeat(300 << 10)});
    let answer = page.call("POST", "/api/agents", Some(huge)).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(page.get("/api/agents").await["agents"], json!([]));
}

#[tokio::test]
async fn an_agent_that_is_away_gets_a_hint() {
    let page = Page::open().await;
    let settings = json!({"url": "http://127.0.0.1:1"});
    let problem = page
        .call("POST", "/api/agents", Some(settings))
        .await
        .problem();
    assert_eq!(problem["kind"], "unreachable");
    assert!(problem["hint"].as_str().unwrap().contains("is running"));
}

#[tokio::test]
async fn reconnecting_reads_the_card_again_and_keeps_an_agent_that_is_away() {
    let page = Page::open().await;
    let served = Arc::new(Mutex::new("Before"));
    let url = router(|url| {
        let (served, url) = (Arc::clone(&served), url.to_owned());
        let card = async move || {
            let name = *served.lock().unwrap();
            match name {
                "" => Err(StatusCode::SERVICE_UNAVAILABLE),
                name => Ok(json!(AgentCard::new(name, "d").at(url)).to_string()),
            }
        };
        axum::Router::new().fallback(card)
    })
    .await;
    let path = page.path_of(&url).await;
    *served.lock().unwrap() = "After";
    let again = page.call("PUT", &path, Some(json!({}))).await.ok();
    assert_eq!(again["name"], "After");
    assert_eq!(
        page.get(&format!("{path}/card")).await["card"]["name"],
        "After"
    );
    *served.lock().unwrap() = "";
    let refused = page.call("PUT", &path, Some(json!({}))).await;
    assert_eq!(refused.status, StatusCode::BAD_GATEWAY);
    assert_eq!(page.get(&path).await["name"], "After");
    // A setting that leads to another address cannot change while the secrets stay.
    for other in ["url", "trust", "proxy", "tokenUrl", "authorities"] {
        let preferences = json!({other: "http://127.0.0.1:1"});
        let answer = page.call("PUT", &path, Some(preferences)).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{other}");
    }
    let gone = page.call("PUT", "/api/agents/none", Some(json!({}))).await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_agent_is_disconnected() {
    let page = Page::open().await;
    let path = page.path_of(&reference().await).await;
    page.call("DELETE", &path, None).await.ok();
    for method in ["GET", "DELETE"] {
        let answer = page.call(method, &path, None).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
    }
    assert_eq!(page.get("/api/agents").await["agents"], json!([]));
}

#[tokio::test]
async fn agents_are_bounded() {
    let page = Page::open().await;
    let url = started(builder(Echo::card(), Echo)).await;
    let settings = json!({"noCard": true, "version": "1.0"});
    let limit = page.get("/api/info").await["limits"]["agents"]
        .as_u64()
        .unwrap();
    for _ in 0..limit {
        page.connect(&url, settings.clone()).await;
    }
    let mut more = settings;
    more["url"] = json!(url);
    let answer = page.call("POST", "/api/agents", Some(more)).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn saved_settings_outlive_the_inspector() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state/inspector.json");
    let saved = async |page: &Page| page.get("/api/agents").await["saved"].clone();
    let page = Page::of(Inspector::builder().state_file(&file)).await;
    let url = reference().await;
    page.connect(&url, json!({"version": "0.3", "save": true}))
        .await;
    page.connect(
        &url,
        json!({"version": "0.3", "bearer": "t0ken", "save": true}),
    )
    .await;
    page.connect(&url, json!({"version": "0.2"})).await;
    let expected = json!([{
        "url": url, "version": "0.3", "noCard": false, "strict": false, "hasSecret": true,
    }]);
    assert_eq!(saved(&page).await, expected);

    let page = Page::of(Inspector::builder().state_file(&file)).await;
    assert_eq!(saved(&page).await, expected);
    let again = saved(&page).await[0].clone();
    page.post("/api/agents", again).await;
    let path = format!("/api/saved?url={url}");
    page.call("DELETE", &path, None).await.ok();
    assert_eq!(
        page.call("DELETE", &path, None).await.status,
        StatusCode::NOT_FOUND
    );
    let read: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(read, json!({"agents": []}));

    std::fs::write(&file, "no JSON").unwrap();
    let page = Page::of(Inspector::builder().state_file(&file)).await;
    assert_eq!(saved(&page).await, json!([]));
}

#[tokio::test]
async fn the_page_is_told_of_the_agent_that_the_launch_did_not_connect() {
    let page = Page::open().await;
    assert_eq!(page.get("/api/info").await["notConnected"], Value::Null);
    let mut changes = page.events("GET", "/api/changes", None).await;
    let mut settings = Settings::default();
    settings.url = "http://127.0.0.1:1".to_owned();
    let error = page.inspector.connect(settings).await.unwrap_err();
    assert!(error.to_string().starts_with("cannot connect"), "{error}");
    changes.named("agents").await;
    let failure = &page.get("/api/info").await["notConnected"];
    assert_eq!(failure["url"], "http://127.0.0.1:1");
    assert_eq!(failure["error"]["kind"], "unreachable");
}

#[tokio::test]
async fn every_page_learns_of_agents() {
    let page = Page::open().await;
    let mut one = page.events("GET", "/api/changes", None).await;
    let mut other = page.events("GET", "/api/changes", None).await;
    page.path_of(&reference().await).await;
    assert_eq!(one.named("agents").await, json!({}));
    assert_eq!(other.named("agents").await, json!({}));
}
