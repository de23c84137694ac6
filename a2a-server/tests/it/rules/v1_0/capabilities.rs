//! Refusal of requests for capabilities that the card does not declare.

use a2a_types::{AgentCard, AgentExtension};
use serde_json::{Value, json};

use super::{HTTP_BINDINGS, HttpBinding, configured, put, say};
use crate::rules::scripted_agent::{ServedAgent, card, plain_card, serve_card, serve_to_names};

/// The same refusal by both bindings: the reason, and the code that JSON-RPC has for it.
async fn check(served: &ServedAgent, method: &str, params: Value, reason: &str, code: i64) {
    for binding in HTTP_BINDINGS {
        let refused = served
            .ask_as("alice", binding, method, params.clone())
            .await;
        assert_eq!(refused, Err(reason.to_owned()), "{binding:?} {method}");
    }
    let (verb, path, body) = put(HttpBinding::JsonRpc, method, params);
    let headers = [("a2a-version", "1.0"), ("authorization", "Bearer alice")];
    let answer = served.http(verb, &path, &headers, body.as_ref()).await;
    assert_eq!(answer.body["error"]["code"], code, "{method}");
}

/// Requests for capabilities that the card does not declare are refused, each with its own error; so are callers that
/// do not support a required extension. §3.3.4.
#[tokio::test]
async fn capabilities_absent_from_the_card_are_refused() {
    let plain = serve_card(plain_card()).await;
    let task = plain.task(HttpBinding::JsonRpc, "ask which").await;
    let (id, task_id) = (json!({"id": task["id"]}), json!({"taskId": task["id"]}));
    let config = json!({"taskId": task["id"], "url": "https://a.example/"});
    let named = json!({"taskId": task["id"], "id": "c"});

    let reason = "PUSH_NOTIFICATION_NOT_SUPPORTED";
    for (method, params) in [
        ("CreateTaskPushNotificationConfig", config),
        ("GetTaskPushNotificationConfig", named.clone()),
        ("ListTaskPushNotificationConfigs", task_id),
        ("DeleteTaskPushNotificationConfig", named),
    ] {
        check(&plain, method, params, reason, -32003).await;
    }
    let webhook = json!({"taskPushNotificationConfig": {"url": "https://a.example/"}});
    check(
        &plain,
        "SendMessage",
        configured(say("echo x"), webhook),
        reason,
        -32003,
    )
    .await;

    let reason = "UNSUPPORTED_OPERATION";
    check(
        &plain,
        "SendStreamingMessage",
        say("echo x"),
        reason,
        -32004,
    )
    .await;
    check(&plain, "SubscribeToTask", id, reason, -32004).await;
    check(&plain, "GetExtendedAgentCard", json!({}), reason, -32004).await;

    let mut promising = card();
    promising.capabilities.extended_agent_card = Some(true);
    let promising = serve_to_names(promising).await;
    let reason = "EXTENDED_AGENT_CARD_NOT_CONFIGURED";
    check(
        &promising,
        "GetExtendedAgentCard",
        json!({}),
        reason,
        -32007,
    )
    .await;

    let demanding = serve_card(requiring("urn:must")).await;
    let reason = "EXTENSION_SUPPORT_REQUIRED";
    for (method, params) in [
        ("SendMessage", say("echo x")),
        ("SendStreamingMessage", say("echo x")),
        ("ListTasks", json!({})),
    ] {
        check(&demanding, method, params, reason, -32008).await;
    }
}

/// A card that requires an extension.
pub(super) fn requiring(uri: &str) -> AgentCard {
    let mut card = card();
    card.capabilities.extensions = vec![AgentExtension {
        uri: uri.to_owned(),
        required: true,
        ..AgentExtension::default()
    }];
    card
}
