//! Stores that do not do their work.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a_client::{Client, Retries, StreamExt};
use a2a_server::{
    Append, Appended, DeliveryResult, Failure, IdempotencyKey, IdempotencyRecord, ListQuery,
    LogPage, MemoryStore, NewTask, Notification, Orphan, Owner, Page, Retention, Server, Snapshot,
    Store, StoreError, StoreFuture, TaskNotifier, Turn,
};
use a2a_transport::http::Readiness;
use a2a_transport::{CallRequest, Context, Error, ResponseBody, Transport};
use a2a_types::{
    ConfigId, ErrorKind, Event, Message, MessageId, ProtocolVersion, Response, SendMessageRequest,
    SendMessageResponse, Task, TaskId, TaskPushNotificationConfig, TaskState,
};
use tokio::sync::Notify;

use crate::engine::{another_message_arrived, card, task, until};
use crate::waiting::soon;

/// The store in memory, in a mood.
#[derive(Clone, Default)]
pub(super) struct FaultyStore {
    inner: Arc<MemoryStore>,
    /// Panics where it is to store a task.
    panics: Arc<AtomicBool>,
    /// After the next message was written to a task, does not find that task at the next read.
    goes_blind: Arc<AtomicBool>,
    is_blind: Arc<AtomicBool>,
    /// Panics in place of that.
    panics_when_blind: Arc<AtomicBool>,
    /// Does not do what it is asked next.
    refuses: Arc<Mutex<Option<InjectedError>>>,
    /// It has refused something.
    refused: Arc<Notify>,
    /// Writes nothing, for as long as this is so.
    writes_nothing: Arc<AtomicBool>,
    /// Number of reads of events, and of appends, that fail as unavailable.
    pub(super) is_away_for: Arc<AtomicUsize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum InjectedError {
    Append,
    Snapshot,
    /// A snapshot, for want of memory.
    Memory,
    /// A snapshot, as if there were no such task.
    Task,
}

impl FaultyStore {
    /// Returns whether the store is away, and counts `is_away_for` down.
    fn is_away(&self) -> bool {
        let less = |times: usize| times.checked_sub(1);
        let order = Ordering::Relaxed;
        self.is_away_for.fetch_update(order, order, less).is_ok()
    }

    /// Returns whether it refuses this, once.
    fn refuses(&self, what: InjectedError) -> bool {
        let mut refuses = self.refuses.lock().unwrap();
        let does = refuses.take_if(|it| *it == what).is_some();
        if does {
            self.refused.notify_one();
        }
        does
    }
}

macro_rules! delegate {
    ($($name:ident($($value:ident: $kind:ty),*) -> $answer:ty;)*) => {
        $(fn $name<'a>(&'a self, $($value: $kind),*) -> StoreFuture<'a, $answer> {
            self.inner.$name($($value),*)
        })*
    };
}

impl Store for FaultyStore {
    fn create<'a>(&'a self, owner: &'a Owner, new: NewTask) -> StoreFuture<'a, ()> {
        assert!(!self.panics.load(Ordering::Relaxed), "in a mood");
        self.inner.create(owner, new)
    }

    fn append<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        append: Append,
    ) -> StoreFuture<'a, Appended> {
        let is_message = matches!(append.events[..], [Event::Message(_), ..]);
        if is_message && self.goes_blind.load(Ordering::Relaxed) {
            self.is_blind.store(true, Ordering::Relaxed);
        }
        if self.is_away() {
            return away();
        }
        if self.writes_nothing.load(Ordering::Relaxed) {
            self.refused.notify_one();
            return Box::pin(async { Err(StoreError::failed("no space left on device")) });
        }
        match self.refuses(InjectedError::Append) {
            true => Box::pin(async { Err(StoreError::Full) }),
            false => self.inner.append(owner, task, append),
        }
    }

    fn snapshot<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> StoreFuture<'a, Option<Snapshot>> {
        match self.is_blind.swap(false, Ordering::Relaxed) {
            true if self.panics_when_blind.load(Ordering::Relaxed) => panic!("in a mood"),
            true => Box::pin(async { Err(StoreError::failed("in a mood")) }),
            false if self.refuses(InjectedError::Task) => {
                Box::pin(async { Err(StoreError::NoTask) })
            }
            false if self.refuses(InjectedError::Snapshot) => {
                Box::pin(async { Err(StoreError::failed("in a mood")) })
            }
            false if self.refuses(InjectedError::Memory) => {
                Box::pin(async { Err(StoreError::Busy) })
            }
            false => self.inner.snapshot(owner, task),
        }
    }

    fn store_response<'a>(
        &'a self,
        owner: &'a Owner,
        receipt: IdempotencyKey,
        answer: Message,
    ) -> StoreFuture<'a, ()> {
        match self.writes_nothing.load(Ordering::Relaxed) {
            true => Box::pin(async { Err(StoreError::failed("no space left on device")) }),
            false => self.inner.store_response(owner, receipt, answer),
        }
    }

    fn task_notifier(&self) -> &TaskNotifier {
        self.inner.task_notifier()
    }

    fn events_after<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        after: u64,
    ) -> StoreFuture<'a, LogPage> {
        match self.is_away() {
            true => away(),
            false => self.inner.events_after(owner, task, after),
        }
    }

    delegate! {
        head(owner: &'a Owner, task: &'a TaskId) -> u64;
        list(owner: &'a Owner, listing: ListQuery) -> Page;
        put_config(owner: &'a Owner, config: TaskPushNotificationConfig, protocol_version: ProtocolVersion) -> ();
        configs(owner: &'a Owner, task: &'a TaskId) -> Vec<TaskPushNotificationConfig>;
        delete_config(owner: &'a Owner, task: &'a TaskId, config: &'a ConfigId) -> ();
        received(owner: &'a Owner, message: &'a MessageId) -> Option<IdempotencyRecord>;
        notifications(limit: usize, term: Duration) -> Vec<Notification>;
        dead_letters(limit: usize) -> Vec<Notification>;
        undelivered() -> usize;
        record_delivery(notification: &'a Notification, settlement: DeliveryResult) -> ();
        renew(holder: &'a str, term: Duration) -> ();
        orphans(limit: usize) -> Vec<Orphan>;
        sweep(retention: Retention) -> usize;
    }
}

fn away<'a, T: Send + 'a>() -> StoreFuture<'a, T> {
    Box::pin(async { Err(StoreError::unavailable("no connection")) })
}

/// Asks how many, and says it back.
async fn counter(turn: Turn) -> Result<(), Failure> {
    match turn.text().as_str() {
        "how many?" => Ok(turn.ask("how many?").await?),
        answer => Ok(turn.artifact("answer").text(answer).complete_task().await?),
    }
}

pub(super) fn server(store: &FaultyStore) -> Server {
    let server = Server::builder(card(), counter).store(store.clone());
    server.build().unwrap()
}

/// Sends a message in a protocol version; returns its task. In 0.1 its caller has named it.
async fn send(server: &Server, protocol_version: ProtocolVersion, id: &str) -> Result<Task, Error> {
    let named = protocol_version.rules().caller_names_tasks;
    let message = Message {
        message_id: id.into(),
        task_id: named.then(|| "named".into()),
        ..Message::user("42")
    };
    let request = SendMessageRequest {
        message,
        ..SendMessageRequest::default()
    };
    let context = Context::new(protocol_version);
    let request = request.into();
    let reply = soon(server.call(CallRequest { request, context })).await?;
    match reply.answer {
        ResponseBody::Once(Response::SendMessage(SendMessageResponse::Task(task))) => Ok(task),
        _ => panic!("a task was expected"),
    }
}

#[tokio::test]
async fn store_that_panics_leaves_no_active_task() {
    for protocol_version in [
        ProtocolVersion::V0_1,
        ProtocolVersion::V0_3,
        ProtocolVersion::V1_0,
    ] {
        let store = FaultyStore::default();
        let server = server(&store);
        store.panics.store(true, Ordering::Relaxed);
        send(&server, protocol_version, "1").await.unwrap_err();
        store.panics.store(false, Ordering::Relaxed);
        let done = send(&server, protocol_version, "2").await.unwrap();
        assert_eq!(
            done.status.state,
            TaskState::Completed,
            "{protocol_version:?}"
        );
        // No turn is left that the server would wait for.
        soon(server.shutdown(Duration::from_secs(3600))).await;
    }
}

/// A message that was written reaches the agent even if the store cannot show the task right after that: a
/// stream goes on, and a caller whose answer could not be read sends the message again.
#[tokio::test]
async fn a_message_that_was_written_reaches_the_agent() {
    for streams in [false, true] {
        let store = FaultyStore::default();
        let client = Client::new(server(&store));
        let asked = task(client.send("how many?").await.unwrap());
        store.goes_blind.store(true, Ordering::Relaxed);
        let answer = Message {
            task_id: Some(asked.id),
            ..Message::user("42")
        };
        let state = match streams {
            false => {
                client.send(answer.clone()).await.unwrap_err();
                store.goes_blind.store(false, Ordering::Relaxed);
                Some(task(client.send(answer).await.unwrap()).status.state)
            }
            true => {
                let updates = client.stream(answer).await.unwrap();
                let all: Vec<_> = updates.collect().await;
                let last = all.into_iter().rev().flatten();
                let mut states = last.filter_map(|event| Some(event.status()?.state));
                states.next()
            }
        };
        assert!(!store.is_blind.load(Ordering::Relaxed), "it was not asked");
        assert_eq!(state, Some(TaskState::Completed), "streams: {streams}");
    }
}

/// A task that was left in the middle is found like any abandoned task: no turn can go on with it.
#[tokio::test]
async fn a_task_that_a_panic_has_left_is_abandoned() {
    let store = FaultyStore::default();
    let server = server(&store);
    let client = Client::new(server.clone());
    let asked = task(client.send("how many?").await.unwrap());
    store.panics_when_blind.store(true, Ordering::Relaxed);
    store.goes_blind.store(true, Ordering::Relaxed);
    let answer = Message {
        task_id: Some(asked.id.clone()),
        ..Message::user("42")
    };
    let refused = soon(client.stream(answer).into_future()).await;
    assert!(refused.is_err());
    until(&client, &asked.id, TaskState::Failed).await;
}

/// Begins an agent that waits for another message, then asks if `asks`, and has the store refuse once;
/// returns the client and that message. The agent notifies `answered` when it gets the message.
async fn begun(
    store: &FaultyStore,
    answered: &Arc<Notify>,
    asks: bool,
    refused: InjectedError,
) -> (Client, Message) {
    let (refuses, answers) = (Arc::clone(&store.refuses), Arc::clone(answered));
    let agent = move |turn: Turn| {
        let (refuses, answers) = (Arc::clone(&refuses), Arc::clone(&answers));
        async move {
            if turn.text() == "42" {
                answers.notify_one();
                return Ok(());
            }
            turn.working("waiting").await?;
            another_message_arrived(&turn).await?;
            if asks {
                turn.ask("how many?").await?;
            }
            *refuses.lock().unwrap() = Some(refused);
            Ok::<_, Failure>(())
        }
    };
    let server = Server::builder(card(), agent).store(store.clone());
    // The pauses before four attempts may be too short for the store to recover, once in 48 times.
    let retries = Retries::default().attempts(10);
    let client = Client::new(server.build().unwrap()).retries(retries);
    let mut updates = client.stream("begin").await.unwrap();
    let first = updates.next().await.unwrap().unwrap();
    let answer = Message {
        task_id: first.task_id().cloned(),
        ..Message::user("42")
    };
    (client, answer)
}

/// A queued message has its turn, though the store is in trouble just then.
#[tokio::test(start_paused = true)]
async fn a_message_that_waits_is_answered_when_the_store_does_its_work_again() {
    for (asks, refused) in [
        (true, InjectedError::Append),
        (true, InjectedError::Snapshot),
        (false, InjectedError::Snapshot),
        (false, InjectedError::Memory),
    ] {
        let (store, answered) = (FaultyStore::default(), Arc::new(Notify::new()));
        let (client, answer) = begun(&store, &answered, asks, refused).await;
        let (sent, ()) = tokio::join!(client.send(answer), soon(answered.notified()));
        sent.unwrap();
        assert_eq!(*store.refuses.lock().unwrap(), None, "it was not asked");
    }
}

/// A message that cannot have its turn is not taken for answered.
#[tokio::test(start_paused = true)]
async fn a_task_that_cannot_have_its_next_turn_has_failed() {
    let (store, answered) = (FaultyStore::default(), Arc::default());
    let (client, answer) = begun(&store, &answered, false, InjectedError::Task).await;
    let failed = task(soon(client.send(answer).into_future()).await.unwrap());
    assert_eq!(failed.status.state, TaskState::Failed);
}

/// A task that could not be ended yet goes on for a message that comes meanwhile: its sender is asked to come back,
/// and finds it answered.
#[tokio::test(start_paused = true)]
async fn a_message_that_comes_while_a_task_cannot_be_ended_is_answered() {
    let store = FaultyStore::default();
    let refuses = Arc::clone(&store.refuses);
    let agent = move |turn: Turn| {
        let refuses = Arc::clone(&refuses);
        async move {
            if turn.text() == "42" {
                return Ok(turn.artifact("answer").text("42").finish().await?);
            }
            turn.working("waiting").await?;
            *refuses.lock().unwrap() = Some(InjectedError::Append);
            Ok::<_, Failure>(())
        }
    };
    let server = Server::builder(card(), agent).store(store.clone());
    let client = Client::new(server.build().unwrap()).retries(Retries::none());
    let mut updates = client.stream("begin").await.unwrap();
    let first = updates.next().await.unwrap().unwrap();
    soon(store.refused.notified()).await;
    let answer = Message {
        task_id: first.task_id().cloned(),
        ..Message::user("42")
    };
    let send = || soon(client.send(answer.clone()).into_future());
    let unavailable =
        |error: &Error| matches!(error, Error::Agent(it) if it.kind == ErrorKind::Unavailable);
    let mut sent = send().await;
    assert!(sent.as_ref().is_err_and(unavailable));
    for _ in 0..10 {
        if sent.is_err() {
            tokio::time::advance(Duration::from_millis(100)).await;
            sent = send().await;
        }
    }
    let done = task(sent.unwrap());
    assert_eq!(done.status.state, TaskState::Completed);
    assert_eq!(done.artifacts.len(), 1);
}

/// A store that cannot write in the middle of a turn: the sender and the follower get an error at once,
/// under one correlation id, and the server is not ready. When the store writes again the task ends, and
/// the server is ready.
#[tokio::test(start_paused = true)]
async fn callers_get_an_error_at_once_if_the_store_cannot_write() {
    let (store, go_on) = (FaultyStore::default(), Arc::new(Notify::new()));
    let (fails, waits) = (Arc::clone(&store.writes_nothing), Arc::clone(&go_on));
    let agent = move |turn: Turn| {
        let (fails, waits) = (Arc::clone(&fails), Arc::clone(&waits));
        async move {
            turn.working("on it").await?;
            waits.notified().await;
            fails.store(true, Ordering::Relaxed);
            Ok::<_, Failure>(turn.complete().await?)
        }
    };
    let server = Server::builder(card(), agent).store(store.clone());
    let server = server.build().unwrap();
    let client = Client::new(server.clone()).retries(Retries::none());
    let message = Message::user("begin");
    let mut updates = client.stream(message.clone()).await.unwrap();
    let first = updates.next().await.unwrap().unwrap();
    let id = first.task_id().cloned().unwrap();
    let begun = tokio::time::Instant::now();
    let sent = client.send(message.clone()).into_future();
    let (sent, ()) = tokio::join!(sent, async { go_on.notify_one() });
    let answered = correlated(sent.map(drop));
    let streamed = loop {
        match updates.next().await {
            Some(Ok(_)) => {}
            Some(Err(error)) => break correlated(Err(error)),
            None => panic!("the stream ended as if nothing were wrong"),
        }
    };
    assert_eq!(streamed, answered);
    assert!(
        begun.elapsed() < Duration::from_secs(1),
        "{:?}",
        begun.elapsed()
    );
    correlated(client.subscribe(id.clone()).await.map(drop));
    assert_eq!(server.ready().await, Err("store unavailable"));

    store.writes_nothing.store(false, Ordering::Relaxed);
    soon(ended(&store, &id)).await;
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(server.ready().await, Ok(()));
    let again = task(client.send(message).await.unwrap());
    assert_eq!(again.status.state, TaskState::Failed);
}

/// The correlation id in an error of the kind *unavailable*.
#[track_caller]
fn correlated(refused: Result<(), a2a_client::Error>) -> String {
    match refused {
        Err(a2a_client::Error::Agent(error)) => {
            assert_eq!(error.kind, ErrorKind::Unavailable, "{error:?}");
            let (_, id) = error.message.split_once("Correlation id: ").unwrap();
            id.to_owned()
        }
        other => panic!("{other:?}"),
    }
}

/// A server that no caller has called yet does its background work: a service that is mounted somewhere recovers
/// what an earlier process has left.
#[tokio::test(start_paused = true)]
async fn abandoned_tasks_are_recovered_before_any_call() {
    let store = FaultyStore::default();
    let owner = Owner::from(a2a_server::Principal::anonymous());
    let abandoned = NewTask::new(
        Task::submitted("t".into(), "c".into()).into(),
        ProtocolVersion::V1_0,
        "a process that is gone".into(),
        Duration::ZERO,
    );
    store.inner.create(&owner, abandoned).await.unwrap();
    let server = server(&store);
    assert_eq!(soon(ended(&store, &"t".into())).await, TaskState::Failed);
    drop(server);
}

/// Waits until a task of a caller without a name has ended; yields its state.
async fn ended(store: &FaultyStore, task: &TaskId) -> TaskState {
    let owner = Owner::from(a2a_server::Principal::anonymous());
    let mut watch = store.inner.watch(&owner, task).await.unwrap();
    loop {
        let snapshot = store.inner.snapshot(&owner, task).await.unwrap();
        let state = snapshot.unwrap().task.status.state;
        if state.is_terminal() {
            return state;
        }
        watch.changed().await.unwrap();
    }
}
