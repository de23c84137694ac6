//! A follower: a cursor on the log of a task.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use a2a_transport::{BoxFuture, Error, Update, metric};
use a2a_types::steps::is_step;
use a2a_types::{Error as A2aError, ErrorKind, Event, TaskState};
use futures_util::stream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_stream::Stream;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::engine::fanout::Fanout;
use crate::store::{LogEntry, LogPage, StoreError, TimedStore};

/// Streams the first update, then every event of a task's log after a sequence number (`after`), in order,
/// none left out and none twice, at the reader's own pace. Ends with the event of a state that ends the
/// stream, or when the server closes.
///
/// Messages of the caller are in the log, but no protocol version sends them on a stream. Steps are
/// streamed, to be left out for callers that did not ask for them.
pub(crate) fn follow(
    store: TimedStore,
    fanout: Arc<Fanout>,
    changes: watch::Receiver<u64>,
    first: Option<FirstUpdate>,
    after: u64,
    ends: fn(TaskState) -> bool,
    closed: CancellationToken,
) -> impl Stream<Item = Result<Update, Error>> + Send + 'static {
    let cursor = Cursor {
        store,
        fanout,
        seen: after,
        ahead: VecDeque::new(),
        changes,
        ends,
        closed,
        ended: false,
    };
    stream::unfold((first, cursor), |(first, mut cursor)| async move {
        let item = match first {
            Some(first) => cursor.begin(first.await),
            None => cursor.next().await?,
        };
        Some((item, (None, cursor)))
    })
}

/// The first update. The task is copied when the stream is read.
pub(crate) type FirstUpdate = BoxFuture<'static, Result<Update, Error>>;

struct Cursor {
    store: TimedStore,
    fanout: Arc<Fanout>,
    seen: u64,
    ahead: VecDeque<LogEntry>,
    changes: watch::Receiver<u64>,
    /// Returns whether an event of this state ends the stream.
    ends: fn(TaskState) -> bool,
    closed: CancellationToken,
    ended: bool,
}

impl Cursor {
    /// Returns the first update, which may be later than the cursor.
    fn begin(&mut self, first: Result<Update, Error>) -> Result<Update, Error> {
        match &first {
            Ok(update) => {
                self.seen = update.sequence.unwrap_or(self.seen).max(self.seen);
                let status = update.event.status();
                self.ended = status.is_some_and(|status| (self.ends)(status.state));
            }
            Err(_) => self.ended = true,
        }
        first
    }

    async fn next(&mut self) -> Option<Result<Update, Error>> {
        while !self.ended {
            let Some(LogEntry { sequence, event }) = self.ahead.pop_front() else {
                // The wait may be long, so the capacity of the empty buffer is freed.
                self.ahead = VecDeque::new();
                match self.wait().await {
                    Ok(Some(events)) => self.ahead = events,
                    // The follower finds the rest elsewhere, by the last sequence number that it saw.
                    Ok(None) => self.ended = true,
                    Err(error) => {
                        self.ended = true;
                        return Some(Err(error));
                    }
                }
                continue;
            };
            self.seen = sequence;
            if matches!(*event, Event::Message(_)) && !is_step(&event) {
                continue;
            }
            // A caller that catches up reads on through questions that were answered since. An event may be
            // read before the watch reports it.
            let latest = self.ahead.is_empty() && *self.changes.borrow() <= sequence;
            self.ended = latest
                && event
                    .status()
                    .is_some_and(|status| (self.ends)(status.state));
            let head = *self.changes.borrow();
            metric::FOLLOWER_LAG.record([], head.saturating_sub(sequence) as f64);
            let sequence = Some(sequence);
            return Some(Ok(Update::new(event, sequence)));
        }
        None
    }

    /// Waits for the next events; returns `None` if the server closes.
    async fn wait(&mut self) -> Result<Option<VecDeque<LogEntry>>, Error> {
        let seen = self.seen;
        tokio::select! {
            biased;
            // The task is gone when its sender is.
            grown = self.changes.wait_for(|sequence| *sequence > seen) => {
                grown.map_err(|_| lost(&StoreError::NoTask))?;
            }
            () = self.closed.cancelled() => return Ok(None),
            failure = self.fanout.failed() => return Err(stuck(failure).into()),
        }
        loop {
            match self.read(seen).await {
                // The outage is transient: the follower waits and reads again.
                Err(StoreError::Unavailable(_)) => {}
                read => return read.map_err(|error| lost(&error)),
            }
            let closed = timeout(READ_AGAIN_AFTER, self.closed.cancelled()).await;
            if closed.is_ok() {
                return Ok(None);
            }
        }
    }

    async fn read(&self, seen: u64) -> Result<Option<VecDeque<LogEntry>>, StoreError> {
        let read = self.fanout.after(seen);
        if !read.is_empty() {
            return Ok(Some(read));
        }
        let Fanout { owner, task, .. } = &*self.fanout;
        match self.store.events_after(owner, task, seen).await? {
            LogPage::Events(events) => Ok(Some(self.fanout.publish(events))),
            LogPage::Unknown => Box::pin(self.start_again()).await.map(Some),
        }
    }

    /// Returns the whole task as one event, because the store no longer keeps the next one.
    async fn start_again(&self) -> Result<VecDeque<LogEntry>, StoreError> {
        let Fanout { owner, task, .. } = &*self.fanout;
        let snapshot = self.store.snapshot(owner, task).await?;
        let snapshot = snapshot.ok_or(StoreError::NoTask)?;
        let whole = LogEntry::new(
            snapshot.sequence,
            Event::Task(Arc::unwrap_or_clone(snapshot.task)),
        );
        Ok(VecDeque::from([whole]))
    }
}

/// Delay before an unavailable store is read again.
const READ_AGAIN_AFTER: Duration = Duration::from_millis(250);

fn lost(error: &StoreError) -> Error {
    let error = error as &dyn std::error::Error;
    tracing::warn!(error, "could not read the log of a task for a follower");
    ErrorKind::Internal.into()
}

/// The error for callers and followers that wait for the end of a turn that the store could not write.
pub(crate) fn stuck(failure: Uuid) -> A2aError {
    let text = format!(
        "the store could not write the outcome of the task; try again later. Correlation id: {failure}"
    );
    A2aError::new(ErrorKind::Unavailable, text)
}

#[cfg(test)]
mod tests {
    use a2a_types::{ProtocolVersion, Task, TaskStatusUpdateEvent};
    use metrics_util::debugging::{DebugValue, DebuggingRecorder};

    use super::*;
    use crate::engine::fanout::Fanouts;
    use crate::store::{Append, MemoryStore, NewTask, Owner, Store};

    fn status(state: TaskState) -> Event {
        Event::StatusUpdate(TaskStatusUpdateEvent {
            task_id: "t".into(),
            context_id: None,
            status: state.into(),
            metadata: None,
        })
    }

    /// A follower at the beginning of a log with these states, and the sender of its watch.
    async fn follower(states: &[TaskState]) -> (Cursor, watch::Sender<u64>) {
        let store = MemoryStore::default();
        let owner = Owner::from(a2a_transport::Principal::named("ada"));
        let new = NewTask::new(
            Task::submitted("t".into(), "c".into()).into(),
            ProtocolVersion::V1_0,
            "here".into(),
            Duration::from_secs(1 << 30),
        );
        store.create(&owner, new).await.unwrap();
        for (state, after) in states.iter().zip(1..) {
            let append = Append::held(after, 1, vec![status(*state)]);
            store.append(&owner, &"t".into(), append).await.unwrap();
        }
        let (sender, changes) = watch::channel(1);
        let cursor = Cursor {
            store: TimedStore::untimed(Arc::new(store)),
            fanout: Arc::<Fanouts>::default().join(owner, "t".into(), &changes),
            seen: 1,
            ahead: VecDeque::new(),
            changes,
            ends: TaskState::ends_stream,
            closed: CancellationToken::new(),
            ended: false,
        };
        (cursor, sender)
    }

    /// The states that a follower sees; panics if there is no end. Time is paused, so it passes only
    /// when nothing else can happen.
    async fn seen(cursor: &mut Cursor) -> Vec<TaskState> {
        let mut states = Vec::new();
        let all = async {
            while let Some(update) = cursor.next().await {
                states.extend(update.unwrap().event.status().map(|status| status.state));
            }
        };
        let ended = tokio::time::timeout(Duration::from_secs(1), all).await;
        ended.expect("the end");
        states
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_ends_if_its_last_event_was_read_before_the_wake_up() {
        let states = [TaskState::Working, TaskState::Completed];
        let (mut cursor, sender) = follower(&states).await;
        sender.send_replace(2);
        assert_eq!(seen(&mut cursor).await, states);
    }

    #[test]
    fn a_follower_lags_by_what_it_was_not_given_yet() {
        let recorder = DebuggingRecorder::new();
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().start_paused(true).build().unwrap();
        let follow = async {
            let states = [TaskState::Working, TaskState::Working, TaskState::Completed];
            let (mut cursor, sender) = follower(&states).await;
            sender.send_replace(4);
            assert_eq!(seen(&mut cursor).await, states);
        };
        metrics::with_local_recorder(&recorder, || runtime.block_on(follow));
        let recorded = recorder.snapshotter().snapshot().into_vec();
        let recorded: Vec<_> = recorded.into_iter().map(|(.., value)| value).collect();
        let lags = [2.0, 1.0, 0.0].map(Into::into).to_vec();
        assert_eq!(recorded, [DebugValue::Histogram(lags)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_follower_that_catches_up_reads_events_of_later_turns() {
        let states = [
            TaskState::InputRequired,
            TaskState::Working,
            TaskState::Completed,
        ];
        for watch in [2, 3, 4] {
            let (mut cursor, sender) = follower(&states).await;
            sender.send_replace(watch);
            assert_eq!(seen(&mut cursor).await, states, "{watch}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_subscription_goes_on_while_the_task_waits_for_its_caller() {
        let states = [TaskState::InputRequired, TaskState::Completed];
        let (mut cursor, sender) = follower(&states).await;
        cursor.ends = TaskState::is_terminal;
        sender.send_replace(2);
        let first = cursor.next().await.unwrap().unwrap();
        let state = first.event.status().map(|status| status.state);
        assert_eq!(state, Some(TaskState::InputRequired));
        sender.send_replace(3);
        assert_eq!(seen(&mut cursor).await, [TaskState::Completed]);
    }
}
