//! Two servers that share a store.

use std::sync::Arc;
use std::time::Duration;

use a2a_client::{Client, Error, Retries, SendMessageResponse};
use a2a_server::{
    Agent, Failure, NewTask, Owner, Principal, Recovery, Server, ServerBuilder, Store, Turn,
    TurnLimits,
};
use a2a_types::{ErrorKind, Message, Part, ProtocolVersion, Task, TaskState};

use super::{OwnStore, Reach};
use crate::engine::{Worker, card, task, until};
use crate::waiting::eventually;

/// Longer than any of these tests takes: nothing here may need it to run out.
const LONG: Duration = Duration::from_secs(3600);

/// Has the other server time to get the same message.
struct DelayedAgent(Worker);

impl Agent for DelayedAgent {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        self.0.run(turn).await
    }
}

fn builder(worker: &Worker, store: &OwnStore) -> ServerBuilder {
    Server::builder(card(), DelayedAgent(worker.clone()))
        .store(store.clone())
        .lease(LONG)
        .cancel_grace(LONG)
}

/// Two servers with an agent each.
fn replicas() -> [(Worker, Client); 2] {
    let store = OwnStore::default();
    [Worker::default(), Worker::default()].map(|worker| {
        let server = builder(&worker, &store).build().unwrap();
        (worker, Client::new(server))
    })
}

fn to(task: &Task, text: &str) -> Message {
    Message {
        task_id: Some(task.id.clone()),
        ..Message::user(text)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_messages_that_both_get_are_worked_on_once() {
    let [(one, here), (other, there)] = replicas();
    let sends = (0..1000).map(|number| {
        let command = if number % 2 == 0 { "echo" } else { "reply" };
        let message = Message::user(format!("{command} {number}"));
        let mut both = [here.clone(), there.clone()];
        // Each gets half of them first.
        both.rotate_left(number / 2 % 2);
        tokio::spawn(async move {
            let both = both.map(|client| {
                let message = message.clone();
                tokio::spawn(async move { client.send(message).await.unwrap() })
            });
            let [first, second] = both;
            let (first, second) = (first.await.unwrap(), second.await.unwrap());
            match (&first, &second) {
                (SendMessageResponse::Task(first), SendMessageResponse::Task(second)) => {
                    assert_eq!(first.id, second.id);
                }
                _ => assert_eq!(first, second),
            }
        })
    });
    let sends: Vec<_> = sends.collect();
    for send in sends {
        send.await.unwrap();
    }
    assert_eq!(one.runs() + other.runs(), 1000);
    assert!(one.runs() > 0 && other.runs() > 0, "one has done it all");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_reaches_a_task_that_the_other_works_on() {
    let [(one, here), (other, there)] = replicas();
    let begun = task(here.send("wait").return_immediately().await.unwrap());
    one.begun.notified().await;
    let sent = to(&begun, "echo more");
    let again = sent.clone();
    let sending = tokio::spawn(async move { there.send(again).await.unwrap() });
    let is_there = |task: &Task| {
        task.history
            .iter()
            .any(|it| it.message_id == sent.message_id)
    };
    eventually(async || {
        let task = here.get_task(begun.id.clone(), None).await.unwrap();
        is_there(&task).then_some(())
    })
    .await;
    one.go_on.open();
    let done = task(sending.await.unwrap());
    assert_eq!(done.status.state, TaskState::Completed);
    assert_eq!(done.artifacts.len(), 1);
    assert_eq!((one.runs(), other.runs()), (2, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_canceled_that_the_other_works_on() {
    let [(one, here), (_, there)] = replicas();
    let begun = task(here.send("wait").return_immediately().await.unwrap());
    one.begun.notified().await;
    let canceled = there.cancel_task(begun.id.clone()).await.unwrap();
    assert_eq!(canceled.status.state, TaskState::Canceled);
    until(&here, &begun.id, TaskState::Canceled).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_one_is_answered_at_the_other() {
    let [(one, here), (other, there)] = replicas();
    let asked = task(here.send("ask which").await.unwrap());
    assert_eq!(asked.status.state, TaskState::InputRequired);
    let done = task(there.send(to(&asked, "echo this")).await.unwrap());
    assert_eq!(done.status.state, TaskState::Completed);
    assert_eq!(one.runs() + other.runs(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_one_refuses_may_be_sent_to_the_other_at_once() {
    let store = OwnStore::default();
    let worker = Worker::default();
    let mut limits = TurnLimits::default();
    (limits.running, limits.waiting) = (0, 0);
    let busy = builder(&worker, &store).turns(limits);
    let busy = Client::new(busy.build().unwrap());
    let free = Client::new(builder(&worker, &store).build().unwrap());
    let message = Message::user("echo x");
    match busy.send(message.clone()).await {
        Err(Error::Agent(error)) => assert_eq!(error.kind, ErrorKind::Unavailable),
        other => panic!("{other:?}"),
    }
    let sent = tokio::time::timeout(Duration::from_secs(20), free.send(message));
    let done = task(sent.await.expect("it is not reserved").unwrap());
    assert_eq!(done.status.state, TaskState::Completed);
}

/// No server takes the commands of a server that is gone.
#[tokio::test(start_paused = true)]
async fn a_message_is_worked_on_though_the_server_of_its_task_is_gone() {
    let store = OwnStore::default();
    let owner = Owner::from(Principal::anonymous());
    let mut left = Task::submitted("t".into(), "c".into());
    left.history.push(Message::user("echo first"));
    let new = NewTask::new(
        Arc::new(left),
        ProtocolVersion::V1_0,
        "gone".into(),
        Duration::from_secs(30),
    );
    let task_id = new.task.id.clone();
    store.create(&owner, new).await.unwrap();
    let worker = Worker::default();
    let server = builder(&worker, &store).recovery(Recovery::Resume);
    let client = Client::new(server.build().unwrap());
    let message = Message {
        task_id: Some(task_id),
        ..Message::user("echo second")
    };
    let done = task(client.send(message).await.unwrap());
    assert_eq!(done.status.state, TaskState::Completed);
    assert_eq!(worker.runs(), 2);
}

/// Two servers that may be kept from their store. Leases are as long as by default.
fn servers_of_away_store() -> ([OwnStore; 2], [(Worker, Client); 2]) {
    let store = OwnStore::default();
    let stores = [store.clone(), store.for_another_server()];
    let servers = stores.clone().map(|store| {
        let worker = Worker::default();
        let server = Server::builder(card(), worker.clone()).store(store);
        let server = server.recovery(Recovery::Resume).build().unwrap();
        (worker, Client::new(server))
    });
    (stores, servers)
}

fn send(client: &Client, message: &Message) -> tokio::task::JoinHandle<SendMessageResponse> {
    let (client, message) = (client.clone(), message.clone());
    tokio::spawn(async move { client.send(message).await.unwrap() })
}

/// The reservation of the first server runs out before it learns of it.
#[tokio::test(start_paused = true)]
async fn message_whose_reservation_was_answered_late_is_begun_once() {
    let ([store, _], [(one, here), (other, there)]) = servers_of_away_store();
    let message = Message::user("late answer");
    store.reach.send_replace(Reach::NoAnswers);
    let first = send(&here, &message);
    tokio::task::yield_now().await;
    let second = send(&there, &message);
    other.begun.notified().await;
    store.reach.send_replace(Reach::Whole);
    other.go_on.open();
    let first = task(first.await.unwrap());
    let second = task(second.await.unwrap());
    assert_eq!(first.id, second.id);
    assert_eq!((one.runs(), other.runs()), (0, 1));
}

/// The other server has taken over the task before the first learns that it has stored the message.
#[tokio::test(start_paused = true)]
async fn turn_that_was_taken_over_before_its_agent_begins_is_begun_once() {
    let ([store, _], [(one, here), (other, there)]) = servers_of_away_store();
    let asked = task(here.send("ask which").await.unwrap());
    assert_eq!(task(there.send("ask what").await.unwrap()).history.len(), 1);
    store.reach.send_replace(Reach::NoAnswers);
    let sending = send(&here, &to(&asked, "late answer"));
    other.begun.notified().await;
    store.reach.send_replace(Reach::Whole);
    other.go_on.open();
    let done = task(sending.await.unwrap());
    assert_eq!(done.status.state, TaskState::Completed);
    assert_eq!((one.runs(), other.runs()), (1, 2));
}

/// A reservation that ran out during an outage of the store is not abandoned.
#[tokio::test(start_paused = true)]
async fn message_is_not_begun_again_after_an_outage_of_the_store() {
    let (stores, [(one, here), (other, there)]) = servers_of_away_store();
    let message = Message::user("late answer");
    let first = send(&here, &message);
    one.begun.notified().await;
    assert_eq!(task(there.send("ask").await.unwrap()).history.len(), 1);
    for store in &stores {
        store.reach.send_replace(Reach::Frozen);
    }
    let second = send(&there, &message);
    tokio::time::sleep(Duration::from_secs(20)).await;
    // The other server has its answer before the first can renew its reservation.
    for store in stores.iter().rev() {
        store.reach.send_replace(Reach::Whole);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    one.go_on.open();
    let first = task(first.await.unwrap());
    assert_eq!(first.id, task(second.await.unwrap()).id);
    assert_eq!((one.runs(), other.runs()), (1, 1));
}

/// The store refuses the answer of the first server, because it has the other's.
#[tokio::test(start_paused = true)]
async fn sender_gets_the_answer_of_the_server_that_took_over() {
    let ([store, _], [(one, here), (other, there)]) = servers_of_away_store();
    // Sending again would get the answer, too.
    let here = here.retries(Retries::none());
    let message = Message::user("late answer");
    let first = send(&here, &message);
    one.begun.notified().await;
    store.reach.send_replace(Reach::NoAnswers);
    let second = send(&there, &message);
    other.begun.notified().await;
    other.go_on.open();
    let second = task(second.await.unwrap());
    store.reach.send_replace(Reach::Whole);
    one.go_on.open();
    let first = task(first.await.unwrap());
    assert_eq!(
        (first.id, first.status.state),
        (second.id, TaskState::Completed)
    );
    assert_eq!(first.artifacts.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn turns_wait_for_a_store_that_is_away() {
    for text in ["late a", "wait and write"] {
        let ([store, _], [(one, here), _]) = servers_of_away_store();
        let sending = send(&here, &Message::user(text));
        one.begun.notified().await;
        store.reach.send_replace(Reach::Refused);
        one.go_on.open();
        // Half of the time that a turn waits.
        tokio::time::sleep(Duration::from_secs(200)).await;
        store.reach.send_replace(Reach::Whole);
        let done = task(sending.await.unwrap());
        assert_eq!(done.status.state, TaskState::Completed, "{text}");
        assert_eq!((done.artifacts.len(), one.runs()), (1, 1), "{text}");
    }
}

/// Its last chunk comes while the text before it waits for the store.
#[tokio::test(start_paused = true)]
async fn an_artifact_is_whole_after_an_outage_of_the_store() {
    let store = OwnStore::default();
    let reach = Arc::clone(&store.reach);
    let agent = move |turn: Turn| {
        let reach = Arc::clone(&reach);
        async move {
            let artifact = turn.artifact("answer").text("1 ").send().await?;
            reach.send_replace(Reach::Refused);
            let artifact = artifact.text("2 ").send().await?;
            // The writer of the text has failed meanwhile, and tries again.
            tokio::time::sleep(Duration::from_secs(1)).await;
            let artifact = artifact.text("3 ").send().await?;
            let back = async {
                tokio::time::sleep(Duration::from_secs(20)).await;
                reach.send_replace(Reach::Whole);
            };
            let (done, ()) = tokio::join!(artifact.text("4").finish(), back);
            Ok::<_, Failure>(done?)
        }
    };
    let server = Server::builder(card(), agent).store(store);
    let done = task(
        Client::new(server.build().unwrap())
            .send("begin")
            .await
            .unwrap(),
    );
    assert_eq!(done.status.state, TaskState::Completed);
    let parts = done.artifacts.iter().flat_map(|artifact| &artifact.parts);
    let text: String = parts.filter_map(Part::as_text).collect();
    assert_eq!(text, "1 2 3 4");
}

#[tokio::test(start_paused = true)]
async fn turn_is_interrupted_and_resumed_when_the_store_was_away_for_too_long() {
    let ([store, _], [(one, here), (other, _)]) = servers_of_away_store();
    let sent = here.send("wait and write").return_immediately();
    let begun = task(sent.await.unwrap());
    one.begun.notified().await;
    store.reach.send_replace(Reach::Refused);
    one.go_on.open();
    tokio::time::sleep(Duration::from_secs(700)).await;
    store.reach.send_replace(Reach::Whole);
    other.go_on.open();
    let done = until(&here, &begun.id, TaskState::Completed).await;
    assert_eq!(done.artifacts.len(), 1);
    assert_eq!(one.runs() + other.runs(), 2);
}
