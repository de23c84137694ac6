//! Steps as a task stores them: marked, so that they can be hidden from callers that did not ask for them.
//!
//! Steps are messages of the agent in the history, and reasoning is an artifact next to the artifact of its
//! response. The mark is the extension's name among the `extensions`.

use super::step::is_thought;
use super::{ResponseMetadata, Step, URI};
use crate::{Artifact, ArtifactId, Event, Message, Part, Role, Task};

/// Returns a message of one response's steps, or `None` without steps. They should be of one kind.
pub fn step_message(llm_response_id: &str, steps: Vec<Step>) -> Option<Message> {
    let first = steps.first()?;
    let about = ResponseMetadata::new(first.object_type(), first.tag(), llm_response_id);
    let parts = steps.into_iter().map(Part::from).collect();
    let mut message = Message {
        extensions: vec![URI.to_owned()],
        ..Message::new(Role::Agent, parts)
    };
    about.add_to(&mut message.metadata);
    Some(message)
}

/// Returns an artifact, or a chunk of one, that holds the reasoning for one response of the model.
pub fn reasoning_artifact(llm_response_id: &str, text: impl Into<String>) -> Artifact {
    Artifact {
        artifact_id: ArtifactId::from(format!("{llm_response_id}{REASONING}")),
        parts: vec![Step::Reasoning(text.into()).into()],
        extensions: vec![URI.to_owned()],
        ..Artifact::default()
    }
}

/// Returns the id of the response that an artifact holds the reasoning for.
pub fn reasoning_id(artifact: &Artifact) -> Option<&str> {
    let id = artifact.artifact_id.as_str().strip_suffix(REASONING);
    id.filter(|_| is_marked(&artifact.extensions))
}

/// Returns whether a part is reasoning without other metadata.
pub fn is_reasoning(part: &Part) -> bool {
    let metadata = part.metadata.as_ref();
    part.as_text().is_some() && is_thought(metadata) && metadata.is_some_and(|it| it.len() == 1)
}

/// Returns whether an event is a step.
pub fn is_step(event: &Event) -> bool {
    match event {
        Event::Message(message) => is_step_message(message),
        Event::ArtifactUpdate(update) => is_marked(&update.artifact.extensions),
        Event::Task(_) | Event::StatusUpdate(_) => false,
    }
}

/// Removes the steps from a task.
pub fn hide_steps(task: &mut Task) {
    task.history.retain(|message| !is_step_message(message));
    task.artifacts
        .retain(|artifact| !is_step_artifact(artifact));
}

/// Returns whether a task has steps that can be hidden.
pub fn has_steps(task: &Task) -> bool {
    task.history.iter().any(is_step_message) || task.artifacts.iter().any(is_step_artifact)
}

fn is_step_artifact(artifact: &Artifact) -> bool {
    is_marked(&artifact.extensions)
}

pub(super) fn is_step_message(message: &Message) -> bool {
    message.role == Role::Agent && is_marked(&message.extensions)
}

/// Removes the mark.
pub(super) fn unmark(extensions: &mut Vec<String>) {
    extensions.retain(|uri| uri != URI);
}

fn is_marked(extensions: &[String]) -> bool {
    extensions.iter().any(|uri| uri == URI)
}

/// Suffix that the artifact of reasoning adds to the id of its response.
const REASONING: &str = ".reasoning";
