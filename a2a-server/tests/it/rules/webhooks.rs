//! Webhooks, in every protocol version: their notifications, and the URLs that are allowed.

use a2a_server::{Challenge, ServerBuilder, WebhookPolicy};
use serde_json::{Value, json};

use crate::receiver::{next, receiver};
use crate::rules::scripted_agent::{ServedAgent, card, serve, serve_with};
use crate::rules::v1_0::{HTTP_BINDINGS, say};

/// Serves the agent to receivers on this machine.
async fn server_with_webhooks(build: impl FnOnce(ServerBuilder) -> ServerBuilder) -> ServedAgent {
    let policy = WebhookPolicy::default().allow_hosts(["127.0.0.1"]);
    serve_with(
        card(),
        |builder| build(builder.webhooks(policy)),
        |bound| bound,
    )
    .await
}

fn code(outcome: &Result<Value, Value>) -> Option<i64> {
    outcome.as_ref().err()?["code"].as_i64()
}

fn say_0_1(id: &str, config: Value) -> Value {
    let parts = json!([{"type": "text", "text": "echo x"}]);
    let message = json!({"role": "user", "parts": parts});
    json!({"id": id, "sessionId": "s", "message": message, "pushNotification": config})
}

/// A webhook gets the whole task as it stands, or at least its id and status. Launch documentation, Push Notifications, §9.4.
#[tokio::test]
async fn a_webhook_gets_the_whole_task() {
    let served = server_with_webhooks(|builder| builder).await;
    let (url, mut requests) = receiver(false).await;
    let sent = served
        .rpc("tasks/send", say_0_1("t", json!({"url": url})))
        .await;
    let task = sent.unwrap();
    loop {
        let answer = next(&mut requests).await;
        let body = answer.json();
        assert_eq!(
            (&body["id"], &body["sessionId"]),
            (&json!("t"), &json!("s"))
        );
        if body["status"]["state"] == "completed" {
            assert_eq!(body["artifacts"], task["artifacts"]);
            break;
        }
    }
}

/// A delivery shows credentials by the named schemes, and the token in a header. Launch documentation, Push Notifications.
#[tokio::test]
async fn a_delivery_shows_credentials_and_the_token() {
    let served = server_with_webhooks(|builder| builder).await;
    let (url, mut requests) = receiver(false).await;
    let authentication = json!({"schemes": ["Bearer"], "credentials": "secret"});
    let config = json!({"url": url, "token": "abc", "authentication": authentication});
    served
        .rpc("tasks/send", say_0_1("t", config))
        .await
        .unwrap();
    let answer = next(&mut requests).await;
    assert_eq!(answer.header("authorization"), Some("Bearer secret"));
    assert_eq!(answer.header("x-a2a-notification-token"), Some("abc"));
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

/// A webhook's address should be verified by a token that it has to repeat. Launch documentation, Push Notifications, Topic page Streaming.
#[tokio::test]
async fn a_webhook_has_to_repeat_a_token() {
    let served =
        server_with_webhooks(|builder| builder.challenge_webhooks(Challenge::OfOldCallers)).await;
    for repeats in [true, false] {
        let (url, mut requests) = receiver(repeats).await;
        let id = format!("t-{repeats}");
        let sent = served
            .rpc("tasks/send", say_0_1(&id, json!({"url": url})))
            .await;
        assert!(
            next(&mut requests)
                .await
                .target
                .contains("validationToken=")
        );
        match repeats {
            true => assert_eq!(sent.unwrap()["status"]["state"], "completed"),
            false => assert_eq!(code(&sent), Some(-32602)),
        }
    }
}

/// A webhook's address must be HTTPS, and should not be trusted blindly. §6.8.
#[tokio::test]
async fn a_webhook_is_called_by_https_and_not_trusted() {
    let served = serve().await;
    for url in [
        "http://example.com/",
        "https://localhost/",
        "https://10.0.0.1/",
    ] {
        let sent = served
            .rpc("tasks/send", say_0_1("t", json!({"url": url})))
            .await;
        assert_eq!(code(&sent), Some(-32602), "{url}");
    }
}

/// A webhook gets the task as JSON; of several, each. §9.5, Topic page Streaming.
#[tokio::test]
async fn each_of_several_webhooks_gets_the_task() {
    let served = server_with_webhooks(|builder| builder).await;
    let message = |text: &str, id: &str| {
        let parts = json!([{"kind": "text", "text": text}]);
        json!({"kind": "message", "messageId": id, "role": "user", "parts": parts})
    };
    let asked = served
        .rpc(
            "message/send",
            json!({"message": message("ask which", "a")}),
        )
        .await;
    let task = asked.unwrap();
    let mut receivers = Vec::new();
    for name in ["one", "two"] {
        let (url, requests) = receiver(false).await;
        let config = json!({"id": name, "url": url});
        let params = json!({"taskId": task["id"], "pushNotificationConfig": config});
        served
            .rpc("tasks/pushNotificationConfig/set", params)
            .await
            .unwrap();
        receivers.push(requests);
    }
    let mut answer = message("echo this", "b");
    answer["taskId"] = task["id"].clone();
    served
        .rpc("message/send", json!({"message": answer}))
        .await
        .unwrap();
    for requests in &mut receivers {
        let body = next(requests).await.json();
        assert_eq!((&body["kind"], &body["id"]), (&json!("task"), &task["id"]));
    }
}

/// A delivery is a POST of one event with the credentials of the webhook, the same for every binding. §3.5.1,
/// §4.3.3.
#[tokio::test]
async fn a_delivery_is_one_event_with_credentials() {
    let served = server_with_webhooks(|builder| builder).await;
    for binding in HTTP_BINDINGS {
        let (url, mut requests) = receiver(false).await;
        let authentication = json!({"scheme": "Bearer", "credentials": "secret"});
        let mut params = say("echo x");
        params["configuration"] =
            json!({"taskPushNotificationConfig": {"url": url, "authentication": authentication}});
        served.ask(binding, "SendMessage", params).await.unwrap();
        for member in ["artifactUpdate", "statusUpdate"] {
            let answer = next(&mut requests).await;
            assert_eq!(
                answer.header("authorization"),
                Some("Bearer secret"),
                "{binding:?}"
            );
            assert_eq!(answer.header("content-type"), Some("application/a2a+json"));
            let body = answer.json();
            let members: Vec<_> = body.as_object().unwrap().keys().collect();
            assert_eq!(members, [member], "{binding:?}");
        }
    }
}

/// The token of a webhook is sent in a header, as before 1.0.1. Topic page Streaming.
#[tokio::test]
async fn the_token_is_sent_in_a_header() {
    let served = server_with_webhooks(|builder| builder).await;
    let (url, mut requests) = receiver(false).await;
    let mut params = say("echo x");
    params["configuration"] = json!({"taskPushNotificationConfig": {"url": url, "token": "abc"}});
    served
        .ask(HTTP_BINDINGS[0], "SendMessage", params)
        .await
        .unwrap();
    let answer = next(&mut requests).await;
    assert_eq!(answer.header("x-a2a-notification-token"), Some("abc"));
}

/// Webhooks should not lead into private networks. §13.2.
#[tokio::test]
async fn a_webhook_does_not_lead_into_private_networks() {
    let served = serve().await;
    for binding in HTTP_BINDINGS {
        for host in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.1.1",
            "[fd00::1]",
        ] {
            let mut params = say("echo x");
            let url = format!("https://{host}/");
            params["configuration"] = json!({"taskPushNotificationConfig": {"url": url}});
            let refused = served.ask(binding, "SendMessage", params).await;
            assert_eq!(
                refused,
                Err("INVALID_PARAMS".to_owned()),
                "{binding:?} {host}"
            );
        }
    }
}
