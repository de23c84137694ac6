//! Secrets of connections, which are never sent back.

use a2a_inspector::Inspector;
use serde_json::json;

use crate::harness::{Page, message, reference};

const CANARY: &str = "CANARY0123456789";

/// Settings with every secret that there is.
fn settings() -> serde_json::Value {
    let certified = rcgen::generate_simple_self_signed(["CANARY-name".to_owned()]).unwrap();
    json!({
        "headers": [["X-Secret", CANARY]],
        "bearer": CANARY,
        "basic": format!("me:{CANARY}"),
        "apiKey": CANARY,
        "oauthClient": format!("id:{CANARY}"),
        "oauthDevice": {"clientId": "public"},
        "clientCertificate": {
            "certificate": certified.cert.pem(),
            "key": certified.signing_key.serialize_pem(),
        },
        "save": true,
    })
}

#[tokio::test]
async fn no_answer_no_change_and_no_file_has_a_secret() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("inspector.json");
    let page = Page::of(Inspector::builder().state_file(&file)).await;
    let mut changes = page.events("GET", "/api/changes", None).await;
    let settings = settings();
    let key = settings["clientCertificate"]["key"].as_str().unwrap();
    let key = key.lines().nth(1).unwrap().to_owned();
    let url = reference().await;
    let agent = page.connect(&url, settings).await;
    assert_eq!(agent["hasSecret"], true);
    let path = format!("/api/agents/{}", agent["id"].as_str().unwrap());
    let events = page
        .message(
            &path,
            json!({"message": message("echo hello"), "stream": true}),
        )
        .await;
    let mut texts = vec![agent.to_string(), format!("{events:?}")];
    for path in [
        "/api/info",
        "/api/agents",
        &*path,
        &format!("{path}/card"),
        &format!("{path}/tasks"),
        "/api/exchanges",
        "/api/exchanges/1",
        "/api/exchanges/1/versions",
        "/api/exchanges/1/curl",
        "/api/exchanges/2",
        "/api/exchanges/2/versions",
        "/api/exchanges/2/curl",
        "/api/export/har",
        "/api/export/recording",
    ] {
        let answer = page.call("GET", path, None).await;
        texts.push(format!("{path}: {}", String::from_utf8_lossy(&answer.body)));
    }
    texts.push(format!("{:?}", changes.named("agents").await));
    // The end of the call is the last change.
    page.call("DELETE", &path, None).await.ok();
    loop {
        let (name, data) = changes.next().await.unwrap();
        texts.push(data.to_string());
        if name == "agents" {
            break;
        }
    }
    texts.push(std::fs::read_to_string(&file).unwrap());
    for text in texts {
        assert!(!text.contains(CANARY) && !text.contains(&key), "{text}");
    }
}

#[tokio::test]
async fn errors_do_not_repeat_secrets() {
    let page = Page::open().await;
    for secret in [
        json!({"basic": CANARY}),
        json!({"oauthClient": CANARY}),
        json!({"headers": [["X-Secret", format!("{CANARY}\n")]]}),
        json!({"clientCertificate": {"certificate": CANARY, "key": CANARY}}),
        json!({"bearer": format!("{CANARY}\n")}),
    ] {
        let mut settings = secret.clone();
        settings["url"] = json!("http://127.0.0.1:1");
        let answer = page.call("POST", "/api/agents", Some(settings)).await;
        let text = answer.problem().to_string();
        assert!(!text.contains(CANARY), "{text}");
    }
}
