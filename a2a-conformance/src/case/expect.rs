//! Expected result of a step.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Expected result: [patterns](super::pattern).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    /// The task, which is the answer or part of it.
    pub task: Option<Value>,
    /// The message that is the answer.
    pub message: Option<Value>,
    /// The answer, in protocol 1.0.
    pub result: Option<Value>,
    /// The error: its name like `TaskNotFound`, or several of which one must match; `any`, `refusal` for
    /// any error but one that reports a failure of the agent, or `rejection` for any by which credentials are
    /// refused, also a status 4xx without a body. A stream may have it as its only event.
    pub error: Option<Value>,
    /// The events of a stream read in this step, in protocol 1.0.
    pub events: Option<Value>,
    /// The task that results from the events read so far.
    pub folded: Option<Value>,
    /// The body as received.
    pub body: Option<Value>,
    /// The HTTP status; 0 if the connection is closed without an answer.
    pub status: Option<Value>,
    /// The headers, by their names in lower case.
    pub headers: Option<Value>,
    /// State of the stream after the step: `true` if the agent closed it.
    pub closed: Option<bool>,
    /// Deliveries to the webhook so far, each with `path`, `method`, `headers`, `body` as received, `sha256`, the
    /// hexadecimal digest of the body, and `event`, its content in protocol 1.0.
    pub notifications: Option<Value>,
    /// The value of `see`.
    pub value: Option<Value>,
    /// Name of a rule on the value that patterns cannot express.
    pub rule: Option<String>,
}

impl Expect {
    /// Returns all patterns.
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
