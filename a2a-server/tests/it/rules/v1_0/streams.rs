//! Rules 17 to 21: what streams tell.

use serde_json::{Value, json};

use super::{WAYS, Way, say, say_to, state_of};
use crate::rules::puppet::serve;
use crate::rules::wire::texts;

#[tokio::test]
async fn rule_5_4_17_a_stream_is_one_message_or_a_task_and_its_events() {
    for way in WAYS {
        let served = serve().await;
        let events = served
            .follow(way, "SendStreamingMessage", say("reply hi"))
            .await
            .rest()
            .await;
        assert_eq!(events.len(), 1, "{way:?}: {events:?}");
        assert_eq!(texts(&events[0]["message"]), ["hi"], "{way:?}");

        let events = served
            .follow(way, "SendStreamingMessage", say("echo hi"))
            .await
            .rest()
            .await;
        let members: Vec<_> = events.iter().map(member).collect();
        assert_eq!(
            members,
            ["task", "artifactUpdate", "statusUpdate"],
            "{way:?}"
        );
        assert_eq!(state_of(&events[2]), "TASK_STATE_COMPLETED", "{way:?}");
    }
}

fn member(event: &Value) -> &str {
    event.as_object().unwrap().keys().next().unwrap()
}

#[tokio::test]
async fn rule_5_4_18_all_streams_tell_the_same() {
    for way in WAYS {
        let served = serve().await;
        let mut first = served
            .follow(way, "SendStreamingMessage", say("hold on"))
            .await;
        let working = first.until("TASK_STATE_WORKING").await;
        let id = json!({"id": working["statusUpdate"]["taskId"]});
        let mut streams = Vec::new();
        for other in [Way::JsonRpc, Way::HttpJson, way] {
            let mut stream = served.follow(other, "SubscribeToTask", id.clone()).await;
            stream.next().await.unwrap();
            streams.push(stream);
        }
        // Closing one hurts neither the others nor the task.
        drop(streams.pop());
        served.go_on();
        let told = first.rest().await;
        assert_eq!(
            told.iter().map(member).collect::<Vec<_>>(),
            ["artifactUpdate", "statusUpdate"]
        );
        for stream in streams {
            assert_eq!(stream.rest().await, told, "{way:?}");
        }
        let ended = served.ask(way, "GetTask", id).await.unwrap();
        assert_eq!(ended["status"]["state"], "TASK_STATE_COMPLETED", "{way:?}");
    }
}

#[tokio::test]
async fn rule_5_4_19_a_subscription_begins_with_the_task() {
    for way in WAYS {
        let served = serve().await;
        let mut stream = served
            .follow(way, "SendStreamingMessage", say("hold on"))
            .await;
        let working = stream.until("TASK_STATE_WORKING").await;
        let id = json!({"id": working["statusUpdate"]["taskId"]});
        let mut again = served.follow(way, "SubscribeToTask", id.clone()).await;
        let first = again.next().await.unwrap();
        let now = served.ask(way, "GetTask", id.clone()).await.unwrap();
        assert_eq!(first["task"], now, "{way:?}");
        served.go_on();
        again.until("TASK_STATE_COMPLETED").await;
        assert_eq!(again.next().await, None, "{way:?}: then it closes");
        let ended = served.ask(way, "SubscribeToTask", id).await;
        assert_eq!(ended, Err("UNSUPPORTED_OPERATION".to_owned()), "{way:?}");
        let unknown = served
            .ask(way, "SubscribeToTask", json!({"id": "unknown"}))
            .await;
        assert_eq!(unknown, Err("TASK_NOT_FOUND".to_owned()), "{way:?}");

        // One that waits for its caller has not ended, before and after.
        let waits = served.task(way, "ask which").await;
        let of = json!({"id": waits["id"]});
        let mut stream = served.follow(way, "SubscribeToTask", of).await;
        let first = stream.next().await.unwrap();
        assert_eq!(state_of(&first), "TASK_STATE_INPUT_REQUIRED", "{way:?}");
        for answer in ["ask more", "echo it"] {
            let sent = say_to(&waits, answer);
            served.ask(way, "SendMessage", sent).await.unwrap();
        }
        stream.until("TASK_STATE_INPUT_REQUIRED").await;
        stream.until("TASK_STATE_COMPLETED").await;
        assert_eq!(stream.next().await, None, "{way:?}: then it closes");
    }
    // The text of the specification subscribes by POST, its proto by GET.
    let served = serve().await;
    let task = served.task(Way::HttpJson, "ask which").await;
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

#[tokio::test]
async fn rule_5_4_21_chunks_are_added_to_the_artifact_of_their_id() {
    for way in WAYS {
        let served = serve().await;
        let events = served
            .follow(way, "SendStreamingMessage", say("assemble"))
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
        assert_eq!(chunks, expected, "{way:?}");
        let id = json!({"id": events[0]["task"]["id"]});
        let task = served.ask(way, "GetTask", id).await.unwrap();
        let artifacts = task["artifacts"].as_array().unwrap();
        let assembled: Vec<_> = artifacts.iter().map(|artifact| texts(artifact)).collect();
        assert_eq!(
            assembled,
            [["4"], ["3"], ["5"]],
            "{way:?}: what came anew replaced a"
        );
        let appended = served.task(way, "echo x").await;
        assert_eq!(texts(&appended["artifacts"]), ["x"], "{way:?}");
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
