//! Reads of a task while its stream is open: events that come both ways are returned once.

use std::sync::{Arc, Mutex};

use a2a_client::{Client, Error, StreamExt, Transport};
use a2a_transport::{BoxFuture, CallRequest, CallResponse, ResponseBody, Update};
use a2a_types::{Event, Request, Response, Task, TaskState};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::streams::scripted_agent::{chunk, in_short, in_time, status, task};
use TaskState::{Completed, Working};

/// A snapshot of the task, and the events that the open stream sends right after it.
type TaskRead = (Task, Vec<Event>);

/// An agent whose first stream sends the first number and breaks; the second one sends the second
/// number, and then the events of each snapshot.
#[derive(Clone)]
struct OverlapAgent {
    reads: Arc<Mutex<Vec<TaskRead>>>,
    sender: UnboundedSender<Event>,
    stream: Arc<Mutex<Option<UnboundedReceiver<Event>>>>,
}

impl OverlapAgent {
    fn new(reads: impl Into<Vec<TaskRead>>) -> Self {
        let (sender, receiver) = unbounded_channel();
        sender.send(chunk("2")).unwrap();
        Self {
            reads: Arc::new(Mutex::new(reads.into())),
            sender,
            stream: Arc::new(Mutex::new(Some(receiver))),
        }
    }

    fn answer(&self, request: &Request) -> ResponseBody {
        match request {
            Request::SendStreamingMessage(_) => {
                let events = [Ok(status(Working)), Ok(chunk("1")), Err(cut())];
                ResponseBody::Stream(Box::pin(tokio_stream::iter(events).map(numberless)))
            }
            Request::SubscribeToTask(_) => {
                let mut receiver = self.stream.lock().unwrap().take().unwrap();
                let (relay, events) = tokio::sync::mpsc::channel(16);
                tokio::spawn(async move {
                    while let Some(event) = receiver.recv().await {
                        if relay.send(event).await.is_err() {
                            return;
                        }
                    }
                });
                let events = tokio_stream::wrappers::ReceiverStream::new(events);
                ResponseBody::Stream(Box::pin(events.map(Ok).map(numberless)))
            }
            Request::GetTask(_) => {
                let (task, events) = self.reads.lock().unwrap().remove(0);
                for event in events {
                    self.sender.send(event).unwrap();
                }
                ResponseBody::Once(Response::GetTask(task))
            }
            other => panic!("{other:?}"),
        }
    }
}

impl Transport for OverlapAgent {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        let answer = self.answer(&call.request);
        Box::pin(async move { Ok(CallResponse::new(answer)) })
    }
}

fn cut() -> Error {
    Error::Connection("cut".into())
}

fn numberless(item: Result<Event, Error>) -> Result<Update, Error> {
    item.map(|event| Update::new(event, None))
}

/// Checks the events returned for a series of snapshots, all of which must be read.
async fn check(reads: impl Into<Vec<TaskRead>>, expected: &[&str], folded: &str) {
    let agent = OverlapAgent::new(reads);
    let mut updates = Client::new(agent.clone()).send("go").follow();
    let mut events = Vec::new();
    while let Some(event) = in_time(updates.next()).await {
        events.push(in_short(&event.unwrap()));
    }
    assert_eq!(events, expected);
    let made_out = Event::Task(updates.task().unwrap().clone());
    assert_eq!(in_short(&made_out), folded);
    assert!(agent.reads.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn chunks_of_the_task_are_not_repeated() {
    let reads = [
        // The third number is in the task, and comes by the stream afterwards.
        (task(Working, &["1", "2", "3"]), vec![chunk("3")]),
        (
            task(Working, &["1", "2", "3"]),
            vec![chunk("4"), status(Completed)],
        ),
        // The last word is checked.
        (task(Completed, &["1", "2", "3", "4"]), vec![]),
    ];
    let expected = ["Working", "=1", "+23", "+4", "Completed"];
    check(reads, &expected, "Completed[1234]").await;
}

#[tokio::test(start_paused = true)]
async fn a_chunk_equal_to_an_earlier_one_is_reported() {
    let reads = [
        (task(Working, &["1", "2", "3"]), vec![chunk("3")]),
        (
            task(Working, &["1", "2", "3", "3"]),
            vec![chunk("4"), status(Completed)],
        ),
        (task(Completed, &["1", "2", "3", "3", "4"]), vec![]),
    ];
    let expected = ["Working", "=1", "+23", "+3", "+4", "Completed"];
    check(reads, &expected, "Completed[12334]").await;
}

/// The agent sends the second number before it stores it: in the end nothing is missing.
#[tokio::test(start_paused = true)]
async fn the_last_word_is_checked_against_the_task() {
    let reads = [
        (
            task(Working, &["1", "0"]),
            vec![chunk("3"), status(Completed)],
        ),
        (task(Completed, &["1", "0", "2", "3"]), vec![]),
    ];
    let expected = ["Working", "=1", "+0", "+3", "=1023", "Completed"];
    check(reads, &expected, "Completed[1023]").await;
}

/// A task that is behind at the end does not take back that it has ended.
#[tokio::test(start_paused = true)]
async fn a_task_that_lags_behind_takes_nothing_back() {
    let reads = [
        (
            task(Working, &["1", "2"]),
            vec![chunk("3"), status(Completed)],
        ),
        (task(Working, &["1", "2"]), vec![]),
    ];
    let expected = ["Working", "=1", "+2", "+3", "Completed"];
    check(reads, &expected, "Completed[123]").await;
}
