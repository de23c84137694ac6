//! a2a-rs-server: its agent answers by a whole task, and so does its stream.

use std::process::ExitCode;

use a2a_bench_peers::run;
use a2a_rs_core::{
    AgentCapabilities, AgentCard, Artifact, Message, Part, SendMessageResponse,
    completed_task_with_text,
};
use a2a_rs_server::{A2aServer, AuthContext, HandlerResult, MessageHandler};
use async_trait::async_trait;

fn main() -> ExitCode {
    run(async |listener| {
        let address = listener.local_addr()?.to_string();
        // The steps of `run`, without its webhooks.
        let routes = A2aServer::new(Echo)
            .bind(&address)?
            .rpc_path("/")
            .build_router();
        Ok(axum_07::serve(listener, routes).await?)
    })
}

/// Sends the message back in an artifact.
struct Echo;

#[async_trait]
impl MessageHandler for Echo {
    async fn handle_message(
        &self,
        message: Message,
        _auth: Option<AuthContext>,
    ) -> HandlerResult<SendMessageResponse> {
        let text = message.parts.iter().find_map(Part::as_text);
        let text = text.unwrap_or_default().to_owned();
        let mut task = completed_task_with_text(message, &text);
        // The text is in the artifact only.
        task.status.message = None;
        task.history.get_or_insert_default().truncate(1);
        task.artifacts = Some(vec![Artifact {
            artifact_id: "echo".to_owned(),
            name: Some("echo".to_owned()),
            description: None,
            parts: vec![Part::text(text)],
            metadata: None,
            extensions: Vec::new(),
        }]);
        Ok(SendMessageResponse::Task(task))
    }

    fn agent_card(&self, _base_url: &str) -> AgentCard {
        AgentCard {
            name: "Echo".to_owned(),
            description: "Echoes the message".to_owned(),
            version: "1.0".to_owned(),
            capabilities: AgentCapabilities {
                streaming: Some(true),
                ..AgentCapabilities::default()
            },
            ..AgentCard::default()
        }
    }

    fn supports_streaming(&self) -> bool {
        true
    }
}
