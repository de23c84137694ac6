//! Refusals, and how they are written.

use a2a_transport::http::HttpService;
use a2a_types::reading::Mode;
use serde_json::{Value, json};

use crate::http_json::{HttpReply, Scripted, ask};

const JSON: (&str, &str) = ("content-type", "application/json");

async fn refused(mode: Mode, asked: &str, headers: &[(&str, &str)], body: &str) -> HttpReply {
    let service = HttpService::new(Scripted::default()).mode(mode);
    ask(&service, asked, headers, body).await
}

/// Checks a refusal of 1.0: its HTTP status, its reason, and a part of its message.
#[track_caller]
fn check(response: &HttpReply, status: u16, reason: &str, named: &str) {
    assert_eq!(response.status, status, "{}", response.text);
    let error = &response.json()["error"];
    assert_eq!(error["code"], status, "{error}");
    assert_eq!(error["details"][0]["reason"], reason, "{error}");
    assert_eq!(error["details"][0]["domain"], "a2a-protocol.org", "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(named), "{message}");
}

#[tokio::test]
async fn refusals_of_1_0_have_status_and_reason() {
    let lenient = |asked, headers, body| refused(Mode::Lenient, asked, headers, body);
    let response = lenient("GET /nowhere/at/all", &[], "").await;
    check(&response, 404, "METHOD_NOT_FOUND", "/nowhere/at/all");
    let response = lenient("GET /message:send", &[], "").await;
    check(&response, 405, "INVALID_REQUEST", "expected POST");
    assert_eq!(response.headers["allow"], "POST");
    let response = lenient("POST /tasks/t/pushNotificationConfigs/p", &[], "{}").await;
    assert_eq!(response.headers["allow"], "GET, DELETE");
    let response = lenient("GET /tasks/t", &[("accept", "text/html")], "").await;
    check(&response, 406, "INVALID_REQUEST", "Accept");
    let response = lenient(
        "POST /message:send",
        &[("content-type", "text/plain")],
        "hi",
    )
    .await;
    check(&response, 415, "INVALID_REQUEST", "Content-Type");
    let response = lenient("GET /tasks/t", &[("a2a-version", "99.0")], "").await;
    check(&response, 400, "VERSION_NOT_SUPPORTED", "99.0");
    let response = lenient("GET /tasks/t?a2a-version=0.1", &[], "").await;
    check(&response, 400, "VERSION_NOT_SUPPORTED", "0.1");
    let response = lenient("POST /message:send", &[JSON], "{").await;
    check(&response, 400, "JSON_PARSE", "");
    let response = lenient("POST /message:send", &[JSON], "[]").await;
    check(&response, 400, "INVALID_PARAMS", "$");
    let response = lenient("POST /message:send", &[JSON], "").await;
    check(&response, 400, "INVALID_PARAMS", "message");
    let response = lenient("GET /tasks?pageSize=many", &[], "").await;
    check(&response, 400, "INVALID_PARAMS", "query.pageSize");
    let violation = &response.json()["error"]["details"][1]["fieldViolations"][0];
    assert_eq!(violation["field"], "query.pageSize");
    let response = lenient("GET /tasks?status=FLYING", &[], "").await;
    check(&response, 400, "INVALID_PARAMS", "query.status");
    let response = lenient("GET /tasks?pageSize=1&pageSize=2", &[], "").await;
    check(
        &response,
        400,
        "INVALID_PARAMS",
        "query.pageSize: given twice",
    );
    let response = lenient("POST /tasks/t:cancel", &[JSON], r#"{"id":"other"}"#).await;
    check(
        &response,
        400,
        "INVALID_PARAMS",
        "$.id: says `other`, but the path",
    );
    let request =
        json!({"tenant": "a", "message": {"messageId": "m", "role": 1, "parts": [{"text": "x"}]}});
    let response = refused(
        Mode::Lenient,
        "POST /b/message:send",
        &[JSON],
        &request.to_string(),
    )
    .await;
    check(
        &response,
        400,
        "INVALID_PARAMS",
        "$.tenant: says `a`, but the path",
    );
    let deep = "[".repeat(100_000);
    let response = refused(Mode::Lenient, "POST /message:send", &[JSON], &deep).await;
    check(&response, 400, "JSON_PARSE", "");
}

#[tokio::test]
async fn refusals_of_0_3_have_status_and_code() {
    for (asked, body, status, code) in [
        ("GET /v1/tasks/t:cancel", "", 405, -32600),
        ("POST /v1/message:send", "{", 400, -32700),
        ("POST /v1/message:send", r#"{"message":{}}"#, 400, -32602),
        (
            "POST /v1/tasks/t:cancel",
            r#"{"name":"tasks/other"}"#,
            400,
            -32602,
        ),
    ] {
        let headers = [("a2a-version", "0.3"), JSON];
        let response = refused(Mode::Lenient, asked, &headers, body).await;
        assert_eq!(response.status, status, "{asked}: {}", response.text);
        if status != 405 {
            let error: Value = response.json();
            assert_eq!(error["code"], code, "{asked}: {error}");
            assert!(error["message"].is_string(), "{asked}: {error}");
        }
    }
}

#[tokio::test]
async fn strictly_1_0_is_asked_by_name() {
    let strict = |asked, headers| refused(Mode::Strict, asked, headers, "");
    assert_eq!(strict("GET /tasks/t", &[]).await.status, 404);
    assert_eq!(
        strict("GET /tasks/t", &[("a2a-version", "1.0")])
            .await
            .status,
        200
    );
    assert_eq!(strict("GET /v1/tasks/t", &[]).await.status, 200);
    assert_eq!(
        strict("GET /tasks/t?A2A-Version=1.0", &[]).await.status,
        200
    );
}

#[tokio::test]
async fn answer_media_type_follows_accept() {
    let answer = |accept, asked| async move {
        let response = refused(Mode::Lenient, asked, &[("accept", accept)], "").await;
        assert_eq!(response.status, 200);
        response.headers["content-type"]
            .to_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(answer("*/*", "GET /tasks/t").await, "application/json");
    let both = "application/a2a+json, application/json";
    assert_eq!(answer(both, "GET /tasks/t").await, "application/a2a+json");
    assert_eq!(answer(both, "GET /v1/tasks/t").await, "application/json");
}
