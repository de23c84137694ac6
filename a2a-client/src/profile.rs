//! Profile of trpc-agent-go, whose agents report the steps on the way to an answer.

use std::mem::size_of;

pub(crate) use a2a_types::extension::trpc::LlmResponses;
use a2a_types::extension::trpc::{LlmResponse, Reader, Step, Version};
use a2a_types::size::{size_of_event, size_of_parts};
use a2a_types::{AgentCard, Event, Message};

/// Returns whether a card declares the profile, in a version that is understood here.
pub(crate) fn is_declared(card: &AgentCard) -> bool {
    Version::is_understood(Version::of_card(card))
}

/// Declares the profile in a message, which asks the agent to report steps.
pub(crate) fn declare(message: &mut Message) {
    Version::CURRENT.put_into(message);
}

/// Reader of an agent that declares the profile of trpc-agent-go.
#[derive(Default)]
pub(crate) struct Profile {
    pub(crate) reader: Reader,
    pub(crate) responses: LlmResponses,
    /// Set once the agent has answered by a message: it need not report that the task is over.
    pub(crate) answered: bool,
    /// Upper bound of the responses' bytes of memory.
    mem_size: usize,
}

impl Profile {
    pub(crate) fn add_event(&mut self, event: &Event) {
        self.mem_size = self.mem_size.saturating_add(size_of_event(event));
        self.responses.add_event(event);
    }

    /// Returns whether the responses take more memory than `limit` bytes.
    pub(crate) fn exceeds(&mut self, limit: usize) -> bool {
        if self.mem_size > limit {
            self.mem_size = self.responses.iter().map(weight_of).sum();
        }
        self.mem_size > limit
    }
}

/// Returns the approximate bytes of memory of a response of the agent's model.
fn weight_of(response: &LlmResponse) -> usize {
    let LlmResponse {
        id,
        reasoning,
        text,
        steps,
        others,
    } = response;
    let texts = [id, reasoning, text].map(String::len);
    size_of::<LlmResponse>()
        + texts.iter().sum::<usize>()
        + steps.iter().map(weight_of_step).sum::<usize>()
        + size_of_parts(others)
}

fn weight_of_step(step: &Step) -> usize {
    let texts = match step {
        Step::FunctionCall(call) => vec![&call.id, &call.name, &call.args],
        Step::FunctionResponse(response) => vec![&response.id, &response.name, &response.response],
        Step::ExecutableCode(code) => vec![&code.code, &code.language],
        Step::CodeExecutionResult(result) => vec![&result.output, &result.outcome],
        Step::Reasoning(text) => vec![text],
    };
    size_of::<Step>() + texts.into_iter().map(String::len).sum::<usize>()
}
