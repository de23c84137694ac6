//! Final reports of a client with a bug.

use serde_json::{Value, json};

use super::instruction::InstructionLine;
use super::performer::Performer;
use crate::client::Bug;

/// Returns the final report as a client with this bug makes it.
pub(super) async fn misread(
    performer: &Performer,
    line: &InstructionLine,
    mut last: Value,
) -> Value {
    let refused = last.pointer("/error/message").and_then(Value::as_str);
    let refused = refused.filter(|text| text.starts_with("the agent answered"));
    if performer.has(Bug::ErrorIsSuccess)
        && line.op == "send_message"
        && let Some(text) = refused
    {
        return json!({"result": {"message": {"text": text}}});
    }
    if performer.has(Bug::NeverDone)
        && last["done"] == true
        && let Some(proxy) = &performer.proxy
    {
        proxy.all_ended().await;
    }
    let kind = last["error"]["kind"].as_str().unwrap_or_default();
    let state = last["result"]["task"]["state"].as_str();
    match performer.subject.bug() {
        Some(Bug::KnownStatesOnly) if state == Some("unknown") => {
            json!({"error": {"kind": "MALFORMED", "message": "an unknown state"}})
        }
        Some(Bug::OneRefusal) if kind == "PUSH_NOTIFICATION_NOT_SUPPORTED" => {
            json!({"error": {"kind": "UNSUPPORTED_OPERATION"}})
        }
        Some(Bug::OldErrors) if kind == "EXTENSION_SUPPORT_REQUIRED" => {
            json!({"error": {"kind": "INVALID_REQUEST"}})
        }
        Some(Bug::NoMessage) if last.get("error").is_some() => {
            json!({"error": {"kind": kind}})
        }
        Some(Bug::WaitingIsCut) if last["done"] == true && last["completed"] == false => {
            json!({"error": {"kind": "CONNECTION", "message": "the stream ended early"}})
        }
        Some(Bug::StillWorking) if line.op == "cancel_task" && state.is_some() => {
            last["result"]["task"]["state"] = "working".into();
            last
        }
        Some(Bug::DataIsText) => {
            let artifacts = last.pointer_mut("/result/task/artifacts");
            let artifacts = artifacts.and_then(Value::as_array_mut);
            for artifact in artifacts.into_iter().flatten() {
                let parts = artifact.get_mut("parts").and_then(Value::as_array_mut);
                parts.into_iter().flatten().for_each(as_text);
            }
            last
        }
        _ => last,
    }
}

/// Turns a data part into a text part.
fn as_text(part: &mut Value) {
    if let Some(data) = part.get("data") {
        *part = json!({"text": data.to_string()});
    }
}
