//! Tasks that another server of the same store works on: messages and cancellations reach them as commands.

use std::sync::Arc;
use std::time::Duration;

use a2a_types::{Event, MessageId, TaskId, TaskState};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::engine::Engine;
use crate::engine::pending_message::PendingMessage;
use crate::engine::task_writer::TaskWriter;
use crate::engine::update::UpdateError;
use crate::store::{
    CommandContent, IdempotencyKey, LogEntry, LogPage, Owner, SharedStore, StoreError, TaskCommand,
    TimedStore,
};

/// Outcome of posting a message.
pub(crate) enum PostOutcome {
    /// It is in the log, under this sequence number.
    Written(u64),
    /// No server has taken it.
    NotTaken,
    /// It was taken, and not written.
    Unanswered,
}

/// Has the server that works on a task take a message, whose place in the log is after `head`.
pub(crate) async fn deliver(
    engine: &Engine,
    task: &TaskId,
    pending: &mut Arc<PendingMessage>,
    receipt: Option<IdempotencyKey>,
    mut head: u64,
) -> Result<PostOutcome, StoreError> {
    let store = engine.store();
    let shared = store.shared().ok_or(StoreError::Leased)?;
    let PendingMessage {
        request, context, ..
    } = Arc::make_mut(pending);
    if request.message.message_id.is_empty() {
        request.message.message_id = MessageId::random();
    }
    let owner = Owner::of(context);
    let content = CommandContent::Message {
        request: Box::new(request.clone()),
        context: Box::new(context.clone()),
        receipt,
    };
    let command = TaskCommand::new(owner.clone(), task.clone(), content);
    let mut changes = store.watch(&owner, task).await?;
    shared.post(command.clone()).await?;
    let posted = Instant::now();
    let message = &request.message.message_id;
    let mut is_taken = false;
    loop {
        if let Some(place) = find(store, &command, message, &mut head).await? {
            return Ok(PostOutcome::Written(place));
        }
        if !is_taken && posted.elapsed() > TAKEN_WITHIN {
            if shared.withdraw(&command).await? {
                return Ok(PostOutcome::NotTaken);
            }
            is_taken = true;
        }
        // A server that has taken it and is gone has lost the lease by then.
        if posted.elapsed() > TAKEN_WITHIN + engine.store_handle.term {
            return Ok(PostOutcome::Unanswered);
        }
        changed(&mut changes).await;
    }
}

/// Cancels a task that no agent works on here: if an agent works on it at another server, it is asked to
/// stop, within the time that an agent has here.
pub(crate) async fn cancel_elsewhere(
    engine: &Engine,
    shared: &dyn SharedStore,
    writer: &TaskWriter,
) -> Result<(), UpdateError> {
    match writer.status(TaskState::Canceled, None, None).await {
        Err(UpdateError::Store(StoreError::Leased)) => {}
        canceled => return canceled,
    }
    let (owner, task) = (writer.owner().clone(), writer.task_id().clone());
    let mut changes = engine.store().watch(&owner, &task).await?;
    let command = TaskCommand::new(owner, task, CommandContent::Cancel);
    shared.post(command.clone()).await?;
    let ended = async {
        while !writer.snapshot().await?.task.status.state.is_terminal() {
            changed(&mut changes).await;
        }
        Ok(())
    };
    let patience = engine.active.cancel_grace + TAKEN_WITHIN;
    match timeout(patience, ended).await {
        Ok(ended) => ended,
        Err(_) => {
            shared.withdraw(&command).await?;
            writer.seize(TaskState::Canceled).await
        }
    }
}

/// Looks for a message in the log after `head`, which goes on to the end of what was read.
async fn find(
    store: &TimedStore,
    command: &TaskCommand,
    message: &MessageId,
    head: &mut u64,
) -> Result<Option<u64>, StoreError> {
    loop {
        match store
            .events_after(&command.owner, &command.task, *head)
            .await?
        {
            LogPage::Events(events) if events.is_empty() => return Ok(None),
            LogPage::Events(events) => {
                for LogEntry { sequence, event } in events {
                    *head = sequence;
                    if matches!(&*event, Event::Message(it) if it.message_id == *message) {
                        return Ok(Some(sequence));
                    }
                }
            }
            // The log no longer has these events: the history of the task shows whether the message was among them.
            LogPage::Unknown => {
                let snapshot = store.snapshot(&command.owner, &command.task).await?;
                let snapshot = snapshot.ok_or(StoreError::NoTask)?;
                *head = snapshot.sequence;
                let mut history = snapshot.task.history.iter();
                let is_there = history.any(|it| it.message_id == *message);
                return Ok(is_there.then_some(snapshot.sequence));
            }
        }
    }
}

/// Waits until a log has changed, or may have: a store may miss the changes that other servers make.
async fn changed(changes: &mut watch::Receiver<u64>) {
    drop(timeout(COMMAND_INTERVAL, changes.changed()).await);
}

/// Interval at which a server looks for what other servers do.
pub(crate) const COMMAND_INTERVAL: Duration = Duration::from_millis(250);
/// Time after which a command is taken back that its server has not taken.
const TAKEN_WITHIN: Duration = Duration::from_secs(2);
