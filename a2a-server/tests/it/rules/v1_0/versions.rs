//! Selection of the protocol version.

use a2a_types::reading::Mode;
use serde_json::{Value, json};

use super::{HTTP_BINDINGS, HttpBinding, put, say};
use crate::rules::scripted_agent::{card, serve, serve_with};
use crate::rules::wire::{Headers, HttpAnswer, request, unique};

fn headers<'a>(version: &'a [&'a str]) -> Vec<(&'a str, &'a str)> {
    version
        .iter()
        .map(|version| ("a2a-version", *version))
        .collect()
}

/// Returns whether an answer is one of 1.0.
fn is_of_1_0(binding: HttpBinding, answer: &HttpAnswer) -> bool {
    let result = if binding == HttpBinding::JsonRpc {
        &answer.body["result"]
    } else {
        &answer.body
    };
    result["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
}

/// A version is major and minor; a patch number should not be sent and does not matter. §3.6.
#[tokio::test]
async fn a_patch_number_does_not_matter() {
    let strict = serve_with(card(), |builder| builder, |bound| bound.mode(Mode::Strict)).await;
    for binding in HTTP_BINDINGS {
        for version in ["1.0", "1.0.0", "1.0.7", " 1.0 "] {
            let (verb, path, body) = put(binding, "SendMessage", say("echo x"));
            let answer = strict
                .http(verb, &path, &headers(&[version]), body.as_ref())
                .await;
            assert!(
                is_of_1_0(binding, &answer),
                "{binding:?} {version}: {answer:?}"
            );
        }
    }
}

/// A client names its version in every request, in a header or a parameter. §3.6.1.
#[tokio::test]
async fn the_version_may_be_a_request_parameter() {
    let strict = serve_with(card(), |builder| builder, |bound| bound.mode(Mode::Strict)).await;
    for binding in HTTP_BINDINGS {
        let (verb, path, body) = put(binding, "SendMessage", say("echo x"));
        let path = format!("{path}?A2A-Version=1.0");
        let answer = strict.http(verb, &path, &[], body.as_ref()).await;
        assert!(is_of_1_0(binding, &answer), "{binding:?}: {answer:?}");
    }
}

/// The requested version is spoken, or refused; none means 0.3. §3.6.2.
#[tokio::test]
async fn the_requested_version_is_spoken_or_refused() {
    let strict = serve_with(card(), |builder| builder, |bound| bound.mode(Mode::Strict)).await;
    let served = serve().await;
    for binding in HTTP_BINDINGS {
        for version in ["1.1", "2.0", "v1.0", "nonsense"] {
            let (verb, path, body) = put(binding, "SendMessage", say("echo x"));
            let answer = served
                .http(verb, &path, &headers(&[version]), body.as_ref())
                .await;
            let error = &answer.body["error"];
            let (code, status, details) = match binding {
                HttpBinding::JsonRpc => (-32009, 200, &error["data"]),
                HttpBinding::HttpJson => (400, 400, &error["details"]),
            };
            assert_eq!(
                (error["code"].as_i64(), answer.status),
                (Some(code), status),
                "{version}"
            );
            assert_eq!(
                details[0]["reason"], "VERSION_NOT_SUPPORTED",
                "{binding:?} {version}"
            );
        }
        // A missing or empty header means 0.3, which has neither this method nor this path.
        for version in [&[][..], &[""], &["0.3"]] {
            let (verb, path, body) = put(binding, "SendMessage", say("echo x"));
            let answer = strict
                .http(verb, &path, &headers(version), body.as_ref())
                .await;
            let refused = match binding {
                HttpBinding::JsonRpc => answer.body["error"]["code"] == -32601,
                HttpBinding::HttpJson => answer.status == 404,
            };
            assert!(refused, "{binding:?} {version:?}: {answer:?}");
        }
    }
    let sends = json!({"message": {
        "kind": "message", "messageId": unique(), "role": "user",
        "parts": [{"kind": "text", "text": "echo x"}],
    }});
    for version in [&[][..], &[""], &["0.3"], &["0.3.0"]] {
        for served in [&strict, &served] {
            let asked = request("message/send", sends.clone());
            let answer = served.post(&headers(version), &asked).await;
            let state = &answer.body["result"]["status"]["state"];
            assert_eq!(state, "completed", "{version:?}: {answer:?}");
        }
    }
}

/// Interfaces of several versions may share a transport and a URL. §3.6.2.
#[tokio::test]
async fn one_url_serves_several_versions() {
    let served = serve().await;
    let card = served.card_at("/.well-known/agent-card.json").await;
    let interfaces = card["supportedInterfaces"].as_array().unwrap();
    let by_json_rpc = interfaces
        .iter()
        .filter(|one| one["protocolBinding"] == "JSONRPC");
    let (urls, versions): (Vec<_>, Vec<_>) = by_json_rpc
        .map(|one| (&one["url"], one["protocolVersion"].as_str().unwrap()))
        .unzip();
    assert_eq!(versions, ["1.0", "0.3", "0.2", "0.1"]);
    assert!(urls.iter().all(|url| **url == served.url()), "{urls:?}");
    assert_eq!(
        served.task(HttpBinding::JsonRpc, "echo x").await["status"]["state"],
        "TASK_STATE_COMPLETED"
    );
    let old = json!({"message": {"kind": "message", "messageId": "m", "role": "user",
        "parts": [{"kind": "text", "text": "echo x"}]}});
    let answered = served.rpc("message/send", old).await.unwrap();
    assert_eq!(
        (&answered["kind"], &answered["status"]["state"]),
        (&json!("task"), &json!("completed"))
    );
}

/// An interface names the latest minor of its major. Proto.
#[tokio::test]
async fn the_card_names_the_latest_minor_of_a_major() {
    let card = serve().await.card_at("/.well-known/agent-card.json").await;
    for binding in ["JSONRPC", "HTTP+JSON"] {
        let interfaces = card["supportedInterfaces"].as_array().unwrap().iter();
        let own = interfaces.filter(|one| one["protocolBinding"] == binding);
        let versions = own.map(|one| one["protocolVersion"].as_str().unwrap());
        let of_1: Vec<_> = versions
            .filter(|version| version.starts_with("1."))
            .collect();
        assert_eq!(of_1, ["1.0"], "{binding}");
    }
}

/// A request for 1.0 gets the card of 1.0, without what older versions need.
/// The requested version is spoken, or refused; none means 0.3. §3.6.2.
#[tokio::test]
async fn the_card_is_of_the_requested_version() {
    let served = serve().await;
    let card = async |asked: Headers<'_>| {
        served.get("/.well-known/agent-card.json", asked).await.body["url"].take()
    };
    assert_eq!(card(&[("a2a-version", "1.0")]).await, Value::Null);
    assert_eq!(card(&[]).await, served.url());
}
