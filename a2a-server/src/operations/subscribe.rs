//! Subscription to a task, and the stream of its events.

use std::sync::Arc;

use a2a_transport::{CallResponse, Context, Update};
use a2a_types::steps::hide_steps;
use a2a_types::{
    Error as A2aError, ErrorKind, Event, SubscribeToTaskRequest, Task, TaskState,
    TaskStatusUpdateEvent,
};
use futures_util::stream;

use crate::engine::follower::FirstUpdate;
use crate::operations::{ServerState, settled, unasked};
use crate::profile::reply_format::{ReplyFormat, StreamStart};
use crate::store::limits::size_of_task;
use crate::store::{Owner, Snapshot, TaskBudget};

pub(crate) async fn subscribe(
    server: &ServerState,
    params: SubscribeToTaskRequest,
    context: Context,
) -> Result<CallResponse, A2aError> {
    server.require_streaming()?;
    let owner = Owner::of(&context);
    let snapshot = server.engine.snapshot(&params.id, &owner).await?;
    let context = settled(context, &snapshot);
    let format = ReplyFormat::of_reader(&context, &snapshot.task, server.profile_support());
    let (state, rules) = (snapshot.task.status.state, context.protocol_version.rules());
    let ends = match rules.follows_waiting_tasks {
        true => TaskState::is_terminal,
        false => TaskState::ends_stream,
    };
    if let Some(seen @ 1..) = context.last_event_id
        && (seen < snapshot.sequence || !ends(state) && seen == snapshot.sequence)
    {
        // A follower that was cut off gets the rest, whether or not the task has ended.
        let task = snapshot.task.id.clone();
        let later = server.engine.follow(task, None, seen, &owner, ends).await?;
        let updates = format.apply(StreamStart::Task, later);
        return Ok(CallResponse::stream(updates).about_task_of(snapshot.protocol_version));
    }
    if state.is_terminal() && !rules.subscribes_to_ended_tasks {
        let text = "the task has ended, there is nothing to follow";
        return Err(A2aError::new(ErrorKind::UnsupportedOperation, text));
    }
    if ends(state) && rules.ends_by_status {
        let last = Update::new(last_status(&snapshot.task), Some(snapshot.sequence));
        let last = tokio_stream::once(Ok(last));
        return Ok(CallResponse::stream(last).about_task_of(snapshot.protocol_version));
    }
    let start = (format, StreamStart::Task);
    stream_task(server, snapshot, None, context, start, ends).await
}

/// The task as it stood, then everything that happens until it is in a state that ends the stream.
pub(crate) async fn stream_task(
    server: &ServerState,
    snapshot: Snapshot,
    history_length: Option<u32>,
    context: Context,
    (format, beginning): (ReplyFormat, StreamStart),
    ends: fn(TaskState) -> bool,
) -> Result<CallResponse, A2aError> {
    let (sequence, protocol_version) = (snapshot.sequence, snapshot.protocol_version);
    let task = &snapshot.task;
    let (id, ended) = (task.id.clone(), ends(task.status.state));
    let owner = Owner::of(&context);
    let history_length = history_length.or_else(|| unasked(&context));
    // A stream that is not read holds no large task: that is read when the stream is.
    let read = match size_of_task(task) > TaskBudget::SMALL {
        true => Err((Arc::clone(&server.engine), id.clone(), owner.clone())),
        false => Ok(snapshot),
    };
    let first: FirstUpdate = Box::pin(async move {
        let snapshot = match read {
            Ok(snapshot) => snapshot,
            Err((engine, id, owner)) => engine.snapshot_to_copy(&id, &owner).await?,
        };
        let mut task = Arc::unwrap_or_clone(snapshot.task);
        if format == ReplyFormat::Plain {
            hide_steps(&mut task);
            task.trim_history(history_length);
        }
        Ok(Update::new(Event::Task(task), Some(snapshot.sequence)))
    });
    let updates = match ended {
        true => format.apply(beginning, stream::once(first)),
        false => {
            let all = server
                .engine
                .follow(id, Some(first), sequence, &owner, ends)
                .await?;
            format.apply(beginning, all)
        }
    };
    Ok(CallResponse::stream(updates).about_task_of(protocol_version))
}

fn last_status(task: &Task) -> Event {
    Event::StatusUpdate(TaskStatusUpdateEvent {
        task_id: task.id.clone(),
        context_id: task.context_id.clone(),
        status: task.status.clone(),
        metadata: None,
    })
}
