//! History.

use serde_json::json;

use super::{say, with};
use crate::rules::scripted_agent::serve;
use crate::rules::wire::texts;

/// History is returned when asked for: the last N messages, in order. Launch documentation, Get a Task, §7.3.1.
#[tokio::test]
async fn history_is_returned_on_request() {
    let served = serve().await;
    served.rpc("tasks/send", say("t", "ask one")).await.unwrap();
    let all = ["ask one", "one", "ask more"];
    for (length, kept) in [
        (json!(null), 0),
        (json!(0), 0),
        (json!(2), 2),
        (json!(3), 3),
        (json!(99), 3),
    ] {
        let again = format!("t{length}");
        served
            .rpc("tasks/send", say(&again, "ask one"))
            .await
            .unwrap();
        let params = with(say(&again, "ask more"), json!({"historyLength": length}));
        let sent = served.rpc("tasks/send", params).await.unwrap();
        let params = json!({"id": again, "historyLength": length});
        let read = served.rpc("tasks/get", params).await.unwrap();
        for task in [sent, read] {
            assert_eq!(
                texts(&task["history"]),
                all[3 - kept..],
                "{length}: the last, in order"
            );
        }
    }
    let unasked = served.rpc("tasks/get", json!({"id": "t"})).await.unwrap();
    assert_eq!(texts(&unasked["history"]), [""; 0]);
}

/// History holds the messages of the user and the messages in the agent's statuses. Official samples.
#[tokio::test]
async fn history_has_both_sides() {
    let served = serve().await;
    served.rpc("tasks/send", say("t", "ask one")).await.unwrap();
    let params = with(say("t", "ask more"), json!({"historyLength": 9}));
    let task = served.rpc("tasks/send", params).await.unwrap();
    let history = task["history"].as_array().unwrap().iter();
    let said: Vec<_> = history
        .map(|message| (message["role"].as_str().unwrap(), texts(message)))
        .collect();
    let expected = [
        ("user", vec!["ask one"]),
        ("agent", vec!["one"]),
        ("user", vec!["ask more"]),
    ];
    assert_eq!(said, expected);
}
