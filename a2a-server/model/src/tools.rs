//! Tools that a model may call.

use std::fmt;

use a2a_transport::BoxFuture;
use a2a_types::Object;
use serde_json::Value;

/// A set of tools: their descriptions for the model, and the function that runs them.
///
/// [`FunctionTool`] is a set of one tool, which is an asynchronous function.
pub trait Tools: Send + Sync + 'static {
    /// Returns the tools. It is called once in each turn, so the set may change.
    ///
    /// Errors: the tools cannot be listed, which fails the turn.
    fn list(&self) -> BoxFuture<'_, Result<Vec<Tool>, ToolError>>;

    /// Runs a tool. The future is dropped if the caller cancels the task.
    ///
    /// Errors: the tool has not run. The model gets the error's text as the result, and may try again.
    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: Object,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;
}

/// Description of a tool for the model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// The name by which the model calls it: letters, digits, `_` and `-`, at most 64 of them, in most services.
    pub name: String,
    /// Purpose of the tool, and when to use it.
    pub description: String,
    /// JSON Schema of its arguments, which are an object.
    pub parameters: Value,
}

impl Tool {
    /// Creates a description. `parameters` is a JSON Schema of type `object`.
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            parameters,
        }
    }
}

/// Result of a tool, as the model gets it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ToolOutput {
    /// The result: plain text, or JSON as text.
    pub text: String,
    /// `true` if the tool has run and failed. The text has the reason.
    pub is_error: bool,
}

impl ToolOutput {
    /// Creates the result of a tool that succeeded.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: false,
        }
    }

    /// Creates the result of a tool that failed.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: true,
        }
    }

    /// Returns the text that tells the model whether the tool failed: no API has another place for it.
    pub(crate) fn for_model(&self) -> String {
        match self.is_error {
            true => format!("error: {}", self.text),
            false => self.text.clone(),
        }
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<Value> for ToolOutput {
    /// Creates a result of JSON text.
    fn from(value: Value) -> Self {
        Self::new(value.to_string())
    }
}

/// Reason why a tool has not run, or why tools cannot be listed.
///
/// The model gets the text, so it must have no secrets; the source goes to the log.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ToolError {
    /// Creates an error with a text for the model.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            source: None,
        }
    }

    /// Adds the cause, for the log.
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }
}

/// A tool that is an asynchronous function.
///
/// ```
/// use a2a_model::{FunctionTool, ToolError};
/// use serde_json::json;
///
/// let parameters = json!({
///     "type": "object",
///     "properties": {"city": {"type": "string"}},
///     "required": ["city"],
/// });
/// let weather = FunctionTool::new("weather", "The weather in a city", parameters, async |arguments| {
///     match arguments.get("city").and_then(|city| city.as_str()) {
///         Some(city) => Ok(format!("It is mild in {city}.")),
///         None => Err(ToolError::new("`city` is missing: expected the name of a city")),
///     }
/// });
/// ```
pub struct FunctionTool {
    tool: Tool,
    function: Box<Function>,
}

type Function = dyn Fn(Object) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync;

impl FunctionTool {
    /// Creates a tool. `parameters` is a JSON Schema of type `object`; the arguments are not checked against it.
    pub fn new<F, R, O>(
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: Value,
        function: F,
    ) -> Self
    where
        F: Fn(Object) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, ToolError>> + Send + 'static,
        O: Into<ToolOutput>,
    {
        Self {
            tool: Tool::new(name, description, parameters),
            function: Box::new(move |arguments| {
                let output = function(arguments);
                Box::pin(async move { output.await.map(Into::into) })
            }),
        }
    }
}

impl Tools for FunctionTool {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Tool>, ToolError>> {
        Box::pin(std::future::ready(Ok(vec![self.tool.clone()])))
    }

    fn call<'a>(
        &'a self,
        _: &'a str,
        arguments: Object,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        (self.function)(arguments)
    }
}

impl fmt::Debug for FunctionTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FunctionTool").field(&self.tool).finish()
    }
}
