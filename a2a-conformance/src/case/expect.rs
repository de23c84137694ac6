//! What has to come of a step.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What has to come: [patterns](super::pattern).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    /// The task, whether it is the answer or in it.
    pub task: Option<Value>,
    /// The message that is the answer.
    pub message: Option<Value>,
    /// The answer, in protocol 1.0.
    pub result: Option<Value>,
    /// The error: its name like `TaskNotFound`, or several of which one has to come; `any`, or
    /// `refusal` for any that does not say that the agent broke. A stream may tell it as its only
    /// event.
    pub error: Option<Value>,
    /// The events of a stream that were read in this step, in protocol 1.0.
    pub events: Option<Value>,
    /// The task as the events that were read so far make it.
    pub folded: Option<Value>,
    /// The body as it came over the wire.
    pub body: Option<Value>,
    /// The HTTP status; 0 if the connection is closed without an answer.
    pub status: Option<Value>,
    /// The headers, by their names in lower case.
    pub headers: Option<Value>,
    /// Whether the agent closed the stream.
    pub closed: Option<bool>,
    /// What the webhook was told so far: each delivery with `path`, `method`, `headers`, `body` as it
    /// came, and `event`, which is what it says in protocol 1.0.
    pub notifications: Option<Value>,
    /// The value that is looked at.
    pub value: Option<Value>,
    /// A rule that the value keeps, which patterns cannot say: its name.
    pub rule: Option<String>,
}

impl Expect {
    /// Every pattern of it.
    pub(super) fn patterns(&self) -> impl Iterator<Item = &Value> {
        let Self {
            task,
            message,
            result,
            error: _,
            events,
            folded,
            body,
            status,
            headers,
            closed: _,
            notifications,
            value,
            rule: _,
        } = self;
        let all = [
            task,
            message,
            result,
            events,
            folded,
            body,
            status,
            headers,
            notifications,
            value,
        ];
        all.into_iter().flatten()
    }
}
