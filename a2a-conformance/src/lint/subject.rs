//! Kind of a document, and how it is read.

use a2a_jsonrpc::{Id, Limits};
use a2a_transport::binding::jsonrpc::{EventReader as JsonRpcEvents, read_call, read_reply};
use a2a_transport::binding::{EventReader, ReadOptions};
use a2a_transport::{Binding, Error, ResponseContext};
use a2a_types::reading::{
    Deviation, Hints, Mode, Violation, Wire, WithRepairs, read, read_canonical,
};
use a2a_types::v0_3::Flavour;
use a2a_types::{AgentCard, Artifact, Event, Message, Operation, Part, ProtocolVersion, Task};
use a2a_types::{SendMessageRequest, SendMessageResponse, TaskPushNotificationConfig};
use a2a_types::{schema, v0_1, v0_2, v0_3};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::schema::Bundle;

/// Document to be judged: its kind, its protocol version, and what it answers.
#[derive(Clone, Debug)]
pub(crate) struct LintSubject {
    pub(crate) kind: SubjectKind,
    pub(crate) protocol_version: ProtocolVersion,
    /// The form of JSON, if the version has two.
    pub(crate) flavour: Flavour,
    /// Envelope of the request that an answer or an event answers.
    pub(crate) envelope: Option<ResponseContext>,
}

/// The kinds of documents.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SubjectKind {
    /// A JSON-RPC request.
    Request(Operation),
    /// A JSON-RPC request whose method the version does not have.
    UnknownRequest,
    /// A JSON-RPC answer.
    Response,
    /// One event of a stream.
    Event,
    /// An agent card.
    Card,
    /// An object that stands alone, or a piece of one, by the name of its definition.
    Object(&'static str),
}

impl LintSubject {
    pub(crate) fn new(kind: SubjectKind, protocol_version: ProtocolVersion) -> Self {
        Self {
            kind,
            protocol_version,
            flavour: Flavour::Plain,
            envelope: None,
        }
    }

    pub(crate) fn in_flavour(self, flavour: Flavour) -> Self {
        Self { flavour, ..self }
    }

    /// Returns its name, for people.
    pub(crate) fn name(&self) -> String {
        match (self.kind, self.envelope.as_ref()) {
            (SubjectKind::Request(operation), _) => format!("request of {}", operation.name()),
            (SubjectKind::UnknownRequest, _) => "request".to_owned(),
            (SubjectKind::Event, Some(_)) if self.is_bare() => {
                "event of a stream over HTTP+JSON".to_owned()
            }
            (SubjectKind::Response, _) => "answer".to_owned(),
            (SubjectKind::Event, _) => "event of a stream".to_owned(),
            (SubjectKind::Card, _) => "AgentCard".to_owned(),
            (SubjectKind::Object(name), _) => name.to_owned(),
        }
    }

    /// Returns whether it is an answer without the envelope of JSON-RPC.
    fn is_bare(&self) -> bool {
        let answered = self.envelope.as_ref();
        answered.is_some_and(|answered| answered.binding == Binding::HttpJson)
    }

    /// The definition that it must satisfy.
    pub(crate) fn definition(&self, value: &Value) -> Option<(Bundle, &'static str)> {
        let own = Bundle::Of(self.protocol_version);
        let answered = self.envelope.as_ref();
        let name = match self.kind {
            SubjectKind::Request(operation) => {
                schema::request_definition(self.protocol_version, operation)?
            }
            SubjectKind::UnknownRequest => return None,
            SubjectKind::Event if self.is_bare() => match self.protocol_version {
                ProtocolVersion::V0_3 => return Some((Bundle::ProtoJson, "StreamResponse")),
                ProtocolVersion::V1_0 => "StreamResponse",
                _ => return None,
            },
            SubjectKind::Response | SubjectKind::Event if !value["error"].is_null() => {
                match self.protocol_version {
                    ProtocolVersion::V0_1 => "JSONRPCResponse",
                    _ => "JSONRPCErrorResponse",
                }
            }
            SubjectKind::Response | SubjectKind::Event => {
                schema::response_definition(self.protocol_version, answered?.operation)?
            }
            SubjectKind::Card if self.flavour == Flavour::Proto => {
                return Some((Bundle::ProtoJson, "AgentCard"));
            }
            SubjectKind::Card => "AgentCard",
            SubjectKind::Object(name) => {
                let is_other = Bundle::Other.definitions().get(name).is_some();
                return Some(match self.flavour {
                    _ if is_other => (Bundle::Other, name),
                    Flavour::Proto => (Bundle::ProtoJson, name),
                    Flavour::Plain => (own, name),
                });
            }
        };
        Some((own, name))
    }

    /// Returns what is wrong with the envelope of JSON-RPC: the prose of every version requires all of
    /// it, the schema of 0.1 does not.
    pub(crate) fn envelope_violations(&self, message: &Value) -> Vec<Violation> {
        let is_request = matches!(
            self.kind,
            SubjectKind::Request(_) | SubjectKind::UnknownRequest
        );
        let is_answer =
            matches!(self.kind, SubjectKind::Response | SubjectKind::Event) && !self.is_bare();
        if !is_request && !is_answer {
            return Vec::new();
        }
        let at = |path: &str, problem: String| Violation {
            path: path.to_owned(),
            problem,
        };
        let mut found = Vec::new();
        match &message["jsonrpc"] {
            version if version == "2.0" => {}
            Value::Null => found.push(at("$.jsonrpc", "missing, expected \"2.0\"".to_owned())),
            other => found.push(at(
                "$.jsonrpc",
                format!("expected \"2.0\", found {}", clip(other)),
            )),
        }
        if message.get("id").is_none() {
            found.push(at("$.id", "missing".to_owned()));
        }
        let has = |member: &str| message.get(member).is_some();
        if is_answer {
            match (has("result"), has("error")) {
                (true, true) => found.push(at(
                    "$",
                    "expected one of `result` and `error`, found both".to_owned(),
                )),
                (false, false) => found.push(at("$.result", "missing".to_owned())),
                (true, false) if message.get("id").is_some_and(Value::is_null) => found.push(at(
                    "$.id",
                    "expected the id of the request, found null".to_owned(),
                )),
                _ => {}
            }
        }
        if self.kind == SubjectKind::UnknownRequest {
            found.push(at("$.method", self.unknown_method(&message["method"])));
        }
        found
    }

    /// Explains why a method is not one of this version, and which one may be meant.
    fn unknown_method(&self, method: &Value) -> String {
        let protocol_version = self.protocol_version;
        let Some(name) = method.as_str() else {
            return match method {
                Value::Null => "missing".to_owned(),
                other => format!("expected a string, found {}", clip(other)),
            };
        };
        let elsewhere = ProtocolVersion::of_method(name);
        let meant = elsewhere.and_then(|method| protocol_version.method(method.operation));
        let hint = match meant {
            Some(meant) => format!(", expected `{meant}`"),
            None => String::new(),
        };
        let name: String = name.chars().take(64).collect();
        format!("`{name}` is not a method of A2A {protocol_version}{hint}")
    }

    /// Reads it with the types of its version, and returns the repairs.
    pub(crate) fn read(&self, text: &str, mode: Mode) -> Result<Vec<Deviation>, Violation> {
        let limits = limits();
        match self.kind {
            SubjectKind::Request(_) => {
                let mut reading = ReadOptions::default();
                reading.mode = mode;
                reading.prefer = Some(self.protocol_version);
                reading.limits = limits;
                // The version is in a header, which a document does not show.
                let version = Some(self.protocol_version.version());
                let version = version.filter(|_| self.protocol_version == ProtocolVersion::V1_0);
                let question = read_call(text.as_bytes(), version, &reading);
                let question = question.map_err(|refused| located(&refused.error.message))?;
                Ok(question.repairs)
            }
            SubjectKind::UnknownRequest => Err(located("the version has no such method")),
            SubjectKind::Response => {
                let envelope = self.envelope.as_ref().ok_or_else(unasked)?;
                let read = read_reply(envelope, text.as_bytes(), mode, &limits);
                read.map(|read| read.repairs).or_else(unless_answered)
            }
            SubjectKind::Event => {
                let envelope = self.envelope.clone().ok_or_else(unasked)?;
                let read = match envelope.binding {
                    Binding::JsonRpc => {
                        JsonRpcEvents::new(envelope, mode, limits).read(text.as_bytes())
                    }
                    _ => EventReader::new(envelope, mode, limits).read(text.as_bytes()),
                };
                read.map(|read| read.repairs).or_else(unless_answered)
            }
            SubjectKind::Card => self.read_object("AgentCard", text, mode),
            SubjectKind::Object(name) => self.read_object(name, text, mode),
        }
    }

    fn read_object(&self, name: &str, text: &str, mode: Mode) -> Result<Vec<Deviation>, Violation> {
        if self.flavour == Flavour::Proto {
            return read_proto(name, text, mode);
        }
        match (self.protocol_version, name) {
            (ProtocolVersion::V0_1, "AgentCard") => wire::<v0_1::AgentCard>(text, mode),
            (ProtocolVersion::V0_1, "Task") => wire::<v0_1::Task>(text, mode),
            (ProtocolVersion::V0_1, "Message") => wire::<v0_1::Message>(text, mode),
            (ProtocolVersion::V0_1, "TaskStatusUpdateEvent") => {
                wire::<v0_1::TaskStatusUpdateEvent>(text, mode)
            }
            (ProtocolVersion::V0_1, "TaskArtifactUpdateEvent") => {
                wire::<v0_1::TaskArtifactUpdateEvent>(text, mode)
            }
            (ProtocolVersion::V0_1, "TaskPushNotificationConfig") => {
                wire::<v0_1::TaskPushNotificationConfig>(text, mode)
            }
            (ProtocolVersion::V1_0, "AgentCard") => canonical::<AgentCard>(text),
            (ProtocolVersion::V1_0, "Task") => canonical::<Task>(text),
            (ProtocolVersion::V1_0, "Message") => canonical::<Message>(text),
            (ProtocolVersion::V1_0, "Artifact") => canonical::<Artifact>(text),
            (ProtocolVersion::V1_0, "Part") => canonical::<Part>(text),
            (ProtocolVersion::V1_0, "StreamResponse") => canonical::<Event>(text),
            (ProtocolVersion::V1_0, "SendMessageRequest") => canonical::<SendMessageRequest>(text),
            (ProtocolVersion::V1_0, "SendMessageResponse") => {
                canonical::<SendMessageResponse>(text)
            }
            (ProtocolVersion::V1_0, "TaskPushNotificationConfig") => {
                canonical::<TaskPushNotificationConfig>(text)
            }
            (ProtocolVersion::V0_2 | ProtocolVersion::V0_3, "AgentCard") => {
                wire::<v0_2::AgentCard>(text, mode)
            }
            (ProtocolVersion::V0_1, "TaskSendParams") => wire::<v0_1::TaskSendParams>(text, mode),
            (ProtocolVersion::V0_2 | ProtocolVersion::V0_3, "MessageSendParams") => {
                wire::<v0_2::MessageSendParams>(text, mode)
            }
            (ProtocolVersion::V0_2 | ProtocolVersion::V0_3, "Task") => {
                wire::<v0_2::Task>(text, mode)
            }
            (ProtocolVersion::V0_2 | ProtocolVersion::V0_3, "Message") => {
                wire::<v0_2::Message>(text, mode)
            }
            (ProtocolVersion::V0_2 | ProtocolVersion::V0_3, "TaskStatusUpdateEvent") => {
                wire::<v0_2::TaskStatusUpdateEvent>(text, mode)
            }
            (ProtocolVersion::V0_2 | ProtocolVersion::V0_3, "TaskArtifactUpdateEvent") => {
                wire::<v0_2::TaskArtifactUpdateEvent>(text, mode)
            }
            (ProtocolVersion::V0_2 | ProtocolVersion::V0_3, "TaskPushNotificationConfig") => {
                wire::<v0_2::TaskPushNotificationConfig>(text, mode)
            }
            // These pieces have no type to be read as; the schema has judged them.
            _ => Ok(Vec::new()),
        }
    }
}

/// Returns the limits of a document. Limits of servers do not apply: a legal document may be larger than a
/// server accepts.
pub(crate) fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.bytes = usize::MAX;
    limits.depth = 126;
    limits.heap = usize::MAX;
    limits
}

/// The envelope of a request that is answered, as its text has it.
pub(crate) fn envelope_of(
    request: &Value,
    id: &Value,
    protocol_version: ProtocolVersion,
) -> Option<ResponseContext> {
    let method = ProtocolVersion::of_method(request["method"].as_str()?)?;
    let params = &request["params"];
    let task = [
        &params["id"],
        &params["message"]["taskId"],
        &params["taskId"],
    ];
    let mut envelope = ResponseContext::new(protocol_version, Binding::JsonRpc, method.operation);
    envelope.id = Some(serde_json::from_value(id.clone()).unwrap_or(Id::Null));
    envelope.task = task.iter().find_map(|id| id.as_str()).map(Into::into);
    Some(envelope)
}

fn read_proto(name: &str, text: &str, mode: Mode) -> Result<Vec<Deviation>, Violation> {
    match name {
        "AgentCard" => wire::<v0_3::AgentCard>(text, mode),
        "Task" => wire::<v0_3::Task>(text, mode),
        "Message" => wire::<v0_3::Message>(text, mode),
        "StreamResponse" => wire::<v0_3::StreamResponse>(text, mode),
        "SendMessageRequest" => wire::<v0_3::SendMessageRequest>(text, mode),
        "SendMessageResponse" => wire::<v0_3::SendMessageResponse>(text, mode),
        "ListTasksResponse" => wire::<v0_3::ListTasksResponse>(text, mode),
        "TaskPushNotificationConfig" => wire::<v0_3::TaskPushNotificationConfig>(text, mode),
        _ => Ok(Vec::new()),
    }
}

fn wire<T: Wire>(text: &str, mode: Mode) -> Result<Vec<Deviation>, Violation> {
    let read: WithRepairs<T> = read(text, mode, &Hints::at("$"))?;
    Ok(read.repairs)
}

fn canonical<T: DeserializeOwned>(text: &str) -> Result<Vec<Deviation>, Violation> {
    read_canonical::<T>(text, &Hints::at("$")).map(|_| Vec::new())
}

fn unasked() -> Violation {
    located("no request belongs to it")
}

/// Accepts an error of the agent as an answer.
fn unless_answered(error: Error) -> Result<Vec<Deviation>, Violation> {
    match error {
        Error::Agent(_) | Error::Busy { .. } => Ok(Vec::new()),
        Error::Malformed(violation) => Err(violation),
        other => Err(located(&other.to_string())),
    }
}

fn clip(value: &Value) -> String {
    value.to_string().chars().take(64).collect()
}

/// `$.a.b: problem` as a violation.
fn located(text: &str) -> Violation {
    let (path, problem) = match text.split_once(": ") {
        Some((path, problem)) if path.starts_with('$') => (path, problem),
        _ => ("$", text),
    };
    Violation {
        path: path.to_owned(),
        problem: problem.to_owned(),
    }
}
