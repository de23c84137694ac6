//! The API Responses, which Open Responses specifies for every service: `POST {base}/responses`, stateless.

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
    let mut input = Vec::new();
    for entry in history.entries() {
        match entry {
            Entry::Message(Role::Agent, pieces) => {
                let text = joined_text(&pieces);
                input.push(json!({"type": "message", "role": "assistant", "content": text}));
            }
            Entry::Message(_, pieces) => {
                let content = content(&pieces);
                input.push(json!({"type": "message", "role": "user", "content": content}));
            }
            Entry::Round(round) => add_round(&mut input, round),
        }
    }
    let mut request = json!({"input": input, "store": false});
    if let Some(system) = system {
        request["instructions"] = system.into();
    }
    if !tools.is_empty() {
        let tools = tools.iter().map(|tool| {
            json!({
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                // Otherwise the service changes the schema.
                "strict": false,
            })
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
        Piece::Text(text) => json!({"type": "input_text", "text": text}),
        Piece::Image(url) => json!({"type": "input_image", "image_url": url, "detail": "auto"}),
        Piece::File { name, data } => {
            json!({"type": "input_file", "filename": name, "file_data": data})
        }
        Piece::FileUrl(url) => json!({"type": "input_file", "file_url": url}),
    });
    parts.collect()
}

fn add_round(input: &mut Vec<Value>, round: &Round) {
    input.extend(round.opaque.iter().cloned());
    if !round.text.is_empty() {
        input.push(json!({"type": "message", "role": "assistant", "content": round.text}));
    }
    for (call, _) in &round.calls {
        input.push(json!({
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.replayed_arguments(),
        }));
    }
    for (call, output) in &round.calls {
        input.push(json!({
            "type": "function_call_output",
            "call_id": call.id,
            "output": output.for_model(),
        }));
    }
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    delta: Option<Value>,
    output_index: Option<u64>,
    item: Option<Value>,
    response: Option<Response>,
    error: Option<Value>,
    code: Option<Value>,
    message: Option<Value>,
}

#[derive(Deserialize)]
struct Response {
    id: Option<String>,
    usage: Option<Usage>,
    error: Option<Value>,
    incomplete_details: Option<IncompleteDetails>,
}

#[derive(Deserialize)]
struct IncompleteDetails {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct FunctionCall {
    call_id: Option<String>,
    name: Option<String>,
    arguments: Option<String>,
}

/// Reads an event of the stream.
pub(crate) fn read(data: &[u8]) -> Result<Vec<Delta>, ModelError> {
    if data.trim_ascii() == b"[DONE]" {
        return Ok(vec![Delta::End]);
    }
    let event: Event = serde_json::from_slice(data).map_err(ModelError::MalformedDelta)?;
    let text = || match &event.delta {
        Some(Value::String(text)) => text.clone(),
        _ => String::new(),
    };
    let mut deltas = Vec::new();
    match event.kind.as_str() {
        "response.output_text.delta" | "response.refusal.delta" => deltas.push(Delta::Text(text())),
        "response.reasoning_summary_text.delta"
        | "response.reasoning_text.delta"
        | "response.reasoning.delta" => deltas.push(Delta::Reasoning("reasoning", text())),
        "response.function_call_arguments.delta" => deltas.push(Delta::Call(CallDelta {
            index: event.output_index,
            arguments: text(),
            ..CallDelta::default()
        })),
        "response.output_item.added" | "response.output_item.done" => {
            let is_done = event.kind.ends_with("done");
            deltas.extend(item_delta(event.output_index, event.item, is_done)?);
        }
        "error" => {
            let error = json!({"code": event.code, "message": event.message});
            return Err(ModelError::of_event(event.error.as_ref().unwrap_or(&error)));
        }
        _ => {}
    }
    let Some(response) = event.response else {
        return Ok(deltas);
    };
    deltas.extend(response.id.map(Delta::Id));
    if let Some(usage) = response.usage {
        let (input, output) = (usage.input_tokens, usage.output_tokens);
        let usage = TokenUsage::new(input.unwrap_or_default(), output.unwrap_or_default());
        deltas.push(Delta::Usage(usage));
    }
    match event.kind.as_str() {
        "response.failed" => {
            return Err(ModelError::of_event(&response.error.unwrap_or_default()));
        }
        "response.incomplete" => {
            let reason = response.incomplete_details.and_then(|it| it.reason);
            deltas.push(Delta::Incomplete(reason.unwrap_or_default()));
        }
        "response.completed" => deltas.push(Delta::End),
        _ => {}
    }
    Ok(deltas)
}

fn item_delta(
    index: Option<u64>,
    item: Option<Value>,
    is_done: bool,
) -> Result<Option<Delta>, ModelError> {
    let item = item.unwrap_or_default();
    match item["type"].as_str() {
        Some("function_call") => {
            let call = FunctionCall::deserialize(item).map_err(ModelError::MalformedDelta)?;
            let arguments = call.arguments.unwrap_or_default();
            Ok(Some(Delta::Call(CallDelta {
                index,
                id: call.call_id.unwrap_or_default(),
                name: call.name.unwrap_or_default(),
                // Services may leave them out at the end, after they have sent them in pieces.
                is_whole: is_done && !arguments.is_empty(),
                arguments,
                extra: None,
            })))
        }
        // A stateless request has to bring the model its reasoning again.
        Some("reasoning") if is_done && item["encrypted_content"].is_string() => {
            Ok(Some(Delta::Opaque(item)))
        }
        _ => Ok(None),
    }
}
