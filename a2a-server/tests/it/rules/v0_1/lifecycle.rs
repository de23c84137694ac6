//! The lifecycle of a task.

use a2a_server::MemoryStore;
use serde_json::json;

use super::{say, state, with};
use crate::rules::scripted_agent::{card, serve, serve_with};
use crate::rules::wire::{code, texts};

/// The caller names the task: an unknown id creates it, a known one continues it. Launch documentation, Task, §6.1, §7.1.1.
#[tokio::test]
async fn the_caller_names_the_task() {
    let served = serve().await;
    let unknown = served.rpc("tasks/get", json!({"id": "mine"})).await;
    assert_eq!(code(unknown), -32001);
    let created = served
        .rpc("tasks/send", say("mine", "ask which"))
        .await
        .unwrap();
    assert_eq!(
        (&created["id"], state(&created)),
        (&json!("mine"), "input-required")
    );
    let known = served
        .rpc("tasks/send", say("mine", "echo that"))
        .await
        .unwrap();
    assert_eq!((&known["id"], state(&known)), (&json!("mine"), "completed"));
}

/// The caller may name the session; the server makes one up for a new task without. Launch documentation, TaskSendParams.
#[tokio::test]
async fn the_caller_may_name_the_session() {
    let served = serve().await;
    let named = with(say("a", "ask which"), json!({"sessionId": "s"}));
    for params in [named, say("a", "ask which")] {
        let task = served.rpc("tasks/send", params).await.unwrap();
        assert_eq!(task["sessionId"], "s");
    }
    let made = [
        served.task_0_1("echo x").await,
        served.task_0_1("echo x").await,
    ];
    let sessions = made.map(|task| task["sessionId"].as_str().unwrap().to_owned());
    assert!(
        !sessions[0].is_empty() && sessions[0] != sessions[1],
        "{sessions:?}"
    );
}

/// A message may start a task, resume a waiting one, or reopen an ended one, whose history is kept. Launch documentation, Send a Task;
/// §8.2 says otherwise.
#[tokio::test]
async fn an_ended_task_is_reopened() {
    let served = serve().await;
    for (number, ending) in ["echo one", "fail", "reject no"].into_iter().enumerate() {
        let id = format!("t{number}");
        served.rpc("tasks/send", say(&id, ending)).await.unwrap();
        let again = with(say(&id, "echo two"), json!({"historyLength": 9}));
        let again = served.rpc("tasks/send", again).await.unwrap();
        assert_eq!(state(&again), "completed", "{ending}");
        let artifacts = texts(&again["artifacts"]);
        assert_eq!(artifacts.last(), Some(&"two"), "{ending}");
        let history = texts(&again["history"]);
        assert_eq!(
            (history[0], history.last()),
            (ending, Some(&"echo two")),
            "{ending}: kept"
        );
    }
}

/// A message sets a waiting task to work, and a working task takes messages. Official samples.
#[tokio::test]
async fn a_message_sets_a_waiting_task_to_work() {
    let served = serve().await;
    served
        .rpc("tasks/send", say("t", "ask which"))
        .await
        .unwrap();
    let events = served
        .rpc_stream("tasks/sendSubscribe", say("t", "echo that"))
        .await
        .rest()
        .await;
    let states: Vec<_> = events
        .iter()
        .map(state)
        .filter(|state| !state.is_empty())
        .collect();
    assert_eq!(states, ["working", "completed"], "{events:?}");

    let mut first = served
        .rpc_stream("tasks/sendSubscribe", say("busy", "hold on"))
        .await;
    while state(&first.next().await.unwrap()) != "working" {}
    let mut second = served
        .rpc_stream("tasks/sendSubscribe", say("busy", "echo too"))
        .await;
    assert_eq!(
        state(&second.next().await.unwrap()),
        "working",
        "it is accepted"
    );
    served.go_on();
    let events = second.rest().await;
    assert!(
        events.iter().any(|event| texts(event) == ["too"]),
        "{events:?}"
    );
}

/// The agent may finish at once, schedule, reject, want another modality, or ask. Launch documentation, Task.
#[tokio::test]
async fn the_agent_decides_what_becomes_of_a_task() {
    let served = serve().await;
    for (command, expected) in [
        ("echo at once", "completed"),
        ("detach later", "working"),
        // 0.1 has no word for rejecting.
        ("reject no", "failed"),
        ("ask which", "input-required"),
    ] {
        assert_eq!(
            state(&served.task_0_1(command).await),
            expected,
            "{command}"
        );
    }
    let picture = with(
        say("p", "echo x"),
        json!({"acceptedOutputModes": ["image/png"]}),
    );
    assert_eq!(
        code(served.rpc("tasks/send", picture).await),
        -32005,
        "another modality"
    );
}

/// A task that waits for input says what the caller has to do, and in a second part the same as data. Launch documentation, Multi-turn.
#[tokio::test]
async fn a_question_says_what_is_to_be_done() {
    let asked = serve().await.task_0_1("form which").await;
    let message = &asked["status"]["message"];
    assert_eq!(
        (state(&asked), &message["role"]),
        ("input-required", &json!("agent"))
    );
    let parts =
        json!([{"type": "text", "text": "which"}, {"type": "data", "data": {"needs": "which"}}]);
    assert_eq!(message["parts"], parts);
}

/// Further credentials are asked for as input, with a structure that says which. Launch documentation, Authentication, §4.5.
#[tokio::test]
async fn credentials_are_a_kind_of_input() {
    let served = serve().await;
    let asked = served
        .rpc("tasks/send", say("t", "credentials for it"))
        .await
        .unwrap();
    assert_eq!(state(&asked), "input-required");
    let parts = &asked["status"]["message"]["parts"];
    assert_eq!(parts[1]["data"], json!({"needs": "for it"}));
    let done = served.rpc("tasks/send", say("t", "echo in")).await.unwrap();
    assert_eq!(state(&done), "completed");
}

/// A server may forget a task, and then does not find it. Launch documentation, Get a Task.
#[tokio::test]
async fn a_task_may_be_forgotten() {
    let small = MemoryStore::with_capacity(1, 1 << 20);
    let served = serve_with(card(), |builder| builder.store(small), |bound| bound).await;
    for id in ["first", "second"] {
        served.rpc("tasks/send", say(id, "echo x")).await.unwrap();
        assert_eq!(
            served.rpc("tasks/get", json!({"id": id})).await.unwrap()["id"],
            id
        );
    }
    assert_eq!(
        code(served.rpc("tasks/get", json!({"id": "first"})).await),
        -32001
    );
}

/// A sent message is answered by the task as it stands or as it ends. Launch documentation, Send a Task, samples.
#[tokio::test]
async fn the_answer_is_the_present_or_the_last_state() {
    let served = serve().await;
    let present = served
        .rpc("tasks/send", say("t", "detach later"))
        .await
        .unwrap();
    assert_eq!(state(&present), "working");
    let stream = served
        .rpc_stream("tasks/resubscribe", json!({"id": "t"}))
        .await;
    served.go_on();
    stream.rest().await;
    let last = served.rpc("tasks/get", json!({"id": "t"})).await.unwrap();
    assert_eq!(state(&last), "completed");
    assert_eq!(state(&served.task_0_1("echo x").await), "completed");
}
