//! Receivers of push notifications, and their verdicts.

use a2a_client::HttpClient;
use a2a_server::WebhookPolicy;
use a2a_server::demo::Reference;
use a2a_transport::webhook::{
    Algorithm, Claims, Secret, SigningKey, TOKEN, WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP,
};
use http::{Request, StatusCode, request};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

use crate::harness::{Page, builder, document, message, started, task_of};

/// Starts a receiver, and returns its URL.
async fn receiver(page: &Page, settings: Value) -> String {
    let started = page.post("/api/receivers", settings).await;
    started["url"].as_str().unwrap().to_owned()
}

/// Sends a notification, and returns the status of the answer.
async fn notify(request: request::Builder, body: &str) -> StatusCode {
    let request = request.body(Full::from(body.to_owned())).unwrap();
    HttpClient::default().fetch(request).await.unwrap().status()
}

/// Returns the latest notification.
async fn latest(page: &Page) -> Value {
    let all = page.get("/api/notifications").await;
    all["notifications"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone()
}

/// Returns the verdict of a check: whether it is met, and why.
#[track_caller]
fn verdict(notification: &Value, check: &str) -> Option<(bool, String)> {
    let verdicts = notification["verdicts"].as_array().unwrap();
    let found = verdicts.iter().find(|verdict| verdict["check"] == check)?;
    let message = found["message"].as_str().unwrap().to_owned();
    Some((found["ok"].as_bool().unwrap(), message))
}

#[track_caller]
fn check(notification: &Value, check: &str, ok: bool, part: &str) {
    let found = verdict(notification, check).unwrap_or_else(|| panic!("{check}: {notification}"));
    assert!(
        found.0 == ok && found.1.contains(part),
        "{check}: {found:?}"
    );
}

/// Returns the body of a notification of 1.0.
fn status(task: &str, state: &str, time: &str) -> String {
    let status = json!({"state": format!("TASK_STATE_{state}"), "timestamp": time});
    json!({"statusUpdate": {"taskId": task, "contextId": "c", "status": status}}).to_string()
}

const TIMES: [&str; 3] = [
    "2026-01-01T00:00:00Z",
    "2026-01-01T00:00:01Z",
    "2026-01-01T00:00:02Z",
];

#[tokio::test]
async fn an_agents_notifications_are_judged_as_they_come() {
    let page = Page::open().await;
    let mut changes = page.events("GET", "/api/changes", None).await;
    let url = receiver(&page, json!({"token": "sesame"})).await;
    let policy = WebhookPolicy::default().allow_hosts(["127.0.0.1"]);
    let mut card = Reference::card();
    card.capabilities.push_notifications = Some(true);
    let agent = page
        .path_of(&started(builder(card, Reference).webhooks(policy)).await)
        .await;
    let waiting = json!({"message": message("ask what?"), "stream": false});
    let task = task_of(&page.message(&agent, waiting).await);
    let config = json!({"taskId": task, "url": url, "token": "sesame"});
    page.post(&format!("{agent}/tasks/{task}/webhooks"), config)
        .await;
    let mut answer = message("this");
    answer["taskId"] = json!(task);
    page.message(&agent, json!({"message": answer, "stream": false}))
        .await;
    loop {
        let notification = changes.named("notification").await;
        assert_eq!(notification["task"], task);
        assert_eq!(notification["version"], "1.0");
        assert_eq!(notification["status"], 200);
        for verdict in notification["verdicts"].as_array().unwrap() {
            assert_eq!(verdict["ok"], true, "{notification}");
        }
        check(&notification, "token", true, "right");
        assert!(
            !notification.to_string().contains("sesame"),
            "{notification}"
        );
        if notification.to_string().contains("TASK_STATE_COMPLETED") {
            break;
        }
    }
}

#[tokio::test]
async fn tokens_are_right_wrong_or_missing() {
    let page = Page::open().await;
    let url = receiver(&page, json!({"token": "sesame"})).await;
    let body = status("t", "WORKING", TIMES[0]);
    let send = |token: Option<&str>| {
        let request = Request::post(&url);
        let request = match token {
            Some(token) => request.header(&TOKEN, token),
            None => request,
        };
        notify(request, &body)
    };
    assert_eq!(send(None).await, StatusCode::UNAUTHORIZED);
    check(&latest(&page).await, "token", false, "missing");
    assert_eq!(send(Some("sesamE")).await, StatusCode::UNAUTHORIZED);
    check(&latest(&page).await, "token", false, "wrong");
    assert_eq!(send(Some("sesame")).await, StatusCode::OK);
    let last = latest(&page).await;
    check(&last, "token", true, "right");
    check(&last, "duplicate", true, "was refused");
    check(&last, "body", true, "a status in version 1.0");
    assert_eq!(verdict(&last, "signature"), None, "none is required");
    assert!(
        !page
            .get("/api/notifications")
            .await
            .to_string()
            .contains("sesam")
    );
}

#[tokio::test]
async fn signatures_of_standard_webhooks_are_right_wrong_old_or_missing() {
    let page = Page::open().await;
    let secret = Secret::shared().unwrap();
    let url = receiver(&page, json!({"secret": secret.expose()})).await;
    let body = status("t", "WORKING", TIMES[0]);
    let now: u64 = jiff::Timestamp::now().as_second().try_into().unwrap();
    let signed = |id: &str, time: u64, of: &str| {
        Request::post(&url)
            .header(&WEBHOOK_ID, id)
            .header(&WEBHOOK_TIMESTAMP, time)
            .header(
                &WEBHOOK_SIGNATURE,
                secret.sign(id, time, of.as_bytes()).unwrap(),
            )
    };
    assert_eq!(notify(signed("1", now, &body), &body).await, StatusCode::OK);
    let last = latest(&page).await;
    check(&last, "signature", true, "right");
    assert_eq!(last["delivery"], "1");
    assert_eq!(
        notify(signed("2", now, "{}"), &body).await,
        StatusCode::UNAUTHORIZED
    );
    check(&latest(&page).await, "signature", false, "not by the key");
    assert_eq!(
        notify(signed("3", now - 400, &body), &body).await,
        StatusCode::UNAUTHORIZED
    );
    check(&latest(&page).await, "signature", false, "from now");
    assert_eq!(
        notify(Request::post(&url), &body).await,
        StatusCode::UNAUTHORIZED
    );
    check(&latest(&page).await, "signature", false, "missing");
    assert!(
        !page
            .get("/api/receivers")
            .await
            .to_string()
            .contains("whsec")
    );
}

#[tokio::test]
async fn json_web_tokens_are_judged_by_the_agents_keys() {
    let page = Page::open().await;
    let key = SigningKey::generate(Algorithm::Es256).unwrap();
    let keys = a2a_transport::webhook::Jwks::of([&key]).to_json();
    let keys = document(String::from_utf8(keys).unwrap()).await;
    let url = receiver(&page, json!({"jwksUrl": keys})).await;
    let body = status("t", "WORKING", TIMES[0]);
    let now: u64 = jiff::Timestamp::now().as_second().try_into().unwrap();
    let signed = |key: &SigningKey, of: &str, id: &str| {
        let token = key.sign(&Claims::of(of.as_bytes(), id, &url, now)).unwrap();
        Request::post(&url).header("authorization", format!("Bearer {token}"))
    };
    assert_eq!(
        notify(signed(&key, &body, "a"), &body).await,
        StatusCode::OK
    );
    let last = latest(&page).await;
    check(&last, "signature", true, "JSON Web Token");
    assert_eq!(last["delivery"], "a");
    assert_eq!(
        notify(signed(&key, "{}", "b"), &body).await,
        StatusCode::UNAUTHORIZED
    );
    check(&latest(&page).await, "signature", false, "another body");
    let other = SigningKey::generate(Algorithm::Es256).unwrap();
    assert_eq!(
        notify(signed(&other, &body, "c"), &body).await,
        StatusCode::UNAUTHORIZED
    );
    check(&latest(&page).await, "signature", false, "publishes no key");
    assert_eq!(
        notify(Request::post(&url), &body).await,
        StatusCode::UNAUTHORIZED
    );
    check(&latest(&page).await, "signature", false, "missing");
}

#[tokio::test]
async fn duplicates_and_order_are_noticed_and_not_refused() {
    let page = Page::open().await;
    let url = receiver(&page, json!({})).await;
    let send = async |body: String| {
        assert_eq!(notify(Request::post(&url), &body).await, StatusCode::OK);
        latest(&page).await
    };
    check(
        &send(status("t", "SUBMITTED", TIMES[0])).await,
        "order",
        true,
        "first",
    );
    check(
        &send(status("t", "WORKING", TIMES[2])).await,
        "order",
        true,
        "after notification 1",
    );
    let late = send(status("t", "WORKING", TIMES[1])).await;
    check(&late, "order", false, "notification 2");
    check(&late, "duplicate", true, "new");
    let twice = send(status("t", "WORKING", TIMES[2])).await;
    check(
        &twice,
        "duplicate",
        false,
        "the same body as notification 2",
    );
    assert_eq!(verdict(&twice, "order"), None);
    check(
        &send(status("t", "COMPLETED", TIMES[2])).await,
        "order",
        true,
        "after",
    );
    let artifact = json!({"artifactUpdate": {"taskId": "t", "contextId": "c",
        "artifact": {"artifactId": "a", "parts": [{"text": "x"}]}}});
    check(
        &send(artifact.to_string()).await,
        "order",
        false,
        "had ended",
    );
    check(
        &send(status("other", "WORKING", TIMES[0])).await,
        "order",
        true,
        "first",
    );

    let named = |id: &str| Request::post(&url).header(&WEBHOOK_ID, id);
    notify(named("a"), &status("n", "WORKING", TIMES[0])).await;
    notify(named("a"), &status("n", "COMPLETED", TIMES[1])).await;
    check(&latest(&page).await, "duplicate", false, "by its id");
}

#[tokio::test]
async fn refused_notifications_do_not_count_in_the_order() {
    let page = Page::open().await;
    let url = receiver(&page, json!({"token": "sesame"})).await;
    let forged = status("t", "COMPLETED", TIMES[2]);
    let wrong = Request::post(&url).header(&TOKEN, "wrong");
    assert_eq!(notify(wrong, &forged).await, StatusCode::UNAUTHORIZED);
    assert_eq!(verdict(&latest(&page).await, "order"), None);
    let right = Request::post(&url).header(&TOKEN, "sesame");
    let body = status("t", "WORKING", TIMES[0]);
    assert_eq!(notify(right, &body).await, StatusCode::OK);
    check(&latest(&page).await, "order", true, "first");
}

#[tokio::test]
async fn invalid_notifications_are_refused() {
    let page = Page::open().await;
    let url = receiver(&page, json!({})).await;
    for (body, ok, part) in [
        ("nonsense", false, ""),
        ("[]", false, "expected an object"),
        ("{}", false, "of no known form"),
        (r#"{"id": "t"}"#, true, "names a task"),
    ] {
        let status = notify(Request::post(&url), body).await;
        assert_eq!(status == StatusCode::OK, ok, "{body}");
        check(&latest(&page).await, "body", ok, part);
    }
    let large = " ".repeat((4 << 20) + 1);
    let request = Request::post(&url).body(Full::from(large)).unwrap();
    // The connection may be closed before the whole body is taken.
    if let Ok(response) = HttpClient::default().fetch(request).await {
        assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    }
    let all = page.get("/api/notifications").await;
    assert_eq!(all["notifications"].as_array().unwrap().len(), 4);
    // The challenge of 0.1.
    let request = Request::get(format!("{url}?validationToken=word"));
    let response = HttpClient::default()
        .fetch(request.body(Full::default()).unwrap())
        .await;
    let body = response
        .unwrap()
        .into_body()
        .collect()
        .await
        .unwrap()
        .to_bytes();
    assert_eq!(body, "word");
}

#[tokio::test]
async fn receivers_and_notifications_are_bounded() {
    let page = Page::open().await;
    let url = receiver(&page, json!({})).await;
    for _ in 1..16 {
        receiver(&page, json!({})).await;
    }
    let refused = page.call("POST", "/api/receivers", Some(json!({}))).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    let stopped = page.call("DELETE", "/api/receivers/r2", None).await;
    assert_eq!(stopped.status, StatusCode::NO_CONTENT);
    for wrong in [
        json!({"secret": "short"}),
        json!({"jwksUrl": "nonsense"}),
        json!({"other": 1}),
    ] {
        let refused = page
            .call("POST", "/api/receivers", Some(wrong.clone()))
            .await;
        assert!(refused.status.is_client_error(), "{wrong}");
        refused.problem();
    }
    for number in 0..1001 {
        notify(
            Request::post(&url),
            &status(&number.to_string(), "WORKING", TIMES[0]),
        )
        .await;
    }
    let all = page.get("/api/notifications").await;
    assert_eq!(
        (&all["dropped"], &all["notifications"][0]["number"]),
        (&json!(1), &json!(2))
    );
    let rest = page.get("/api/notifications?after=1000").await;
    assert_eq!(rest["notifications"].as_array().unwrap().len(), 1);
}
