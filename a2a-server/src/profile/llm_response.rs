//! One response of the model, as the agent sends it.

use a2a_types::extension::trpc::{
    CodeExecutionResult, ExecutableCode, FunctionCall, FunctionResponse, Step, reasoning_artifact,
    step_message,
};
use a2a_types::{Artifact, ArtifactId, Part};

use crate::engine::update::{ArtifactUpdate, UpdateError};
use crate::turn::Turn;

/// Reasoning, text and tool calls of one response of the model.
///
/// Its text is an artifact of the task, by the response's id, and every caller sees it. The rest are steps:
/// callers that speak the [profile](a2a_types::extension::trpc) see them if the card declares it, and
/// others get none of them. An agent whose card does not declare it, or whose server [hides
/// steps](crate::ServerBuilder::hide_steps), may send them all the same: they go nowhere.
///
/// ```
/// use a2a_server::{Failure, Turn};
/// use a2a_types::extension::trpc::{FunctionCall, FunctionResponse};
/// use serde_json::json;
///
/// async fn run(turn: Turn) -> Result<(), Failure> {
///     let mut first = turn.llm_response("chatcmpl-1");
///     first.reasoning("I need the weather.").await?;
///     let call = FunctionCall::new("call_1", "get_weather", json!({"city": "Beijing"}));
///     first.tool_call(call).await?;
///     let answer = FunctionResponse::new("call_1", "get_weather", json!({"temp": "20°C"}));
///     first.tool_response(answer).await?;
///
///     let mut second = turn.llm_response("chatcmpl-2");
///     for piece in ["It is ", "mild."] {
///         second.delta(piece).await?;
///     }
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct LlmResponse<'t> {
    turn: &'t Turn,
    id: String,
    /// The artifacts that have begun: text, and reasoning.
    begun: Vec<ArtifactId>,
}

impl Turn {
    /// Begins one response of the model, under the id that the model's service gave it.
    pub fn llm_response(&self, id: impl Into<String>) -> LlmResponse<'_> {
        LlmResponse {
            turn: self,
            id: id.into(),
            begun: Vec::new(),
        }
    }
}

impl LlmResponse<'_> {
    /// Adds text.
    pub async fn delta(&mut self, text: impl Into<String> + Send) -> Result<(), UpdateError> {
        let artifact = self.response_artifact(text);
        self.add(artifact).await
    }

    /// Sends the whole text at once, in place of earlier pieces.
    pub async fn text(&mut self, text: impl Into<String> + Send) -> Result<(), UpdateError> {
        let artifact = self.response_artifact(text);
        self.begun.push(artifact.artifact_id.clone());
        self.publish(artifact, false, true).await
    }

    /// Adds reasoning.
    pub async fn reasoning(&mut self, text: impl Into<String> + Send) -> Result<(), UpdateError> {
        match self.turn.keeps_steps() {
            true => self.add(reasoning_artifact(&self.id, text)).await,
            false => Ok(()),
        }
    }

    /// Calls a tool.
    pub async fn tool_call(&self, call: FunctionCall) -> Result<(), UpdateError> {
        self.tool_calls([call]).await
    }

    /// Calls several tools at once.
    pub async fn tool_calls<I>(&self, calls: I) -> Result<(), UpdateError>
    where
        I: IntoIterator<Item = FunctionCall, IntoIter: Send> + Send,
    {
        let steps = calls.into_iter().map(Step::FunctionCall).collect();
        self.steps(steps).await
    }

    /// A tool has answered a call of this response.
    pub async fn tool_response(&self, response: FunctionResponse) -> Result<(), UpdateError> {
        self.tool_responses([response]).await
    }

    /// Several tools have answered calls of this response.
    pub async fn tool_responses<I>(&self, responses: I) -> Result<(), UpdateError>
    where
        I: IntoIterator<Item = FunctionResponse, IntoIter: Send> + Send,
    {
        let steps = responses.into_iter().map(Step::FunctionResponse).collect();
        self.steps(steps).await
    }

    /// Has code executed.
    pub async fn code(&self, code: ExecutableCode) -> Result<(), UpdateError> {
        self.steps(vec![Step::ExecutableCode(code)]).await
    }

    /// Code of this response was executed.
    pub async fn code_result(&self, result: CodeExecutionResult) -> Result<(), UpdateError> {
        self.steps(vec![Step::CodeExecutionResult(result)]).await
    }

    async fn steps(&self, steps: Vec<Step>) -> Result<(), UpdateError> {
        match step_message(&self.id, steps) {
            Some(message) => self.turn.step(message).await,
            None => Ok(()),
        }
    }

    fn response_artifact(&self, text: impl Into<String>) -> Artifact {
        Artifact {
            artifact_id: ArtifactId::from(self.id.as_str()),
            parts: vec![Part::text(text)],
            ..Artifact::default()
        }
    }

    /// Adds to an artifact, or begins it: a turn that goes on after a crash may have begun it before.
    async fn add(&mut self, artifact: Artifact) -> Result<(), UpdateError> {
        let id = &artifact.artifact_id;
        if !self.begun.contains(id) {
            let task = self.turn.task().await?;
            self.begun.push(id.clone());
            let begins = task.artifacts.iter().all(|known| known.artifact_id != *id);
            if begins {
                return self.publish(artifact, false, false).await;
            }
        }
        self.publish(artifact, true, false).await
    }

    async fn publish(
        &self,
        artifact: Artifact,
        append: bool,
        last_chunk: bool,
    ) -> Result<(), UpdateError> {
        let update = ArtifactUpdate {
            append,
            last_chunk,
            ..ArtifactUpdate::new(artifact)
        };
        self.turn.publish(update).await
    }
}
