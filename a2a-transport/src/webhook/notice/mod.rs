//! Body of a notification, in each protocol version.

use a2a_jsonrpc::Limits;
use a2a_types::reading::{Hints, Mode, Violation, read, read_canonical};
use a2a_types::v0_3::{self, Flavour};
use a2a_types::{Event, ProtocolVersion, TaskId, v0_1, v0_2};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// Contents of a notification's body.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ParsedNotification {
    /// The task, if the body names it.
    pub task: Option<TaskId>,
    /// The event: until 0.3 usually the whole task. `None` if the body is of no known form: then the receiver
    /// has to get the task from the agent.
    pub event: Option<Event>,
    /// Protocol version of the body. What 0.2 and 0.3 spell alike counts as 0.3; an unknown form as 0.1,
    /// which left bodies to the agent (0.1 §9.4).
    pub protocol_version: ProtocolVersion,
}

/// Reads the body of a notification of any protocol version, leniently. Errors: it is not a JSON object within
/// the limits.
pub fn read_notice(body: &[u8], limits: &Limits) -> Result<ParsedNotification, Violation> {
    let problem = |path: &str, problem: String| Violation {
        path: path.to_owned(),
        problem,
    };
    a2a_jsonrpc::check(body, limits).map_err(|fault| problem(&fault.path, fault.to_string()))?;
    let json = std::str::from_utf8(body).map_err(|error| problem("$", error.to_string()))?;
    if !json.trim_start().starts_with('{') {
        return Err(problem("$", "expected an object".to_owned()));
    }
    Ok(read_known(json).unwrap_or_else(|| ParsedNotification {
        task: Members::of(json).and_then(Members::task),
        event: None,
        protocol_version: ProtocolVersion::V0_1,
    }))
}

/// Outermost members by which the forms are recognised.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members<'a> {
    jsonrpc: Option<IgnoredAny>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,

    #[serde(borrow)]
    task: Option<&'a RawValue>,
    #[serde(borrow, alias = "msg")]
    message: Option<&'a RawValue>,
    #[serde(borrow, alias = "status_update", alias = "taskStatusUpdate")]
    status_update: Option<&'a RawValue>,
    #[serde(borrow, alias = "artifact_update", alias = "taskArtifactUpdate")]
    artifact_update: Option<&'a RawValue>,

    kind: Option<IgnoredAny>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow, alias = "task_id")]
    task_id: Option<&'a RawValue>,
    #[serde(alias = "context_id")]
    context_id: Option<IgnoredAny>,
    #[serde(alias = "message_id")]
    message_id: Option<IgnoredAny>,
    status: Option<IgnoredAny>,
    artifact: Option<IgnoredAny>,
    r#final: Option<IgnoredAny>,
}

impl<'a> Members<'a> {
    fn of(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// Returns the only member that the object wraps, in 1.0 and in the ProtoJSON of 0.3.
    fn wrapped(&self) -> Option<&'a str> {
        let wrapped = [
            self.task,
            self.message,
            self.status_update,
            self.artifact_update,
        ];
        let wrapped = wrapped.into_iter().flatten().map(RawValue::get);
        wrapped.into_iter().find(|inner| inner.starts_with('{'))
    }

    fn task(self) -> Option<TaskId> {
        let inner = self.wrapped().and_then(Members::of);
        let id = [self.task_id, self.id, self.task].into_iter().flatten();
        let id = id.map(RawValue::get).find_map(|id| match id.as_bytes() {
            [b'"', ..] => serde_json::from_str(id).ok(),
            [b'0'..=b'9', ..] => Some(id.to_owned()),
            _ => None,
        });
        let id = id.filter(|id: &String| !id.is_empty()).map(TaskId::from);
        id.or_else(|| inner.and_then(Members::task))
    }
}

fn read_known(json: &str) -> Option<ParsedNotification> {
    let members = Members::of(json)?;
    // Some agents send notifications of JSON-RPC.
    if members.jsonrpc.is_some() {
        return read_known(members.params.or(members.result)?.get());
    }
    if let Some(inner) = members.wrapped() {
        // A body of 0.2 inside the frame of 1.0.
        return match Flavour::of(inner) {
            Some(Flavour::Plain) => plain(inner, &Members::of(inner)?),
            _ => framed(json, Members::of(inner)?.r#final.is_some()),
        };
    }
    if Flavour::of(json) != Some(Flavour::Proto) {
        return plain(json, &members);
    }
    // The contents of 1.0 without its frame.
    let frame = match members {
        Members {
            artifact: Some(_), ..
        } => "artifactUpdate",
        Members {
            task_id: Some(_),
            status: Some(_),
            ..
        } => "statusUpdate",
        Members {
            message_id: Some(_),
            ..
        } => "message",
        Members { id: Some(_), .. } => "task",
        _ => return None,
    };
    framed(
        &format!(r#"{{"{frame}":{json}}}"#),
        members.r#final.is_some(),
    )
}

/// Reads 1.0, or 0.3 in ProtoJSON: both frame the event, and name states alike.
fn framed(json: &str, says_final: bool) -> Option<ParsedNotification> {
    let hints = Hints::at("$");
    let canonical = || {
        let event = read_canonical::<Event>(json, &hints).ok()?;
        Some(notice(event, ProtocolVersion::V1_0))
    };
    let proto = || {
        let read = v0_3::read_event(json, Mode::Lenient, &hints);
        Some(notice(read.ok()?.value.event, ProtocolVersion::V0_3))
    };
    match says_final {
        true => proto().or_else(canonical),
        false => canonical().or_else(proto),
    }
}

/// Reads 0.1, 0.2, and the JSON that 0.3 has in common with 0.2.
fn plain(json: &str, members: &Members<'_>) -> Option<ParsedNotification> {
    let hints = Hints::at("$");
    if members.kind.is_some() || members.context_id.is_some() || members.message_id.is_some() {
        let event = v0_2::read_event(json, Mode::Lenient, &hints).ok()?;
        return Some(notice(event.value.event, ProtocolVersion::V0_3));
    }
    if members.status.is_none() && members.artifact.is_none() {
        return None;
    }
    let renamed;
    let json = match (members.id, members.task_id) {
        (None, Some(id)) => {
            // The example of 0.1 §9.4 names the task as later versions do.
            renamed = json.replacen('{', &format!(r#"{{"id":{},"#, id.get()), 1);
            renamed.as_str()
        }
        _ => json,
    };
    let is_update = members.artifact.is_some() || members.r#final.is_some() || members.id.is_none();
    let event = match is_update {
        true => {
            v0_1::read_event(json, Mode::Lenient, &hints)
                .ok()?
                .value
                .event
        }
        false => {
            let task = read::<v0_1::Task>(json, Mode::Lenient, &hints).ok()?;
            Event::Task(task.value.into())
        }
    };
    Some(notice(event, ProtocolVersion::V0_1))
}

fn notice(event: Event, protocol_version: ProtocolVersion) -> ParsedNotification {
    ParsedNotification {
        task: event.task_id().filter(|id| !id.is_empty()).cloned(),
        event: Some(event),
        protocol_version,
    }
}

#[cfg(test)]
mod tests;
