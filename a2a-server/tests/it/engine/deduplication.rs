//! A message that is sent twice.

use std::time::Duration;

use a2a_client::{Client, Error, SendMessageResponse, StreamExt};
use a2a_server::Server;
use a2a_types::{ErrorKind, Message, MessageId, TaskState};

use crate::engine::{Worker, builders, card, task};

fn named(id: &str, text: &str) -> Message {
    Message {
        message_id: id.into(),
        ..Message::user(text)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_duplicates_start_one_turn() {
    let worker = Worker::default();
    for server in builders(&worker).map(|builder| builder.build().unwrap()) {
        let client = Client::new(server);
        let before = worker.runs();
        for command in ["echo x", "reply x"] {
            let message = Message::user(command);
            let sends = (0..100).map(|_| {
                let (client, message) = (client.clone(), message.clone());
                tokio::spawn(async move { client.send(message).await.unwrap() })
            });
            let sends: Vec<_> = sends.collect();
            let mut answers = Vec::new();
            for send in sends {
                answers.push(send.await.unwrap());
            }
            let first = answers[0].clone();
            assert!(answers.iter().all(|answer| *answer == first), "{command}");
        }
        assert_eq!(worker.runs() - before, 2);
    }
}

#[tokio::test]
async fn a_repeated_message_gets_the_first_outcome() {
    let worker = Worker::default();
    for builder in builders(&worker) {
        let client = Client::new(builder.build().unwrap());
        let before = worker.runs();
        let first = client.send(named("a", "echo x")).await.unwrap();
        assert_eq!(client.send(named("a", "echo x")).await.unwrap(), first);
        let reply = client.send(named("b", "reply x")).await.unwrap();
        assert!(matches!(reply, SendMessageResponse::Message(_)));
        assert_eq!(client.send(named("b", "reply x")).await.unwrap(), reply);
        assert_eq!(worker.runs() - before, 2);
        let mut streamed = client.stream(named("a", "echo x")).await.unwrap();
        let event = streamed.next().await.unwrap().unwrap();
        let known = task(first).id;
        assert_eq!(event.task_id(), Some(&known));
        assert_eq!(streamed.next().await.transpose().unwrap(), None);
        assert_eq!(worker.runs() - before, 2);
    }
}

#[tokio::test]
async fn a_repeated_answer_reaches_the_agent_once() {
    let worker = Worker::default();
    for builder in builders(&worker) {
        let client = Client::new(builder.build().unwrap());
        let asked = task(client.send("ask which").await.unwrap());
        let before = worker.runs();
        let answer = Message {
            task_id: Some(asked.id.clone()),
            ..named("c", "echo this")
        };
        for _ in 0..3 {
            let done = task(client.send(answer.clone()).await.unwrap());
            assert_eq!(done.status.state, TaskState::Completed);
            let is_message = |message: &&Message| message.message_id == MessageId::from("c");
            assert_eq!(done.history.iter().filter(is_message).count(), 1);
        }
        assert_eq!(worker.runs() - before, 1);
    }
}

#[tokio::test]
async fn an_in_flight_message_is_recognised_after_its_receipt_expired() {
    for store in 0..2 {
        let worker = Worker::default();
        let builder = builders(&worker).into_iter().nth(store).unwrap();
        // The receipt expires in the store immediately.
        let builder = builder.idempotency_window(Duration::from_nanos(1));
        let client = Client::new(builder.build().unwrap());
        let asked = task(client.send("ask which").await.unwrap());
        let answer = |id| Message {
            task_id: Some(asked.id.clone()),
            ..named(id, "wait for me")
        };
        let messages = [named("first", "wait for me"), answer("answer")];
        for message in messages {
            let before = worker.runs();
            let mut streamed = client.stream(message.clone()).await.unwrap();
            let event = streamed.next().await.unwrap().unwrap();
            worker.begun.notified().await;
            let mut again = client.stream(message).await.unwrap();
            let same = again.next().await.unwrap().unwrap();
            assert_eq!(same.task_id(), event.task_id());
            assert_eq!(worker.runs() - before, 1);
        }
        // A message that waits for its turn is recognised, too.
        let before = worker.runs();
        let waiting = client.stream(answer("next")).await.unwrap();
        let again = client.stream(answer("next")).await.unwrap();
        worker.go_on.open();
        for mut streamed in [waiting, again] {
            while let Some(event) = streamed.next().await {
                event.unwrap();
            }
        }
        let ended = client.get_task(asked.id, None).await.unwrap();
        for id in ["answer", "next"] {
            let is_message = |message: &&Message| message.message_id == MessageId::from(id);
            assert_eq!(ended.history.iter().filter(is_message).count(), 1, "{id}");
        }
        assert_eq!(worker.runs() - before, 1);
    }
}

#[tokio::test]
async fn a_reused_message_id_with_other_content_is_refused() {
    for builder in builders(&Worker::default()) {
        let client = Client::new(builder.build().unwrap());
        client.send(named("a", "echo x")).await.unwrap();
        let other = client.send(named("a", "echo y")).await;
        match other {
            Err(Error::Agent(error)) => {
                assert_eq!(error.kind, ErrorKind::InvalidParams);
                assert!(error.message.contains("messageId"), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn reused_ids_are_accepted_without_deduplication() {
    let worker = Worker::default();
    let server = Server::builder(card(), worker.clone()).idempotency_window(Duration::ZERO);
    let client = Client::new(server.build().unwrap());
    for text in ["echo x", "echo y", "echo x"] {
        client.send(named("a", text)).await.unwrap();
    }
    assert_eq!(worker.runs(), 3);
}
