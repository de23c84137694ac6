//! Tenants and access.

use a2a_server::ServerBuilder;
use serde_json::{Value, json};

use super::{HTTP_BINDINGS, HttpBinding, put, say, say_to, state_of, with};
use crate::rules::scripted_agent::{card, serve, serve_to_names, serve_with};
use crate::rules::wire::texts;

/// Every operation on a task.
fn operations(id: &str) -> Vec<(&'static str, Value)> {
    let (of, named) = (json!({"id": id}), json!({"taskId": id, "id": "c"}));
    vec![
        ("SendMessage", say_to(&of, "echo x")),
        ("SendStreamingMessage", say_to(&of, "echo x")),
        ("GetTask", of.clone()),
        ("CancelTask", of.clone()),
        ("SubscribeToTask", of),
        (
            "CreateTaskPushNotificationConfig",
            json!({"taskId": id, "url": "https://a.example/"}),
        ),
        ("GetTaskPushNotificationConfig", named.clone()),
        ("ListTaskPushNotificationConfigs", json!({"taskId": id})),
        ("DeleteTaskPushNotificationConfig", named),
    ]
}

/// A client repeats the tenant of the interface in every request, as a member, a parameter or the begin of the
/// path. §8.3.2, proto.
#[tokio::test]
async fn a_tenant_is_a_member_or_begins_the_path() {
    let served = serve_with(card(), ServerBuilder::any_tenant, |bound| bound).await;
    let asks = |binding, tenant: &str| {
        let mut params = say("tenant");
        params["tenant"] = tenant.into();
        put(binding, "SendMessage", params)
    };
    let by_path = ("POST", "/acme/message:send".to_owned(), Some(say("tenant")));
    let requests = [
        asks(HttpBinding::JsonRpc, "acme"),
        asks(HttpBinding::HttpJson, "acme"),
        by_path,
    ];
    let mut tasks = Vec::new();
    for (verb, path, body) in requests {
        let answer = served
            .http(verb, &path, &[("a2a-version", "1.0")], body.as_ref())
            .await;
        let task = [&answer.body["task"], &answer.body["result"]["task"]]
            .into_iter()
            .find(|at| at.is_object());
        assert_eq!(texts(&task.unwrap()["artifacts"]), ["acme"], "{path}");
        tasks.push(task.unwrap()["id"].clone());
    }
    for id in tasks {
        let path = format!("/tasks/{}", id.as_str().unwrap());
        for (place, status) in [
            (format!("/acme{path}"), 200),
            (format!("{path}?tenant=acme"), 200),
            (format!("/other{path}"), 404),
            (path, 404),
        ] {
            let answer = served.get(&place, &[("a2a-version", "1.0")]).await;
            assert_eq!(answer.status, status, "{place}");
        }
    }
}

/// Every request is authenticated and authorised; a task of another caller looks absent. §3.3.2, §7.4, §13.1.
#[tokio::test]
async fn every_request_is_authenticated_and_authorised() {
    for binding in HTTP_BINDINGS {
        let served = serve_to_names(card()).await;
        let sent = served
            .ask_as("alice", binding, "SendMessage", say("ask which"))
            .await
            .unwrap();
        let id = sent["task"]["id"].as_str().unwrap();
        for ((method, hers), (_, unknown)) in operations(id).into_iter().zip(operations("unknown"))
        {
            let (verb, path, body) = put(binding, method, hers.clone());
            for (who, status) in [("", 401), ("Bearer mallory", 403)] {
                let headers = [("a2a-version", "1.0"), ("authorization", who)];
                let answer = served.http(verb, &path, &headers, body.as_ref()).await;
                let challenge = answer.header("www-authenticate");
                assert_eq!(
                    (answer.status, challenge.is_empty()),
                    (status, status == 403),
                    "{method}"
                );
            }
            // Another caller's task looks like one that is not there.
            let mut answers = Vec::new();
            for params in [hers, unknown] {
                let (verb, path, body) = put(binding, method, params);
                let headers = [("a2a-version", "1.0"), ("authorization", "Bearer bob")];
                let answer = served.http(verb, &path, &headers, body.as_ref()).await;
                assert!(
                    answer.body.to_string().contains("TASK_NOT_FOUND"),
                    "{binding:?} {method}: {answer:?}"
                );
                answers.push((answer.status, answer.body));
            }
            assert_eq!(answers[0], answers[1], "{binding:?} {method}");
        }
        let hers = served
            .ask_as("alice", binding, "GetTask", json!({"id": id}))
            .await
            .unwrap();
        assert_eq!(
            hers["status"]["state"], "TASK_STATE_INPUT_REQUIRED",
            "{binding:?}: untouched"
        );
    }
}

/// Credentials are asked for on a task, by a state and a message that explains; streams stay open; work goes on
/// with a message or without. §7.6.
#[tokio::test]
async fn credentials_are_asked_for_on_a_task() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let mut stream = served
            .follow(binding, "SendStreamingMessage", say("login the result"))
            .await;
        let asks = stream.until("TASK_STATE_AUTH_REQUIRED").await;
        let explained = &asks["statusUpdate"]["status"]["message"]["parts"];
        assert_eq!(explained[0]["text"], "the result", "{binding:?}: {asks}");
        assert_eq!(
            explained[1]["data"],
            json!({"needs": "the result"}),
            "{binding:?}"
        );
        let id = json!({"id": asks["statusUpdate"]["taskId"]});
        let mut again = served.follow(binding, "SubscribeToTask", id.clone()).await;
        let first = again.next().await.unwrap();
        assert_eq!(state_of(&first), "TASK_STATE_AUTH_REQUIRED", "{binding:?}");
        // The credentials come by another way, and both streams are still open.
        served.go_on();
        for stream in [stream, again] {
            let events = stream.rest().await;
            assert_eq!(
                texts(&events[0]["artifactUpdate"]),
                ["the result"],
                "{binding:?}"
            );
            assert_eq!(
                state_of(events.last().unwrap()),
                "TASK_STATE_COMPLETED",
                "{binding:?}"
            );
        }
        // A message is taken, too.
        let paused = served.task(binding, "credentials for it").await;
        assert_eq!(
            paused["status"]["state"], "TASK_STATE_AUTH_REQUIRED",
            "{binding:?}"
        );
        let token = with(
            say_to(&paused, "echo in"),
            json!({"metadata": {"token": "t"}}),
        );
        let done = served.ask(binding, "SendMessage", token).await.unwrap();
        assert_eq!(
            done["task"]["status"]["state"], "TASK_STATE_COMPLETED",
            "{binding:?}"
        );
    }
}
