//! Operations on one task, answered once.

use std::sync::Arc;

use a2a_transport::{CallResponse, Context};
use a2a_types::{CancelTaskRequest, Error as A2aError, GetTaskRequest, Response};

use crate::engine::cancellation;
use crate::operations::{ServerState, settled};
use crate::store::Owner;

pub(crate) async fn get(
    server: &ServerState,
    params: GetTaskRequest,
    context: Context,
) -> Result<CallResponse, A2aError> {
    let owner = Owner::of(&context);
    let snapshot = server.engine.snapshot_to_copy(&params.id, &owner).await?;
    let context = settled(context, &snapshot);
    let mut task = Arc::unwrap_or_clone(snapshot.task);
    server.present(&mut task, params.history_length, &context);
    let reply = CallResponse::once(Response::GetTask(task)).holding(snapshot.share.held());
    Ok(reply.about_task_of(snapshot.protocol_version))
}

pub(crate) async fn cancel(
    server: &ServerState,
    params: CancelTaskRequest,
    context: Context,
) -> Result<CallResponse, A2aError> {
    cancellation::cancel(&server.engine, &params.id, &context).await?;
    let owner = Owner::of(&context);
    let snapshot = server.engine.snapshot_to_copy(&params.id, &owner).await?;
    let context = settled(context, &snapshot);
    let mut task = Arc::unwrap_or_clone(snapshot.task);
    server.present(&mut task, None, &context);
    let reply = CallResponse::once(Response::CancelTask(task)).holding(snapshot.share.held());
    Ok(reply.about_task_of(snapshot.protocol_version))
}
