//! The official SDK for Rust.

use std::process::ExitCode;
use std::sync::Arc;

use a2a::{
    A2AError, Artifact, Part, StreamResponse, TaskArtifactUpdateEvent, TaskState, TaskStatus,
    TaskStatusUpdateEvent, new_artifact_id,
};
use a2a_bench_peers::run;
use a2a_server::jsonrpc::jsonrpc_router;
use a2a_server::{AgentExecutor, DefaultRequestHandler, ExecutorContext, InMemoryTaskStore};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};

fn main() -> ExitCode {
    run(async |listener| {
        let handler = DefaultRequestHandler::new(Echo, InMemoryTaskStore::new());
        Ok(axum::serve(listener, jsonrpc_router(Arc::new(handler))).await?)
    })
}

/// Sends the message back in an artifact.
struct Echo;

impl AgentExecutor for Echo {
    fn execute(
        &self,
        turn: ExecutorContext,
    ) -> BoxStream<'static, Result<StreamResponse, A2AError>> {
        let text = turn.message.as_ref().and_then(|message| message.text());
        let text = text.unwrap_or_default().to_owned();
        let artifact = StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: turn.task_id.clone(),
            context_id: turn.context_id.clone(),
            artifact: Artifact {
                artifact_id: new_artifact_id(),
                name: Some("echo".to_owned()),
                description: None,
                parts: vec![Part::text(text)],
                metadata: None,
                extensions: None,
            },
            append: None,
            last_chunk: Some(true),
            metadata: None,
        });
        stream::iter([Ok(artifact), Ok(ended(turn, TaskState::Completed))]).boxed()
    }

    fn cancel(
        &self,
        turn: ExecutorContext,
    ) -> BoxStream<'static, Result<StreamResponse, A2AError>> {
        stream::iter([Ok(ended(turn, TaskState::Canceled))]).boxed()
    }
}

fn ended(turn: ExecutorContext, state: TaskState) -> StreamResponse {
    StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
        task_id: turn.task_id,
        context_id: turn.context_id,
        status: TaskStatus {
            state,
            message: None,
            timestamp: None,
        },
        metadata: None,
    })
}
