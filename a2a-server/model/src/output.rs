//! The output of one turn: an artifact, and the steps on the way to it.

use a2a_server::{ArtifactBuilder, LlmResponse, Turn};
use a2a_types::extension::trpc::{FunctionCall, FunctionResponse};
use a2a_types::extension::usage::TokenUsage;

use crate::delta::{Call, prefix};
use crate::error::{ModelError, clip};
use crate::tools::ToolOutput;

/// The output of one turn.
pub(crate) struct Output<'t> {
    turn: &'t Turn,
    answer: Option<ArtifactBuilder<'t>>,
    /// The response that is being received.
    response: Option<LlmResponse<'t>>,
    responses: usize,
    bytes: usize,
    limit: usize,
    /// `true` if text of an earlier response precedes the next one.
    is_after_text: bool,
}

impl<'t> Output<'t> {
    /// Creates an output of at most `limit` bytes.
    pub(crate) fn new(turn: &'t Turn, limit: usize) -> Self {
        Self {
            turn,
            answer: None,
            response: None,
            responses: 0,
            bytes: 0,
            limit,
            is_after_text: false,
        }
    }

    /// Begins a response of the model.
    pub(crate) fn begin(&mut self) {
        self.response = None;
        self.responses += 1;
        self.is_after_text = self.answer.is_some();
    }

    /// Names the response, as its service does.
    pub(crate) fn name(&mut self, id: &str) {
        if self.response.is_none() && !id.is_empty() {
            self.response = Some(self.turn.llm_response(clip(id)));
        }
    }

    /// Counts bytes of output. Errors: they are too many.
    pub(crate) fn count(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.bytes += bytes;
        match self.bytes > self.limit {
            true => Err(ModelError::TooLong {
                what: "output",
                limit: self.limit,
            }),
            false => Ok(()),
        }
    }

    /// Sends text.
    pub(crate) async fn text(&mut self, text: &str) -> Result<(), ModelError> {
        let room = self.limit.saturating_sub(self.bytes).min(text.len());
        let part = prefix(text, room);
        let separator = match std::mem::take(&mut self.is_after_text) {
            true => "\n\n",
            false => "",
        };
        if !part.is_empty() {
            let answer = self.answer.take();
            let answer = answer.unwrap_or_else(|| self.turn.artifact(ARTIFACT));
            let answer = answer.text(format!("{separator}{part}")).send().await?;
            self.answer = Some(answer);
        }
        self.count(text.len())
    }

    /// Reports reasoning.
    pub(crate) async fn reasoning(&mut self, text: &str) -> Result<(), ModelError> {
        self.count(text.len())?;
        Ok(self.steps().reasoning(text).await?)
    }

    /// Reports tool calls.
    pub(crate) async fn calls(&mut self, calls: &[Call]) -> Result<(), ModelError> {
        let calls: Vec<_> = calls
            .iter()
            .map(|call| FunctionCall::new(&*call.id, &*call.name, &*call.arguments))
            .collect();
        Ok(self.steps().tool_calls(calls).await?)
    }

    /// Reports the results of tools.
    pub(crate) async fn results(
        &mut self,
        results: &[(Call, ToolOutput)],
    ) -> Result<(), ModelError> {
        let results: Vec<_> = results
            .iter()
            .map(|(call, output)| FunctionResponse::new(&*call.id, &*call.name, output.for_model()))
            .collect();
        Ok(self.steps().tool_responses(results).await?)
    }

    /// Adds tokens of a response.
    pub(crate) fn usage(&self, usage: TokenUsage) {
        self.turn.usage(usage);
    }

    /// Completes the task.
    pub(crate) async fn complete(self) -> Result<(), ModelError> {
        match self.answer {
            Some(answer) => Ok(answer.complete_task().await?),
            None => Ok(self.turn.complete().await?),
        }
    }

    fn steps(&mut self) -> &mut LlmResponse<'t> {
        let (turn, number) = (self.turn, self.responses);
        self.response
            .get_or_insert_with(|| turn.llm_response(format!("{}-{number}", turn.task_id())))
    }
}

/// Name of the artifact with the answer.
const ARTIFACT: &str = "answer";
