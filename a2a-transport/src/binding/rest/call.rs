//! Requests.

use a2a_jsonrpc::{Id, Limits};
use a2a_types::reading::{Hints, Mode, Violation, WithRepairs};
use a2a_types::v0_3::{self, Flavour};
use a2a_types::{Error as A2aError, ErrorKind, Operation, ProtocolVersion, Request, v0_2};
use http::Method;
use serde_json::{Map, Value};

use super::query;
use super::route::{Route, is_dots};
use crate::binding::incoming_call::invalid_params;
use crate::binding::{CallRefusal, IncomingCall, OutgoingCall, ReadOptions, bounds, canonical};
use crate::error::clip;
use crate::{Binding, Error, ResponseContext};

/// Reads a request that was sent to one of our routes.
pub fn read_call(
    route: Route,
    query: Option<&str>,
    body: &[u8],
    reading: &ReadOptions,
) -> Result<IncomingCall, CallRefusal> {
    let Route {
        operation,
        protocol_version,
        ..
    } = route;
    let refuse = |error| CallRefusal {
        binding: Binding::HttpJson,
        id: Id::Null,
        protocol_version,
        error,
        status: None,
    };
    let body = text(body, &reading.limits).map_err(refuse)?;
    let read = match protocol_version {
        ProtocolVersion::V1_0 => read_1_0(&route, query, body, reading.mode),
        _ => read_0_3(&route, query, body, reading.mode),
    };
    let root = match has_query(operation) {
        true => query::ROOT,
        false => "$",
    };
    let flavour = flavour(operation, body);
    let spelled = match flavour {
        Flavour::Plain => protocol_version,
        Flavour::Proto => ProtocolVersion::V1_0,
    };
    let read = read
        .and_then(|read| bounds::check(&read.value, spelled, root).map(|()| read))
        .map_err(|violation| refuse(invalid_params(&violation)))?;
    Ok(IncomingCall {
        envelope: ResponseContext {
            task: read.value.task_id().cloned(),
            flavour,
            ..ResponseContext::new(protocol_version, Binding::HttpJson, operation)
        },
        request: read.value,
        repairs: read.repairs,
    })
}

/// Returns the JSON form of the answer: that of the request's body; without a hint in it ProtoJSON, except
/// for the card, which 0.3 has in one form.
fn flavour(operation: Operation, body: &str) -> Flavour {
    match operation {
        Operation::GetExtendedAgentCard => Flavour::Plain,
        _ => Flavour::of(body).unwrap_or(Flavour::Proto),
    }
}

/// Returns the text of a body within its limits. An empty body is read as an empty object, and so is `null`,
/// which the official Go SDK sends when the path has all members.
fn text<'a>(body: &'a [u8], limits: &Limits) -> Result<&'a str, A2aError> {
    if matches!(body.trim_ascii(), b"" | b"null") {
        return Ok("{}");
    }
    let parse = |problem: String| A2aError::new(ErrorKind::JsonParse, problem);
    a2a_jsonrpc::check(body, limits).map_err(|fault| parse(fault.to_string()))?;
    if body.trim_ascii_start().starts_with(b"[") {
        let text = "$: expected an object, found an array";
        return Err(A2aError::new(ErrorKind::InvalidParams, text));
    }
    std::str::from_utf8(body).map_err(|error| parse(error.to_string()))
}

fn read_1_0(
    route: &Route,
    query: Option<&str>,
    body: &str,
    mode: Mode,
) -> Result<WithRepairs<Request>, Violation> {
    let mut read = match route.operation {
        // A body without a member in the path is read as it stands.
        Operation::SendMessage | Operation::SendStreamingMessage => {
            canonical::read_sent(route.operation, body, mode, &Hints::at("$"))?
        }
        operation if has_body(operation) => {
            let members = object(body)?;
            canonical::read_request(operation, &named(route, members, "$")?, &Hints::at("$"))?
        }
        operation => {
            let mut members = query::read(query)?;
            if operation == Operation::SubscribeToTask {
                // A GET by the proto, a POST by the text: callers put the other members in either
                // place.
                for (name, member) in object(body)? {
                    members.entry(name).or_insert(member);
                }
            }
            let members = named(route, members, query::ROOT)?;
            canonical::read_request(operation, &members, &Hints::at(query::ROOT))?
        }
    };
    if let Some(tenant) = &route.tenant {
        match read.value.tenant() {
            Some(other) if !other.is_empty() && other != tenant => {
                return Err(disagreement("$.tenant", other, tenant));
            }
            _ => read.value.set_tenant(Some(tenant.clone())),
        }
    }
    Ok(read)
}

/// Returns whether the members stand in the body. A POST that subscribes has them in its query, as the GET.
fn has_body(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::CancelTask | Operation::CreateTaskPushNotificationConfig
    )
}

/// Returns whether the members of an operation stand in the query.
fn has_query(operation: Operation) -> bool {
    let is_send = matches!(
        operation,
        Operation::SendMessage | Operation::SendStreamingMessage
    );
    !is_send && !has_body(operation)
}

fn object(body: &str) -> Result<Map<String, Value>, Violation> {
    serde_json::from_str(body).map_err(|_| Violation {
        path: "$".to_owned(),
        problem: "expected an object".to_owned(),
    })
}

/// Returns `members` together with the members that the path names.
fn named(route: &Route, mut members: Map<String, Value>, root: &str) -> Result<String, Violation> {
    let PathParams { task, config } = PathParams::of(route.operation);
    let of_path = [(task, &route.task), (config, &route.config)];
    for (names, value) in of_path {
        let (Some(names), Some(value)) = (names, value) else {
            continue;
        };
        for name in names {
            match members.remove(*name) {
                Some(Value::String(other)) if !other.is_empty() && other != *value => {
                    return Err(disagreement(&format!("{root}.{name}"), &other, value));
                }
                _ => {}
            }
        }
        members.insert(names[0].to_owned(), value.clone().into());
    }
    Ok(Value::Object(members).to_string())
}

/// The members of an operation's params that stand in its path, in both their spellings.
struct PathParams {
    task: Option<&'static [&'static str]>,
    config: Option<&'static [&'static str]>,
}

impl PathParams {
    fn of(operation: Operation) -> Self {
        const ID: Option<&[&str]> = Some(&["id"]);
        const TASK_ID: Option<&[&str]> = Some(&["taskId", "task_id"]);
        let (task, config) = match operation {
            Operation::GetTask | Operation::CancelTask | Operation::SubscribeToTask => (ID, None),
            Operation::CreateTaskPushNotificationConfig
            | Operation::ListTaskPushNotificationConfigs => (TASK_ID, None),
            Operation::GetTaskPushNotificationConfig
            | Operation::DeleteTaskPushNotificationConfig => (TASK_ID, ID),
            Operation::SendMessage
            | Operation::SendStreamingMessage
            | Operation::ListTasks
            | Operation::GetExtendedAgentCard => (None, None),
        };
        Self { task, config }
    }
}

fn disagreement(path: &str, found: &str, in_path: &str) -> Violation {
    Violation {
        path: path.to_owned(),
        problem: format!(
            "says `{}`, but the path of the URL says `{}`",
            clip(found),
            clip(in_path)
        ),
    }
}

fn read_0_3(
    route: &Route,
    query: Option<&str>,
    body: &str,
    mode: Mode,
) -> Result<WithRepairs<Request>, Violation> {
    let operation = route.operation;
    let task = route.task.clone().map(Into::into);
    let hints = Hints {
        task: task.as_ref(),
        ..Hints::at("$")
    };
    match operation {
        Operation::SendMessage | Operation::SendStreamingMessage => match Flavour::of(body) {
            Some(Flavour::Plain) => v0_2::read_request(operation, body, mode, &hints),
            _ => v0_3::read_request(operation, body, mode, &hints),
        },
        Operation::CreateTaskPushNotificationConfig | Operation::CancelTask => {
            v0_3::read_request(operation, body, mode, &hints)
        }
        _ => {
            let mut members = query::read(query)?;
            query::modernize(&mut members);
            let members = named(route, members, query::ROOT)?;
            canonical::read_request(operation, &members, &Hints::at(query::ROOT))
        }
    }
}

/// Writes a request. Errors: the protocol version has no such operation, or an id cannot stand in a path.
pub fn write_call(
    request: Request,
    protocol_version: ProtocolVersion,
) -> Result<OutgoingCall, Error> {
    let operation = request.operation();
    let envelope = ResponseContext {
        task: request.task_id().cloned(),
        ..ResponseContext::new(protocol_version, Binding::HttpJson, operation)
    };
    let mut members = match canonical::write_request(&request) {
        Ok(written) => object(written.get()).map_err(Error::Malformed)?,
        Err(error) => return Err(unwritable(error)),
    };
    let mut take = |names: Option<&[&str]>| {
        let value = names.and_then(|names| members.remove(names[0]));
        value
            .as_ref()
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let names = PathParams::of(operation);
    let (task, config) = (take(names.task), take(names.config));
    if let Some(id) = [&task, &config].into_iter().find(|id| is_dots(id)) {
        return Err(Error::Address {
            url: id.clone(),
            problem: "an id cannot be a dot segment: on the way it would become another path"
                .to_owned(),
        });
    }
    let (method, path) = match protocol_version {
        ProtocolVersion::V0_3 | ProtocolVersion::V1_0 => {
            Route::write(operation, protocol_version, &task, &config)
        }
        _ => {
            return Err(Error::NotSupported {
                operation,
                protocol_version,
            });
        }
    };
    let (target, body) = match (protocol_version, method == Method::POST) {
        (ProtocolVersion::V1_0, true) => {
            if operation == Operation::CreateTaskPushNotificationConfig {
                // Servers that look for it in the body alone are served, too.
                members.insert("taskId".to_owned(), task.into());
            }
            let body = serde_json::to_vec(&members).map_err(unwritable)?;
            let target = match operation {
                // Servers that go by the proto look for its members in the query alone.
                Operation::SubscribeToTask => path + &query::write(members.iter()),
                _ => path,
            };
            (target, Some(body))
        }
        (ProtocolVersion::V1_0, false) => (path + &query::write(members.iter()), None),
        (_, true) => {
            let body = match v0_3::write_request(request) {
                Some(params) => serde_json::to_vec(&params).map_err(unwritable)?,
                None => b"{}".to_vec(),
            };
            (path, Some(body))
        }
        (_, false) => {
            members.remove("tenant");
            query::antiquate(&mut members);
            (path + &query::write(members.iter()), None)
        }
    };
    Ok(OutgoingCall {
        method,
        target,
        body,
        envelope,
    })
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::Malformed(Violation {
        path: "$".to_owned(),
        problem: error.to_string(),
    })
}
