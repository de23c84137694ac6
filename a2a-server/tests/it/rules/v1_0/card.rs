//! The card, the members of objects, and the bindings.

use serde_json::{Value, json};

use super::{HTTP_BINDINGS, HttpBinding, put, say};
use crate::rules::scripted_agent::serve;

/// The first interface that the client speaks wins; the card lists all, in order of preference. §8.3.2.
#[tokio::test]
async fn the_card_lists_all_interfaces() {
    let served = serve().await;
    let card = served.card_at("/.well-known/agent-card.json").await;
    let interfaces = card["supportedInterfaces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let text = |name: &str| one[name].as_str().unwrap();
            (
                text("protocolBinding"),
                text("protocolVersion"),
                text("url"),
            )
        });
    let (url, rest) = (served.url(), format!("{}rest", served.url()));
    let expected = [
        ("JSONRPC", "1.0", &*url),
        ("HTTP+JSON", "1.0", &*rest),
        ("JSONRPC", "0.3", &*url),
        ("HTTP+JSON", "0.3", &*rest),
        ("JSONRPC", "0.2", &*url),
        ("JSONRPC", "0.1", &*url),
    ];
    // Listed with the feature `grpc`.
    let interfaces = interfaces.filter(|(binding, ..)| *binding != "GRPC");
    assert_eq!(interfaces.collect::<Vec<_>>(), expected);
    let listed = served.get("/rest/tasks", &[("a2a-version", "1.0")]).await;
    assert_eq!((listed.status, &listed.body["totalSize"]), (200, &json!(0)));
}

/// Required members are there, and a message has parts. §5.7.
#[tokio::test]
async fn required_members_are_there() {
    let good = say("echo x");
    let without = |member: &str| {
        let mut params = good.clone();
        params["message"]
            .as_object_mut()
            .unwrap()
            .remove(member)
            .unwrap();
        params
    };
    let mut no_parts = good.clone();
    no_parts["message"]["parts"] = json!([]);
    let bad = [
        without("messageId"),
        without("role"),
        without("parts"),
        no_parts,
        json!({}),
    ];
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        for params in &bad {
            let refused = served.ask(binding, "SendMessage", params.clone()).await;
            assert_eq!(
                refused,
                Err("INVALID_PARAMS".to_owned()),
                "{binding:?} {params}"
            );
        }
        let task = served.task(binding, "echo x").await;
        for member in [
            "/id",
            "/status/state",
            "/artifacts/0/artifactId",
            "/artifacts/0/parts/0",
            "/history/0/messageId",
            "/history/0/role",
            "/history/0/parts/0",
        ] {
            assert!(
                task.pointer(member).is_some(),
                "{binding:?} {member}: {task}"
            );
        }
    }
    let served = serve().await;
    for version in ["", "1.0"] {
        let path = "/.well-known/agent-card.json";
        let card = served.get(path, &[("a2a-version", version)]).await.body;
        for member in [
            "name",
            "description",
            "version",
            "capabilities",
            "defaultInputModes",
            "defaultOutputModes",
            "skills",
            "supportedInterfaces",
        ] {
            assert!(!card[member].is_null(), "{version} {member}");
        }
        for member in ["id", "name", "description", "tags"] {
            assert!(!card["skills"][0][member].is_null(), "{version} {member}");
        }
    }
}

/// Unknown members are ignored. §5.7.
#[tokio::test]
async fn unknown_members_are_ignored() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let mut params = say("echo x");
        for place in ["", "/message", "/message/parts/0"] {
            params.pointer_mut(place).unwrap()["fromTheFuture"] = json!({"a": [1]});
        }
        params["configuration"] = json!({"fromTheFuture": 1, "historyLength": 0});
        let sent = served.ask(binding, "SendMessage", params).await.unwrap();
        assert_eq!(
            sent["task"]["status"]["state"], "TASK_STATE_COMPLETED",
            "{binding:?}"
        );
        assert_eq!(
            sent["task"].get("history"),
            None,
            "{binding:?}: the known ones still count"
        );
    }
}

/// Several bindings of one agent do the same. §5.1.
#[tokio::test]
async fn both_bindings_say_the_same() {
    let served = serve().await;
    let done = served.task(HttpBinding::JsonRpc, "assemble").await;
    let paused = served.task(HttpBinding::HttpJson, "form which").await;
    for (task, has_ended) in [(done, true), (paused, false)] {
        let (id, of) = (json!({"id": task["id"]}), json!({"taskId": task["id"]}));
        let config =
            json!({"taskId": task["id"], "id": "c", "url": "https://a.example/", "token": "t"});
        let named = json!({"taskId": task["id"], "id": "c"});
        for (method, params) in [
            ("GetTask", id.clone()),
            (
                "ListTasks",
                json!({"includeArtifacts": true, "historyLength": 1}),
            ),
            ("CreateTaskPushNotificationConfig", config),
            ("GetTaskPushNotificationConfig", named.clone()),
            ("ListTaskPushNotificationConfigs", of),
            ("DeleteTaskPushNotificationConfig", named),
            ("CancelTask", id),
            ("GetTask", json!({"id": "unknown"})),
            ("GetExtendedAgentCard", json!({})),
        ] {
            if method == "CancelTask" && !has_ended {
                // The second one would be refused.
                continue;
            }
            let by_json_rpc = served
                .ask(HttpBinding::JsonRpc, method, params.clone())
                .await;
            let by_http_json = served.ask(HttpBinding::HttpJson, method, params).await;
            assert_eq!(by_json_rpc, by_http_json, "{method}");
        }
    }
    // The same events, too: but for what each stream makes up.
    let mut streams = Vec::new();
    for binding in HTTP_BINDINGS {
        let events = served
            .follow(binding, "SendStreamingMessage", say("assemble"))
            .await
            .rest()
            .await;
        streams.push(events.into_iter().map(anonymous).collect::<Vec<_>>());
    }
    assert_eq!(streams[0], streams[1]);
    let (verb, path, body) = put(HttpBinding::HttpJson, "SendMessage", say("reply hi"));
    let said = served
        .http(verb, &path, &[("a2a-version", "1.0")], body.as_ref())
        .await;
    let by_json_rpc = served
        .ask(HttpBinding::JsonRpc, "SendMessage", say("reply hi"))
        .await
        .unwrap();
    assert_eq!(anonymous(said.body), anonymous(by_json_rpc));
}

/// The same without ids of tasks, contexts and messages, and without times.
fn anonymous(mut value: Value) -> Value {
    const MADE_UP: [&str; 5] = ["id", "taskId", "contextId", "messageId", "timestamp"];
    match &mut value {
        Value::Object(members) => {
            members.retain(|name, _| !MADE_UP.contains(&name.as_str()));
            members
                .values_mut()
                .for_each(|member| *member = anonymous(member.take()));
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| *item = anonymous(item.take())),
        _ => {}
    }
    value
}
