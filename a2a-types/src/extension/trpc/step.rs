//! A step between a question and its answer, and the part that carries it.

use serde_json::{Value, json};

use super::metadata::{ObjectType, Tag, doubled};
use crate::{Content, Object, Part};

/// What an agent did or thought on its way to an answer.
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
    /// Names the call; empty if the model gave it no name.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it is called with: text that usually is JSON.
    pub args: String,
}

/// The answer of a tool.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FunctionResponse {
    /// The call that is answered.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it answered: text that often is JSON.
    pub response: String,
}

/// A program.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ExecutableCode {
    /// The program.
    pub code: String,
    /// Its language.
    pub language: String,
}

/// What came of a program.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CodeExecutionResult {
    /// What it printed.
    pub output: String,
    /// How it ended, in the words of whoever ran it.
    pub outcome: String,
}

impl FunctionCall {
    /// A call of the tool `name` with arguments.
    pub fn new(id: impl Into<String>, name: impl Into<String>, args: impl Into<Value>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            args: text_of(&args.into()),
        }
    }
}

impl FunctionResponse {
    /// What the tool `name` answered.
    pub fn new(id: impl Into<String>, name: impl Into<String>, response: impl Into<Value>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            response: text_of(&response.into()),
        }
    }
}

impl ExecutableCode {
    /// A program in a language.
    pub fn new(language: impl Into<String>, code: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            language: language.into(),
        }
    }
}

impl CodeExecutionResult {
    /// What a program printed, and how it ended.
    pub fn new(outcome: impl Into<String>, output: impl Into<String>) -> Self {
        Self {
            output: output.into(),
            outcome: outcome.into(),
        }
    }
}

/// Text is itself; any other value is its JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

impl Step {
    /// The step that a part carries, in either spelling; none if it carries something else.
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
            let said = values.filter(|value| !value.is_null()).map(text_of).next();
            said.unwrap_or_default()
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

    /// What kind of thing happens with it.
    pub fn object_type(&self) -> ObjectType {
        match self {
            Self::FunctionCall(_) => ObjectType::ChatCompletion,
            Self::FunctionResponse(_) => ObjectType::ToolResponse,
            Self::ExecutableCode(_) | Self::CodeExecutionResult(_) => ObjectType::CodeExecution,
            Self::Reasoning(_) => ObjectType::ChatCompletionChunk,
        }
    }

    /// What it is tagged with.
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

/// Whether metadata marks text as reasoning: in either spelling.
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
