//! Kinds of golden documents, and how each version reads and writes them.

use a2a_types::reading::{Hints, Mode, Violation, Wire, read, read_canonical};
use a2a_types::{
    AgentCard, ContextId, Event, Message, Operation, Request, Response, TaskId, TaskStatus, v0_1,
    v0_2, v0_3,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::golden::spelling::Spelling;

/// Kind of a document.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DocumentKind {
    Message,
    TaskStatus,
    AgentCard,
    /// One item of a stream; a list of them where one version needs several.
    Event,
    Request(Operation),
    Response(Operation),
}

/// A document in the canonical model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Canonical {
    Message(Message),
    TaskStatus(TaskStatus),
    AgentCard(AgentCard),
    Events(Vec<Event>),
    Request(Request),
    Response(Response),
}

impl DocumentKind {
    /// Returns the kind of this name: `Message`, `GetTask request`, `GetTask response`, and so on.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let operation = |name| {
            let mut all = Operation::ALL.iter().copied();
            all.find(|operation| operation.name() == name)
        };
        Some(match name.split_once(' ') {
            None => match name {
                "Message" => Self::Message,
                "TaskStatus" => Self::TaskStatus,
                "AgentCard" => Self::AgentCard,
                "StreamResponse" => Self::Event,
                _ => return None,
            },
            Some((name, "request")) => Self::Request(operation(name)?),
            Some((name, "response")) => Self::Response(operation(name)?),
            Some(_) => return None,
        })
    }

    /// Reads a document strictly.
    pub(crate) fn read(self, spelling: Spelling, value: &Value) -> Result<Canonical, String> {
        self.read_as(spelling, Mode::Strict, value)
    }

    /// Reads a document in this mode; 1.0 has only one.
    pub(crate) fn read_as(
        self,
        spelling: Spelling,
        mode: Mode,
        value: &Value,
    ) -> Result<Canonical, String> {
        let json = value.to_string();
        let read_as = (spelling, mode);
        let read = match self {
            Self::Message => message(read_as, &json).map(Canonical::Message),
            Self::TaskStatus => task_status(read_as, &json).map(Canonical::TaskStatus),
            Self::AgentCard => agent_card(read_as, &json).map(Canonical::AgentCard),
            Self::Event => match value {
                Value::Array(items) => {
                    let events = items.iter().map(|item| event(read_as, &item.to_string()));
                    events.collect::<Result<_, _>>().map(Canonical::Events)
                }
                _ => event(read_as, &json).map(|event| Canonical::Events(vec![event])),
            },
            Self::Request(operation) => request(read_as, operation, &json).map(Canonical::Request),
            Self::Response(operation) => {
                response(read_as, operation, &json).map(Canonical::Response)
            }
        };
        read.map_err(|violation| violation.to_string())
    }

    /// Writes a document, or returns `None` if the version cannot express it.
    pub(crate) fn write(self, spelling: Spelling, canonical: Canonical) -> Option<Value> {
        match canonical {
            Canonical::Message(message) => Some(match spelling {
                Spelling::V0_1 => json(v0_1::Message::from(message)),
                Spelling::V0_2 | Spelling::V0_3 => json(v0_2::Message::from(message)),
                Spelling::V0_3P => json(v0_3::Message::from(message)),
                Spelling::V1_0 => json(message),
            }),
            Canonical::TaskStatus(status) => Some(match spelling {
                Spelling::V0_1 => json(v0_1::TaskStatus::from(status)),
                Spelling::V0_2 | Spelling::V0_3 => json(v0_2::TaskStatus::from(status)),
                Spelling::V0_3P => json(v0_3::TaskStatus::from(status)),
                Spelling::V1_0 => json(status),
            }),
            Canonical::AgentCard(card) => Some(match spelling {
                Spelling::V0_1 => json(v0_1::AgentCard::from(card)),
                Spelling::V0_2 => json(v0_2::AgentCard::from(card).of_0_2()),
                Spelling::V0_3 => json(v0_2::AgentCard::from(card)),
                Spelling::V0_3P => json(v0_3::AgentCard::from(card)),
                Spelling::V1_0 => json(card),
            }),
            Canonical::Events(events) => Some(write_events(spelling, events)),
            Canonical::Request(request) => write_request(spelling, request),
            Canonical::Response(response) => write_response(spelling, response),
        }
    }
}

/// Spelling and strictness of a reading.
type ReadAs = (Spelling, Mode);

fn message((spelling, mode): ReadAs, json: &str) -> Result<Message, Violation> {
    match spelling {
        Spelling::V0_1 => wire::<v0_1::Message, _>(mode, json),
        Spelling::V0_2 | Spelling::V0_3 => wire::<v0_2::Message, _>(mode, json),
        Spelling::V0_3P => wire::<v0_3::Message, _>(mode, json),
        Spelling::V1_0 => canonical(json),
    }
}

fn task_status((spelling, mode): ReadAs, json: &str) -> Result<TaskStatus, Violation> {
    match spelling {
        Spelling::V0_1 => wire::<v0_1::TaskStatus, _>(mode, json),
        Spelling::V0_2 | Spelling::V0_3 => wire::<v0_2::TaskStatus, _>(mode, json),
        Spelling::V0_3P => wire::<v0_3::TaskStatus, _>(mode, json),
        Spelling::V1_0 => canonical(json),
    }
}

fn agent_card((spelling, mode): ReadAs, json: &str) -> Result<AgentCard, Violation> {
    match spelling {
        Spelling::V0_1 => wire::<v0_1::AgentCard, _>(mode, json),
        Spelling::V0_2 | Spelling::V0_3 => wire::<v0_2::AgentCard, _>(mode, json),
        Spelling::V0_3P => wire::<v0_3::AgentCard, _>(mode, json),
        Spelling::V1_0 => canonical(json),
    }
}

fn event((spelling, mode): ReadAs, json: &str) -> Result<Event, Violation> {
    let at = Hints::at("$");
    let streamed = match spelling {
        Spelling::V0_1 => v0_1::read_event(json, mode, &at),
        Spelling::V0_2 | Spelling::V0_3 => v0_2::read_event(json, mode, &at),
        Spelling::V0_3P => v0_3::read_event(json, mode, &at),
        Spelling::V1_0 => return canonical(json),
    };
    let mut event = streamed?.value.event;
    // A reader of 0.1 knows the context from the exchange, not from the event.
    let context = match &mut event {
        Event::StatusUpdate(update) => &mut update.context_id,
        Event::ArtifactUpdate(update) => &mut update.context_id,
        Event::Task(_) | Event::Message(_) => return Ok(event),
    };
    context.get_or_insert(ContextId::from(CONTEXT));
    Ok(event)
}

/// Writes events as a list, or a single event alone.
fn write_events(spelling: Spelling, events: Vec<Event>) -> Value {
    let mut writer = v0_1::EventWriter::new(TaskId::from(TASK));
    let written = events.into_iter().flat_map(|event| match spelling {
        Spelling::V0_1 => writer.write(event).into_iter().map(json).collect(),
        Spelling::V0_2 | Spelling::V0_3 => vec![json(v0_2::write_event(event))],
        Spelling::V0_3P => vec![json(v0_3::write_event(event))],
        Spelling::V1_0 => vec![json(event)],
    });
    let mut written: Vec<_> = written.collect();
    match written.len() {
        1 => written.remove(0),
        _ => Value::Array(written),
    }
}

fn request(
    (spelling, mode): ReadAs,
    operation: Operation,
    json: &str,
) -> Result<Request, Violation> {
    let task = TaskId::from(TASK);
    let hints = Hints {
        task: Some(&task),
        ..Hints::at("$")
    };
    let read = match spelling {
        Spelling::V0_1 => v0_1::read_request(operation, json, mode),
        Spelling::V0_2 | Spelling::V0_3 => v0_2::read_request(operation, json, mode, &hints),
        Spelling::V0_3P => v0_3::read_request(operation, json, mode, &hints),
        Spelling::V1_0 => return request_1_0(operation, json),
    };
    read.map(|read| read.value)
}

fn request_1_0(operation: Operation, json: &str) -> Result<Request, Violation> {
    Ok(match operation {
        Operation::SendMessage => Request::SendMessage(canonical(json)?),
        Operation::SendStreamingMessage => Request::SendStreamingMessage(canonical(json)?),
        Operation::GetTask => Request::GetTask(canonical(json)?),
        Operation::ListTasks => Request::ListTasks(canonical(json)?),
        Operation::CancelTask => Request::CancelTask(canonical(json)?),
        Operation::SubscribeToTask => Request::SubscribeToTask(canonical(json)?),
        Operation::CreateTaskPushNotificationConfig => {
            Request::CreateTaskPushNotificationConfig(canonical(json)?)
        }
        Operation::GetTaskPushNotificationConfig => {
            Request::GetTaskPushNotificationConfig(canonical(json)?)
        }
        Operation::ListTaskPushNotificationConfigs => {
            Request::ListTaskPushNotificationConfigs(canonical(json)?)
        }
        Operation::DeleteTaskPushNotificationConfig => {
            Request::DeleteTaskPushNotificationConfig(canonical(json)?)
        }
        Operation::GetExtendedAgentCard => Request::GetExtendedAgentCard(canonical(json)?),
    })
}

fn write_request(spelling: Spelling, request: Request) -> Option<Value> {
    // 0.3 uses the types of 0.2 too, and has more operations.
    spelling.protocol_version().method(request.operation())?;
    match spelling {
        Spelling::V0_1 => v0_1::write_request(request).map(json),
        Spelling::V0_2 | Spelling::V0_3 => v0_2::write_request(request).map(json),
        Spelling::V0_3P => v0_3::write_request(request).map(json),
        Spelling::V1_0 => Some(match request {
            Request::SendMessage(params) | Request::SendStreamingMessage(params) => json(params),
            Request::GetTask(params) => json(params),
            Request::ListTasks(params) => json(params),
            Request::CancelTask(params) => json(params),
            Request::SubscribeToTask(params) => json(params),
            Request::CreateTaskPushNotificationConfig(params) => json(params),
            Request::GetTaskPushNotificationConfig(params) => json(params),
            Request::ListTaskPushNotificationConfigs(params) => json(params),
            Request::DeleteTaskPushNotificationConfig(params) => json(params),
            Request::GetExtendedAgentCard(params) => json(params),
        }),
    }
}

fn response(
    (spelling, mode): ReadAs,
    operation: Operation,
    json: &str,
) -> Result<Response, Violation> {
    let at = Hints::at("$");
    let read = match spelling {
        Spelling::V0_1 => v0_1::read_response(operation, json, mode, &at),
        Spelling::V0_2 | Spelling::V0_3 => v0_2::read_response(operation, json, mode, &at),
        Spelling::V0_3P => v0_3::read_response(operation, json, mode, &at),
        Spelling::V1_0 => return response_1_0(operation, json),
    };
    read.map(|read| read.value)
}

fn response_1_0(operation: Operation, json: &str) -> Result<Response, Violation> {
    Ok(match operation {
        Operation::SendMessage => Response::SendMessage(canonical(json)?),
        Operation::GetTask => Response::GetTask(canonical(json)?),
        Operation::ListTasks => Response::ListTasks(canonical(json)?),
        Operation::CancelTask => Response::CancelTask(canonical(json)?),
        Operation::CreateTaskPushNotificationConfig => {
            Response::CreateTaskPushNotificationConfig(canonical(json)?)
        }
        Operation::GetTaskPushNotificationConfig => {
            Response::GetTaskPushNotificationConfig(canonical(json)?)
        }
        Operation::ListTaskPushNotificationConfigs => {
            Response::ListTaskPushNotificationConfigs(canonical(json)?)
        }
        Operation::GetExtendedAgentCard => Response::GetExtendedAgentCard(canonical(json)?),
        // Its answer is an object without members, and a stream has no answer but its events.
        Operation::DeleteTaskPushNotificationConfig
        | Operation::SendStreamingMessage
        | Operation::SubscribeToTask => {
            let problem = format!("no document is the answer to {}", operation.name());
            return Err(Violation {
                path: "$".to_owned(),
                problem,
            });
        }
    })
}

fn write_response(spelling: Spelling, response: Response) -> Option<Value> {
    spelling.protocol_version().method(response.operation())?;
    let task = TaskId::from(TASK);
    match spelling {
        Spelling::V0_1 => v0_1::write_response(response, &task).map(json),
        Spelling::V0_2 | Spelling::V0_3 => {
            v0_2::write_response(response, spelling.protocol_version()).map(json)
        }
        Spelling::V0_3P => v0_3::write_response(response).map(json),
        Spelling::V1_0 => Some(match response {
            Response::SendMessage(answer) => json(answer),
            Response::GetTask(task) | Response::CancelTask(task) => json(task),
            Response::ListTasks(list) => json(list),
            Response::CreateTaskPushNotificationConfig(config)
            | Response::GetTaskPushNotificationConfig(config) => json(config),
            Response::ListTaskPushNotificationConfigs(list) => json(list),
            Response::DeleteTaskPushNotificationConfig(()) => Value::Object(Default::default()),
            Response::GetExtendedAgentCard(card) => json(card),
        }),
    }
}

/// The task that requests and answers are about.
pub(crate) const TASK: &str = "task-7";
/// The conversation that they are in.
pub(crate) const CONTEXT: &str = "ctx-9";

fn wire<W: Wire, C: From<W>>(mode: Mode, json: &str) -> Result<C, Violation> {
    Ok(read::<W>(json, mode, &Hints::at("$"))?.value.into())
}

fn canonical<T: DeserializeOwned>(json: &str) -> Result<T, Violation> {
    read_canonical(json, &Hints::at("$"))
}

fn json(value: impl Serialize) -> Value {
    serde_json::to_value(value).expect("what is written is JSON")
}
