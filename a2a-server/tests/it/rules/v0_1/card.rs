//! Offers of an agent, and access to them.

use serde_json::{Value, json};

use super::{say, with};
use crate::rules::scripted_agent::{card, plain_card, serve, serve_card, serve_to_names};
use crate::rules::wire::{code, request};

/// A task has one webhook: another replaces it. Null may clear it, and secrets may be masked, as the server likes.
/// §6.10, §7.5.
#[tokio::test]
async fn a_task_has_one_webhook() {
    let served = serve().await;
    served
        .rpc("tasks/send", say("t", "ask which"))
        .await
        .unwrap();
    let set = |config: Value| {
        let params = json!({"id": "t", "pushNotificationConfig": config});
        served.rpc("tasks/pushNotification/set", params)
    };
    let get = || served.rpc("tasks/pushNotification/get", json!({"id": "t"}));
    for url in ["https://a.example/", "https://b.example/"] {
        let authentication = json!({"schemes": ["Bearer"], "credentials": "secret"});
        let config = json!({"url": url, "token": "t", "authentication": authentication});
        // The secret is for the webhook, not for readers of its config.
        let shown = json!({"url": url, "token": "t", "authentication": {"schemes": ["Bearer"]}});
        let kept = json!({"id": "t", "pushNotificationConfig": shown});
        assert_eq!(set(config).await, Ok(kept.clone()));
        assert_eq!(get().await, Ok(kept));
    }
    // Null clears nothing here, and is refused.
    let cleared = set(Value::Null).await;
    assert_eq!(code(cleared), -32602);
    assert_eq!(
        get().await.unwrap()["pushNotificationConfig"]["url"],
        "https://b.example/"
    );
}

/// Webhooks and streams are refused by an agent whose card does not promise them. §7.2, §7.5.
#[tokio::test]
async fn capabilities_absent_from_the_card_are_refused() {
    let served = serve_card(plain_card()).await;
    served
        .rpc("tasks/send", say("t", "ask which"))
        .await
        .unwrap();
    let config = json!({"url": "https://a.example/"});
    let set = json!({"id": "t", "pushNotificationConfig": config});
    for (method, params, expected) in [
        ("tasks/pushNotification/set", set, -32003),
        ("tasks/pushNotification/get", json!({"id": "t"}), -32003),
        (
            "tasks/send",
            with(say("t", "echo x"), json!({"pushNotification": config})),
            -32003,
        ),
        ("tasks/sendSubscribe", say("t", "echo x"), -32004),
        ("tasks/resubscribe", json!({"id": "t"}), -32004),
    ] {
        assert_eq!(code(served.rpc(method, params).await), expected, "{method}");
    }
    let card = served.card_at("/.well-known/agent.json").await;
    for promise in ["streaming", "pushNotifications"] {
        assert_ne!(card["capabilities"][promise], true, "{promise}");
    }
}

/// Callers show who they are in HTTP headers, at every request: otherwise 401 with a challenge, or 403. The card
/// holds no secrets. §4.4, §5.5.3.
#[tokio::test]
async fn credentials_are_sent_in_headers() {
    let served = serve_to_names(card()).await;
    for (method, params) in [
        ("tasks/send", say("t", "echo x")),
        ("tasks/get", json!({"id": "t"})),
        ("tasks/cancel", json!({"id": "t"})),
        ("tasks/sendSubscribe", say("t", "echo x")),
        ("tasks/resubscribe", json!({"id": "t"})),
        ("tasks/pushNotification/get", json!({"id": "t"})),
    ] {
        let asked = request(method, params);
        for (headers, status) in [
            (&[][..], 401),
            (&[("authorization", "Bearer mallory")], 403),
        ] {
            let answer = served.post(headers, &asked).await;
            assert_eq!(answer.status, status, "{method}");
            let challenge = if status == 401 {
                "Bearer realm=\"a2a\""
            } else {
                ""
            };
            assert_eq!(answer.header("www-authenticate"), challenge, "{method}");
        }
    }
    let asked = request("tasks/send", say("t", "echo x"));
    let answer = served
        .post(&[("authorization", "Bearer alice")], &asked)
        .await;
    assert_eq!(answer.body["result"]["status"]["state"], "completed");
    let card = served.card_at("/.well-known/agent.json").await;
    assert_eq!(
        card["authentication"].get("credentials"),
        None,
        "the card is public"
    );
}

/// If both sides list modes and share none, the content type is not supported; text is text/plain. Official samples.
#[tokio::test]
async fn both_sides_share_a_modality() {
    let served = serve().await;
    for (accepted, refused) in [
        (json!(["text"]), false),
        (json!(["text/plain"]), false),
        (json!(["image/png", "text"]), false),
        (json!([]), false),
        (json!(["image/png"]), true),
        (json!(["image/png", "audio/ogg"]), true),
    ] {
        let params = with(
            say(&accepted.to_string(), "echo x"),
            json!({"acceptedOutputModes": accepted}),
        );
        let answer = served.rpc("tasks/send", params).await;
        let code = answer.as_ref().err().map(|error| &error["code"]);
        assert_eq!(code, refused.then_some(&json!(-32005)), "{accepted}");
    }
}
