//! The tools of one turn, from all sets.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::delta::{Call, prefix};
use crate::error::ModelError;
use crate::tools::{Tool, ToolError, ToolOutput, Tools};

/// The tools of one turn.
pub(crate) struct Toolbox {
    /// Under the names that the model gets.
    tools: Vec<Tool>,
    /// The set of each tool, and its name there.
    sets: HashMap<String, (Arc<dyn Tools>, String)>,
    timeout: Duration,
}

impl Toolbox {
    /// Lists the tools of all sets. The second with the same name gets a number.
    pub(crate) async fn list(
        sets: &[Arc<dyn Tools>],
        timeout: Duration,
    ) -> Result<Self, ModelError> {
        let lists = join_all(sets.iter().map(|set| set.list()));
        let lists = tokio::time::timeout(timeout, lists).await;
        let late = |_| ModelError::Tools(ToolError::new(format!("no list after {timeout:?}")));
        let lists = lists.map_err(late)?;
        let mut toolbox = Self {
            tools: Vec::new(),
            sets: HashMap::new(),
            timeout,
        };
        for (set, list) in sets.iter().zip(lists) {
            for mut tool in list.map_err(ModelError::Tools)? {
                let own_name = std::mem::take(&mut tool.name);
                tool.name = toolbox.accepted_name(&own_name);
                add_properties(&mut tool.parameters);
                let place = (Arc::clone(set), own_name);
                toolbox.sets.insert(tool.name.clone(), place);
                toolbox.tools.push(tool);
            }
        }
        Ok(toolbox)
    }

    /// Returns a name that services accept and no other tool has: of letters, digits, `_` and `-`, at most 64 of them.
    fn accepted_name(&self, name: &str) -> String {
        let is_accepted = |letter: &char| letter.is_ascii_alphanumeric() || "_-".contains(*letter);
        let letters = name.chars().take(MAX_NAME);
        let name: String = letters
            .map(|letter| Some(letter).filter(is_accepted).unwrap_or('_'))
            .collect();
        let numbered = (2..).map(|number| {
            let number = format!("_{number}");
            format!("{}{number}", prefix(&name, MAX_NAME - number.len()))
        });
        let mut names = std::iter::once(name.clone()).chain(numbered);
        let free = names.find(|name| !self.sets.contains_key(name));
        free.unwrap_or(name)
    }

    /// The descriptions for the model.
    pub(crate) fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Runs all calls at once, and returns each with its result. `room` is the number of bytes that results of the turn
    /// may still have.
    pub(crate) async fn run(&self, calls: Vec<Call>, room: &mut usize) -> Vec<(Call, ToolOutput)> {
        let running = calls.into_iter().map(async |call| {
            let mut output = self.call(&call).await;
            let left_out = cut(&mut output.text, MAX_TOOL_OUTPUT);
            (call, output, left_out)
        });
        let outputs = join_all(running).await.into_iter();
        let shortened = outputs.map(|(call, mut output, mut left_out)| {
            left_out += cut(&mut output.text, *room);
            if left_out > 0 {
                let note = format!("\n[{left_out} more bytes: left out]");
                output.text.push_str(&note);
            }
            *room = room.saturating_sub(output.text.len());
            (call, output)
        });
        shortened.collect()
    }

    async fn call(&self, call: &Call) -> ToolOutput {
        let name = &*call.name;
        let Some((set, own_name)) = self.sets.get(name) else {
            let names: Vec<_> = self.tools.iter().map(|tool| &*tool.name).collect();
            let known = match names.is_empty() {
                true => "there are none".to_owned(),
                false => format!("expected one of {}", names.join(", ")),
            };
            return ToolOutput::error(format!("there is no tool `{name}`: {known}"));
        };
        let arguments = match call.object() {
            Ok(arguments) => arguments,
            Err(error) => {
                let text = format!("the arguments are not a JSON object: {error}");
                return ToolOutput::error(text);
            }
        };
        match tokio::time::timeout(self.timeout, set.call(own_name, arguments)).await {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => {
                let source = std::error::Error::source(&error);
                tracing::warn!(tool = name, %error, source, "a tool failed");
                ToolOutput::error(error.to_string())
            }
            Err(_) => ToolOutput::error(format!("the tool has not ended in {:?}", self.timeout)),
        }
    }
}

/// Adds the member `properties` to the schema of a tool without parameters: some services refuse a schema without it.
fn add_properties(schema: &mut Value) {
    if let Value::Object(schema) = schema
        && schema.get("type").is_some_and(|kind| kind == "object")
    {
        schema.entry("properties").or_insert_with(|| json!({}));
    }
}

/// Cuts a text to a number of bytes, and returns how many it had more.
fn cut(text: &mut String, bytes: usize) -> usize {
    let start = prefix(text, bytes).len();
    let rest = text.len() - start;
    text.truncate(start);
    rest
}

/// Maximum characters of the name of a tool.
const MAX_NAME: usize = 64;
/// Maximum bytes of a tool's result; the rest is not passed to the model.
const MAX_TOOL_OUTPUT: usize = 256 << 10;
/// Maximum bytes of the results of a turn.
pub(crate) const MAX_TURN_OUTPUT: usize = 4 << 20;
