//! What a document is, and how it is read.

use a2a_jsonrpc::{Id, Limits};
use a2a_transport::binding::jsonrpc::{EventReader as JsonRpcEvents, read_call, read_reply};
use a2a_transport::binding::{EventReader, Reading};
use a2a_transport::{Binding, Envelope, Error};
use a2a_types::reading::{Hints, Mode, Read, Repair, Violation, Wire, read, read_canonical};
use a2a_types::{AgentCard, Artifact, Dialect, Event, Message, Operation, Part, Task};
use a2a_types::{TaskPushNotificationConfig, schema, v0_1, v0_2};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What a document is.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) kind: Kind,
    pub(crate) dialect: Dialect,
    /// What an answer or an event answers.
    pub(crate) envelope: Option<Envelope>,
}

/// The kinds of documents.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// A JSON-RPC request.
    Request(Operation),
    /// A JSON-RPC answer.
    Response,
    /// One event of a stream.
    Event,
    /// An agent card.
    Card,
    /// What stands alone, or is a piece of something, by the name of its definition.
    Object(&'static str),
}

impl Subject {
    pub(crate) fn new(kind: Kind, dialect: Dialect) -> Self {
        Self {
            kind,
            dialect,
            envelope: None,
        }
    }

    /// What it is, for people.
    pub(crate) fn name(&self) -> String {
        match (self.kind, self.envelope.as_ref()) {
            (Kind::Request(operation), _) => format!("request of {}", operation.name()),
            (Kind::Event, Some(envelope)) if envelope.binding == Binding::HttpJson => {
                "event of a stream over HTTP+JSON".to_owned()
            }
            (Kind::Response, _) => "answer".to_owned(),
            (Kind::Event, _) => "event of a stream".to_owned(),
            (Kind::Card, _) => "AgentCard".to_owned(),
            (Kind::Object(name), _) => name.to_owned(),
        }
    }

    /// The definition that it must satisfy.
    pub(crate) fn definition(&self) -> Option<&'static str> {
        let asked = self.envelope.as_ref();
        match self.kind {
            Kind::Request(operation) => schema::request_definition(self.dialect, operation),
            Kind::Event if asked.is_some_and(|asked| asked.binding == Binding::HttpJson) => {
                (self.dialect == Dialect::V1_0).then_some("StreamResponse")
            }
            Kind::Response | Kind::Event => {
                schema::response_definition(self.dialect, asked?.operation)
            }
            Kind::Card => Some("AgentCard"),
            Kind::Object(name) => Some(name),
        }
    }

    /// The words of every generation want a full JSON-RPC envelope, where the schema of 0.1 does
    /// not.
    pub(crate) fn check_envelope(&self, message: &Value) -> Result<(), Violation> {
        let missing = |member: &str| {
            Err(Violation {
                path: format!("$.{member}"),
                problem: "missing".to_owned(),
            })
        };
        let asked = self.envelope.as_ref();
        let by_http = asked.is_some_and(|asked| asked.binding == Binding::HttpJson);
        match self.kind {
            Kind::Request(_) | Kind::Response | Kind::Event if !by_http => {
                let answered = message.get("result").is_some() != message.get("error").is_some();
                match () {
                    () if message["jsonrpc"] != "2.0" => missing("jsonrpc"),
                    () if message.get("id").is_none() => missing("id"),
                    () if !answered && !matches!(self.kind, Kind::Request(_)) => missing("result"),
                    () => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Reads it with the types of its generation: what had to be mended, or why it cannot be read.
    pub(crate) fn read(&self, text: &str, mode: Mode) -> Result<Vec<Repair>, Violation> {
        let limits = Limits::default();
        match self.kind {
            Kind::Request(_) => {
                let reading = Reading {
                    mode,
                    prefer: Some(self.dialect),
                    limits,
                    ..Reading::default()
                };
                let question = read_call(text.as_bytes(), None, &reading);
                let question = question.map_err(|refused| located(&refused.error.message))?;
                Ok(question.repairs)
            }
            Kind::Response => {
                let envelope = self.envelope.as_ref().ok_or_else(unasked)?;
                let read = read_reply(envelope, text.as_bytes(), mode, &limits);
                read.map(|read| read.repairs).map_err(told)
            }
            Kind::Event => {
                let envelope = self.envelope.clone().ok_or_else(unasked)?;
                let read = match envelope.binding {
                    Binding::JsonRpc => {
                        JsonRpcEvents::new(envelope, mode, limits).read(text.as_bytes())
                    }
                    Binding::HttpJson => {
                        EventReader::new(envelope, mode, limits).read(text.as_bytes())
                    }
                };
                read.map(|read| read.repairs).map_err(told)
            }
            Kind::Card => self.read_object("AgentCard", text, mode),
            Kind::Object(name) => self.read_object(name, text, mode),
        }
    }

    fn read_object(&self, name: &str, text: &str, mode: Mode) -> Result<Vec<Repair>, Violation> {
        match (self.dialect, name) {
            (Dialect::V0_1, "AgentCard") => wire::<v0_1::AgentCard>(text, mode),
            (Dialect::V0_1, "Task") => wire::<v0_1::Task>(text, mode),
            (Dialect::V0_1, "Message") => wire::<v0_1::Message>(text, mode),
            (Dialect::V0_1, "TaskStatusUpdateEvent") => {
                wire::<v0_1::TaskStatusUpdateEvent>(text, mode)
            }
            (Dialect::V0_1, "TaskArtifactUpdateEvent") => {
                wire::<v0_1::TaskArtifactUpdateEvent>(text, mode)
            }
            (Dialect::V0_1, "TaskPushNotificationConfig") => {
                wire::<v0_1::TaskPushNotificationConfig>(text, mode)
            }
            (Dialect::V1_0, "AgentCard") => canonical::<AgentCard>(text),
            (Dialect::V1_0, "Task") => canonical::<Task>(text),
            (Dialect::V1_0, "Message") => canonical::<Message>(text),
            (Dialect::V1_0, "Artifact") => canonical::<Artifact>(text),
            (Dialect::V1_0, "Part") => canonical::<Part>(text),
            (Dialect::V1_0, "StreamResponse") => canonical::<Event>(text),
            (Dialect::V1_0, "TaskPushNotificationConfig") => {
                canonical::<TaskPushNotificationConfig>(text)
            }
            (Dialect::V0_2 | Dialect::V0_3, "AgentCard") => wire::<v0_2::AgentCard>(text, mode),
            (Dialect::V0_2 | Dialect::V0_3, "Task") => wire::<v0_2::Task>(text, mode),
            (Dialect::V0_2 | Dialect::V0_3, "Message") => wire::<v0_2::Message>(text, mode),
            (Dialect::V0_2 | Dialect::V0_3, "TaskStatusUpdateEvent") => {
                wire::<v0_2::TaskStatusUpdateEvent>(text, mode)
            }
            (Dialect::V0_2 | Dialect::V0_3, "TaskArtifactUpdateEvent") => {
                wire::<v0_2::TaskArtifactUpdateEvent>(text, mode)
            }
            (Dialect::V0_2 | Dialect::V0_3, "TaskPushNotificationConfig") => {
                wire::<v0_2::TaskPushNotificationConfig>(text, mode)
            }
            // Pieces without types of their own to read: the schema has judged them.
            _ => Ok(Vec::new()),
        }
    }
}

/// The envelope of a request that is answered, as its text has it.
pub(crate) fn envelope_of(request: &Value, id: &Value, dialect: Dialect) -> Option<Envelope> {
    let method = Dialect::of_method(request["method"].as_str()?)?;
    let params = &request["params"];
    let task = [
        &params["id"],
        &params["message"]["taskId"],
        &params["taskId"],
    ];
    Some(Envelope {
        id: Some(serde_json::from_value(id.clone()).unwrap_or(Id::Null)),
        task: task.iter().find_map(|id| id.as_str()).map(Into::into),
        ..Envelope::new(dialect, Binding::JsonRpc, method.operation)
    })
}

fn wire<T: Wire>(text: &str, mode: Mode) -> Result<Vec<Repair>, Violation> {
    let read: Read<T> = read(text, mode, &Hints::at("$"))?;
    Ok(read.repairs)
}

fn canonical<T: DeserializeOwned>(text: &str) -> Result<Vec<Repair>, Violation> {
    read_canonical::<T>(text, &Hints::at("$")).map(|_| Vec::new())
}

fn unasked() -> Violation {
    located("no request belongs to it")
}

fn told(error: Error) -> Violation {
    match error {
        Error::Malformed(violation) => violation,
        other => located(&other.to_string()),
    }
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
