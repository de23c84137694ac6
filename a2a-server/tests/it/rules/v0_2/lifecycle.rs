//! Tasks, contexts, messages, history.

use serde_json::{Value, json};

use super::{configured, say, say_to, serve, state, with};
use crate::rules::scripted_agent::ServedAgent;
use crate::rules::wire::{code, texts, unique};
use crate::waiting::eventually;

/// The server names tasks and contexts. 0.2.0 §6.1, Topic page Key Concepts.
#[tokio::test]
async fn the_server_names_tasks_and_contexts() {
    let served = serve().await;
    let (one, two) = (served.send("echo x").await, served.send("echo x").await);
    for name in ["id", "contextId"] {
        assert!(
            one[name].is_string() && one[name] != two[name],
            "{name}: {one}"
        );
    }
    let chosen = with(say("echo x"), json!({"taskId": "mine"}));
    assert_eq!(code(served.rpc("message/send", chosen).await), -32001);
}

/// A message without a task is answered by a task or a message; one with a task continues it. §7.1.
#[tokio::test]
async fn a_message_begins_or_continues() {
    let served = serve().await;
    let said = served.send("reply hi").await;
    assert_eq!(
        (&said["kind"], &said["role"]),
        (&json!("message"), &json!("agent"))
    );
    assert_eq!(texts(&said), ["hi"]);
    let asked = served.send("ask which").await;
    assert_eq!(
        (&asked["kind"], state(&asked)),
        (&json!("task"), "input-required")
    );
    let done = served
        .rpc("message/send", say_to(&asked, "echo that"))
        .await
        .unwrap();
    assert_eq!((&done["id"], state(&done)), (&asked["id"], "completed"));
}

/// The first answer names the context, and the client repeats it. Topic page Life of a Task.
#[tokio::test]
async fn the_context_is_returned_and_repeated() {
    let served = serve().await;
    for first in ["reply hi", "echo x"] {
        let context = served.send(first).await["contextId"].take();
        assert!(context.is_string(), "{first}");
        let next = with(say("echo x"), json!({"contextId": context}));
        let next = served.rpc("message/send", next).await.unwrap();
        assert_eq!(next["contextId"], context, "{first}");
    }
}

/// A message may refer to earlier tasks. Schema since 0.2.1.
#[tokio::test]
async fn references_reach_the_agent() {
    let served = serve().await;
    let earlier = served.send("echo x").await;
    let params = with(
        say("refer"),
        json!({"referenceTaskIds": [earlier["id"], "other"]}),
    );
    let done = served.rpc("message/send", params).await.unwrap();
    let expected = format!("{} other", earlier["id"].as_str().unwrap());
    assert_eq!(texts(&done["artifacts"]), [expected]);
}

/// A task that is completed, canceled, rejected or failed takes no more messages. §6.1, §7.1, §7.2.
#[tokio::test]
async fn an_ended_task_does_not_start_again() {
    let served = serve().await;
    let canceled = served.send("ask which").await;
    served
        .rpc("tasks/cancel", json!({"id": canceled["id"]}))
        .await
        .unwrap();
    for (task, expected) in [
        (served.send("echo x").await, "completed"),
        (canceled, "canceled"),
        (served.send("reject no").await, "rejected"),
        (served.send("fail").await, "failed"),
    ] {
        for method in ["message/send", "message/stream"] {
            let refused = served.rpc(method, say_to(&task, "echo y")).await;
            assert_eq!(code(refused), -32004, "{method} {expected}");
        }
        let now = served
            .rpc("tasks/get", json!({"id": task["id"]}))
            .await
            .unwrap();
        assert_eq!(state(&now), expected);
    }
}

/// A follow-up is a new task in the same context; its artifact has the same name and another id. Topic page Life of a
/// Task.
#[tokio::test]
async fn a_follow_up_is_a_new_task() {
    let served = serve().await;
    let first = served.send("echo one").await;
    let follow_up = with(say("echo two"), json!({"contextId": first["contextId"]}));
    let second = served.rpc("message/send", follow_up).await.unwrap();
    assert_ne!(first["id"], second["id"]);
    assert_eq!(first["contextId"], second["contextId"]);
    let (old, new) = (&first["artifacts"][0], &second["artifacts"][0]);
    assert_eq!(old["name"], new["name"]);
    assert_ne!(old["artifactId"], new["artifactId"]);
    let before = served
        .rpc("tasks/get", json!({"id": first["id"]}))
        .await
        .unwrap();
    assert_eq!(
        before["artifacts"], first["artifacts"],
        "the first one is as it was"
    );
}

/// A completed task's output is an artifact. §6.1.
#[tokio::test]
async fn output_is_an_artifact() {
    let task = serve().await.send("echo the result").await;
    assert_eq!(state(&task), "completed");
    let parts = json!([{"kind": "text", "text": "the result"}]);
    assert_eq!(task["artifacts"][0]["parts"], parts);
    assert_eq!(task["status"].get("message"), None);
}

/// Further credentials are asked for by a state of their own, with details in the message of the status. §4.5.
#[tokio::test]
async fn credentials_are_asked_for_in_the_status() {
    let served = serve().await;
    let asked = served.send("credentials for it").await;
    assert_eq!(state(&asked), "auth-required");
    let parts =
        json!([{"kind": "text", "text": "for it"}, {"kind": "data", "data": {"needs": "for it"}}]);
    assert_eq!(asked["status"]["message"]["parts"], parts);
    let done = served
        .rpc("message/send", say_to(&asked, "echo in"))
        .await
        .unwrap();
    assert_eq!(state(&done), "completed");
}

/// Reads a task until it is worked on.
async fn works(served: &ServedAgent, task: &Value) {
    let read = json!({"id": task["id"]});
    eventually(async || {
        let task = served.rpc("tasks/get", read.clone()).await.unwrap();
        (state(&task) == "working").then_some(())
    })
    .await;
}

/// A caller waits until the task ends or is interrupted, unless it says that it does not. Schema.
#[tokio::test]
async fn a_caller_waits_unless_it_says_otherwise() {
    let served = serve().await;
    for configuration in [
        json!({}),
        json!({"blocking": true}),
        json!({"blocking": null}),
    ] {
        // The task is known before, so that the test can see when the agent is busy with it.
        let task = served.send("ask which").await;
        let params = configured(say_to(&task, "hold on"), configuration.clone());
        let release = async {
            works(&served, &task).await;
            served.go_on();
        };
        let (answer, ()) = tokio::join!(served.rpc("message/send", params), release);
        assert_eq!(state(&answer.unwrap()), "completed", "{configuration}");
    }
    let params = configured(say("hold on"), json!({"blocking": false}));
    let answer = served.rpc("message/send", params).await.unwrap();
    assert!(
        ["submitted", "working"].contains(&state(&answer)),
        "{answer}"
    );
    let stream = served
        .rpc_stream("tasks/resubscribe", json!({"id": answer["id"]}))
        .await;
    served.go_on();
    assert_eq!(
        state(stream.rest().await.last().unwrap()),
        "completed",
        "it goes on"
    );
}

/// A history length of N means the last N messages; 0 means none. 0.2.0 §7.3.1.
#[tokio::test]
async fn history_is_as_long_as_asked_for() {
    let served = serve().await;
    let all = ["ask one", "one", "ask more"];
    for (length, kept) in [
        (json!(null), 3),
        (json!(0), 0),
        (json!(2), 2),
        (json!(99), 3),
    ] {
        let task = served.send("ask one").await;
        let configuration = json!({"historyLength": length});
        let params = configured(say_to(&task, "ask more"), configuration);
        let sent = served.rpc("message/send", params).await.unwrap();
        let read = json!({"id": task["id"], "historyLength": length});
        let read = served.rpc("tasks/get", read).await.unwrap();
        for task in [sent, read] {
            assert_eq!(texts(&task["history"]), all[3 - kept..], "{length}: {task}");
        }
    }
}

/// A part may tell its kind by the older name of the member. Samples of 0.2.0 and 0.2.1.
#[tokio::test]
async fn parts_may_have_a_type() {
    let served = serve().await;
    let parts = json!([{"type": "text", "text": "echo x"}, {"type": "data", "data": {"a": 1}}]);
    let message = json!({"messageId": unique(), "role": "user", "parts": parts});
    let task = served
        .rpc("message/send", json!({"message": message}))
        .await
        .unwrap();
    let expected = json!([{"kind": "text", "text": "echo x"}, {"kind": "data", "data": {"a": 1}}]);
    assert_eq!(
        task["history"][0]["parts"], expected,
        "the history uses the present spelling"
    );
    assert_eq!(texts(&task["artifacts"]), ["x"]);
}
