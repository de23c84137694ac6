//! The writes between two turns, which are tried again while the store cannot write.

use std::sync::Arc;
use std::time::Duration;

use a2a_types::{Message, TaskState};
use tokio::time::Instant;

use crate::engine::pending_message::PendingMessage;
use crate::engine::task_writer::TaskWriter;
use crate::engine::update::UpdateError;
use crate::store::StoreError;

/// Gives the lease of a task back. If the store is not available, retries in the background; otherwise this
/// server would renew the lease as long as it runs.
pub(crate) async fn hand_back(writer: &Arc<TaskWriter>) {
    let is_away = |handed_back: Result<(), UpdateError>| {
        matches!(
            handed_back,
            Err(UpdateError::Store(StoreError::Unavailable(_)))
        )
    };
    // If another writer has taken the lease, there is nothing to give back.
    if !is_away(writer.hand_back().await) {
        return;
    }
    let writer = Arc::clone(writer);
    tokio::spawn(async move {
        tokio::time::sleep(MAX_PAUSE_AWAY).await;
        while is_away(writer.hand_back().await) {
            tokio::time::sleep(MAX_PAUSE_AWAY).await;
        }
    });
}

/// Makes a task ready for the next turn, if it can have one: a task that ended meanwhile is submitted again
/// where the caller's protocol version does that.
pub(crate) async fn begin_next(
    writer: &TaskWriter,
    pending: &PendingMessage,
) -> Result<bool, UpdateError> {
    writer.belong_to(pending.context.trace.clone()).await;
    if writer.is_answered() {
        return Ok(false);
    }
    let reopens = pending.reopens_ended_task();
    persist(writer, || wake(writer, pending.number, reopens)).await
}

async fn wake(writer: &TaskWriter, number: usize, reopens: bool) -> Result<bool, UpdateError> {
    let state = writer.task().await?.status.state;
    if state.is_terminal() && !reopens {
        return Ok(false);
    }
    writer.begin_turn(number, woken(state)).await?;
    Ok(true)
}

/// Returns the state that a message gives an idle task: an ended one is submitted again, one that waited
/// for the caller is worked on.
pub(crate) fn woken(state: TaskState) -> Option<TaskState> {
    match state {
        state if state.is_terminal() => Some(TaskState::Submitted),
        state if state.is_interrupted() => Some(TaskState::Working),
        _ => None,
    }
}

/// Does the work after a turn, and repeats it until the store accepts it, because nothing else would.
/// Waiting callers and followers get the failure at once.
pub(crate) async fn persist<T, F>(
    writer: &TaskWriter,
    step: impl Fn() -> F,
) -> Result<T, UpdateError>
where
    F: Future<Output = Result<T, UpdateError>>,
{
    match step().await {
        // Rare. Boxed, so that it does not enlarge the future of every run.
        Err(UpdateError::Store(error)) if may_pass(&error) => {
            Box::pin(persist_later(writer, error, step)).await
        }
        done => done,
    }
}

/// Returns whether the store may take later what it has refused with this error.
fn may_pass(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Full | StoreError::Busy | StoreError::Unavailable(_) | StoreError::Failed(_)
    )
}

async fn persist_later<T, F>(
    writer: &TaskWriter,
    mut error: StoreError,
    step: impl Fn() -> F,
) -> Result<T, UpdateError>
where
    F: Future<Output = Result<T, UpdateError>>,
{
    let (begun, mut pause, failure) = (Instant::now(), FIRST_PAUSE, uuid::Uuid::new_v4());
    loop {
        // Callers that wait for a task that was never stored get the error.
        if !writer.is_stored().await {
            return Err(error.into());
        }
        let is_away = matches!(error, StoreError::Unavailable(_));
        if is_away && (writer.is_lost() || writer.is_outage_over(begun, &error)) {
            return Err(error.into());
        }
        tracing::error!(correlation_id = %failure, task = %writer.task_id(), error = &error as &dyn std::error::Error, "could not store the end of a turn yet: retrying");
        // The outage is transient: followers keep their streams.
        let longest = match is_away {
            true => MAX_PAUSE_AWAY,
            false => {
                writer.report_stuck(failure);
                MAX_PAUSE
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => pause = (pause * 2).min(longest),
            () = writer.lost() => return Err(error.into()),
        }
        error = match step().await {
            Err(UpdateError::Store(error)) if may_pass(&error) => error,
            done => {
                writer.report_unstuck();
                return done;
            }
        };
    }
}

/// Delay before that is tried again, the first and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(10);
/// Maximum delay while the store is unavailable.
const MAX_PAUSE_AWAY: Duration = Duration::from_secs(1);

/// Gives a task its last status, with this text, unless it has one, or the turn ended by waiting for the
/// caller.
pub(crate) async fn close(
    writer: &TaskWriter,
    state: TaskState,
    text: Option<&str>,
) -> Result<(), UpdateError> {
    let settled = |now: TaskState| {
        now.is_terminal() || (now.is_interrupted() && state == TaskState::Completed)
    };
    if settled(writer.state().await?) {
        return Ok(());
    }
    match writer.status(state, text.map(Message::agent), None).await {
        // Another writer was faster.
        Err(_) if settled(writer.task().await?.status.state) => Ok(()),
        Err(UpdateError::Store(StoreError::TooLong(_))) => {
            // The last message does not fit.
            let state = match state {
                TaskState::Completed => TaskState::Failed,
                other => other,
            };
            writer.status(state, None, None).await
        }
        closed => closed,
    }
}
