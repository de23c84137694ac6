//! Screen of webhooks.

use a2a_client::HttpClient;
use a2a_server::WebhookPolicy;
use a2a_server::demo::Reference;
use a2a_transport::webhook::{Secret, WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP};
use http::{Request, StatusCode};
use http_body_util::Full;
use serde_json::json;

use super::browse;
use super::window::Window;
use crate::harness::{builder, started};

/// Starts a receiver on the page with these fields, and returns its URL.
async fn receiver(window: &Window, fields: &[(&str, &str)]) -> String {
    window.go("/webhooks").await;
    window.click("[data-action=add-receiver]").await;
    for (field, value) in fields {
        let field = format!("[data-view=new-receiver] [data-field={field}]");
        window.fill(&field, value).await;
    }
    window.click("[data-action=start-receiver]").await;
    window.see("[data-row=receiver]").await;
    window.see_none("[data-view=new-receiver]").await;
    let receivers = window.page.get("/api/receivers").await;
    receivers["receivers"][0]["url"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Opens a notification, and waits for the verdict of a check with these words.
async fn check(window: &Window, number: u64, check: &str, ok: bool, words: &str) {
    window
        .click(&format!("[data-notification='{number}']"))
        .await;
    window
        .see_text(
            "[data-view=notification] h2",
            &format!("Notification {number}"),
        )
        .await;
    let verdict = format!("[data-row=verdict][data-check={check}][data-ok={ok}]");
    window.see_text(&verdict, words).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notifications_of_an_agent_appear_with_their_verdicts() {
    browse(async |window| {
        let url = receiver(window, &[("token", "sesame")]).await;
        window.see_text("[data-row=receiver]", "checks token, order, duplicates").await;
        let policy = WebhookPolicy::default().allow_hosts(["127.0.0.1"]);
        let mut card = Reference::card();
        card.capabilities.push_notifications = Some(true);
        let agent = started(builder(card, Reference).webhooks(policy)).await;
        let agent = window.connect(&agent).await;

        for (token, text) in [("sesame", "chunks 2"), ("wrong", "echo wrong")] {
            window.go(&format!("/chat/{agent}")).await;
            if token == "sesame" {
                window.click("[data-action=options]").await;
            }
            window.fill("[data-field=webhookUrl]", &url).await;
            window.fill("[data-field=webhookToken]", token).await;
            window.fill("[data-field=message]", text).await;
            window.click("[data-action=send]").await;
            window.see_text("[data-screen=chat] .pill", "completed").await;
            window.go("/webhooks").await;
            window.see_text("[data-row=notification]", match token { "wrong" => "401", _ => "completed" }).await;
        }
        check(window, 1, "token", true, "right").await;
        check(window, 1, "order", true, "first").await;
        check(window, 1, "duplicate", true, "new").await;
        window.see_text("[data-view=notification] [data-field=verdict]", "passed").await;
        // The last notification has the wrong token.
        let last = "return Math.max(...[...document.querySelectorAll('[data-notification]')].map((it) => it.dataset.notification))";
        let last = window.script(last, json!([])).await.as_u64().unwrap();
        check(window, last, "token", false, "wrong").await;
        window.see_text("[data-view=notification] [data-field=verdict]", "1 failed check").await;
        assert!(!window.text("[data-view=notification]").await.contains("sesame"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signatures_order_and_duplicates_are_judged() {
    browse(async |window| {
        let (secret, other) = (Secret::shared().unwrap(), Secret::shared().unwrap());
        let url = receiver(window, &[("secret", &secret.expose())]).await;
        window.see_text("[data-row=receiver]", "signature").await;
        let notify = async |secret: &Secret, id: &str, second: u32| {
            let status = json!({"state": "TASK_STATE_WORKING", "timestamp": format!("2026-01-01T00:00:0{second}Z")});
            let body = json!({"statusUpdate": {"taskId": "t", "contextId": "c", "status": status}}).to_string();
            let now: u64 = jiff::Timestamp::now().as_second().try_into().unwrap();
            let request = Request::post(&url)
                .header(&WEBHOOK_ID, id)
                .header(&WEBHOOK_TIMESTAMP, now)
                .header(&WEBHOOK_SIGNATURE, secret.sign(id, now, body.as_bytes()).unwrap())
                .body(Full::from(body))
                .unwrap();
            HttpClient::default().fetch(request).await.unwrap().status()
        };
        assert_eq!(notify(&secret, "a", 2).await, StatusCode::OK);
        assert_eq!(notify(&other, "b", 3).await, StatusCode::UNAUTHORIZED);
        assert_eq!(notify(&secret, "c", 1).await, StatusCode::OK);
        assert_eq!(notify(&secret, "c", 4).await, StatusCode::OK);
        check(window, 1, "signature", true, "right").await;
        check(window, 2, "signature", false, "not by the key").await;
        check(window, 3, "order", false, "notification 1").await;
        check(window, 4, "duplicate", false, "by its id").await;
        window.see_text("[data-screen=webhooks]", "4 notifications, 3 with a failed check").await;

        window.click("[data-action=stop-receiver]").await;
        window.see_none("[data-row=receiver]").await;
        assert_eq!(window.count("[data-row=notification]").await, 4);
    })
    .await;
}
