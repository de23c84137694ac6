//! Timing and number of retries, on a paused clock.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a_client::{Client, Error, Message, Phase, Retries, StreamExt, Transport};
use a2a_transport::{BoxFuture, CallRequest, CallResponse, ResponseBody, Update};
use a2a_types::{AgentCard, Event, Operation, Request, Response, SendMessageResponse, TaskState};
use tokio::time::{Instant, timeout};

use crate::streams::scripted_agent::{in_time, snapshot, status, task};

/// Answer of an agent to its n-th request.
type Script = dyn Fn(u32, &Request) -> Result<ResponseBody, Error> + Send + Sync;

/// An agent that answers by a function, and records the times of its requests.
#[derive(Clone)]
struct Scripted {
    script: Arc<Script>,
    count: Arc<AtomicU32>,
    times: Arc<Mutex<Vec<Instant>>>,
}

impl Scripted {
    fn new(
        script: impl Fn(u32, &Request) -> Result<ResponseBody, Error> + Send + Sync + 'static,
    ) -> Self {
        Self {
            script: Arc::new(script),
            count: Arc::default(),
            times: Arc::default(),
        }
    }

    fn asked(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }

    /// Returns the pauses between requests.
    fn pauses(&self) -> Vec<Duration> {
        let times = self.times.lock().unwrap();
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }
}

impl Transport for Scripted {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        self.times.lock().unwrap().push(Instant::now());
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let answer = (self.script)(count, &call.request);
        Box::pin(async move { Ok(CallResponse::new(answer?)) })
    }
}

fn cut() -> Error {
    Error::Connection("cut".into())
}

fn stream(items: Vec<Result<Event, Error>>) -> ResponseBody {
    let items = items.into_iter().map(|item| {
        let sequence = None;
        item.map(|event| Update::new(event, sequence))
    });
    ResponseBody::Stream(Box::pin(tokio_stream::iter(items)))
}

fn silence() -> ResponseBody {
    ResponseBody::Stream(Box::pin(tokio_stream::pending()))
}

#[tokio::test(start_paused = true)]
async fn failed_resumptions_are_limited_and_back_off() {
    let agent = Scripted::new(|count, _| match count {
        0 => Ok(stream(vec![Ok(status(TaskState::Working)), Err(cut())])),
        _ => Err(cut()),
    });
    let mut updates = Client::new(agent.clone()).send("go").follow();
    in_time(updates.next()).await.unwrap().unwrap();
    assert!(matches!(
        in_time(updates.next()).await,
        Some(Err(Error::Connection(_)))
    ));
    assert!(in_time(updates.next()).await.is_none());
    assert_eq!(agent.asked(), 1 + 12);
    let most = |pause: &Duration| *pause <= Duration::from_secs(5);
    assert!(agent.pauses().iter().all(most), "{:?}", agent.pauses());
    let long = |pause: &Duration| *pause > Duration::from_millis(200);
    assert!(agent.pauses().iter().any(long), "{:?}", agent.pauses());
}

/// Only consecutive attempts without a new event count.
#[tokio::test(start_paused = true)]
async fn a_stream_with_new_events_may_break_any_number_of_times() {
    let agent = Scripted::new(|count, _| {
        let state = [TaskState::Working, TaskState::AuthRequired][count as usize % 2];
        Ok(stream(vec![Ok(snapshot(state, &[])), Err(cut())]))
    });
    let mut updates = Client::new(agent.clone()).send("go").follow();
    for _ in 0..200 {
        in_time(updates.next()).await.unwrap().unwrap();
    }
    assert_eq!(updates.reconnections(), 199);
}

/// The agent accepts a subscription, sends only the status, and breaks the stream while the task is
/// read.
#[tokio::test(start_paused = true)]
async fn a_task_read_during_a_stream_that_breaks_is_not_progress() {
    let agent = Scripted::new(|_, request| match request {
        Request::SendStreamingMessage(_) => Ok(stream(vec![
            Ok(snapshot(TaskState::Working, &["1"])),
            Err(cut()),
        ])),
        Request::SubscribeToTask(_) => Ok(stream(vec![Ok(status(TaskState::Working)), Err(cut())])),
        _ => Ok(ResponseBody::Once(Response::GetTask(task(
            TaskState::Working,
            &["1"],
        )))),
    });
    let mut updates = Client::new(agent.clone()).send("go").follow();
    in_time(updates.next()).await.unwrap().unwrap();
    assert!(in_time(updates.next()).await.unwrap().is_err());
    assert_eq!(agent.asked(), 1 + 2 * 12);
}

/// A repeated event is not progress.
#[tokio::test(start_paused = true)]
async fn a_repeated_event_is_not_progress() {
    let agent = Scripted::new(|_, _| {
        Ok(stream(vec![
            Ok(snapshot(TaskState::Working, &["1"])),
            Err(cut()),
        ]))
    });
    let mut updates = Client::new(agent.clone()).send("go").follow();
    in_time(updates.next()).await.unwrap().unwrap();
    assert!(matches!(
        in_time(updates.next()).await,
        Some(Err(Error::Connection(_)))
    ));
    assert_eq!(agent.asked(), 1 + 12);
}

#[tokio::test(start_paused = true)]
async fn a_long_silence_is_not_a_failure() {
    let agent = Scripted::new(|count, _| {
        let begins = tokio_stream::once(Ok(snapshot(TaskState::Working, &["1"])));
        let rest = futures_util::stream::once(async move {
            let minute = Duration::from_secs(60);
            drop(timeout(minute, std::future::pending::<()>()).await);
            match count {
                50.. => Ok(status(TaskState::Completed)),
                _ => Err(cut()),
            }
        });
        let updates = begins
            .chain(rest)
            .map(|item| item.map(|event| Update::new(event, None)));
        Ok(ResponseBody::Stream(Box::pin(updates)))
    });
    let mut updates = Client::new(agent.clone()).send("go").follow();
    let mut events = 0;
    while let Some(event) = in_time(updates.next()).await {
        event.unwrap();
        events += 1;
    }
    assert_eq!((events, agent.asked()), (2, 51));
}

#[tokio::test(start_paused = true)]
async fn polling_backs_off_while_nothing_happens() {
    let agent = Scripted::new(|count, request| match request {
        Request::SendMessage(_) => Ok(ResponseBody::Once(Response::SendMessage(
            SendMessageResponse::Task(task(TaskState::Working, &[])),
        ))),
        Request::GetTask(_) => Ok(ResponseBody::Once(Response::GetTask(match count {
            7.. => task(TaskState::Completed, &["1"]),
            _ => task(TaskState::Working, &[]),
        }))),
        other => panic!("{other:?}"),
    });
    let mut card = AgentCard::new("n", "d");
    card.capabilities.streaming = Some(false);
    let client = Client::with_card(agent.clone(), Arc::new(card));
    let updates = client.send("go").follow();
    let events: Vec<_> = updates.map(Result::unwrap).collect().await;
    assert_eq!(events.len(), 3, "{events:?}");
    let seconds: Vec<_> = agent.pauses().iter().map(Duration::as_millis).collect();
    let expected = [500, 1000, 2000, 4000, 5000, 5000, 5000];
    assert!(
        seconds
            .iter()
            .zip(expected)
            .all(|(paused, due)| paused.abs_diff(due) <= 2),
        "{seconds:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_what_would_never_end() {
    let agent = Scripted::new(|_, request| match request.operation() {
        Operation::SendStreamingMessage => Ok(silence()),
        operation => panic!("{operation:?}"),
    });
    let limit = Duration::from_secs(7);
    let begun = Instant::now();
    let mut updates = Client::new(agent).send("go").deadline(limit).follow();
    match in_time(updates.next()).await {
        Some(Err(Error::Timeout {
            phase,
            limit: events,
        })) => {
            assert_eq!((phase, events), (Phase::Deadline, limit));
        }
        other => panic!("{other:?}"),
    }
    assert!(in_time(updates.next()).await.is_none());
    assert_eq!(begun.elapsed().as_secs(), 7);

    let busy = Scripted::new(|_, _| Err(Error::Unreachable("no server".into())));
    let patient = Retries::default().attempts(1000).budget(0, 1000);
    let client = Client::new(busy).retries(patient);
    match client.send("go").deadline(limit).await {
        Err(Error::Timeout { phase, .. }) => assert_eq!(phase, Phase::Deadline),
        other => panic!("{other:?}"),
    }
}

/// A caller that pauses between polls misses nothing.
#[tokio::test(start_paused = true)]
async fn a_question_that_is_dropped_is_asked_on() {
    let agent = Scripted::new(|count, request| match request {
        Request::GetTask(_) => Ok(ResponseBody::Once(Response::GetTask(task(
            TaskState::Completed,
            &["1"],
        )))),
        _ if count == 0 => Ok(stream(vec![Ok(status(TaskState::Working)), Err(cut())])),
        _ => Ok(silence()),
    });
    let mut updates = Client::new(agent.clone()).send("go").follow();
    let mut events = Vec::new();
    for _ in 0..2000 {
        if let Ok(Some(event)) = timeout(Duration::from_millis(1), updates.next()).await {
            events.push(crate::streams::scripted_agent::in_short(&event.unwrap()));
        }
        assert_eq!(updates.task().is_some(), !events.is_empty());
    }
    assert_eq!(events, ["Working", "=1", "Completed"]);
    assert_eq!(agent.asked(), 3);
}

#[tokio::test]
async fn nothing_is_sent_before_the_first_event_is_asked_for() {
    let agent = Scripted::new(|_, _| Err(cut()));
    let client = Client::new(agent.clone());
    drop(client.send("go").follow());
    drop(client.send("go"));
    assert_eq!(agent.asked(), 0);
}

/// An agent that ends a stream while the task waits, or in an unknown state, has sent everything.
#[tokio::test(start_paused = true)]
async fn an_end_where_nothing_more_is_due_is_the_end() {
    for state in [TaskState::InputRequired, TaskState::AuthRequired] {
        let agent = Scripted::new(move |_, _| Ok(stream(vec![Ok(snapshot(state, &[]))])));
        let updates = Client::new(agent.clone()).send("go").follow();
        let events: Vec<_> = updates.map(Result::unwrap).collect().await;
        assert_eq!((events.len(), agent.asked()), (1, 1), "{state:?}");
    }
}

/// It may be an end, or not: the agent is asked a few times.
#[tokio::test(start_paused = true)]
async fn a_task_that_stays_in_an_unknown_state_is_left_in_the_end() {
    let agent = Scripted::new(|_, _| Ok(stream(vec![Ok(snapshot(TaskState::Unspecified, &[]))])));
    let updates = Client::new(agent.clone()).send("go").follow();
    let events: Vec<_> = updates.map(Result::unwrap).collect().await;
    assert_eq!(events.len(), 1);
    assert!(agent.asked() > 1);
}

#[tokio::test(start_paused = true)]
async fn the_task_has_what_no_event_tells() {
    let agent = Scripted::new(|count, _| {
        if count == 0 {
            return Ok(stream(vec![Ok(status(TaskState::Working)), Err(cut())]));
        }
        let mut whole = task(TaskState::Completed, &["1"]);
        whole.history = vec![Message::user("go")];
        whole.metadata = Some([("k".to_owned(), "v".into())].into_iter().collect());
        Ok(stream(vec![Ok(Event::Task(whole))]))
    });
    let mut updates = Client::new(agent).send("go").follow();
    while let Some(event) = in_time(updates.next()).await {
        event.unwrap();
    }
    let made_out = updates.task().unwrap();
    assert_eq!(made_out.history.len(), 1);
    assert!(made_out.metadata.is_some(), "{made_out:?}");
}
