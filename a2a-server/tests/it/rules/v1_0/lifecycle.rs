//! Tasks, contexts and messages.

use serde_json::json;

use super::{HTTP_BINDINGS, say, say_to, with};
use crate::rules::scripted_agent::serve;
use crate::rules::wire::{texts, unique};

/// The server names tasks; a message to an unknown one finds none. §3.4.2.
#[tokio::test]
async fn the_server_names_tasks() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let (one, two) = (
            served.task(binding, "echo x").await,
            served.task(binding, "echo x").await,
        );
        assert_ne!(one["id"], two["id"], "{binding:?}");
        let chosen = with(say("echo x"), json!({"taskId": "mine"}));
        for method in ["SendMessage", "SendStreamingMessage"] {
            let refused = served.ask(binding, method, chosen.clone()).await;
            assert_eq!(
                refused,
                Err("TASK_NOT_FOUND".to_owned()),
                "{binding:?} {method}"
            );
        }
        let there = served.ask(binding, "GetTask", json!({"id": "mine"})).await;
        assert_eq!(
            there,
            Err("TASK_NOT_FOUND".to_owned()),
            "{binding:?}: it was not created"
        );
    }
}

/// A task that has ended in any of four states takes no message. §3.1.1, §3.1.2.
#[tokio::test]
async fn an_ended_task_takes_no_message() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let canceled = served.task(binding, "ask what").await;
        served
            .ask(binding, "CancelTask", json!({"id": canceled["id"]}))
            .await
            .unwrap();
        let ended = [
            (served.task(binding, "echo x").await, "TASK_STATE_COMPLETED"),
            (served.task(binding, "fail").await, "TASK_STATE_FAILED"),
            (canceled, "TASK_STATE_CANCELED"),
            (
                served.task(binding, "reject no").await,
                "TASK_STATE_REJECTED",
            ),
        ];
        for (task, state) in ended {
            for method in ["SendMessage", "SendStreamingMessage"] {
                let refused = served.ask(binding, method, say_to(&task, "echo y")).await;
                assert_eq!(
                    refused,
                    Err("UNSUPPORTED_OPERATION".to_owned()),
                    "{binding:?} {state}"
                );
            }
            let now = served
                .ask(binding, "GetTask", json!({"id": task["id"]}))
                .await
                .unwrap();
            assert_eq!(now["status"]["state"], state, "{binding:?}");
        }
    }
}

/// A message continues a task that waits for input or credentials. §3.4.3.
#[tokio::test]
async fn a_message_continues_an_interrupted_task() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        for (pause, state) in [
            ("ask which", "TASK_STATE_INPUT_REQUIRED"),
            ("credentials for", "TASK_STATE_AUTH_REQUIRED"),
        ] {
            let paused = served.task(binding, pause).await;
            assert_eq!(paused["status"]["state"], state, "{binding:?}");
            let go_on = say_to(&paused, "echo that");
            let done = served.ask(binding, "SendMessage", go_on).await.unwrap()["task"].take();
            assert_eq!(done["id"], paused["id"], "{binding:?} {state}");
            assert_eq!(
                done["status"]["state"], "TASK_STATE_COMPLETED",
                "{binding:?} {state}"
            );
            assert_eq!(texts(&done["artifacts"]), ["that"], "{binding:?} {state}");
        }
    }
}

/// A task that has not ended may take messages, also while it is worked on. §3.3.3.
#[tokio::test]
async fn a_working_task_takes_messages() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let mut stream = served
            .follow(binding, "SendStreamingMessage", say("hold on"))
            .await;
        let working = stream.until("TASK_STATE_WORKING").await;
        let task = json!({"id": working["statusUpdate"]["taskId"]});
        let mut second = served
            .follow(binding, "SendStreamingMessage", say_to(&task, "echo too"))
            .await;
        let first_event = second.next().await.unwrap();
        let history = texts(&first_event["task"]["history"]);
        assert!(
            history.ends_with(&["echo too"]),
            "{binding:?}: {first_event}"
        );
        served.go_on();
        let events = second.rest().await;
        assert!(
            events.iter().any(|event| texts(event) == ["too"]),
            "{binding:?}: {events:?}"
        );
    }
}

/// A context that the agent generates is returned. §3.4.1.
#[tokio::test]
async fn a_generated_context_is_returned() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let task = served.task(binding, "echo x").await;
        let context = task["contextId"].as_str().unwrap();
        assert!(!context.is_empty(), "{binding:?}");
        let read = served
            .ask(binding, "GetTask", json!({"id": task["id"]}))
            .await
            .unwrap();
        assert_eq!(
            read["contextId"], context,
            "{binding:?}: it is the same later"
        );
        let said = served
            .ask(binding, "SendMessage", say("reply x"))
            .await
            .unwrap();
        assert!(
            said["message"]["contextId"].is_string(),
            "{binding:?}: {said}"
        );
    }
}

/// A context that the client makes up is kept, never replaced. §3.4.1.
#[tokio::test]
async fn a_context_of_the_client_is_kept() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let context = json!({"contextId": "the client's own"});
        let sent = served
            .ask(binding, "SendMessage", with(say("echo x"), context.clone()))
            .await
            .unwrap();
        assert_eq!(
            sent["task"]["contextId"], context["contextId"],
            "{binding:?}"
        );
        let said = served
            .ask(
                binding,
                "SendMessage",
                with(say("reply x"), context.clone()),
            )
            .await
            .unwrap();
        assert_eq!(
            said["message"]["contextId"], context["contextId"],
            "{binding:?}"
        );
    }
}

/// A message that names only its task is in the task's context; one that names another context is refused. §3.4.3.
#[tokio::test]
async fn context_is_inferred_from_the_task() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let task = served.task(binding, "ask which").await;
        let other = with(say_to(&task, "echo x"), json!({"contextId": "another"}));
        for method in ["SendMessage", "SendStreamingMessage"] {
            let refused = served.ask(binding, method, other.clone()).await;
            assert_eq!(
                refused,
                Err("INVALID_PARAMS".to_owned()),
                "{binding:?} {method}"
            );
        }
        let same = with(
            say_to(&task, "ask more"),
            json!({"contextId": task["contextId"]}),
        );
        for params in [say_to(&task, "ask more"), same] {
            let sent = served.ask(binding, "SendMessage", params).await.unwrap();
            assert_eq!(sent["task"]["contextId"], task["contextId"], "{binding:?}");
            let message = sent["task"]["history"].as_array().unwrap().last().unwrap();
            assert_eq!(
                message["contextId"], task["contextId"],
                "{binding:?}: the message received it"
            );
        }
    }
}

/// A message that names only a context begins a task in it. §3.4.3.
#[tokio::test]
async fn a_context_alone_begins_a_task() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let first = served.task(binding, "ask which").await;
        let context = json!({"contextId": first["contextId"]});
        let sent = served
            .ask(binding, "SendMessage", with(say("echo x"), context))
            .await
            .unwrap();
        assert_ne!(sent["task"]["id"], first["id"], "{binding:?}");
        assert_eq!(sent["task"]["contextId"], first["contextId"], "{binding:?}");
    }
}

/// Results are artifacts, not messages. §3.7.
#[tokio::test]
async fn results_are_artifacts() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let task = served.task(binding, "echo the result").await;
        assert_eq!(texts(&task["artifacts"]), ["the result"], "{binding:?}");
        assert_eq!(
            texts(&task["status"]),
            [""; 0],
            "{binding:?}: no message carries it"
        );
        assert_eq!(texts(&task["history"]), ["echo the result"], "{binding:?}");
    }
}

/// An ended task cannot be canceled, a canceled one included. §3.1.5.
#[tokio::test]
async fn an_ended_task_cannot_be_canceled() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let idle = served.task(binding, "ask which").await;
        let mut stream = served
            .follow(binding, "SendStreamingMessage", say("hold on"))
            .await;
        let busy = stream.until("TASK_STATE_WORKING").await;
        for id in [&idle["id"], &busy["statusUpdate"]["taskId"]] {
            let cancel = || served.ask(binding, "CancelTask", json!({"id": id}));
            let state = &cancel().await.unwrap()["status"]["state"];
            assert_eq!(state, "TASK_STATE_CANCELED", "{binding:?}");
            let again = cancel().await;
            assert_eq!(again, Err("TASK_NOT_CANCELABLE".to_owned()), "{binding:?}");
        }
        for ending in ["echo x", "fail", "reject no"] {
            let ended = served.task(binding, ending).await;
            let refused = served
                .ask(binding, "CancelTask", json!({"id": ended["id"]}))
                .await;
            assert_eq!(
                refused,
                Err("TASK_NOT_CANCELABLE".to_owned()),
                "{binding:?} {ending}"
            );
        }
        let unknown = served
            .ask(binding, "CancelTask", json!({"id": "unknown"}))
            .await;
        assert_eq!(unknown, Err("TASK_NOT_FOUND".to_owned()), "{binding:?}");
    }
}

/// The agent should use the tasks that a message refers to. §3.4.3.
#[tokio::test]
async fn the_agent_gets_the_references() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let earlier = served.task(binding, "echo x").await;
        let refers = json!({"referenceTaskIds": [earlier["id"]], "messageId": unique()});
        let sent = served
            .ask(binding, "SendMessage", with(say("refer"), refers))
            .await
            .unwrap();
        let seen = texts(&sent["task"]["artifacts"]);
        assert_eq!(seen, [earlier["id"].as_str().unwrap()], "{binding:?}");
    }
}
