//! The tools of one turn, from all sets.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;

use crate::delta::{Call, prefix};
use crate::error::ModelError;
use crate::tools::{Tool, ToolError, ToolOutput, Tools};

/// The tools of one turn.
pub(crate) struct Toolbox {
    tools: Vec<Tool>,
    sets: HashMap<String, Arc<dyn Tools>>,
    timeout: Duration,
}

impl Toolbox {
    /// Lists the tools of all sets. Of two with the same name the first is used.
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
            for tool in list.map_err(ModelError::Tools)? {
                if toolbox.sets.contains_key(&tool.name) {
                    tracing::warn!(
                        tool = tool.name,
                        "two tools have this name: the first is used"
                    );
                    continue;
                }
                toolbox.sets.insert(tool.name.clone(), Arc::clone(set));
                toolbox.tools.push(tool);
            }
        }
        Ok(toolbox)
    }

    /// The descriptions for the model.
    pub(crate) fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Runs all calls at once, and returns each with its result.
    pub(crate) async fn run(&self, calls: Vec<Call>) -> Vec<(Call, ToolOutput)> {
        let running = calls.into_iter().map(async |call| {
            let output = self.call(&call).await;
            (call, shortened(output))
        });
        join_all(running).await
    }

    async fn call(&self, call: &Call) -> ToolOutput {
        let name = &*call.name;
        let Some(set) = self.sets.get(name) else {
            let names: Vec<_> = self.tools.iter().map(|tool| &*tool.name).collect();
            let names = names.join(", ");
            return ToolOutput::error(format!(
                "there is no tool `{name}`: expected one of {names}"
            ));
        };
        let arguments = match call.object() {
            Ok(arguments) => arguments,
            Err(error) => {
                let text = format!("the arguments are not a JSON object: {error}");
                return ToolOutput::error(text);
            }
        };
        match tokio::time::timeout(self.timeout, set.call(name, arguments)).await {
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

fn shortened(mut output: ToolOutput) -> ToolOutput {
    let start = prefix(&output.text, MAX_TOOL_OUTPUT).len();
    let rest = output.text.len() - start;
    if rest > 0 {
        output.text.truncate(start);
        output
            .text
            .push_str(&format!("\n[{rest} more bytes: left out]"));
    }
    output
}

/// Maximum bytes of a tool's result; the rest is not passed to the model.
const MAX_TOOL_OUTPUT: usize = 256 << 10;
