//! Followers of a log: from any place, in whatever steps it was written.

use std::sync::Arc;
use std::time::Duration;

use a2a_client::{Client, Event, Retries, StreamExt, TaskEventStream};
use a2a_server::{Agent, Failure, MemoryStore, Server, ServerBuilder, Turn};
use a2a_transport::{CallRequest, ResponseBody, Transport};
use a2a_types::{Message, Part, Request, SubscribeToTaskRequest, TaskState};
use tokio::sync::Notify;

use crate::engine::{Gate, Worker, builders, card, task};
use crate::stores;

#[tokio::test]
async fn an_unknown_place_begins_with_the_task() {
    let worker = Worker::default();
    for builder in builders(&worker) {
        let client = Client::new(builder.build().unwrap()).retries(Retries::none());
        let mut updates = client.stream("wait").await.unwrap();
        let first = updates.next().await.unwrap().unwrap();
        let id = first.task_id().unwrap().clone();
        for place in [Some(9999), None] {
            let mut resumed = client.subscribe_after(id.clone(), place).await.unwrap();
            let first = resumed.next().await.unwrap().unwrap();
            assert!(matches!(first, Event::Task(_)), "{place:?}: {first:?}");
        }
    }
}

/// A follower that missed nothing gets nothing again.
#[tokio::test]
async fn the_last_place_begins_with_what_comes_next() {
    for builder in builders(&Worker::default()) {
        let client = Client::new(builder.build().unwrap()).retries(Retries::none());
        let mut updates = client.stream("wait").await.unwrap();
        let first = updates.next().await.unwrap().unwrap();
        updates.next().await.unwrap().unwrap();
        let id = first.task_id().unwrap().clone();
        let place = updates.sequence();
        let mut resumed = client.subscribe_after(id.clone(), place).await.unwrap();
        client.cancel_task(id).await.unwrap();
        let next = resumed.next().await.unwrap().unwrap();
        let state = next.status().map(|status| status.state);
        assert_eq!(state, Some(TaskState::Canceled));
        assert_eq!(resumed.sequence(), place.map(|place| place + 1));
    }
}

/// A follower that was cut off before the last event gets it, although the task has ended: in 1.0, too.
#[tokio::test]
async fn resubscribe_after_end_replays_the_tail() {
    for builder in builders(&Worker::default()) {
        let client = Client::new(builder.build().unwrap()).retries(Retries::none());
        let mut updates = client.stream("echo x").await.unwrap();
        let first = updates.next().await.unwrap().unwrap();
        let (id, seen) = (first.task_id().unwrap().clone(), updates.sequence());
        while updates.next().await.is_some() {}
        let mut rest = client.subscribe_after(id, seen).await.unwrap();
        let mut sequences = Vec::new();
        while let Some(event) = rest.next().await {
            event.unwrap();
            sequences.extend(rest.sequence());
        }
        assert_eq!(sequences, [2, 3]);
    }
}

/// A stream that is not read holds no large task; what happened meanwhile is not told twice.
#[tokio::test]
async fn a_large_task_is_read_when_its_stream_is() {
    for builder in builders(&Worker::default()) {
        let server = builder.build().unwrap();
        let client = Client::new(server.clone()).retries(Retries::none());
        let filling = serde_json::json!({ "filling": "x".repeat(2 << 20) });
        let mut large = Message::user("wait");
        large.metadata = filling.as_object().cloned();
        let mut updates = client.stream(large).await.unwrap();
        let id = updates.next().await.unwrap().unwrap().task_id().cloned();
        let id = id.unwrap();

        let request = SubscribeToTaskRequest {
            id: id.clone(),
            ..Default::default()
        };
        let ResponseBody::Stream(unread) = server
            .call(CallRequest::new(Request::SubscribeToTask(request)))
            .await
            .unwrap()
            .answer
        else {
            panic!("no stream");
        };
        client.cancel_task(id).await.unwrap();
        let events: Vec<_> = unread
            .map(|update| update.unwrap().event.into_event())
            .collect()
            .await;
        let [Event::Task(task)] = &events[..] else {
            panic!("{events:?}");
        };
        assert_eq!(task.status.state, TaskState::Canceled);
    }
}

/// Asks how many, and returns when the gate is open; the next turn sends the answer.
fn lingerer(gate: &Arc<Gate>) -> impl Agent {
    let gate = Arc::clone(gate);
    move |turn: Turn| {
        let gate = Arc::clone(&gate);
        async move {
            if turn.text() == "42" {
                return Ok(turn.artifact("answer").text("42").finish().await?);
            }
            turn.ask("how many?").await?;
            gate.passed().await;
            Ok::<_, Failure>(())
        }
    }
}

/// A server of each store, whose agent lingers after its question.
fn lingerers(gate: &Arc<Gate>) -> [ServerBuilder; 2] {
    [
        Server::builder(card(), lingerer(gate)).store(MemoryStore::default()),
        Server::builder(card(), lingerer(gate)).store(stores::sqlite()),
    ]
}

/// Has the agent ask; the answer to that.
async fn answer(client: &Client) -> Message {
    let mut asked = client.stream("begin").await.unwrap();
    let id = asked.next().await.unwrap().unwrap().task_id().cloned();
    while asked.next().await.is_some() {}
    Message {
        task_id: id,
        ..Message::user("42")
    }
}

/// Returns the last state of a stream.
async fn last_state(mut updates: TaskEventStream) -> Option<TaskState> {
    let mut last = None;
    while let Some(event) = updates.next().await {
        last = event.unwrap().status().map(|status| status.state);
    }
    last
}

/// The sender of an answer follows it to its end, though the agent that asked has not returned.
#[tokio::test]
async fn an_answer_that_comes_at_once_is_followed_to_its_end() {
    for second in [false, true] {
        let gate = Arc::new(Gate::default());
        let builder = lingerers(&gate).into_iter().nth(second.into()).unwrap();
        let builder = builder.first_event_timeout(Duration::from_secs(3600));
        let client = Client::new(builder.build().unwrap()).retries(Retries::none());
        let answer = answer(&client).await;
        let mut answered =
            std::pin::pin!(async { last_state(client.stream(answer).await.unwrap()).await });
        assert!(futures_util::poll!(&mut answered).is_pending());
        gate.open();
        assert_eq!(answered.await, Some(TaskState::Completed));
    }
}

/// If the agent takes long to return, the answer waits for its turn, and its stream begins with a working task.
#[tokio::test]
async fn an_answer_that_waits_for_its_turn_is_followed_to_its_end() {
    for second in [false, true] {
        let gate = Arc::new(Gate::default());
        let builder = lingerers(&gate).into_iter().nth(second.into()).unwrap();
        let builder = builder.first_event_timeout(Duration::ZERO);
        let client = Client::new(builder.build().unwrap()).retries(Retries::none());
        let answer = answer(&client).await;
        let mut updates = client.stream(answer).await.unwrap();
        match updates.next().await.unwrap().unwrap() {
            Event::Task(task) => assert_eq!(task.status.state, TaskState::Working),
            other => panic!("{other:?}"),
        }
        gate.open();
        assert_eq!(last_state(updates).await, Some(TaskState::Completed));
    }
}

/// Sends a hundred syllables, and then never ends.
async fn chatter(turn: Turn) -> Result<(), Failure> {
    let mut text = turn.artifact("text").text("0").send().await?;
    for number in 1..100 {
        text = text.text(number.to_string()).send().await?;
    }
    turn.canceled().await;
    Ok(())
}

fn chatterers() -> [ServerBuilder; 2] {
    [
        Server::builder(card(), chatter).store(MemoryStore::default()),
        Server::builder(card(), chatter).store(stores::sqlite()),
    ]
}

/// Reads until all syllables are there; yields how many events it took.
async fn listen(client: &Client) -> usize {
    let mut updates = client.stream("talk").await.unwrap();
    let (mut text, mut events, mut id) = (Vec::new(), 0, None);
    while text.len() < 100 {
        let event = updates.next().await.unwrap().unwrap();
        if let Event::ArtifactUpdate(update) = event {
            events += 1;
            text.extend(update.artifact.parts);
            id = Some(update.task_id);
        }
    }
    let all = (0..100).map(|number| Part::text(number.to_string()));
    assert_eq!(text, all.collect::<Vec<_>>());
    let task = client.cancel_task(id.unwrap()).await.unwrap();
    assert_eq!(task.artifacts[0].parts, text);
    assert_eq!(task.status.state, TaskState::Canceled);
    events
}

#[tokio::test]
async fn chunks_are_merged() {
    for builder in chatterers() {
        let server = builder.merge_chunks(true);
        let events = listen(&Client::new(server.build().unwrap())).await;
        assert!(events < 50, "{events} events");
    }
}

/// A chunk is streamed as soon as the agent waits for its next one: time is paused, and does not pass.
#[tokio::test(start_paused = true)]
async fn a_chunk_waits_for_no_timer() {
    let agents = Arc::new(Notify::new());
    let waits = Arc::clone(&agents);
    let agent = move |turn: Turn| {
        let waits = Arc::clone(&waits);
        async move {
            let mut text = turn.artifact("talk").text("0").send().await?;
            for number in 1..10 {
                waits.notified().await;
                text = text.text(number.to_string()).send().await?;
            }
            Ok::<_, Failure>(text.finish().await?)
        }
    };
    let server = Server::builder(card(), agent).store(MemoryStore::default());
    let client = Client::new(server.build().unwrap());
    let mut updates = client.stream("talk").await.unwrap();
    let begun = tokio::time::Instant::now();
    let mut parts = 0;
    while let Some(event) = updates.next().await {
        if let Event::ArtifactUpdate(update) = event.unwrap() {
            parts += update.artifact.parts.len();
            agents.notify_one();
        }
    }
    assert_eq!((parts, begun.elapsed()), (10, Duration::ZERO));
}

/// Text that comes after the end of the task is refused, or dropped with a warning, and nothing else happens.
#[tokio::test]
async fn text_after_the_end_is_dropped() {
    let agent = async |turn: Turn| {
        let text = turn.artifact("talk").text("0").send().await?;
        turn.complete().await?;
        let late = text.text("1").send().await?;
        drop(late.finish().await);
        Ok::<_, Failure>(())
    };
    let server = Server::builder(card(), agent).store(MemoryStore::default());
    let client = Client::new(server.build().unwrap());
    let done = task(client.send("talk").await.unwrap());
    assert_eq!(done.status.state, TaskState::Completed);
    assert_eq!(done.artifacts[0].parts, [Part::text("0")]);
}

/// A task that has reached the limit of its log ends, and its waiting callers get that.
#[tokio::test]
async fn a_task_whose_text_does_not_fit_has_failed() {
    let agent = async |turn: Turn| {
        let mut talk = turn.artifact("talk").text("0").send().await?;
        for _ in 0..64 {
            talk = talk.text("x".repeat(1020 << 10)).send().await?;
        }
        // In small pieces, so that some are buffered while the ones before them are refused.
        loop {
            talk = talk.text("x".repeat(1000)).send().await?;
            tokio::task::yield_now().await;
        }
    };
    let builders = [
        Server::builder(card(), agent).store(MemoryStore::default()),
        Server::builder(card(), agent).store(stores::sqlite()),
    ];
    for builder in builders {
        let client = Client::new(builder.build().unwrap()).retries(Retries::none());
        let mut updates = client.stream("talk").await.unwrap();
        let mut last = None;
        let read = async {
            while let Some(event) = updates.next().await {
                last = event.unwrap().status().map(|status| status.state);
            }
        };
        tokio::time::timeout(Duration::from_secs(600), read)
            .await
            .expect("an end");
        assert_eq!(last, Some(TaskState::Failed));
    }
}

#[tokio::test]
async fn chunks_are_sent_one_by_one_without_merging() {
    for builder in chatterers() {
        let server = builder.merge_chunks(false);
        assert_eq!(listen(&Client::new(server.build().unwrap())).await, 100);
    }
}
