//! a2a-protocol-server, which is built on hyper as ours is.

use std::future::pending;
use std::process::ExitCode;
use std::sync::Arc;

use a2a_bench_peers::run;
use a2a_protocol_server::{
    EventEmitter, JsonRpcDispatcher, RequestHandlerBuilder, Server, agent_executor,
};
use a2a_protocol_types::{AgentCard, AgentInterface, AgentSkill, Part, TaskState};

fn main() -> ExitCode {
    run(async |listener| {
        let url = format!("http://{}", listener.local_addr()?);
        let skill = AgentSkill::new("echo", "Echo", DESCRIPTION).with_tags(["echo"]);
        let card = AgentCard::new("Echo", "1.0.0", AgentInterface::jsonrpc(url))
            .with_description(DESCRIPTION)
            .with_skill(skill)
            .with_streaming(true);
        let handler = RequestHandlerBuilder::new(Echo)
            .with_agent_card(card)
            .build()?;
        Server::from_listener(listener)
            .serve_with_shutdown(JsonRpcDispatcher::new(Arc::new(handler)), pending())
            .await;
        Ok(())
    })
}

/// Sends the message back in an artifact.
struct Echo;

agent_executor!(Echo, |turn, queue| async {
    let tell = EventEmitter::new(turn, queue);
    let parts = vec![Part::text(turn.message.text().unwrap_or_default())];
    tell.artifact("echo", parts, None, Some(true)).await?;
    tell.status(TaskState::Completed).await
});

const DESCRIPTION: &str = "Echoes the message";
