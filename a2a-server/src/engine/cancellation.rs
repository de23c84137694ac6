//! Cancellation of a task, wherever it is worked on.

use std::sync::Arc;

use a2a_transport::Context;
use a2a_types::{Error as A2aError, ErrorKind, TaskId, TaskState};

use crate::engine::Engine;
use crate::engine::remote_tasks::cancel_elsewhere;
use crate::engine::task_writer::TaskWriter;
use crate::engine::update::UpdateError;
use crate::store::{Owner, StoreError};

/// Cancels a task; returns when it has ended.
pub(crate) async fn cancel(
    engine: &Engine,
    task: &TaskId,
    context: &Context,
) -> Result<(), A2aError> {
    let owner = Owner::of(context);
    let mut snapshot = engine.snapshot(task, &owner).await?;
    let state = snapshot.task.status.state;
    if state.is_terminal() {
        let text = format!("a task that is {} cannot be canceled", state.as_str());
        return Err(A2aError::new(ErrorKind::TaskNotCancelable, text));
    }
    let mut shared = engine.store().shared();
    // The loop ends when the task has ended, whatever the agent does.
    while !snapshot.task.status.state.is_terminal() {
        match engine.active.running(&owner, task) {
            Some(writer) => {
                writer.cancel();
                writer.ended().await;
            }
            None => {
                let store_handle = Arc::clone(&engine.store_handle);
                let writer = TaskWriter::for_known(store_handle, owner.clone(), &snapshot);
                writer.belong_to(context.trace.clone()).await;
                let canceled = match shared.take() {
                    Some(shared) => cancel_elsewhere(engine, shared, &writer).await,
                    None => writer.seize(TaskState::Canceled).await,
                };
                match canceled {
                    // The log changed in between, so look again.
                    Ok(()) | Err(UpdateError::Store(StoreError::SequenceConflict(_))) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        snapshot = engine.snapshot(task, &owner).await?;
    }
    Ok(())
}
