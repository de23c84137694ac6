//! The time that a caller waits, and the length of the history that it gets.

use serde_json::{Value, json};

use super::{HTTP_BINDINGS, HttpBinding, configured, say, say_to};
use crate::rules::scripted_agent::{ServedAgent, serve};
use crate::rules::wire::texts;
use crate::waiting::eventually;

/// Reads the caller's tasks until one is worked on.
async fn someone_works(served: &ServedAgent, binding: HttpBinding) {
    let working = json!({"status": "TASK_STATE_WORKING"});
    eventually(async || {
        let list = served.ask(binding, "ListTasks", working.clone()).await;
        (list.unwrap()["totalSize"] != 0).then_some(())
    })
    .await;
}

/// A caller waits until the task has ended or is interrupted, and gets it as it then is. §3.2.2.
#[tokio::test]
async fn a_caller_waits_for_the_end() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        // Even if the agent would return early.
        for command in ["hold the result", "detach"] {
            let release = async {
                someone_works(&served, binding).await;
                served.go_on();
            };
            let (task, ()) = tokio::join!(served.task(binding, command), release);
            assert_eq!(
                task["status"]["state"], "TASK_STATE_COMPLETED",
                "{binding:?} {command}"
            );
        }
        let task = served.task(binding, "echo the result").await;
        assert_eq!(texts(&task["artifacts"]), ["the result"], "{binding:?}");
        let paused = served.task(binding, "ask which").await;
        assert_eq!(
            paused["status"]["state"], "TASK_STATE_INPUT_REQUIRED",
            "{binding:?}"
        );
        assert_eq!(texts(&paused["status"]), ["which"], "{binding:?}");
        let sends = configured(say("echo x"), json!({"returnImmediately": false}));
        let task = served.ask(binding, "SendMessage", sends).await.unwrap();
        assert_eq!(
            task["task"]["status"]["state"], "TASK_STATE_COMPLETED",
            "{binding:?}"
        );
    }
}

/// A caller who does not want to wait is answered once there is a task, which goes on. §3.2.2.
#[tokio::test]
async fn return_immediately_is_answered_at_once() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let hold = configured(say("hold on"), json!({"returnImmediately": true}));
        let sent = served.ask(binding, "SendMessage", hold).await.unwrap();
        let state = sent["task"]["status"]["state"].as_str().unwrap();
        assert!(
            ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"].contains(&state),
            "{binding:?} {state}"
        );
        let id = json!({"id": sent["task"]["id"]});
        let stream = served.follow(binding, "SubscribeToTask", id.clone()).await;
        served.go_on();
        stream.rest().await;
        let ended = served.ask(binding, "GetTask", id).await.unwrap();
        assert_eq!(
            ended["status"]["state"], "TASK_STATE_COMPLETED",
            "{binding:?}: it went on"
        );
    }
}

/// An immediate return has no effect on an answer by a message, on streams, and on webhooks.
/// §3.2.2.
#[tokio::test]
async fn not_waiting_changes_no_message_stream_or_webhook() {
    let at_once = |text: &str, more: Value| {
        let mut configuration = json!({"returnImmediately": true});
        configuration
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        configured(say(text), configuration)
    };
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let said = served
            .ask(binding, "SendMessage", at_once("reply hi", json!({})))
            .await
            .unwrap();
        assert_eq!(texts(&said["message"]), ["hi"], "{binding:?}: {said}");

        let said = served
            .follow(
                binding,
                "SendStreamingMessage",
                at_once("reply hi", json!({})),
            )
            .await;
        let events = said.rest().await;
        assert_eq!(events.len(), 1, "{binding:?}");
        assert_eq!(
            texts(&events[0]["message"]),
            ["hi"],
            "{binding:?}: {events:?}"
        );

        let stream = served
            .follow(
                binding,
                "SendStreamingMessage",
                at_once("echo x", json!({})),
            )
            .await;
        let last = stream.rest().await.pop().unwrap();
        let state = &last["statusUpdate"]["status"]["state"];
        assert_eq!(
            state, "TASK_STATE_COMPLETED",
            "{binding:?}: the stream goes on to the end"
        );

        let webhook = json!({"taskPushNotificationConfig": {"url": "https://a.example/"}});
        let sent = served
            .ask(binding, "SendMessage", at_once("echo x", webhook))
            .await
            .unwrap();
        let of = json!({"taskId": sent["task"]["id"]});
        let kept = served
            .ask(binding, "ListTaskPushNotificationConfigs", of)
            .await
            .unwrap();
        assert_eq!(
            kept["configs"][0]["url"], "https://a.example/",
            "{binding:?}"
        );
    }
}

/// A history length of N means at most the last N, 0 none and no member, and none given what the server likes.
/// §3.2.4.
#[tokio::test]
async fn history_is_as_long_as_asked_for() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let task = served.task(binding, "ask one").await;
        let send = |configuration: Value| {
            let params = configured(say_to(&task, "ask more"), configuration);
            served.ask(binding, "SendMessage", params)
        };
        let all = ["ask one", "one", "ask more"];
        let sent = send(json!({})).await.unwrap();
        assert_eq!(
            texts(&sent["task"]["history"]),
            all,
            "{binding:?}: unset means all here"
        );
        let sent = send(json!({"historyLength": 0})).await.unwrap();
        assert_eq!(
            sent["task"].get("history"),
            None,
            "{binding:?}: 0 means none"
        );
        let sent = send(json!({"historyLength": 2})).await.unwrap();
        assert_eq!(
            texts(&sent["task"]["history"]),
            ["more", "ask more"],
            "{binding:?}: the last two"
        );
        let refused = send(json!({"historyLength": -1})).await;
        assert_eq!(refused, Err("INVALID_PARAMS".to_owned()), "{binding:?}");

        for (method, named) in [
            ("GetTask", json!({"id": task["id"]})),
            ("ListTasks", json!({})),
        ] {
            let ask = |length: i32| {
                let mut params = named.clone();
                params["historyLength"] = length.into();
                served.ask(binding, method, params)
            };
            let read = |answer: &Value| match method {
                "GetTask" => answer.clone(),
                _ => answer["tasks"][0].clone(),
            };
            assert_eq!(
                read(&ask(0).await.unwrap()).get("history"),
                None,
                "{binding:?} {method}"
            );
            let one = read(&ask(1).await.unwrap());
            assert_eq!(texts(&one["history"]), ["ask more"], "{binding:?} {method}");
            let many = read(&ask(100).await.unwrap());
            assert_eq!(
                texts(&many["history"]).len(),
                7,
                "{binding:?} {method}: {many}"
            );
            assert_eq!(
                ask(-1).await,
                Err("INVALID_PARAMS".to_owned()),
                "{binding:?} {method}"
            );
        }
    }
}
