//! Streams.

use serde_json::{Value, json};

use super::{say, say_to, serve, state};
use crate::rules::wire::texts;

/// A stream distinguishes tasks, messages and updates by their kind; the final one closes it. Topic page Streaming.
#[tokio::test]
async fn events_have_a_kind_and_the_last_is_final() {
    let served = serve().await;
    for (command, kinds, last) in [
        (
            "echo x",
            &["task", "artifact-update", "status-update"][..],
            "completed",
        ),
        ("reject no", &["task", "status-update"], "rejected"),
        ("ask which", &["task", "status-update"], "input-required"),
        ("reply hi", &["message"], ""),
    ] {
        let events = served
            .rpc_stream("message/stream", say(command))
            .await
            .rest()
            .await;
        let found: Vec<_> = events
            .iter()
            .map(|event| event["kind"].as_str().unwrap())
            .collect();
        assert_eq!(found, kinds, "{command}");
        assert_eq!(state(events.last().unwrap()), last, "{command}");
        let updates = events
            .iter()
            .filter(|event| event["kind"] == "status-update");
        for update in updates {
            assert_eq!(
                update["final"],
                state(update) == last,
                "{command}: {update}"
            );
        }
    }
    // A task that waits for credentials waits on the open stream.
    let mut stream = served.rpc_stream("message/stream", say("login it")).await;
    loop {
        let event = stream.next().await.unwrap();
        if state(&event) == "auth-required" {
            assert_eq!(event["final"], false);
            break;
        }
    }
    served.go_on();
    let last = stream.rest().await.pop().unwrap();
    assert_eq!((state(&last), &last["final"]), ("completed", &json!(true)));
}

/// An artifact's event replaces it, or adds to the one of the same id. 0.2.0 §7.2.3.
#[tokio::test]
async fn chunks_are_added_to_the_artifact_of_their_id() {
    let served = serve().await;
    let events = served
        .rpc_stream("message/stream", say("assemble"))
        .await
        .rest()
        .await;
    let flag = |update: &Value, name: &str| update[name].as_bool().unwrap_or(false);
    let updates = events
        .iter()
        .filter(|event| event["kind"] == "artifact-update");
    let chunks: Vec<_> = updates
        .map(|update| {
            let id = update["artifact"]["artifactId"].as_str().unwrap();
            (
                id,
                texts(update),
                flag(update, "append"),
                flag(update, "lastChunk"),
            )
        })
        .collect();
    let expected = [
        ("a", vec!["1"], false, false),
        ("a", vec!["2"], true, true),
        ("b", vec!["3"], false, false),
        ("a", vec!["4"], false, false),
        ("c", vec!["5"], true, false),
    ];
    assert_eq!(chunks, expected);
    let task = served
        .rpc("tasks/get", json!({"id": events[0]["id"]}))
        .await
        .unwrap();
    assert_eq!(texts(&task["artifacts"]), ["4", "3", "5"]);
}

/// A stream can be resumed: what follows is sent. 0.1 §7.7.
#[tokio::test]
async fn a_stream_can_be_resumed() {
    let served = serve().await;
    let asked = served.send("ask which").await;
    let mut first = served
        .rpc_stream("message/stream", say_to(&asked, "hold the result"))
        .await;
    while state(&first.next().await.unwrap()) != "working" {}
    let mut again = served
        .rpc_stream("tasks/resubscribe", json!({"id": asked["id"]}))
        .await;
    assert_eq!(
        state(&again.next().await.unwrap()),
        "working",
        "how the task stands"
    );
    served.go_on();
    let subsequent = again.rest().await;
    let found: Vec<_> = subsequent
        .iter()
        .map(|event| event["kind"].as_str().unwrap())
        .collect();
    assert_eq!(found, ["artifact-update", "status-update"]);
    let rest = first.rest().await;
    assert!(rest.ends_with(&subsequent), "{rest:?}");
    let unknown = served
        .rpc("tasks/resubscribe", json!({"id": "unknown"}))
        .await;
    assert_eq!(crate::rules::wire::code(unknown), -32001);
}
