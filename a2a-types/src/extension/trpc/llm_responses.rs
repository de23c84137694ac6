//! The responses of an agent's model, with text, reasoning and steps.

use super::stream_writer::{as_reasoning, base_of, is_failure};
use super::{ResponseMetadata, Step};
use crate::{Artifact, Content, Event, Message, Part, Role, SendMessageResponse, Task, TaskStatus};

/// One response of the model: its reasoning, text and steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LlmResponse {
    /// Identifier of the response.
    pub id: String,
    /// Reasoning of the model.
    pub reasoning: String,
    /// Text of the response.
    pub text: String,
    /// Tool calls and code with their results, in order.
    pub steps: Vec<Step>,
    /// Files, and data that is not a step.
    pub others: Vec<Part>,
}

/// The responses of an agent's model, in the order in which they began.
///
/// Fed with the events of a stream as a [`Reader`](super::Reader) reads them, or with an answer.
/// Status changes without a message are left out; the reason of a failure is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LlmResponses {
    responses: Vec<LlmResponse>,
    failure: Option<String>,
}

impl LlmResponses {
    /// Returns the responses of an answer.
    pub fn of_answer(answer: &SendMessageResponse) -> Self {
        let mut responses = Self::default();
        match answer {
            SendMessageResponse::Message(message) => responses.message(message),
            SendMessageResponse::Task(task) => responses.task(task),
        }
        responses
    }

    /// Takes in an event.
    pub fn add_event(&mut self, event: &Event) {
        match event {
            Event::Task(task) => {
                *self = Self::default();
                self.task(task);
            }
            Event::Message(message) => self.message(message),
            Event::ArtifactUpdate(update) => {
                let about = ResponseMetadata::of(update.metadata.as_ref());
                let response = self.of(about, &update.artifact);
                if !update.append {
                    response.forget_all_but_steps(&update.artifact.parts);
                }
                response.add(&update.artifact.parts);
            }
            Event::StatusUpdate(update) => self.status(&update.status),
        }
    }

    /// Iterates over the responses.
    pub fn iter(&self) -> impl Iterator<Item = &LlmResponse> {
        self.responses.iter()
    }

    /// Returns the last text that is not empty: the answer.
    pub fn text(&self) -> &str {
        let mut texts = self.responses.iter().rev().map(|it| it.text.as_str());
        texts.find(|text| !text.is_empty()).unwrap_or_default()
    }

    /// Returns the reason for which the task failed, was canceled or rejected, if it was: empty if not given.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    fn task(&mut self, task: &Task) {
        for message in &task.history {
            self.message(message);
        }
        for artifact in &task.artifacts {
            let about = ResponseMetadata::of(artifact.metadata.as_ref());
            self.of(about, artifact).add(&artifact.parts);
        }
        self.status(&task.status);
    }

    /// Takes in the message of a status, unless it came as an artifact, too.
    fn status(&mut self, status: &TaskStatus) {
        let (state, message) = (status.state, status.message.as_deref());
        if is_failure(state) {
            self.failure = Some(message.map(Message::text).unwrap_or_default());
            return;
        }
        let Some(message) = message else {
            return;
        };
        let id = message.message_id.as_str();
        if self.responses.iter().any(|known| known.id == id) {
            return;
        }
        let parts = match state.is_settled() {
            true => message.parts.clone(),
            false => as_reasoning(message.parts.clone()),
        };
        self.named(id).add(&parts);
    }

    fn message(&mut self, message: &Message) {
        if message.role == Role::User || message.parts.is_empty() {
            return;
        }
        let about = ResponseMetadata::of(message.metadata.as_ref());
        let result = message.parts.iter().find_map(Step::of);
        let of_last = match result {
            // Agents of the framework do not name the call that they answer.
            Some(Step::FunctionResponse(_) | Step::CodeExecutionResult(_)) => self.responses.last(),
            _ => None,
        };
        let id = about
            .llm_response_id
            .or(of_last.map(|last| last.id.clone()));
        let id = id.unwrap_or_else(|| message.message_id.to_string());
        self.named(&id).add(&message.parts);
    }

    fn of(&mut self, about: ResponseMetadata, artifact: &Artifact) -> &mut LlmResponse {
        let id = about.llm_response_id;
        let id = id.unwrap_or_else(|| base_of(artifact).to_string());
        self.named(&id)
    }

    fn named(&mut self, id: &str) -> &mut LlmResponse {
        let known = self.responses.iter().position(|it| it.id == id);
        let place = known.unwrap_or(self.responses.len());
        if known.is_none() {
            self.responses.push(LlmResponse {
                id: id.to_owned(),
                ..LlmResponse::default()
            });
        }
        // Just found, or just pushed.
        &mut self.responses[place]
    }
}

impl LlmResponse {
    /// Makes room for a replacement. Steps are kept, except steps that the replacement repeats.
    fn forget_all_but_steps(&mut self, replacement: &[Part]) {
        let again: Vec<_> = replacement.iter().filter_map(Step::of).collect();
        self.steps.retain(|step| !again.contains(step));
        (self.reasoning, self.text, self.others) = Default::default();
    }

    fn add(&mut self, parts: &[Part]) {
        for part in parts {
            match (Step::of(part), &part.content) {
                (Some(Step::Reasoning(text)), _) => self.reasoning.push_str(&text),
                // A snapshot of the task may repeat a step of the stream.
                (Some(step), _) if has_name(&step) && self.steps.contains(&step) => {}
                (Some(step), _) => self.steps.push(step),
                (None, Content::Text(text)) => self.text.push_str(text),
                (None, _) => self.others.push(part.clone()),
            }
        }
    }
}

/// Returns whether a step has an id that distinguishes it from a similar one.
fn has_name(step: &Step) -> bool {
    match step {
        Step::FunctionCall(call) => !call.id.is_empty(),
        Step::FunctionResponse(response) => !response.id.is_empty(),
        _ => false,
    }
}
