//! Content that a client of the framework keeps of what it receives, as was measured with real ones.

use std::fmt;

use serde_json::Value;

/// Content kept by a client of the framework: text, reasoning, steps and errors of the model.
#[derive(Debug, Default)]
pub(crate) struct Framework {
    said: String,
    thought: String,
    done: Vec<String>,
    failed: Vec<String>,
}

impl Framework {
    /// Returns the content kept of the results of a stream.
    pub(crate) fn streamed(results: &[Value]) -> Self {
        let mut kept = Self::default();
        for result in results {
            match result["kind"].as_str() {
                Some("message") => kept.take(&result["parts"]),
                // Artifacts only, without the history.
                Some("task") => {
                    for artifact in result["artifacts"].as_array().into_iter().flatten() {
                        kept.take(&artifact["parts"]);
                    }
                }
                Some("artifact-update") if result["lastChunk"] == true => {}
                Some("artifact-update") => kept.take(&result["artifact"]["parts"]),
                Some("status-update") => kept.fail(&result["status"]),
                _ => {}
            }
        }
        kept
    }

    /// Returns the content kept of a single result.
    pub(crate) fn answered(result: &Value) -> Self {
        let mut kept = Self::default();
        if result["kind"] == "message" {
            kept.take(&result["parts"]);
            return kept;
        }
        for message in result["history"].as_array().into_iter().flatten() {
            kept.take(&message["parts"]);
        }
        kept.fail(&result["status"]);
        if kept.failed.is_empty() {
            for artifact in result["artifacts"].as_array().into_iter().flatten() {
                kept.take(&artifact["parts"]);
            }
        }
        kept
    }

    fn fail(&mut self, status: &Value) {
        if let Some("failed" | "canceled" | "rejected") = status["state"].as_str() {
            let text = status["message"]["parts"][0]["text"].as_str();
            self.failed.push(text.unwrap_or("(no reason)").to_owned());
        }
    }

    /// Takes in the parts of one message. Text that comes with a tool's response is dropped, and only one of
    /// code, its result and text is kept.
    fn take(&mut self, parts: &Value) {
        let (mut text, mut code, mut result) = (String::new(), String::new(), String::new());
        let mut responses = Vec::new();
        for part in parts.as_array().into_iter().flatten() {
            let (data, metadata) = (&part["data"], &part["metadata"]);
            let kind = metadata["adk_type"].as_str().or(metadata["type"].as_str());
            match (part["kind"].as_str(), kind) {
                (Some("text"), _) => {
                    let thought = metadata["thought"] == true || metadata["adk_thought"] == true;
                    let kept = match thought {
                        true => &mut self.thought,
                        false => &mut text,
                    };
                    kept.push_str(part["text"].as_str().unwrap_or_default());
                }
                (_, Some("function_call")) if data["name"] != "" => {
                    self.done.push(format!("{} {}", data["name"], data["args"]));
                }
                (_, Some("function_response")) => responses.push(data["response"].to_string()),
                (_, Some("executable_code")) => code = data["code"].to_string(),
                (_, Some("code_execution_result")) => result = data["output"].to_string(),
                _ => {}
            }
        }
        match (responses.is_empty(), code.is_empty(), result.is_empty()) {
            (false, ..) => self.done.extend(responses),
            (_, false, _) => self.done.push(code),
            (_, _, false) => self.done.push(result),
            _ => self.said.push_str(&text),
        }
    }
}

impl fmt::Display for Framework {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            said,
            thought,
            done,
            failed,
        } = self;
        write!(
            f,
            "said {said:?} thought {thought:?} done {done:?} failed {failed:?}"
        )
    }
}
