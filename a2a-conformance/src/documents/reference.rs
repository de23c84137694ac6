//! The reference agent: does what the document's agent did, turn by turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_server::{Agent, ArtifactUpdate, Failure, LlmResponse, Turn};
use a2a_types::extension::trpc::Step;
use a2a_types::{Artifact, ArtifactId, Message, Role};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::corpus::ScriptStep;
use crate::case::merge_patch;

/// An agent that follows a script, and the handle by which it is held and released.
#[derive(Clone, Debug)]
pub(super) struct Reference {
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
    pub(super) fn new(script: Vec<Vec<ScriptStep>>) -> Self {
        Self {
            shared: Arc::new(Shared {
                script,
                turns: AtomicUsize::new(0),
                state: watch::Sender::default(),
            }),
        }
    }

    /// Lets the agent pass a `hold`.
    pub(super) fn release(&self) {
        self.shared.state.send_modify(|state| state.released += 1);
    }

    /// Waits until the agent has reached a `hold`.
    pub(super) async fn held(&self) {
        let mut state = self.shared.state.subscribe();
        // The sender lives as long as this handle.
        let _ = state.wait_for(|state| state.reached > state.released).await;
    }

    /// Waits until the first turn is over.
    pub(super) async fn ended(&self) {
        let mut state = self.shared.state.subscribe();
        let _ = state.wait_for(|state| state.ended > 0).await;
    }

    async fn step(&self, turn: &Turn, step: &ScriptStep) -> Result<(), Failure> {
        if let Some(artifact) = &step.artifact {
            let new = json!({"artifactId": ArtifactId::random()});
            let artifact = Artifact::deserialize(&patched(new, artifact))?;
            let mut update = ArtifactUpdate::new(artifact);
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
        if step.respond_early {
            turn.respond_early().await?;
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
    let (mut calls, mut responses) = (Vec::new(), Vec::new());
    for part in &step.tools {
        match Step::of(part) {
            Some(Step::FunctionCall(call)) => calls.push(call),
            Some(Step::FunctionResponse(response)) => responses.push(response),
            _ => return Err("the script has a part that is not a step of a tool".into()),
        }
    }
    response.tool_calls(calls).await?;
    response.tool_responses(responses).await?;
    Ok(())
}

fn message_of(script: &Value) -> Result<Message, Failure> {
    let new = json!(Message::new(Role::Agent, Vec::new()));
    Ok(Message::deserialize(&patched(new, script))?)
}

/// Returns a value with the members that the script gives.
fn patched(mut value: Value, script: &Value) -> Value {
    merge_patch(&mut value, script);
    value
}
