//! Version 0.1.

mod card;
mod history;
mod lifecycle;
mod streams;

use serde_json::{Value, json};

use crate::rules::scripted_agent::ServedAgent;
use crate::rules::wire::unique;

/// The params of a message to a task.
fn say(task: &str, text: &str) -> Value {
    json!({"id": task, "message": {"role": "user", "parts": [{"type": "text", "text": text}]}})
}

/// The same params with further members.
fn with(mut params: Value, members: Value) -> Value {
    let Value::Object(members) = members else {
        panic!("members are an object")
    };
    params.as_object_mut().unwrap().extend(members);
    params
}

impl ServedAgent {
    /// Sends a text to a new task, and yields the task.
    async fn task_0_1(&self, text: &str) -> Value {
        self.rpc("tasks/send", say(&unique(), text)).await.unwrap()
    }
}

/// The state of a task or of an update of its status.
fn state(of: &Value) -> &str {
    of["status"]["state"].as_str().unwrap_or_default()
}
