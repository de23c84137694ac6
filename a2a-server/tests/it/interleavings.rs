//! Writers, cancellations and followers of one task, at the same time and in many orders.
//!
//! Shuttle's scheduler draws every order from a seed and decides at each step which actor continues.
//! The store is the real one in memory; a step is one call of it, and any other actor may run before
//! and after. So this checks that sequence numbers, lease epochs and cursors keep the log consistent
//! under any interleaving of store calls.
//!
//! Shuttle does not see the inside of a call: the store's locks are the standard library's, held for no
//! longer than a call, never across a step, and so they never block here; its watch channel is tokio's,
//! which works on any executor. A follower that is not woken is a deadlock, which shuttle reports. The
//! store suite covers threads that are inside the same call.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a_server::{
    Append, Appended, Lease, LogPage, MemoryStore, NewTask, Owner, Principal, Store, StoreError,
};
use a2a_types::{
    Artifact, Event, ProtocolVersion, Task, TaskArtifactUpdateEvent, TaskId, TaskState,
    TaskStatusUpdateEvent,
};
use shuttle::future::{block_on, spawn, yield_now};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use tokio::sync::watch;

#[test]
fn cancel_races_keep_log_consistent() {
    run(random(), Scenario::Canceled, InjectedRace::None);
}

#[test]
fn takeover_races_keep_log_consistent() {
    run(random(), Scenario::TakenOver, InjectedRace::None);
}

/// Orders with few switches, each at the worst place: they find what is rare among random ones.
#[test]
fn races_with_few_switches_keep_log_consistent() {
    for scenario in [Scenario::Canceled, Scenario::TakenOver] {
        let few_switches = PctScheduler::new_from_seed(SEED, 4, 1_000);
        run(few_switches, scenario, InjectedRace::None);
    }
}

#[test]
#[should_panic(expected = "what was acknowledged is the log")]
fn a_sequence_number_that_is_checked_before_loses_updates() {
    run(
        random(),
        Scenario::Canceled,
        InjectedRace::ChecksSequenceFirst,
    );
}

#[test]
#[should_panic(expected = "a writer that lost the lease still writes")]
fn an_epoch_that_is_checked_before_does_not_fence() {
    run(
        random(),
        Scenario::TakenOver,
        InjectedRace::ChecksEpochFirst,
    );
}

#[test]
#[should_panic(expected = "who is woken finds something")]
fn a_follower_woken_before_the_append_finds_nothing() {
    run(random(), Scenario::Canceled, InjectedRace::WakesFirst);
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_follower_that_reads_before_watching_may_never_wake() {
    run(
        random(),
        Scenario::Canceled,
        InjectedRace::ReadsBeforeWatching,
    );
}

const SEED: u64 = 2025;
const LONG: Duration = Duration::from_secs(3600);
const UNSHARED: &str = "no actor holds it across a step";

fn random() -> RandomScheduler {
    RandomScheduler::new_from_seed(SEED, 5_000)
}

/// Events in the life of the task.
#[derive(Clone, Copy)]
enum Scenario {
    /// Two writers share a lease and work, and two others cancel.
    Canceled,
    /// One writer works, and two others take over, one from the other.
    TakenOver,
}

/// Race in the store or in a follower.
#[derive(Clone, Copy, PartialEq)]
enum InjectedRace {
    None,
    /// The sequence number is looked at in one step, and the events are appended in another.
    ChecksSequenceFirst,
    /// The epoch is looked at in one step, and the events are appended in another.
    ChecksEpochFirst,
    /// Followers are woken in one step, and the events are appended in another.
    WakesFirst,
    /// A follower reads in one step, and begins to watch in another.
    ReadsBeforeWatching,
}

fn run(scheduler: impl Scheduler + 'static, scenario: Scenario, fault: InjectedRace) {
    let runner = shuttle::Runner::new(scheduler, shuttle::Config::default());
    runner.run(move || block_on(check(scenario, fault)));
}

async fn check(scenario: Scenario, fault: InjectedRace) {
    let task = TaskUnderTest::new(fault).await;
    let following = [spawn(follow(task.clone())), spawn(follow(task.clone()))];
    let whole = vec![chunk("a1"), chunk("a2"), status(TaskState::Completed)];
    let mut acting = vec![spawn(work(task.clone(), 1, 1, whole))];
    match scenario {
        Scenario::Canceled => {
            let more = vec![chunk("b1"), chunk("b2")];
            acting.push(spawn(work(task.clone(), 1, 1, more)));
            acting.push(spawn(cancel(task.clone(), "c")));
            acting.push(spawn(cancel(task.clone(), "d")));
        }
        Scenario::TakenOver => {
            acting.push(spawn(take_over(task.clone(), "c")));
            acting.push(spawn(take_over(task.clone(), "d")));
        }
    }
    for actor in acting {
        actor.await.expect("no actor is aborted");
    }
    let log = task.read(1).await;
    let mut done = task.done();
    done.sort_by_key(|append| (append.sequence, append.epoch));
    let event = |append: &AcknowledgedAppend| Some((append.sequence, append.event.clone()?));
    let acknowledged: Vec<_> = done.iter().filter_map(event).collect();
    assert_eq!(acknowledged, log, "what was acknowledged is the log");
    let sequences = log.iter().map(|(sequence, _)| *sequence);
    let numbered = sequences.eq(2..log.len() as u64 + 2);
    assert!(numbered, "no sequence number is missing: {log:?}");
    let ends: Vec<_> = log.iter().filter(|(_, event)| ends(event)).collect();
    assert_eq!(
        ends,
        Vec::from_iter(log.last()),
        "it ends, and nothing follows"
    );
    let fenced = done.is_sorted_by_key(|append| append.epoch);
    assert!(fenced, "a writer that lost the lease still writes: {log:?}");
    for follower in following {
        let seen = follower.await.expect("no actor is aborted");
        assert_eq!(seen, log, "a follower sees the whole log");
    }
}

/// An append that was acknowledged to a writer, if only of a lease.
struct AcknowledgedAppend {
    sequence: u64,
    epoch: u64,
    event: Option<Event>,
}

/// Appends one event after the other until the task has ended or the lease is lost.
async fn work(task: TaskUnderTest, mut known: u64, epoch: u64, mut events: Vec<Event>) {
    events.reverse();
    while let Some(event) = events.last() {
        let append = Append::held(known, epoch, vec![event.clone()]);
        match task.append(append).await {
            Ok(appended) => {
                known = appended.sequence;
                events.pop();
            }
            Err(StoreError::SequenceConflict(end)) => known = end,
            Err(StoreError::Fenced | StoreError::InvalidTransition(_)) => return,
            Err(other) => panic!("{other}"),
        }
    }
}

/// Seizes the lease, with this event or none, unless the task has ended.
async fn seize(task: &TaskUnderTest, name: &str, events: Vec<Event>) -> Option<Appended> {
    loop {
        let (known, stands) = task.look().await;
        if stands.is_terminal() {
            return None;
        }
        let mut append = Append::held(known, 0, events.clone());
        append.lease = Lease::TakeOver {
            holder: name.into(),
            term: LONG,
        };
        match task.append(append).await {
            Ok(appended) => return Some(appended),
            Err(StoreError::SequenceConflict(_)) => {}
            Err(StoreError::InvalidTransition(_)) => return None,
            Err(other) => panic!("{other}"),
        }
    }
}

async fn cancel(task: TaskUnderTest, name: &'static str) {
    seize(&task, name, vec![status(TaskState::Canceled)]).await;
}

async fn take_over(task: TaskUnderTest, name: &'static str) {
    if let Some(taken) = seize(&task, name, Vec::new()).await {
        let rest = vec![chunk(name), status(TaskState::Completed)];
        work(task, taken.sequence, taken.epoch, rest).await;
    }
}

/// Reads to the end as a stream does: waits until there is something, and reads it.
async fn follow(task: TaskUnderTest) -> Vec<(u64, Event)> {
    let mut seen = Vec::new();
    let mut after = 1;
    let mut changes = task.watch().await;
    loop {
        if task.fault == InjectedRace::ReadsBeforeWatching {
            let read = task.read(after).await;
            if read.is_empty() {
                changes = task.watch().await;
                changes.changed().await.expect("the task is there");
            }
        } else {
            let grown = changes.wait_for(|sequence| *sequence > after);
            drop(grown.await.expect("the task is there"));
        }
        let read = task.read(after).await;
        assert!(!read.is_empty(), "who is woken finds something");
        for (sequence, event) in read {
            assert_eq!(sequence, after + 1, "events come in order, each once");
            after = sequence;
            let is_last = ends(&event);
            seen.push((sequence, event));
            if is_last {
                return seen;
            }
        }
    }
}

/// One task and the calls on it; other actors may run before and after each call.
#[derive(Clone)]
struct TaskUnderTest {
    fault: InjectedRace,
    store: Arc<MemoryStore>,
    owner: Owner,
    task: TaskId,
    /// Wakes followers in the faulty order, which the channel of the store prevents.
    early: watch::Sender<u64>,
    done: Arc<Mutex<Vec<AcknowledgedAppend>>>,
}

impl TaskUnderTest {
    async fn new(fault: InjectedRace) -> Self {
        let task = Self {
            fault,
            store: Arc::default(),
            owner: Owner::from(Principal::named("ada")),
            task: TaskId::from("t"),
            early: watch::Sender::new(1),
            done: Arc::default(),
        };
        let new = NewTask::new(
            Task::submitted(task.task.clone(), "c".into()).into(),
            ProtocolVersion::V1_0,
            "first".into(),
            LONG,
        );
        let created = task.store.create(&task.owner, new).await;
        created.expect("the store is empty");
        task
    }

    /// Appends, and notes what is acknowledged.
    async fn append(&self, append: Append) -> Result<Appended, StoreError> {
        let event = append.events.first().cloned();
        yield_now().await;
        let appended = self.append_now(append).await?;
        self.done.lock().expect(UNSHARED).push(AcknowledgedAppend {
            sequence: appended.sequence,
            epoch: appended.epoch,
            event,
        });
        yield_now().await;
        Ok(appended)
    }

    fn done(&self) -> Vec<AcknowledgedAppend> {
        std::mem::take(&mut *self.done.lock().expect(UNSHARED))
    }

    async fn append_now(&self, mut append: Append) -> Result<Appended, StoreError> {
        match (self.fault, &append.lease) {
            (InjectedRace::ChecksSequenceFirst, _) => {
                let (end, _) = self.look().await;
                if end != append.after {
                    return Err(StoreError::SequenceConflict(end));
                }
                let sequence = end + append.events.len() as u64;
                append.after = self.look().await.0;
                let appended = self.store.append(&self.owner, &self.task, append).await?;
                return Ok(Appended::new(sequence, appended.epoch, appended.messages));
            }
            (InjectedRace::ChecksEpochFirst, &Lease::Held { epoch }) => {
                let probe = Append::held(append.after, epoch, Vec::new());
                self.store.append(&self.owner, &self.task, probe).await?;
                yield_now().await;
                let appended = self.append_unfenced(append).await?;
                return Ok(Appended::new(appended.sequence, epoch, appended.messages));
            }
            (InjectedRace::WakesFirst, _) => {
                let sequence = append.after + append.events.len() as u64;
                self.early.send_replace(sequence);
                yield_now().await;
            }
            _ => {}
        }
        self.store.append(&self.owner, &self.task, append).await
    }

    /// Appends with whatever epoch is the present one.
    async fn append_unfenced(&self, mut append: Append) -> Result<Appended, StoreError> {
        for epoch in 1..10 {
            append.lease = Lease::Held { epoch };
            let appended = self.store.append(&self.owner, &self.task, append.clone());
            match appended.await {
                Err(StoreError::Fenced) => {}
                appended => return appended,
            }
        }
        Err(StoreError::Fenced)
    }

    async fn look(&self) -> (u64, TaskState) {
        yield_now().await;
        let snapshot = self.store.snapshot(&self.owner, &self.task).await;
        let snapshot = snapshot.ok().flatten().expect("the task is there");
        yield_now().await;
        (snapshot.sequence, snapshot.task.status.state)
    }

    async fn watch(&self) -> watch::Receiver<u64> {
        yield_now().await;
        let watch = match self.fault {
            InjectedRace::WakesFirst => self.early.subscribe(),
            _ => self
                .store
                .watch(&self.owner, &self.task)
                .await
                .expect("the task is there"),
        };
        yield_now().await;
        watch
    }

    async fn read(&self, after: u64) -> Vec<(u64, Event)> {
        yield_now().await;
        let tail = self
            .store
            .events_after(&self.owner, &self.task, after)
            .await;
        yield_now().await;
        match tail {
            Ok(LogPage::Events(events)) => events
                .into_iter()
                .map(|logged| (logged.sequence, Event::clone(&logged.event)))
                .collect(),
            other => panic!("{other:?}"),
        }
    }
}

fn chunk(name: &str) -> Event {
    Event::ArtifactUpdate(TaskArtifactUpdateEvent {
        task_id: "t".into(),
        context_id: None,
        artifact: Artifact {
            artifact_id: name.into(),
            ..Artifact::default()
        },
        append: false,
        last_chunk: false,
        metadata: None,
    })
}

fn status(state: TaskState) -> Event {
    Event::StatusUpdate(TaskStatusUpdateEvent {
        task_id: "t".into(),
        context_id: None,
        status: state.into(),
        metadata: None,
    })
}

fn ends(event: &Event) -> bool {
    event
        .status()
        .is_some_and(|status| status.state.is_terminal())
}
