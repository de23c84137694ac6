//! ra2a, an SDK for Rust with routes for axum.

use std::pin::Pin;
use std::process::ExitCode;

use a2a_bench_peers::run;
use ra2a::error::Result;
use ra2a::server::{AgentExecutor, Event, EventQueue, RequestContext, ServerState, a2a_router};
use ra2a::types::{
    AgentCard, AgentInterface, Artifact, Message, Part, Task, TaskState, TaskStatus,
    TransportProtocol,
};

fn main() -> ExitCode {
    run(async |listener| {
        let transport = TransportProtocol::new(TransportProtocol::JSONRPC);
        let interface = AgentInterface::new("http://localhost", transport);
        let mut card = AgentCard::new("Echo", "Sends the message back", vec![interface]);
        card.capabilities.streaming = Some(true);
        let state = ServerState::from_executor(Echo, card);
        Ok(axum::serve(listener, a2a_router(state)).await?)
    })
}

/// Sends the message back in an artifact.
struct Echo;

impl AgentExecutor for Echo {
    fn execute<'a>(
        &'a self,
        turn: &'a RequestContext,
        queue: &'a EventQueue,
    ) -> Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>> {
        Box::pin(async move {
            let text = turn.message.as_ref().and_then(Message::text_content);
            let part = Part::text(text.unwrap_or_default());
            let mut task = Task::new(&turn.task_id, &turn.context_id);
            task.artifacts = vec![Artifact::create(vec![part]).with_name("echo")];
            task.status = TaskStatus::new(TaskState::Completed);
            queue.send(Event::Task(task))?;
            Ok(())
        })
    }

    fn cancel<'a>(
        &'a self,
        turn: &'a RequestContext,
        queue: &'a EventQueue,
    ) -> Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>> {
        Box::pin(async move {
            let mut task = Task::new(&turn.task_id, &turn.context_id);
            task.status = TaskStatus::new(TaskState::Canceled);
            queue.send(Event::Task(task))?;
            Ok(())
        })
    }
}
