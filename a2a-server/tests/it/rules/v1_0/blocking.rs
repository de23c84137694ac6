//! Rules 13 to 16: how long a caller waits, and how much history it gets.

use serde_json::{Value, json};

use super::{WAYS, Way, configured, say, say_to};
use crate::rules::puppet::{Served, serve};
use crate::rules::wire::texts;

/// Reads the caller's tasks until one is worked on.
async fn someone_works(served: &Served, way: Way) {
    let working = json!({"status": "TASK_STATE_WORKING"});
    while served.ask(way, "ListTasks", working.clone()).await.unwrap()["totalSize"] == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn rule_5_4_13_a_caller_waits_for_the_end() {
    for way in WAYS {
        let served = serve().await;
        // Also when the agent would let it go.
        for command in ["hold the result", "detach"] {
            let release = async {
                someone_works(&served, way).await;
                served.go_on();
            };
            let (task, ()) = tokio::join!(served.task(way, command), release);
            assert_eq!(
                task["status"]["state"], "TASK_STATE_COMPLETED",
                "{way:?} {command}"
            );
        }
        let task = served.task(way, "echo the result").await;
        assert_eq!(texts(&task["artifacts"]), ["the result"], "{way:?}");
        let paused = served.task(way, "ask which").await;
        assert_eq!(
            paused["status"]["state"], "TASK_STATE_INPUT_REQUIRED",
            "{way:?}"
        );
        assert_eq!(texts(&paused["status"]), ["which"], "{way:?}");
        let sends = configured(say("echo x"), json!({"returnImmediately": false}));
        let task = served.ask(way, "SendMessage", sends).await.unwrap();
        assert_eq!(
            task["task"]["status"]["state"], "TASK_STATE_COMPLETED",
            "{way:?}"
        );
    }
}

#[tokio::test]
async fn rule_5_4_14_who_does_not_wait_is_answered_at_once() {
    for way in WAYS {
        let served = serve().await;
        let hold = configured(say("hold on"), json!({"returnImmediately": true}));
        let sent = served.ask(way, "SendMessage", hold).await.unwrap();
        let state = sent["task"]["status"]["state"].as_str().unwrap();
        assert!(
            ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"].contains(&state),
            "{way:?} {state}"
        );
        let id = json!({"id": sent["task"]["id"]});
        let stream = served.follow(way, "SubscribeToTask", id.clone()).await;
        served.go_on();
        stream.rest().await;
        let ended = served.ask(way, "GetTask", id).await.unwrap();
        assert_eq!(
            ended["status"]["state"], "TASK_STATE_COMPLETED",
            "{way:?}: it went on"
        );
    }
}

#[tokio::test]
async fn rule_5_4_15_not_waiting_changes_no_message_stream_or_webhook() {
    let at_once = |text: &str, more: Value| {
        let mut configuration = json!({"returnImmediately": true});
        configuration
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        configured(say(text), configuration)
    };
    for way in WAYS {
        let served = serve().await;
        let said = served
            .ask(way, "SendMessage", at_once("reply hi", json!({})))
            .await
            .unwrap();
        assert_eq!(texts(&said["message"]), ["hi"], "{way:?}: {said}");

        let said = served
            .follow(way, "SendStreamingMessage", at_once("reply hi", json!({})))
            .await;
        let events = said.rest().await;
        assert_eq!(events.len(), 1, "{way:?}");
        assert_eq!(texts(&events[0]["message"]), ["hi"], "{way:?}: {events:?}");

        let told = served
            .follow(way, "SendStreamingMessage", at_once("echo x", json!({})))
            .await;
        let last = told.rest().await.pop().unwrap();
        let state = &last["statusUpdate"]["status"]["state"];
        assert_eq!(
            state, "TASK_STATE_COMPLETED",
            "{way:?}: the stream goes on to the end"
        );

        let webhook = json!({"taskPushNotificationConfig": {"url": "https://a.example/"}});
        let sent = served
            .ask(way, "SendMessage", at_once("echo x", webhook))
            .await
            .unwrap();
        let of = json!({"taskId": sent["task"]["id"]});
        let kept = served
            .ask(way, "ListTaskPushNotificationConfigs", of)
            .await
            .unwrap();
        assert_eq!(kept["configs"][0]["url"], "https://a.example/", "{way:?}");
    }
}

#[tokio::test]
async fn rule_5_4_16_history_is_as_long_as_asked_for() {
    for way in WAYS {
        let served = serve().await;
        let task = served.task(way, "ask one").await;
        let send = |configuration: Value| {
            let params = configured(say_to(&task, "ask more"), configuration);
            served.ask(way, "SendMessage", params)
        };
        let all = ["ask one", "one", "ask more"];
        let sent = send(json!({})).await.unwrap();
        assert_eq!(
            texts(&sent["task"]["history"]),
            all,
            "{way:?}: unset means all here"
        );
        let sent = send(json!({"historyLength": 0})).await.unwrap();
        assert_eq!(sent["task"].get("history"), None, "{way:?}: 0 means none");
        let sent = send(json!({"historyLength": 2})).await.unwrap();
        assert_eq!(
            texts(&sent["task"]["history"]),
            ["more", "ask more"],
            "{way:?}: the last two"
        );
        let refused = send(json!({"historyLength": -1})).await;
        assert_eq!(refused, Err("INVALID_PARAMS".to_owned()), "{way:?}");

        for (method, named) in [
            ("GetTask", json!({"id": task["id"]})),
            ("ListTasks", json!({})),
        ] {
            let ask = |length: i32| {
                let mut params = named.clone();
                params["historyLength"] = length.into();
                served.ask(way, method, params)
            };
            let read = |answer: &Value| match method {
                "GetTask" => answer.clone(),
                _ => answer["tasks"][0].clone(),
            };
            assert_eq!(
                read(&ask(0).await.unwrap()).get("history"),
                None,
                "{way:?} {method}"
            );
            let one = read(&ask(1).await.unwrap());
            assert_eq!(texts(&one["history"]), ["ask more"], "{way:?} {method}");
            let many = read(&ask(100).await.unwrap());
            assert_eq!(texts(&many["history"]).len(), 7, "{way:?} {method}: {many}");
            assert_eq!(
                ask(-1).await,
                Err("INVALID_PARAMS".to_owned()),
                "{way:?} {method}"
            );
        }
    }
}
