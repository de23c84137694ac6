//! Format of a case.

use std::collections::BTreeMap;

use a2a_transport::Binding;
use a2a_types::{Operation, ProtocolVersion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Expect;
use super::pattern::unknown_operators;
use crate::level::level_in;
use crate::requirement::Level;

/// A conversation with an agent, and its expected results. Everything is written in protocol 1.0 and
/// converted to the version and binding under test.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Case {
    /// Permanent name of the check, like `send.ended-task-refused`.
    pub id: String,
    /// One-line description of the check.
    pub title: String,
    /// Level in protocol versions and bindings in which no requirement names it.
    pub level: Level,
    /// The text that requires it, like `RFC 6797`, where none of A2A does.
    #[serde(default)]
    pub source: Option<String>,
    /// Explanation, where it adds to the requirements.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Protocol versions in which it applies; all if none is named.
    #[serde(default)]
    pub protocol_versions: Vec<String>,
    /// Bindings in which it applies; all if none is named.
    #[serde(default)]
    pub bindings: Vec<String>,
    /// Agents that it applies to.
    #[serde(default)]
    pub profile: Profile,
    /// Prerequisites of the case.
    #[serde(default)]
    pub needs: Vec<Prerequisite>,
    /// Number of runs of the case.
    #[serde(default)]
    pub per: CaseScope,
    /// The time in a run at which the case is made.
    #[serde(default)]
    pub phase: CasePhase,
    /// Steps, one after the other.
    pub steps: Vec<Step>,
}

/// Number of runs of a case.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaseScope {
    /// One run in every protocol version and binding.
    #[default]
    Interface,
    /// One run in every protocol version, in any binding.
    Version,
    /// A single run.
    Agent,
}

/// Phase of a run. The cases of a phase run when all cases of the phase before have ended.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CasePhase {
    /// At first.
    #[default]
    Usual,
    /// After the usual cases, because it sends requests that no client should send: an agent that accepts one may
    /// answer differently from then on.
    BrokenRequests,
    /// After the broken requests, to see that the agent still answers.
    Recovery,
    /// At the end, because the agent may refuse the caller from then on.
    Lockout,
}

impl CasePhase {
    /// Every phase, in order.
    pub const ALL: [Self; 4] = [
        Self::Usual,
        Self::BrokenRequests,
        Self::Recovery,
        Self::Lockout,
    ];
}

/// Agents that a case applies to.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Any agent.
    BlackBox,
    /// Agents that implement the behaviour contract.
    #[default]
    Instrumented,
}

/// A prerequisite that the card or the user has to provide.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prerequisite {
    /// Streams.
    Streaming,
    /// No streams, as declared by the card.
    NoStreaming,
    /// Webhooks.
    Push,
    /// No webhooks, as declared by the card.
    NoPush,
    /// Webhooks, and a webhook of the suite that the agent can reach and accepts.
    Webhook,
    /// An extended card.
    ExtendedCard,
    /// No extended card, as declared by the card.
    NoExtendedCard,
    /// Credentials of a second caller.
    SecondCaller,
    /// Credentials of a known caller without permissions.
    ForbiddenCaller,
    /// Authentication of callers.
    Authentication,
    /// A token that has expired.
    ExpiredToken,
    /// A token for another agent.
    WrongAudienceToken,
    /// A token that grants nothing at this agent.
    WrongScopeToken,
    /// Bearer tokens, as declared by the card.
    BearerTokens,
    /// Published keys of the issuer of bearer tokens.
    IssuerKeys,
    /// JSON-RPC and HTTP+JSON in this protocol version.
    BothBindings,
    /// JSON-RPC or HTTP+JSON in this protocol version, not both.
    OneBinding,
    /// JSON-RPC in this protocol version.
    JsonRpc,
    /// An extension.
    Extension,
    /// A required extension.
    RequiredExtension,
    /// No required extension.
    NoRequiredExtension,
    /// An interface with a tenant.
    Tenant,
    /// Signatures on the card.
    Signatures,
    /// Keys that are trusted to sign the card.
    CardKeys,
    /// No such keys.
    NoCardKeys,
    /// 0.2 or 0.3 by JSON-RPC, at the URL under test.
    OldVersion,
    /// No protocol version before 1.0.
    NoOldVersion,
    /// An agent reached by `https`.
    Https,
    /// An agent on this machine.
    Here,
}

/// A step of a case. Exactly one of `call`, `stream`, `http`, `next`, `close`, `notified`, `see`, `handshake`
/// and `together` is set.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// An operation that is answered once.
    pub call: Option<String>,
    /// An operation that is answered by a stream.
    pub stream: Option<String>,
    /// A raw HTTP request.
    pub http: Option<RawHttpRequest>,
    /// Continues to read the stream of this name.
    pub next: Option<String>,
    /// Closes the stream of this name without reading more.
    pub close: Option<String>,
    /// Waits for deliveries to the webhook below `{{webhook}}` at this path, like `/a`; empty is the
    /// webhook itself.
    pub notified: Option<String>,
    /// Seconds by which `notified` waits longer, because a sender may pause before it tries again.
    pub extra_seconds: u64,
    /// Checks a known value, like `{{card}}`.
    pub see: Option<Value>,
    /// Tries a handshake of a deprecated version of TLS, like `TLS 1.1`; the value is `refused`, or says that
    /// it was accepted.
    pub handshake: Option<String>,
    /// Steps that run concurrently.
    pub together: Vec<Step>,
    /// Values for each of which the step runs once, as `{{it}}`.
    pub for_each: Vec<Value>,
    /// Params of the operation, in protocol 1.0. `role` and `messageId` of a message may be left out.
    /// Where 0.2 and 0.3 let the agent choose when to answer a message without a `configuration`,
    /// instrumented agents get one that says that the caller waits.
    pub params: Value,
    /// Patch of the params as they are sent (RFC 7386): `null` removes a member; `{$null: true}` is
    /// null itself. Without a body, its members are added to the query.
    pub alter: Option<Value>,
    /// Patch of the JSON-RPC envelope, likewise.
    pub envelope: Option<Value>,
    /// The HTTP method, where it is not the usual one of HTTP+JSON.
    pub verb: Option<String>,
    /// The JSON-RPC id; a number by default.
    pub id: Option<Value>,
    /// Additional headers; null removes one that would be sent. If a name has capitals, the names of
    /// all headers are capitalized, except behind TLS.
    pub headers: BTreeMap<String, Option<String>>,
    /// Credentials of the call.
    pub caller: Caller,
    /// Event up to which a stream is read.
    pub until: Option<StopCondition>,
    /// Name of the result, for later steps; with `_body`, `_text` and `_headers` that of the answer's parts, with
    /// `_task` that of the task's id, if there is one.
    pub r#as: Option<String>,
    /// Expected result.
    pub expect: Expect,
    /// Repeats the step until it gets the expected result, or the time is over.
    pub eventually: bool,
    /// Prerequisites of the step, without which it is left out.
    pub needs: Vec<Prerequisite>,
    /// Name of an earlier result: without a task in it, the step is left out.
    pub given_task: Option<String>,
    /// Only in these protocol versions.
    pub only: Vec<String>,
    /// Only in these bindings.
    pub bindings: Vec<String>,
    /// Binding that replaces the one under test.
    pub by: Option<String>,
    /// Reason why the case does not apply if the result is not as expected.
    pub otherwise: Option<String>,
    /// Alternative result: not preferred, but allowed.
    pub lenient: Option<Expect>,
}

/// A raw HTTP request.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct RawHttpRequest {
    /// The method; `POST` by default.
    pub method: Option<String>,
    /// Suffix of the URL of the interface; begins with `//` if it follows the origin, and with `http`
    /// if it is a whole URL. `//` and a service of A2A is a call by gRPC.
    pub path: String,
    /// The body: a text as it is, anything else as JSON. In a call by gRPC it is put into a frame.
    pub body: Option<Value>,
    /// The body as hexadecimal bytes, if it is not text.
    pub bytes: Option<String>,
    /// A prefix, the number of times that the body is repeated after it, and a suffix.
    pub repeat: Option<(String, usize, String)>,
}

/// Credentials of a call.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Caller {
    /// Credentials of the first caller, as given.
    #[default]
    First,
    /// Credentials of the second caller.
    Second,
    /// Credentials of a known caller without permissions.
    Forbidden,
    /// A token that has expired.
    Expired,
    /// A token for another agent.
    WrongAudience,
    /// A token that grants nothing at this agent.
    WrongScope,
    /// None.
    Nobody,
    /// The first ones with a wrong secret.
    Wrong,
    /// The first ones, with their scheme in other letters: `bearer` for `Bearer`.
    OtherCase,
}

/// Event up to which a stream is read.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCondition {
    /// This number of further events.
    Events(usize),
    /// The task's change to this state.
    Status(String),
    /// The end of the stream.
    End,
}

impl Case {
    /// Returns whether the case applies in a protocol version and binding.
    pub fn applies(&self, protocol_version: ProtocolVersion, binding: Binding) -> bool {
        let among = |names: &[String], name: &str| {
            names.is_empty() || names.iter().any(|known| known == name)
        };
        among(&self.protocol_versions, protocol_version.version())
            && among(&self.bindings, &binding.to_string())
    }

    /// Returns its level in a protocol version and binding.
    pub fn level_in(&self, protocol_version: ProtocolVersion, binding: Option<Binding>) -> Level {
        level_in(protocol_version, binding, &self.id, self.level)
    }

    /// Returns the faults of the case itself.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for protocol_version in &self.protocol_versions {
            if ProtocolVersion::ALL
                .iter()
                .all(|known| known.version() != protocol_version)
            {
                problems.push(format!("`{protocol_version}` is not a version"));
            }
        }
        for binding in &self.bindings {
            if !["JSONRPC", "HTTP+JSON", "GRPC"].contains(&binding.as_str()) {
                problems.push(format!("`{binding}` is not a binding"));
            }
        }
        if self.steps.is_empty() {
            problems.push("it has no steps".to_owned());
        }
        for (number, step) in self.steps.iter().enumerate() {
            let numbered = |problem| format!("step {}: {problem}", number + 1);
            problems.extend(step.problems().into_iter().map(numbered));
            let mut earlier = self.steps[..number].iter().flat_map(|step| &step.r#as);
            if let Some(given) = &step.given_task
                && earlier.all(|name| name != given)
            {
                problems.push(numbered(format!("no earlier result is called `{given}`")));
            }
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
            self.handshake.is_some(),
            !self.together.is_empty(),
        ];
        if kinds.iter().filter(|is| **is).count() != 1 {
            let names = "`call`, `stream`, `http`, `next`, `close`, `notified`, `see`, `handshake`, `together`";
            problems.push(format!("expected one of {names}"));
        }
        if self.extra_seconds > 0 && self.notified.is_none() {
            problems.push("`extra_seconds` needs `notified`".to_owned());
        }
        let is_tried = |need: &_| matches!(need, Prerequisite::Webhook | Prerequisite::IssuerKeys);
        if self.needs.iter().any(is_tried) {
            problems
                .push("`webhook` and `issuer-keys` are prerequisites of whole cases".to_owned());
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
                problems.push(format!("`{name}` is not such an operation"));
            }
        }
        if self.together.iter().any(|step| step.given_task.is_some()) {
            problems.push("`given_task` is of steps that run one after the other".to_owned());
        }
        problems.extend(self.together.iter().flat_map(Self::problems));
        let lenient = self.lenient.iter().flat_map(Expect::patterns);
        for pattern in self.expect.patterns().chain(lenient) {
            let unknown = unknown_operators(pattern);
            problems.extend(
                unknown
                    .iter()
                    .map(|name| format!("`{name}` is not an operator")),
            );
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;

    #[test]
    fn given_tasks_are_those_of_earlier_results() {
        let problems = |second: &str| {
            let first = "{call: SendMessage, as: sent}";
            let case = "{id: push.x, title: It is, level: must, steps: [FIRST, SECOND]}";
            let case = case.replace("FIRST", first).replace("SECOND", second);
            yaml::read::<Case>(&case).unwrap().problems()
        };
        let right = "{call: GetTask, given_task: sent}";
        assert_eq!(problems(right), [""; 0]);
        let unknown = problems("{call: GetTask, as: send, given_task: send}");
        assert_eq!(
            unknown,
            ["step 2: no earlier result is called `send`".to_owned()]
        );
        let together = problems(&format!("{{together: [{right}]}}"));
        assert!(
            matches!(&together[..], [problem] if problem.contains("one after the other")),
            "{together:?}"
        );
    }
}
