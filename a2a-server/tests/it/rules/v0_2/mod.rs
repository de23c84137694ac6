//! Version 0.2.

mod card;
mod lifecycle;
mod streams;

use a2a_types::{AgentCard, ProtocolVersion};
use serde_json::{Value, json};

use crate::rules::scripted_agent::{ServedAgent, card, serve_with};
use crate::rules::wire::unique;

/// Serves the agent to callers of 0.2, whose requests look like requests of 0.3.
async fn serve() -> ServedAgent {
    serve_card(card()).await
}

async fn serve_card(card: AgentCard) -> ServedAgent {
    serve_with(
        card,
        |builder| builder,
        |bound| bound.default_version(ProtocolVersion::V0_2),
    )
    .await
}

/// The params of a first message.
pub(crate) fn say(text: &str) -> Value {
    json!({"message": {
        "kind": "message", "messageId": unique(), "role": "user",
        "parts": [{"kind": "text", "text": text}],
    }})
}

/// The params of a message to a task.
pub(crate) fn say_to(task: &Value, text: &str) -> Value {
    with(say(text), json!({"taskId": task["id"]}))
}

/// The same params with further members of the message.
pub(crate) fn with(mut params: Value, members: Value) -> Value {
    let Value::Object(members) = members else {
        panic!("members are an object")
    };
    params["message"].as_object_mut().unwrap().extend(members);
    params
}

/// The same params with a configuration.
pub(crate) fn configured(mut params: Value, configuration: Value) -> Value {
    params["configuration"] = configuration;
    params
}

impl ServedAgent {
    /// Sends a text by JSON-RPC as 0.2 and 0.3 do, and returns the result.
    pub(crate) async fn send(&self, text: &str) -> Value {
        self.rpc("message/send", say(text)).await.unwrap()
    }
}

/// The state of a task or of an update of its status.
pub(crate) fn state(of: &Value) -> &str {
    of["status"]["state"].as_str().unwrap_or_default()
}
