//! What a case is made of.

use std::collections::BTreeMap;

use a2a_transport::Binding;
use a2a_types::{Dialect, Operation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::pattern::unknown_operators;
use crate::requirement::Level;

/// A conversation with an agent, and what has to come of it. Everything is said in protocol 1.0; what
/// goes over the wire is what the generation and the binding make of it.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Case {
    /// Names the check for ever, like `send.ended-task-refused`.
    pub id: String,
    /// What it checks, in a line.
    pub title: String,
    /// What it counts as.
    pub level: Level,
    /// The generations in which it applies; all if none is named.
    #[serde(default)]
    pub dialects: Vec<String>,
    /// The bindings in which it applies; all if none is named.
    #[serde(default)]
    pub bindings: Vec<String>,
    /// Which agents can be asked.
    #[serde(default)]
    pub profile: Profile,
    /// What the card must offer.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// What is said, one after the other.
    pub steps: Vec<Step>,
}

/// Which agents can be asked.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Any agent.
    BlackBox,
    /// Agents that keep the behaviour contract.
    #[default]
    Instrumented,
}

/// What the card must offer, or the user must have given.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// Streams.
    Streaming,
    /// The card says that there are no streams.
    NoStreaming,
    /// Webhooks.
    Push,
    /// The card says that there are no webhooks.
    NoPush,
    /// An extended card.
    ExtendedCard,
    /// Credentials of a second caller.
    SecondCaller,
    /// Callers must show who they are.
    Authentication,
}

/// Something that is said or done. One of `call`, `stream`, `http`, `next`, `close` and `together` says
/// what.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// An operation that is answered once.
    pub call: Option<String>,
    /// An operation that is answered by a stream.
    pub stream: Option<String>,
    /// A request as it goes over the wire.
    pub http: Option<Http>,
    /// Reads on in the stream of this name.
    pub next: Option<String>,
    /// Closes the stream of this name, without reading on.
    pub close: Option<String>,
    /// Steps that are done at once.
    pub together: Vec<Step>,
    /// What the operation is asked with, in protocol 1.0. Of a message `role` and `messageId` may be
    /// left out.
    pub params: Value,
    /// The JSON-RPC id; a number by default.
    pub id: Option<Value>,
    /// Headers in addition; an empty value leaves one out that would be sent.
    pub headers: BTreeMap<String, String>,
    /// Who calls.
    pub caller: Caller,
    /// How far a stream is read.
    pub until: Option<Until>,
    /// Names what came, for later steps.
    pub r#as: Option<String>,
    /// What has to come.
    pub expect: Expect,
    /// It is asked again until that comes, or the time is over.
    pub eventually: bool,
    /// Only in these generations.
    pub only: Vec<String>,
}

/// A request as it goes over the wire.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Http {
    /// The method; `POST` by default.
    pub method: Option<String>,
    /// What follows the URL of the interface; begins with `/` if it follows the origin.
    pub path: String,
    /// The body: a text as it is, anything else as JSON.
    pub body: Option<Value>,
    /// The body, repeated so often between what stands before and after it.
    pub repeat: Option<(String, usize, String)>,
}

/// Who calls.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Caller {
    /// With the credentials that were given.
    #[default]
    First,
    /// With the second ones.
    Second,
    /// Without any.
    Nobody,
}

/// How far a stream is read.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// So many events more.
    Events(usize),
    /// Until the agent closes it.
    End,
}

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
    /// The error: its name like `TaskNotFound`, or several of which one has to come.
    pub error: Option<Value>,
    /// The events of a stream that were read in this step, in protocol 1.0.
    pub events: Option<Value>,
    /// The task as the events that were read so far make it.
    pub folded: Option<Value>,
    /// The body as it came over the wire.
    pub body: Option<Value>,
    /// The HTTP status.
    pub status: Option<Value>,
    /// The headers, by their names in lower case.
    pub headers: Option<Value>,
    /// Whether the agent closed the stream.
    pub closed: Option<bool>,
    /// How many milliseconds it took.
    pub milliseconds: Option<Value>,
}

impl Case {
    /// Whether it applies in a generation and binding.
    pub fn applies(&self, dialect: Dialect, binding: Binding) -> bool {
        let among = |names: &[String], name: &str| {
            names.is_empty() || names.iter().any(|known| known == name)
        };
        among(&self.dialects, dialect.version()) && among(&self.bindings, &binding.to_string())
    }

    /// Everything that is wrong with the case itself.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for dialect in &self.dialects {
            if Dialect::ALL.iter().all(|known| known.version() != dialect) {
                problems.push(format!("`{dialect}` is no generation"));
            }
        }
        for binding in &self.bindings {
            if !["JSONRPC", "HTTP+JSON"].contains(&binding.as_str()) {
                problems.push(format!("`{binding}` is no binding"));
            }
        }
        if self.steps.is_empty() {
            problems.push("it has no steps".to_owned());
        }
        for (number, step) in self.steps.iter().enumerate() {
            let told = |problem| format!("step {}: {problem}", number + 1);
            problems.extend(step.problems().into_iter().map(told));
        }
        problems
    }
}

impl Step {
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let kinds = [
            self.call.is_some(),
            self.stream.is_some(),
            self.http.is_some(),
            self.next.is_some(),
            self.close.is_some(),
            !self.together.is_empty(),
        ];
        if kinds.iter().filter(|is| **is).count() != 1 {
            problems.push(
                "expected one of `call`, `stream`, `http`, `next`, `close`, `together`".to_owned(),
            );
        }
        let streams = |name: &str| {
            let known = Operation::ALL
                .iter()
                .find(|operation| operation.name() == name);
            known.map(|operation| operation.is_stream())
        };
        for (name, wanted) in [(&self.call, false), (&self.stream, true)] {
            if let Some(name) = name
                && streams(name) != Some(wanted)
            {
                problems.push(format!("`{name}` is no such operation"));
            }
        }
        problems.extend(self.together.iter().flat_map(Self::problems));
        for pattern in self.expect.patterns() {
            let unknown = unknown_operators(pattern);
            problems.extend(
                unknown
                    .iter()
                    .map(|name| format!("`{name}` is no operator")),
            );
        }
        problems
    }
}

impl Expect {
    fn patterns(&self) -> impl Iterator<Item = &Value> {
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
            milliseconds,
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
            milliseconds,
        ];
        all.into_iter().flatten()
    }
}
