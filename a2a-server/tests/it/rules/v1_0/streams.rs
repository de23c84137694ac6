//! The events of streams.

use serde_json::{Value, json};

use super::{HTTP_BINDINGS, HttpBinding, say, say_to, state_of};
use crate::rules::scripted_agent::serve;
use crate::rules::wire::texts;

/// A stream is one message, or a task and then its events. §3.1.2.
#[tokio::test]
async fn a_stream_is_one_message_or_a_task_and_its_events() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let events = served
            .follow(binding, "SendStreamingMessage", say("reply hi"))
            .await
            .rest()
            .await;
        assert_eq!(events.len(), 1, "{binding:?}: {events:?}");
        assert_eq!(texts(&events[0]["message"]), ["hi"], "{binding:?}");

        let events = served
            .follow(binding, "SendStreamingMessage", say("echo hi"))
            .await
            .rest()
            .await;
        let members: Vec<_> = events.iter().map(member).collect();
        assert_eq!(
            members,
            ["task", "artifactUpdate", "statusUpdate"],
            "{binding:?}"
        );
        assert_eq!(state_of(&events[2]), "TASK_STATE_COMPLETED", "{binding:?}");
    }
}

fn member(event: &Value) -> &str {
    event.as_object().unwrap().keys().next().unwrap()
}

/// Every stream of a task has the same events in the same order; closing one changes nothing else. §3.5.2.
#[tokio::test]
async fn all_streams_have_the_same_events() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let mut first = served
            .follow(binding, "SendStreamingMessage", say("hold on"))
            .await;
        let working = first.until("TASK_STATE_WORKING").await;
        let id = json!({"id": working["statusUpdate"]["taskId"]});
        let mut streams = Vec::new();
        for other in [HttpBinding::JsonRpc, HttpBinding::HttpJson, binding] {
            let mut stream = served.follow(other, "SubscribeToTask", id.clone()).await;
            stream.next().await.unwrap();
            streams.push(stream);
        }
        // Closing one hurts neither the others nor the task.
        drop(streams.pop());
        served.go_on();
        let events = first.rest().await;
        assert_eq!(
            events.iter().map(member).collect::<Vec<_>>(),
            ["artifactUpdate", "statusUpdate"]
        );
        for stream in streams {
            assert_eq!(stream.rest().await, events, "{binding:?}");
        }
        let ended = served.ask(binding, "GetTask", id).await.unwrap();
        assert_eq!(
            ended["status"]["state"], "TASK_STATE_COMPLETED",
            "{binding:?}"
        );
    }
}

/// A subscription begins with the task and goes on until that has ended; to an ended one there is none. §3.1.6.
#[tokio::test]
async fn a_subscription_begins_with_the_task() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let mut stream = served
            .follow(binding, "SendStreamingMessage", say("hold on"))
            .await;
        let working = stream.until("TASK_STATE_WORKING").await;
        let id = json!({"id": working["statusUpdate"]["taskId"]});
        let mut again = served.follow(binding, "SubscribeToTask", id.clone()).await;
        let first = again.next().await.unwrap();
        let now = served.ask(binding, "GetTask", id.clone()).await.unwrap();
        assert_eq!(first["task"], now, "{binding:?}");
        served.go_on();
        again.until("TASK_STATE_COMPLETED").await;
        assert_eq!(again.next().await, None, "{binding:?}: then it closes");
        let ended = served.ask(binding, "SubscribeToTask", id).await;
        assert_eq!(
            ended,
            Err("UNSUPPORTED_OPERATION".to_owned()),
            "{binding:?}"
        );
        let unknown = served
            .ask(binding, "SubscribeToTask", json!({"id": "unknown"}))
            .await;
        assert_eq!(unknown, Err("TASK_NOT_FOUND".to_owned()), "{binding:?}");

        // A task that waits for its caller has not ended, so it can be subscribed to.
        let waits = served.task(binding, "ask which").await;
        let of = json!({"id": waits["id"]});
        let mut stream = served.follow(binding, "SubscribeToTask", of).await;
        let first = stream.next().await.unwrap();
        assert_eq!(state_of(&first), "TASK_STATE_INPUT_REQUIRED", "{binding:?}");
        for answer in ["ask more", "echo it"] {
            let sent = say_to(&waits, answer);
            served.ask(binding, "SendMessage", sent).await.unwrap();
        }
        stream.until("TASK_STATE_INPUT_REQUIRED").await;
        stream.until("TASK_STATE_COMPLETED").await;
        assert_eq!(stream.next().await, None, "{binding:?}: then it closes");
    }
    // The text of the specification subscribes by POST, its proto by GET.
    let served = serve().await;
    let task = served.task(HttpBinding::HttpJson, "ask which").await;
    let path = format!("/tasks/{}:subscribe", task["id"].as_str().unwrap());
    for verb in ["GET", "POST"] {
        let mut stream = served
            .stream(verb, &path, &[("a2a-version", "1.0")], None)
            .await;
        assert_eq!(
            stream.next().await.unwrap()["task"]["id"],
            task["id"],
            "{verb}"
        );
    }
}

/// A chunk adds to the artifact of its id, or begins or replaces it. §4.2.2.
#[tokio::test]
async fn chunks_are_added_to_the_artifact_of_their_id() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let events = served
            .follow(binding, "SendStreamingMessage", say("assemble"))
            .await
            .rest()
            .await;
        let updates = events.iter().map(|event| &event["artifactUpdate"]);
        let chunks: Vec<_> = updates
            .filter(|update| update.is_object())
            .map(chunk)
            .collect();
        let expected = [
            ("a", vec!["1"], false, false),
            ("a", vec!["2"], true, true),
            ("b", vec!["3"], false, false),
            ("a", vec!["4"], false, false),
            ("c", vec!["5"], true, false),
        ];
        assert_eq!(chunks, expected, "{binding:?}");
        let id = json!({"id": events[0]["task"]["id"]});
        let task = served.ask(binding, "GetTask", id).await.unwrap();
        let artifacts = task["artifacts"].as_array().unwrap();
        let assembled: Vec<_> = artifacts.iter().map(|artifact| texts(artifact)).collect();
        assert_eq!(
            assembled,
            [["4"], ["3"], ["5"]],
            "{binding:?}: the new chunks replaced artifact a"
        );
        let appended = served.task(binding, "echo x").await;
        assert_eq!(texts(&appended["artifacts"]), ["x"], "{binding:?}");
    }
}

/// Id, texts, `append` and `lastChunk` of an update; what is false may be left out.
fn chunk(update: &Value) -> (&str, Vec<&str>, bool, bool) {
    let flag = |name: &str| update[name].as_bool().unwrap_or(false);
    let artifact = &update["artifact"];
    (
        artifact["artifactId"].as_str().unwrap(),
        texts(artifact),
        flag("append"),
        flag("lastChunk"),
    )
}
