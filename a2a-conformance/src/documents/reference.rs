//! The reference agent: does what the document's agent did, turn by turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_server::{Agent, ArtifactUpdate, Failure, LlmResponse, Turn};
use a2a_types::extension::trpc::Step;
use a2a_types::{Artifact, ArtifactId, Message, MessageId, Part, Role};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::documents::corpus::ScriptStep;

/// An agent that follows a script, and the handle by which it is held and released.
#[derive(Clone, Debug)]
pub struct Reference {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    script: Vec<Vec<ScriptStep>>,
    turns: AtomicUsize,
    state: watch::Sender<State>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Number of times the agent reached a `hold`.
    reached: usize,
    /// Number of times it may pass a `hold`.
    released: usize,
    /// Number of turns that are over.
    ended: usize,
}

impl Reference {
    /// Returns an agent that follows this script.
    pub fn new(script: Vec<Vec<ScriptStep>>) -> Self {
        Self {
            shared: Arc::new(Shared {
                script,
                turns: AtomicUsize::new(0),
                state: watch::Sender::default(),
            }),
        }
    }

    /// Lets the agent pass a `hold`.
    pub fn release(&self) {
        self.shared.state.send_modify(|state| state.released += 1);
    }

    /// Waits until the agent has reached a `hold`.
    pub async fn held(&self) {
        let mut state = self.shared.state.subscribe();
        // The sender lives as long as this handle.
        let _ = state.wait_for(|state| state.reached > state.released).await;
    }

    /// Waits until that many turns are over.
    pub async fn ended(&self, turns: usize) {
        let mut state = self.shared.state.subscribe();
        let _ = state.wait_for(|state| state.ended >= turns).await;
    }

    async fn step(&self, turn: &Turn, step: &ScriptStep) -> Result<(), Failure> {
        if let Some(artifact) = &step.artifact {
            let mut update = ArtifactUpdate::new(artifact_of(artifact)?);
            update.append = step.append;
            update.last_chunk = step.last_chunk;
            update.metadata = step.metadata.clone();
            turn.publish(update).await?;
        }
        if let Some(state) = step.status {
            let message = step.message.as_ref().map(message_of).transpose()?;
            turn.status(state, message).await?;
        }
        if let Some(reply) = &step.reply {
            turn.reply(message_of(reply)?).await?;
        }
        if let Some(id) = &step.llm_response {
            write_response(turn.llm_response(id), step).await?;
        }
        if step.detach {
            turn.detach().await?;
        }
        if step.hold {
            let mut state = self.shared.state.subscribe();
            self.shared.state.send_modify(|state| state.reached += 1);
            let mine = state.borrow().reached;
            tokio::select! {
                _ = state.wait_for(|state| state.released >= mine) => {}
                () = turn.canceled() => return Err("canceled".into()),
            }
        }
        Ok(())
    }
}

impl Agent for Reference {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        let number = self.shared.turns.fetch_add(1, Ordering::SeqCst);
        let steps = self
            .shared
            .script
            .get(number)
            .ok_or("the script has no further turn")?;
        for step in steps {
            self.step(&turn, step).await?;
        }
        self.shared.state.send_modify(|state| state.ended += 1);
        Ok(())
    }
}

/// Writes the parts of a model response that a step of the script names.
async fn write_response(mut response: LlmResponse<'_>, step: &ScriptStep) -> Result<(), Failure> {
    if let Some(text) = &step.reasoning {
        response.reasoning(text).await?;
    }
    if let Some(text) = &step.delta {
        response.delta(text).await?;
    }
    let calls = steps(&step.tool_calls)?
        .into_iter()
        .filter_map(|step| match step {
            Step::FunctionCall(call) => Some(call),
            _ => None,
        });
    response.tool_calls(calls.collect::<Vec<_>>()).await?;
    let responses = steps(&step.tool_responses)?;
    let responses = responses.into_iter().filter_map(|step| match step {
        Step::FunctionResponse(response) => Some(response),
        _ => None,
    });
    response
        .tool_responses(responses.collect::<Vec<_>>())
        .await?;
    Ok(())
}

fn steps(script: &[Value]) -> Result<Vec<Step>, Failure> {
    let step = |part: &Value| Step::of(&Part::deserialize(part)?).ok_or("no step".into());
    script.iter().map(step).collect()
}

fn artifact_of(script: &Value) -> Result<Artifact, Failure> {
    let mut artifact = script.clone();
    if artifact["artifactId"].is_null() {
        artifact["artifactId"] = json!(ArtifactId::random());
    }
    Ok(Artifact::deserialize(&artifact)?)
}

fn message_of(script: &Value) -> Result<Message, Failure> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Script {
        message_id: Option<MessageId>,
        parts: Vec<Part>,
        metadata: Option<a2a_types::Object>,
    }
    let script = Script::deserialize(script)?;
    let message = Message::new(Role::Agent, script.parts);
    Ok(Message {
        message_id: script
            .message_id
            .unwrap_or_else(|| message.message_id.clone()),
        metadata: script.metadata,
        ..message
    })
}
