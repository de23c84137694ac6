//! The JSON-RPC binding of every generation.
//!
//! Four functions, two for each end: [`write_call`] and [`read_reply`] for the caller,
//! [`read_call`] and [`write_reply`] for the agent. Streams are read by [`EventReader`] and written
//! by [`EventWriter`], one event at a time.

use a2a_jsonrpc::{Answer, Id, Limits, Malformed, Response as RpcResponse, Version};
use a2a_types::reading::{Hints, Mode, Quirk, Read, Repair, Streamed, Violation};
use a2a_types::{
    AgentCard, ArtifactId, Dialect, Error as A2aError, ErrorKind, Event, Operation, Request,
    Response, TaskId, v0_1, v0_2,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::{Envelope, Error};

/// How requests are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// Leniently or strictly.
    pub mode: Mode,
    /// The generation in which a request is answered that several spell alike, unless its task
    /// says otherwise. None means 0.3 (specification 1.0 §3.6.2).
    pub prefer: Option<Dialect>,
    /// What one message may cost.
    pub limits: Limits,
}

/// A request as read.
#[derive(Clone, Debug)]
pub struct Question {
    /// The request in the canonical model.
    pub request: Request,
    /// How to answer it.
    pub envelope: Envelope,
    /// What had to be mended to understand it.
    pub repairs: Vec<Repair>,
}

/// A request that was refused before it was understood.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The id to answer with, null if it could not be read.
    pub id: Id,
    /// The generation to answer in.
    pub dialect: Dialect,
    /// Why.
    pub error: A2aError,
}

/// Reads a request. `version` is the `A2A-Version` header or parameter.
pub fn read_call(
    body: &[u8],
    version: Option<&str>,
    reading: &Reading,
) -> Result<Question, Refused> {
    let latest = reading.prefer.unwrap_or(Dialect::V0_3);
    let request = a2a_jsonrpc::read_request(body, &reading.limits).map_err(|refusal| Refused {
        id: refusal.id,
        dialect: latest,
        error: A2aError::new(
            ErrorKind::from_code(refusal.error.code, latest),
            refusal.error.message,
        ),
    })?;
    let answer_id = request.id.clone().unwrap_or(Id::Null);
    let refuse = |dialect: Dialect, error: A2aError| Refused {
        id: answer_id.clone(),
        dialect,
        error,
    };

    let Some(method) = Dialect::of_method(&request.method) else {
        let text = format!("$.method: no generation knows `{}`", clip(&request.method));
        return Err(refuse(
            latest,
            A2aError::new(ErrorKind::MethodNotFound, text),
        ));
    };
    let asked = requested_dialect(version).map_err(|error| refuse(Dialect::V1_0, error))?;
    let dialect = method.dialect(asked.or(reading.prefer));
    if reading.mode == Mode::Strict && dialect == Dialect::V1_0 && asked != Some(Dialect::V1_0) {
        let text = format!(
            "$.method: `{}` needs the header `A2A-Version: 1.0`, without it the caller speaks 0.3",
            clip(&request.method)
        );
        return Err(refuse(
            latest,
            A2aError::new(ErrorKind::MethodNotFound, text),
        ));
    }

    let mut repairs = Vec::new();
    if request.version == Version::Absent {
        if reading.mode == Mode::Strict {
            let text = "$.jsonrpc: missing, expected \"2.0\"";
            return Err(refuse(
                dialect,
                A2aError::new(ErrorKind::InvalidRequest, text),
            ));
        }
        repairs.push(Repair {
            quirk: Quirk::NoEnvelope,
            path: "$.jsonrpc".to_owned(),
        });
    }
    // A request without id is a notification, which wants no answer. Documents print requests
    // without any envelope, and those do; so does who asks for a stream.
    let notification = request.id.is_none()
        && request.version == Version::V2
        && !(method.operation.is_stream() && reading.mode == Mode::Lenient);

    let params = request.params.map_or("{}", RawValue::get);
    let read = read_params(dialect, method.operation, params, reading.mode)
        .map_err(|violation| refuse(dialect, invalid_params(&violation)))?;
    repairs.extend(read.repairs);
    Ok(Question {
        envelope: Envelope {
            dialect,
            operation: method.operation,
            id: (!notification).then_some(answer_id),
            task: read.value.task_id().cloned(),
            ambiguous: asked.is_none() && method.dialects.len() > 1,
        },
        request: read.value,
        repairs,
    })
}

fn requested_dialect(version: Option<&str>) -> Result<Option<Dialect>, A2aError> {
    let Some(version) = version.map(str::trim).filter(|version| !version.is_empty()) else {
        return Ok(None);
    };
    Dialect::from_version(version).map(Some).ok_or_else(|| {
        let supported: Vec<_> = Dialect::ALL
            .iter()
            .map(|dialect| dialect.version())
            .collect();
        let text = format!(
            "A2A version `{}` is not supported; supported are {}",
            clip(version),
            supported.join(", ")
        );
        A2aError::new(ErrorKind::VersionNotSupported, text)
    })
}

fn read_params(
    dialect: Dialect,
    operation: Operation,
    params: &str,
    mode: Mode,
) -> Result<Read<Request>, Violation> {
    match dialect {
        Dialect::V0_1 => v0_1::read_request(operation, params, mode),
        Dialect::V0_2 | Dialect::V0_3 => v0_2::read_request(operation, params, mode),
        Dialect::V1_0 => {
            let read: Result<Request, Violation> = match operation {
                Operation::SendMessage => canonical(params, "$.params").map(Request::SendMessage),
                Operation::SendStreamingMessage => {
                    canonical(params, "$.params").map(Request::SendStreamingMessage)
                }
                Operation::GetTask => canonical(params, "$.params").map(Request::GetTask),
                Operation::ListTasks => canonical(params, "$.params").map(Request::ListTasks),
                Operation::CancelTask => canonical(params, "$.params").map(Request::CancelTask),
                Operation::SubscribeToTask => {
                    canonical(params, "$.params").map(Request::SubscribeToTask)
                }
                Operation::CreateTaskPushNotificationConfig => {
                    canonical(params, "$.params").map(Request::CreateTaskPushNotificationConfig)
                }
                Operation::GetTaskPushNotificationConfig => {
                    canonical(params, "$.params").map(Request::GetTaskPushNotificationConfig)
                }
                Operation::ListTaskPushNotificationConfigs => {
                    canonical(params, "$.params").map(Request::ListTaskPushNotificationConfigs)
                }
                Operation::DeleteTaskPushNotificationConfig => {
                    canonical(params, "$.params").map(Request::DeleteTaskPushNotificationConfig)
                }
                Operation::GetExtendedAgentCard => {
                    canonical(params, "$.params").map(Request::GetExtendedAgentCard)
                }
            };
            read.map(unmended)
        }
    }
}

fn invalid_params(violation: &Violation) -> A2aError {
    A2aError::new(ErrorKind::InvalidParams, violation.to_string())
        .with_details(json!({"path": violation.path, "problem": violation.problem}))
}

/// Writes a request; none if the generation has no such operation.
pub fn write_call(
    request: Request,
    dialect: Dialect,
    id: &Id,
) -> Result<(Vec<u8>, Envelope), Error> {
    let operation = request.operation();
    let not_supported = || Error::NotSupported { operation, dialect };
    let method = dialect.method(operation).ok_or_else(not_supported)?;
    let mut envelope = Envelope {
        dialect,
        operation,
        id: Some(id.clone()),
        task: request.task_id().cloned(),
        ambiguous: false,
    };
    let text = match dialect {
        Dialect::V0_1 => {
            let params = v0_1::write_request(request).ok_or_else(not_supported)?;
            if let v0_1::Params::Send(params) = &params {
                envelope.task = Some(params.id.clone());
            }
            a2a_jsonrpc::write_request(id, method, Some(&params))
        }
        Dialect::V0_2 | Dialect::V0_3 => {
            let params = v0_2::write_request(request).ok_or_else(not_supported)?;
            a2a_jsonrpc::write_request(id, method, Some(&params))
        }
        Dialect::V1_0 => a2a_jsonrpc::write_request(id, method, Some(&canonical_params(request))),
    };
    Ok((text.map_err(unwritable)?, envelope))
}

fn canonical_params(request: Request) -> Value {
    let value = match &request {
        Request::SendMessage(params) | Request::SendStreamingMessage(params) => {
            serde_json::to_value(params)
        }
        Request::GetTask(params) => serde_json::to_value(params),
        Request::ListTasks(params) => serde_json::to_value(params),
        Request::CancelTask(params) => serde_json::to_value(params),
        Request::SubscribeToTask(params) => serde_json::to_value(params),
        Request::CreateTaskPushNotificationConfig(params) => serde_json::to_value(params),
        Request::GetTaskPushNotificationConfig(params) => serde_json::to_value(params),
        Request::ListTaskPushNotificationConfigs(params) => serde_json::to_value(params),
        Request::DeleteTaskPushNotificationConfig(params) => serde_json::to_value(params),
        Request::GetExtendedAgentCard(params) => serde_json::to_value(params),
    };
    value.unwrap_or_default()
}

/// Writes the answer to a question that is answered once.
pub fn write_reply(envelope: &Envelope, outcome: Result<Response, A2aError>) -> Vec<u8> {
    let id = envelope.id.clone().unwrap_or(Id::Null);
    let result = outcome.and_then(|response| {
        let raw = match envelope.dialect {
            Dialect::V0_1 => {
                let task = envelope.task.clone().unwrap_or_default();
                v0_1::write_response(response, &task).map(|returned| to_raw_value(&returned))
            }
            Dialect::V0_2 | Dialect::V0_3 => {
                v0_2::write_response(response).map(|returned| to_raw_value(&returned))
            }
            Dialect::V1_0 => Some(canonical_result(&response)),
        };
        raw.transpose()
            .ok()
            .flatten()
            .ok_or_else(|| ErrorKind::MethodNotFound.into())
    });
    write_outcome(id, envelope.dialect, result)
}

/// Writes the answer to a question that was not understood.
pub fn write_refusal(refused: Refused) -> Vec<u8> {
    write_outcome(refused.id, refused.dialect, Err::<(), _>(refused.error))
}

fn write_outcome(id: Id, dialect: Dialect, result: Result<impl Serialize, A2aError>) -> Vec<u8> {
    let outcome = result.map_err(|error| write_error(error, dialect));
    // Everything in it is our own type with string keys, so it always serialises.
    serde_json::to_vec(&RpcResponse { id, outcome }).unwrap_or_default()
}

fn canonical_result(response: &Response) -> serde_json::Result<Box<RawValue>> {
    match response {
        Response::SendMessage(result) => to_raw_value(result),
        Response::GetTask(task) | Response::CancelTask(task) => to_raw_value(task),
        Response::ListTasks(list) => to_raw_value(list),
        Response::CreateTaskPushNotificationConfig(config)
        | Response::GetTaskPushNotificationConfig(config) => to_raw_value(config),
        Response::ListTaskPushNotificationConfigs(list) => to_raw_value(list),
        Response::DeleteTaskPushNotificationConfig(()) => to_raw_value(&json!({})),
        Response::GetExtendedAgentCard(card) => to_raw_value(card),
    }
}

/// `error` in a generation: what `data` may be differs.
fn write_error(error: A2aError, dialect: Dialect) -> a2a_jsonrpc::Error {
    let data = match dialect {
        Dialect::V1_0 => Some(error_info(&error)),
        Dialect::V0_1 => error.details.filter(Value::is_object),
        Dialect::V0_2 | Dialect::V0_3 => error.details,
    };
    let written = a2a_jsonrpc::Error::new(error.kind.code_in(dialect), error.message);
    match data.and_then(|data| to_raw_value(&data).ok()) {
        Some(data) => written.with_data(data),
        None => written,
    }
}

/// The details that 1.0 §9.5 asks for: a list of typed objects.
fn error_info(error: &A2aError) -> Value {
    let mut details = vec![json!({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": error.kind.reason(),
        "domain": "a2a-protocol.org",
    })];
    match &error.details {
        Some(Value::Array(given)) => details.extend(given.iter().cloned()),
        Some(given) if given["path"].is_string() => details.push(json!({
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [{"field": given["path"], "description": given["problem"]}],
        })),
        _ => {}
    }
    Value::Array(details)
}

/// Writes the events of one stream, each a line of JSON.
#[derive(Debug)]
pub struct EventWriter {
    id: Id,
    dialect: Dialect,
    v0_1: v0_1::EventWriter,
}

impl EventWriter {
    /// A writer for the answer to a question.
    pub fn new(envelope: &Envelope) -> Self {
        Self {
            id: envelope.id.clone().unwrap_or(Id::Null),
            dialect: envelope.dialect,
            v0_1: v0_1::EventWriter::new(envelope.task.clone().unwrap_or_default()),
        }
    }

    /// The generation that is written.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// What the generation says for one event: usually one line, in 0.1 sometimes more.
    pub fn write(&mut self, event: Event) -> Vec<Line> {
        let name = match &event {
            Event::Task(_) | Event::Message(_) | Event::StatusUpdate(_) => "task_status_update",
            Event::ArtifactUpdate(_) => "task_artifact_update",
        };
        match self.dialect {
            Dialect::V0_1 => {
                let events = self.v0_1.write(event);
                events
                    .into_iter()
                    .map(|event| self.line(name_in_0_1(&event), &event))
                    .collect()
            }
            Dialect::V0_2 | Dialect::V0_3 => vec![self.line(name, &v0_2::write_event(event))],
            Dialect::V1_0 => vec![self.line(name, &event)],
        }
    }

    /// An error in the middle of the stream; nothing follows it.
    pub fn write_error(&self, error: A2aError) -> Line {
        Line {
            name: "task_status_update",
            json: write_outcome(self.id.clone(), self.dialect, Err::<(), _>(error)),
        }
    }

    fn line(&self, name: &'static str, result: &impl Serialize) -> Line {
        Line {
            name,
            json: write_outcome(self.id.clone(), self.dialect, Ok(result)),
        }
    }
}

fn name_in_0_1(event: &v0_1::TaskEvent) -> &'static str {
    match event {
        v0_1::TaskEvent::Status(_) => "task_status_update",
        v0_1::TaskEvent::Artifact(_) => "task_artifact_update",
    }
}

/// One event on its way to Server-Sent Events.
#[derive(Clone, Debug)]
pub struct Line {
    /// The name that trpc-a2a-go's clients look at; others ignore it.
    pub name: &'static str,
    /// The JSON-RPC response, without line breaks.
    pub json: Vec<u8>,
}

/// Reads the answer to a question that is answered once.
pub fn read_reply(
    envelope: &Envelope,
    body: &[u8],
    mode: Mode,
    limits: &Limits,
) -> Result<Read<Response>, Error> {
    let (result, mut repairs) = open(envelope, body, mode, limits)?;
    let hints = Hints {
        task: envelope.task.as_ref(),
        ..Hints::at(root(&repairs))
    };
    let read = match envelope.dialect {
        Dialect::V0_1 => v0_1::read_response(envelope.operation, result.get(), mode, &hints),
        Dialect::V0_2 | Dialect::V0_3 => {
            v0_2::read_response(envelope.operation, result.get(), mode, &hints)
        }
        Dialect::V1_0 => canonical_response(envelope.operation, result.get()).map(unmended),
    };
    let read = read.map_err(Error::Malformed)?;
    repairs.extend(read.repairs);
    Ok(Read {
        value: read.value,
        repairs,
    })
}

/// Reads the events of one stream.
#[derive(Debug)]
pub struct EventReader {
    envelope: Envelope,
    mode: Mode,
    limits: Limits,
    artifact: Option<ArtifactId>,
    task: Option<TaskId>,
}

impl EventReader {
    /// A reader for the answer to a question.
    pub fn new(envelope: Envelope, mode: Mode, limits: Limits) -> Self {
        Self {
            task: envelope.task.clone(),
            envelope,
            mode,
            limits,
            artifact: None,
        }
    }

    /// Reads one event.
    pub fn read(&mut self, data: &[u8]) -> Result<Read<Streamed>, Error> {
        let (result, mut repairs) = open(&self.envelope, data, self.mode, &self.limits)?;
        let hints = Hints {
            task: self.task.as_ref(),
            artifact: self.artifact.as_ref(),
            ..Hints::at(root(&repairs))
        };
        let read = match self.envelope.dialect {
            Dialect::V0_1 => v0_1::read_event(result.get(), self.mode, &hints),
            Dialect::V0_2 | Dialect::V0_3 => v0_2::read_event(result.get(), self.mode, &hints),
            Dialect::V1_0 => canonical(result.get(), hints.root)
                .map(|event| unmended(Streamed { event, last: false })),
        };
        let read = read.map_err(Error::Malformed)?;
        if let Event::ArtifactUpdate(update) = &read.value.event {
            self.artifact = Some(update.artifact.artifact_id.clone());
        }
        repairs.extend(read.repairs);
        Ok(Read {
            value: read.value,
            repairs,
        })
    }
}

/// Opens the JSON-RPC envelope of an answer.
fn open<'a>(
    envelope: &Envelope,
    body: &'a [u8],
    mode: Mode,
    limits: &Limits,
) -> Result<(&'a RawValue, Vec<Repair>), Error> {
    let repair = |quirk, path: &str| Repair {
        quirk,
        path: path.to_owned(),
    };
    let malformed = |path: &str, problem: String| {
        Error::Malformed(Violation {
            path: path.to_owned(),
            problem,
        })
    };
    let answer = match a2a_jsonrpc::read_response(body, limits) {
        Ok(answer) => answer,
        Err(Malformed::NotAnEnvelope { marked: false }) if mode == Mode::Lenient => {
            let bare =
                serde_json::from_slice(body).map_err(|error| malformed("$", error.to_string()))?;
            return Ok((bare, vec![repair(Quirk::Bare, "$")]));
        }
        Err(Malformed::Unreadable(fault)) => {
            return Err(malformed(&fault.path.clone(), fault.to_string()));
        }
        Err(Malformed::Member { path, wrong }) => return Err(malformed(path, wrong)),
        Err(other) => return Err(malformed("$", other.to_string())),
    };
    let Answer { id, outcome, .. } = answer;
    let mut repairs = Vec::new();
    let asked = envelope.id.as_ref();
    // A server that could not read our id answers with null.
    let same = id.as_ref() == asked || (outcome.is_err() && matches!(id, None | Some(Id::Null)));
    if !same {
        if mode == Mode::Strict {
            let shown = |id: Option<&Id>| id.map_or("no id".to_owned(), ToString::to_string);
            let problem = format!("{} answers {}", shown(id.as_ref()), shown(asked));
            return Err(malformed("$.id", problem));
        }
        let quirk = match asked {
            None | Some(Id::Null) => Quirk::IdOnIdless,
            Some(_) => Quirk::IdMismatch,
        };
        repairs.push(repair(quirk, "$.id"));
    }
    let result = outcome.map_err(|error| read_error(error, envelope.dialect))?;
    Ok((result, repairs))
}

/// Where the result stands in its message.
fn root(repairs: &[Repair]) -> &'static str {
    match repairs.first() {
        Some(Repair {
            quirk: Quirk::Bare, ..
        }) => "$",
        _ => "$.result",
    }
}

fn read_error(error: a2a_jsonrpc::Error, dialect: Dialect) -> A2aError {
    A2aError {
        kind: ErrorKind::from_code(error.code, dialect),
        message: error.message,
        details: error
            .data
            .and_then(|data| serde_json::from_str(data.get()).ok()),
    }
}

fn canonical_response(operation: Operation, json: &str) -> Result<Response, Violation> {
    let at = "$.result";
    Ok(match operation {
        Operation::SendMessage => Response::SendMessage(canonical(json, at)?),
        Operation::GetTask => Response::GetTask(canonical(json, at)?),
        Operation::ListTasks => Response::ListTasks(canonical(json, at)?),
        Operation::CancelTask => Response::CancelTask(canonical(json, at)?),
        Operation::CreateTaskPushNotificationConfig => {
            Response::CreateTaskPushNotificationConfig(canonical(json, at)?)
        }
        Operation::GetTaskPushNotificationConfig => {
            Response::GetTaskPushNotificationConfig(canonical(json, at)?)
        }
        Operation::ListTaskPushNotificationConfigs => {
            Response::ListTaskPushNotificationConfigs(canonical(json, at)?)
        }
        Operation::DeleteTaskPushNotificationConfig => {
            Response::DeleteTaskPushNotificationConfig(())
        }
        Operation::GetExtendedAgentCard => {
            Response::GetExtendedAgentCard(canonical::<AgentCard>(json, at)?)
        }
        Operation::SendStreamingMessage | Operation::SubscribeToTask => {
            return Err(Violation {
                path: at.to_owned(),
                problem: format!("{} is answered by a stream", operation.name()),
            });
        }
    })
}

/// Reads 1.0, which is the canonical model itself.
fn canonical<T: DeserializeOwned>(json: &str, root: &str) -> Result<T, Violation> {
    a2a_types::reading::read_canonical(json, &Hints::at(root))
}

fn unmended<T>(value: T) -> Read<T> {
    Read {
        value,
        repairs: Vec::new(),
    }
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::Malformed(Violation {
        path: "$.params".to_owned(),
        problem: error.to_string(),
    })
}

/// As much of a peer's word as an error message should repeat.
fn clip(word: &str) -> String {
    word.chars().take(64).collect()
}
