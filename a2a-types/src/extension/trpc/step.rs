//! A step between a message and its answer, and the part that carries it.

use serde_json::{Value, json};

use super::metadata::{ObjectType, Tag, doubled};
use crate::{Content, Object, Part};

/// A step of an agent on its way to an answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Step {
    /// A tool is called.
    FunctionCall(FunctionCall),
    /// A tool has answered.
    FunctionResponse(FunctionResponse),
    /// Code is to be executed.
    ExecutableCode(ExecutableCode),
    /// Code was executed.
    CodeExecutionResult(CodeExecutionResult),
    /// The model reasons.
    Reasoning(String),
}

/// A call of a tool.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FunctionCall {
    /// Identifier of the call; empty if the model gave none.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments: text that usually is JSON.
    pub args: String,
}

/// The answer of a tool.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FunctionResponse {
    /// Identifier of the call that is answered.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Response of the tool: text that often is JSON.
    pub response: String,
}

/// A program.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ExecutableCode {
    /// Source text of the program.
    pub code: String,
    /// Programming language.
    pub language: String,
}

/// Result of a program.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CodeExecutionResult {
    /// Output of the program.
    pub output: String,
    /// Outcome, in the words of the program's executor.
    pub outcome: String,
}

impl FunctionCall {
    /// Returns a call of the tool `name` with arguments.
    pub fn new(id: impl Into<String>, name: impl Into<String>, args: impl Into<Value>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            args: text_of(&args.into()),
        }
    }
}

impl FunctionResponse {
    /// Returns the response of the tool `name`.
    pub fn new(id: impl Into<String>, name: impl Into<String>, response: impl Into<Value>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            response: text_of(&response.into()),
        }
    }
}

impl ExecutableCode {
    /// Returns a program in a language.
    pub fn new(language: impl Into<String>, code: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            language: language.into(),
        }
    }
}

impl CodeExecutionResult {
    /// Returns the result of a program: its outcome and output.
    pub fn new(outcome: impl Into<String>, output: impl Into<String>) -> Self {
        Self {
            output: output.into(),
            outcome: outcome.into(),
        }
    }
}

/// Returns text unchanged, any other value as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

impl Step {
    /// Returns the step that a part carries, in either spelling, or `None` if it is not a step.
    pub fn of(part: &Part) -> Option<Self> {
        let metadata = part.metadata.as_ref();
        match &part.content {
            Content::Text(text) => {
                let thought = is_thought(metadata);
                thought.then(|| Self::Reasoning(text.clone()))
            }
            Content::Data(Value::Object(data)) => {
                Self::of_data(doubled(metadata, TYPE)?.as_str()?, data)
            }
            _ => None,
        }
    }

    fn of_data(kind: &str, data: &Object) -> Option<Self> {
        let text = |names: &[&str]| {
            let values = names.iter().filter_map(|name| data.get(*name));
            let value = values.filter(|value| !value.is_null()).map(text_of).next();
            value.unwrap_or_default()
        };
        Some(match kind {
            FUNCTION_CALL => Self::FunctionCall(FunctionCall {
                id: text(&["id"]),
                name: text(&["name"]),
                args: text(&["args"]),
            }),
            FUNCTION_RESPONSE => Self::FunctionResponse(FunctionResponse {
                id: text(&["id"]),
                name: text(&["name"]),
                response: text(&["response"]),
            }),
            EXECUTABLE_CODE => Self::ExecutableCode(ExecutableCode {
                code: text(&["code", "content"]),
                language: text(&["language"]),
            }),
            CODE_EXECUTION_RESULT => Self::CodeExecutionResult(CodeExecutionResult {
                output: text(&["output", "content"]),
                outcome: text(&["outcome"]),
            }),
            _ => return None,
        })
    }

    /// Returns the kind of event that reports the step.
    pub fn object_type(&self) -> ObjectType {
        match self {
            Self::FunctionCall(_) => ObjectType::ChatCompletion,
            Self::FunctionResponse(_) => ObjectType::ToolResponse,
            Self::ExecutableCode(_) | Self::CodeExecutionResult(_) => ObjectType::CodeExecution,
            Self::Reasoning(_) => ObjectType::ChatCompletionChunk,
        }
    }

    /// Returns the tag of the step.
    pub fn tag(&self) -> Option<Tag> {
        match self {
            Self::ExecutableCode(_) => Some(Tag::Code),
            Self::CodeExecutionResult(_) => Some(Tag::CodeResult),
            _ => None,
        }
    }
}

impl From<Step> for Part {
    fn from(step: Step) -> Self {
        let (kind, data) = match step {
            Step::Reasoning(text) => {
                let mut part = Self::text(text);
                part.metadata = Some([(THOUGHT.to_owned(), json!(true))].into_iter().collect());
                return part;
            }
            Step::FunctionCall(call) => (
                FUNCTION_CALL,
                json!({"id": call.id, "type": "function", "name": call.name, "args": call.args}),
            ),
            Step::FunctionResponse(answer) => (
                FUNCTION_RESPONSE,
                json!({"id": answer.id, "name": answer.name, "response": answer.response}),
            ),
            Step::ExecutableCode(program) => (
                EXECUTABLE_CODE,
                json!({"code": program.code, "language": program.language}),
            ),
            Step::CodeExecutionResult(result) => (
                CODE_EXECUTION_RESULT,
                json!({"output": result.output, "outcome": result.outcome}),
            ),
        };
        Self {
            metadata: Some([(TYPE.to_owned(), json!(kind))].into_iter().collect()),
            ..Self::data(data)
        }
    }
}

/// Returns whether metadata marks text as reasoning, in either spelling.
pub(super) fn is_thought(metadata: Option<&Object>) -> bool {
    let marked = |name: &str| metadata.and_then(|it| it.get(name)) == Some(&Value::Bool(true));
    marked(THOUGHT) || marked(ADK_THOUGHT)
}

const TYPE: &str = "type";
const THOUGHT: &str = "thought";
const ADK_THOUGHT: &str = "adk_thought";
const FUNCTION_CALL: &str = "function_call";
const FUNCTION_RESPONSE: &str = "function_response";
const EXECUTABLE_CODE: &str = "executable_code";
const CODE_EXECUTION_RESULT: &str = "code_execution_result";
