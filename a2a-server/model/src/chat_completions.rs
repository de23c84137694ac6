//! The API chat completions: `POST {base}/chat/completions`.

use a2a_types::Role;
use a2a_types::extension::usage::TokenUsage;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::delta::{CallDelta, Delta};
use crate::error::ModelError;
use crate::history::{Entry, History, Piece, Round, joined_text};
use crate::tools::Tool;

/// Returns the members of a request that depend on the API.
pub(crate) fn request(system: Option<&str>, history: &History, tools: &[Tool]) -> Value {
    let mut messages = Vec::new();
    messages.extend(system.map(|system| json!({"role": "system", "content": system})));
    for entry in history.entries() {
        match entry {
            Entry::Message(Role::Agent, pieces) => {
                let text = joined_text(&pieces);
                messages.push(json!({"role": "assistant", "content": text}));
            }
            Entry::Message(_, pieces) => {
                messages.push(json!({"role": "user", "content": content(&pieces)}));
            }
            Entry::Round(round) => add_round(&mut messages, round),
        }
    }
    let mut request = json!({
        "messages": messages,
        "stream_options": {"include_usage": true},
    });
    if !tools.is_empty() {
        let tools = tools.iter().map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            }})
        });
        request["tools"] = tools.collect();
    }
    request
}

fn content(pieces: &[&Piece]) -> Value {
    if let Some(text) = joined_text(pieces) {
        return text.into();
    }
    let parts = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => json!({"type": "text", "text": text}),
        Piece::Image(url) => json!({"type": "image_url", "image_url": {"url": url}}),
        Piece::File { name, data } => {
            json!({"type": "file", "file": {"filename": name, "file_data": data}})
        }
        // The API takes no URLs of files, so there are none.
        Piece::FileUrl(url) => json!({"type": "text", "text": url}),
    });
    parts.collect()
}

fn add_round(messages: &mut Vec<Value>, round: &Round) {
    let calls = round.calls.iter().map(|(call, _)| {
        let mut entry = json!({"id": call.id, "type": "function", "function": {
            "name": call.name,
            "arguments": call.replayed_arguments(),
        }});
        if let Some(extra) = &call.extra {
            entry["extra_content"] = extra.clone();
        }
        entry
    });
    let text = (!round.text.is_empty()).then_some(&round.text);
    let calls: Value = calls.collect();
    let mut message = json!({"role": "assistant", "content": text, "tool_calls": calls});
    if let Some((member, reasoning)) = &round.reasoning {
        message[*member] = reasoning.as_str().into();
    }
    messages.push(message);
    for (call, output) in &round.calls {
        messages.push(json!({
            "role": "tool",
            "tool_call_id": call.id,
            "content": output.for_model(),
        }));
    }
}

#[derive(Deserialize)]
struct Chunk {
    id: Option<String>,
    choices: Option<Vec<Choice>>,
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<ChoiceDelta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ChoiceDelta {
    content: Option<String>,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    tool_calls: Option<Vec<ToolCall>>,
}

#[derive(Deserialize)]
struct ToolCall {
    index: Option<u64>,
    id: Option<String>,
    function: Option<Function>,
    /// Gemini has the signature of its reasoning here, and wants it back.
    extra_content: Option<Value>,
}

#[derive(Deserialize)]
struct Function {
    name: Option<String>,
    /// Text, in pieces; from some services an object.
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

/// Reads an event of the stream.
pub(crate) fn read(data: &[u8]) -> Result<Vec<Delta>, ModelError> {
    if data.trim_ascii() == b"[DONE]" {
        return Ok(vec![Delta::End]);
    }
    let chunk: Chunk = serde_json::from_slice(data).map_err(ModelError::MalformedDelta)?;
    if let Some(error) = chunk.error {
        return Err(ModelError::of_event(&error));
    }
    let mut deltas = Vec::new();
    deltas.extend(chunk.id.map(Delta::Id));
    if let Some(usage) = chunk.usage {
        let (input, output) = (usage.prompt_tokens, usage.completion_tokens);
        let usage = TokenUsage::new(input.unwrap_or_default(), output.unwrap_or_default());
        deltas.push(Delta::Usage(usage));
    }
    // One answer was requested.
    let Some(choice) = chunk.choices.into_iter().flatten().next() else {
        return Ok(deltas);
    };
    if let Some(delta) = choice.delta {
        let reasoning = delta.reasoning_content.map(|it| ("reasoning_content", it));
        let reasoning = reasoning.or(delta.reasoning.map(|it| ("reasoning", it)));
        deltas.extend(reasoning.map(|(member, text)| Delta::Reasoning(member, text)));
        deltas.extend(delta.content.map(Delta::Text));
        deltas.extend(delta.refusal.map(Delta::Text));
        let calls = delta.tool_calls.into_iter().flatten();
        deltas.extend(calls.map(|call| Delta::Call(call_delta(call))));
    }
    match choice.finish_reason.as_deref() {
        None | Some("") => {}
        Some(reason @ ("length" | "content_filter")) => {
            deltas.push(Delta::Incomplete(reason.to_owned()));
        }
        Some(_) => deltas.push(Delta::Finished),
    }
    Ok(deltas)
}

fn call_delta(call: ToolCall) -> CallDelta {
    let (name, arguments) = match call.function {
        Some(function) => (function.name, function.arguments),
        None => (None, None),
    };
    CallDelta {
        index: call.index,
        id: call.id.unwrap_or_default(),
        name: name.unwrap_or_default(),
        arguments: match arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
        },
        is_whole: false,
        extra: call.extra_content,
    }
}
