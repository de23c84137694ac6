//! Artifacts and streams.

use a2a_client::{Client, ProtocolVersion, StreamExt};
use a2a_types::Event;
use serde_json::{Value, json};

use super::{say, state};
use crate::rules::recording_agent::RecordingAgent;
use crate::rules::scripted_agent::serve;
use crate::rules::wire::{request, texts};

/// Artifacts do not change; a stream may add parts to one. Launch documentation, Artifact.
#[tokio::test]
async fn artifacts_stay_and_streams_add_to_them() {
    let served = serve().await;
    let one = served
        .rpc("tasks/send", say("t", "echo one"))
        .await
        .unwrap();
    let two = served
        .rpc("tasks/send", say("t", "echo two"))
        .await
        .unwrap();
    assert_eq!(
        two["artifacts"][0], one["artifacts"][0],
        "it did not change"
    );
    assert_eq!(texts(&two["artifacts"]), ["one", "two"]);
    let events = served
        .rpc_stream("tasks/sendSubscribe", say("u", "assemble"))
        .await
        .rest()
        .await;
    let appended = events
        .iter()
        .find(|event| event["artifact"]["append"] == true)
        .unwrap();
    assert_eq!(
        (&appended["artifact"]["index"], texts(appended)),
        (&json!(0), vec!["2"])
    );
}

/// Chunks belong to the artifact of their index, which is 0 if absent; append adds, otherwise they replace;
/// lastChunk completes. §6.7.
#[tokio::test]
async fn artifacts_are_assembled_by_index() {
    let served = serve().await;
    let events = served
        .rpc_stream("tasks/sendSubscribe", say("t", "assemble"))
        .await
        .rest()
        .await;
    let flag = |artifact: &Value, name: &str| artifact[name].as_bool().unwrap_or(false);
    let chunks = events
        .iter()
        .map(|event| &event["artifact"])
        .filter(|artifact| artifact.is_object());
    let chunks = chunks.map(|artifact| {
        let index = artifact["index"].as_u64().unwrap_or(0);
        (
            index,
            texts(artifact),
            flag(artifact, "append"),
            flag(artifact, "lastChunk"),
        )
    });
    let expected = [
        (0, vec!["1"], false, false),
        (0, vec!["2"], true, true),
        (1, vec!["3"], false, false),
        (0, vec!["4"], false, false),
        (2, vec!["5"], true, false),
    ];
    assert_eq!(chunks.collect::<Vec<_>>(), expected);
    let task = served.rpc("tasks/get", json!({"id": "t"})).await.unwrap();
    assert_eq!(texts(&task["artifacts"]), ["4", "3", "5"]);

    // The client distinguishes artifacts by their index, too.
    let chunk = |index: Value, text: &str, append: bool| {
        let parts = json!([{"type": "text", "text": text}]);
        json!({"id": "t", "artifact": {"index": index, "append": append, "parts": parts}})
    };
    let events = [
        chunk(json!(null), "1", false),
        chunk(json!(1), "2", false),
        chunk(json!(0), "3", true),
        json!({"id": "t", "status": {"state": "completed"}, "final": true}),
    ];
    let recorder = RecordingAgent::new(move |asked| asked.results(&events)).await;
    let client = Client::at(&recorder.url(), ProtocolVersion::V0_1).unwrap();
    let updates: Vec<_> = client.stream("x").await.unwrap().collect().await;
    let artifacts = updates.iter().filter_map(|update| match update {
        Ok(Event::ArtifactUpdate(update)) => Some((&update.artifact.artifact_id, update.append)),
        _ => None,
    });
    let [first, second, third]: [_; 3] = artifacts.collect::<Vec<_>>().try_into().unwrap();
    assert!(first.0 == third.0 && first.0 != second.0, "{updates:?}");
    assert_eq!([first.1, second.1, third.1], [false, false, true]);
}

/// The last status of a stream is final: at the end and when the agent asks. Launch documentation, Streaming.
#[tokio::test]
async fn the_last_status_of_a_stream_is_final() {
    let served = serve().await;
    for (command, expected) in [
        ("echo x", "completed"),
        ("fail", "failed"),
        ("ask which", "input-required"),
    ] {
        let events = served
            .rpc_stream("tasks/sendSubscribe", say(command, command))
            .await
            .rest()
            .await;
        let (last, others) = events.split_last().unwrap();
        assert_eq!(
            (state(last), &last["final"]),
            (expected, &json!(true)),
            "{command}"
        );
        assert!(
            others.iter().all(|event| event["final"] != true),
            "{command}: {others:?}"
        );
    }
}

/// The whole of a streamed artifact can be read with the task. Launch documentation, Streaming.
#[tokio::test]
async fn a_whole_artifact_can_be_read() {
    let served = serve().await;
    let mut stream = served
        .rpc_stream("tasks/sendSubscribe", say("t", "echo all of it"))
        .await;
    while stream.next().await.is_some() {}
    let task = served.rpc("tasks/get", json!({"id": "t"})).await.unwrap();
    assert_eq!(texts(&task["artifacts"]), ["all of it"]);
    assert_eq!(
        task["artifacts"][0]["parts"],
        json!([{"type": "text", "text": "all of it"}])
    );
}

/// A stream can be resumed: what follows is sent, whatever history length is requested. §7.7.
#[tokio::test]
async fn a_stream_can_be_resumed() {
    let served = serve().await;
    let mut first = served
        .rpc_stream("tasks/sendSubscribe", say("t", "hold the result"))
        .await;
    while state(&first.next().await.unwrap()) != "working" {}
    let params = json!({"id": "t", "historyLength": 5});
    let mut again = served.rpc_stream("tasks/resubscribe", params).await;
    let now = again.next().await.unwrap();
    assert_eq!(state(&now), "working");
    assert!(
        now.get("history").is_none(),
        "no matter what length was asked for: {now}"
    );
    served.go_on();
    let subsequent = first.rest().await;
    assert_eq!(texts(&subsequent[0]), ["the result"]);
    assert_eq!(again.rest().await, subsequent);
}

/// Every event bears the id of the request; on a stream that was asked for without one, any. §7.2.1.
#[tokio::test]
async fn events_bear_the_id_of_the_request() {
    let served = serve().await;
    for id in [json!("a"), json!(7)] {
        let mut asked = request("tasks/sendSubscribe", say(&format!("t{id}"), "echo x"));
        asked["id"] = id.clone();
        let events = served
            .stream("POST", "/", &[], Some(&asked))
            .await
            .rest()
            .await;
        assert!(
            events.len() > 1 && events.iter().all(|event| event["id"] == id),
            "{events:?}"
        );
    }
    // Without an id, as in the samples.
    let mut asked = request("tasks/sendSubscribe", say("t", "echo x"));
    asked.as_object_mut().unwrap().remove("id");
    let events = served
        .stream("POST", "/", &[], Some(&asked))
        .await
        .rest()
        .await;
    assert_eq!(state(&events.last().unwrap()["result"]), "completed");

    let event = json!({"id": "t", "status": {"state": "completed"}, "final": true});
    let recorder = RecordingAgent::new(move |_| {
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": event});
        crate::rules::recording_agent::ScriptedAnswer::event(&answer)
    });
    let client = Client::at(&recorder.await.url(), ProtocolVersion::V0_1).unwrap();
    let updates: Vec<_> = client.stream("x").await.unwrap().collect().await;
    assert!(
        matches!(&updates[..], [Ok(Event::StatusUpdate(_))]),
        "{updates:?}"
    );
}
