//! What a case is made of.

use std::collections::BTreeMap;

use a2a_transport::Binding;
use a2a_types::{Dialect, Operation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Expect;
use super::pattern::unknown_operators;
use crate::level::level_in;
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
    /// What it counts as in generations of which no requirement names it.
    pub level: Level,
    /// The text that asks for it, like `RFC 6797`, where none of A2A does.
    #[serde(default)]
    pub source: Option<String>,
    /// Why, where that is more than the requirements say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
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
    /// How often it is made.
    #[serde(default)]
    pub per: Per,
    /// It is made when all others are done.
    #[serde(default)]
    pub last: bool,
    /// What is said, one after the other.
    pub steps: Vec<Step>,
}

/// How often a case is made.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// In every generation and binding.
    #[default]
    Lane,
    /// In every generation, whatever the binding.
    Generation,
    /// Once.
    Agent,
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
    /// Webhooks, and one of ours that the agent reaches and accepts.
    Webhook,
    /// An extended card.
    ExtendedCard,
    /// The card says that there is no extended card.
    NoExtendedCard,
    /// Credentials of a second caller.
    SecondCaller,
    /// Credentials of a caller who is known, and may do nothing.
    ForbiddenCaller,
    /// Callers must show who they are.
    Authentication,
    /// JSON-RPC and HTTP+JSON in this generation.
    BothBindings,
    /// JSON-RPC or HTTP+JSON in this generation, not both.
    OneBinding,
    /// An extension.
    Extension,
    /// An extension without which nobody is served.
    RequiredExtension,
    /// No extension without which nobody is served.
    NoRequiredExtension,
    /// An interface with a tenant.
    Tenant,
    /// Signatures on the card.
    Signatures,
    /// Keys that are trusted to sign the card.
    CardKeys,
    /// 0.2 or 0.3 is served by JSON-RPC, at the URL that is asked.
    OldGeneration,
    /// No generation before 1.0 is served.
    NoOldGeneration,
    /// The agent is reached by `https`.
    Https,
    /// The agent runs on this machine.
    Here,
}

/// Something that is said or done. One of `call`, `stream`, `http`, `next`, `close`, `notified`, `see` and
/// `together` says what.
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
    /// Waits for what the webhook below `{{webhook}}` at this path is told, like `/a`; empty is the
    /// webhook itself.
    pub notified: Option<String>,
    /// Looks at a value that is known, like `{{card}}`.
    pub see: Option<Value>,
    /// Steps that are done at once.
    pub together: Vec<Step>,
    /// The step is taken once for each of these values, which it calls `{{it}}`.
    pub for_each: Vec<Value>,
    /// What the operation is asked with, in protocol 1.0. Of a message `role` and `messageId` may be
    /// left out. Where 0.2 and 0.3 leave it to the agent when it answers a message without a
    /// `configuration`, instrumented agents are told that the caller waits.
    pub params: Value,
    /// What is then changed in the params as they go over the wire: members that are laid over them
    /// (RFC 7386), so that `null` leaves one out; `{$null: true}` says null. Where they are no body,
    /// they are queries.
    pub alter: Option<Value>,
    /// What is changed in the envelope of JSON-RPC, likewise.
    pub envelope: Option<Value>,
    /// The HTTP method, where it is not the usual one of HTTP+JSON.
    pub verb: Option<String>,
    /// The JSON-RPC id; a number by default.
    pub id: Option<Value>,
    /// Headers in addition; null leaves one out that would be sent. If a name has capitals, the
    /// names of all headers begin with them, but for behind TLS.
    pub headers: BTreeMap<String, Option<String>>,
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
    /// Only in these bindings.
    pub bindings: Vec<String>,
    /// In this binding of the generation, instead of the one that is tested.
    pub by: Option<String>,
    /// Why the case does not apply if what comes is not as expected.
    pub otherwise: Option<String>,
    /// What may come instead: not as preferred, but allowed.
    pub lenient: Option<Expect>,
}

/// A request as it goes over the wire.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Http {
    /// The method; `POST` by default.
    pub method: Option<String>,
    /// What follows the URL of the interface; begins with `//` if it follows the origin, and with
    /// `http` if it is a whole URL.
    pub path: String,
    /// The body: a text as it is, anything else as JSON.
    pub body: Option<Value>,
    /// The body as hexadecimal bytes, for what is no text.
    pub bytes: Option<String>,
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
    /// With those of a caller who is known, and may do nothing.
    Forbidden,
    /// Without any.
    Nobody,
    /// With the first ones, of which the secret is wrong.
    Wrong,
}

/// How far a stream is read.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// So many events more.
    Events(usize),
    /// Until the task is in this state.
    Status(String),
    /// Until the agent closes it.
    End,
}

impl Case {
    /// Whether it applies in a generation and binding.
    pub fn applies(&self, dialect: Dialect, binding: Binding) -> bool {
        let among = |names: &[String], name: &str| {
            names.is_empty() || names.iter().any(|known| known == name)
        };
        among(&self.dialects, dialect.version()) && among(&self.bindings, &binding.to_string())
    }

    /// What it counts as in a generation and binding.
    pub fn level_in(&self, dialect: Dialect, binding: Option<Binding>) -> Level {
        level_in(dialect, binding, &self.id, self.level)
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
            self.notified.is_some(),
            self.see.is_some(),
            !self.together.is_empty(),
        ];
        if kinds.iter().filter(|is| **is).count() != 1 {
            let names = "`call`, `stream`, `http`, `next`, `close`, `notified`, `see`, `together`";
            problems.push(format!("expected one of {names}"));
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
        let lenient = self.lenient.iter().flat_map(Expect::patterns);
        for pattern in self.expect.patterns().chain(lenient) {
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
