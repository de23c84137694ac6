//! The events of a stream.

use a2a_jsonrpc::{Id, Limits};
use a2a_types::reading::{Hints, Mode, StreamItem, WithRepairs, read_canonical_in, read_unwrapped};
use a2a_types::{ArtifactId, Error as A2aError, Event, ProtocolVersion, TaskId, v0_1, v0_2};

use super::envelope::{BEHIND_RESULT, before_result, open, root, seal};
use crate::binding::Line;
use crate::binding::line::write_json;
use crate::shared::JsonForm;
use crate::{Error, ResponseContext, SharedEvent};

/// Writes the events of one stream, each a line of JSON.
#[derive(Debug)]
pub struct EventWriter {
    id: Id,
    protocol_version: ProtocolVersion,
    /// Envelope before the event, the same for each.
    before: Vec<u8>,
    /// Only in 0.1.
    v0_1: Option<Box<v0_1::EventWriter>>,
}

impl EventWriter {
    /// Creates a writer for the events that answer a request.
    pub fn new(envelope: &ResponseContext) -> Self {
        let id = envelope.id.clone().unwrap_or(Id::Null);
        Self {
            before: before_result(&id),
            id,
            protocol_version: envelope.protocol_version,
            v0_1: (envelope.protocol_version == ProtocolVersion::V0_1).then(|| {
                let task = envelope.task.clone().unwrap_or_default();
                Box::new(v0_1::EventWriter::new(task))
            }),
        }
    }

    /// Writes one event in the protocol version: usually one line, in 0.1 sometimes more.
    pub fn write<'a>(&'a mut self, event: &'a SharedEvent) -> Vec<Line<'a>> {
        let name = match **event {
            Event::Task(_) | Event::Message(_) | Event::StatusUpdate(_) => STATUS_UPDATE,
            Event::ArtifactUpdate(_) => ARTIFACT_UPDATE,
        };
        let lines = match (&mut self.v0_1, self.protocol_version) {
            (Some(writer), _) => {
                let events = writer.write(event.clone().into_event());
                events.iter().map(line_in_0_1).collect()
            }
            (None, ProtocolVersion::V1_0) => {
                vec![Line::of_event(Some(name), event, JsonForm::V1_0)]
            }
            (None, _) => vec![Line::of_event(Some(name), event, JsonForm::V0_2)],
        };
        let within = |line: Line<'a>| line.within(&self.before, BEHIND_RESULT);
        lines.into_iter().map(within).collect()
    }

    /// Writes an error in the middle of the stream; nothing follows it.
    pub fn write_error(&self, error: A2aError) -> Line<'static> {
        let error = seal(self.id.clone(), self.protocol_version, Err::<(), _>(error));
        Line::of(Some(STATUS_UPDATE), error)
    }
}

/// The names of events that some clients of 0.1 need.
const STATUS_UPDATE: &str = "task_status_update";
const ARTIFACT_UPDATE: &str = "task_artifact_update";

fn line_in_0_1<'a>(event: &v0_1::TaskEvent) -> Line<'a> {
    let name = match event {
        v0_1::TaskEvent::Status(_) => STATUS_UPDATE,
        v0_1::TaskEvent::Artifact(_) => ARTIFACT_UPDATE,
    };
    let mut json = Vec::new();
    write_json(event, &mut json);
    Line::of(Some(name), json)
}

/// Reads the events of one stream.
#[derive(Debug)]
pub struct EventReader {
    envelope: ResponseContext,
    mode: Mode,
    limits: Limits,
    artifact: Option<ArtifactId>,
    task: Option<TaskId>,
    /// An event of a task was read.
    tells_task: bool,
}

impl EventReader {
    /// Creates a reader for the events that answer a request.
    pub fn new(envelope: ResponseContext, mode: Mode, limits: Limits) -> Self {
        Self {
            task: envelope.task.clone(),
            envelope,
            mode,
            limits,
            artifact: None,
            tells_task: false,
        }
    }

    /// Reads one event.
    pub fn read(&mut self, data: &[u8]) -> Result<WithRepairs<StreamItem>, Error> {
        let (result, mut repairs) = open(&self.envelope, data, self.mode, &self.limits)?;
        let hints = Hints {
            task: self.task.as_ref(),
            artifact: self.artifact.as_ref(),
            ..Hints::at(root(&repairs))
        };
        let (mode, protocol_version) = (self.mode, self.envelope.protocol_version);
        let read = read_unwrapped(result.get(), mode, &hints, |json| match protocol_version {
            ProtocolVersion::V0_1 => v0_1::read_event(json, mode, &hints),
            ProtocolVersion::V0_2 | ProtocolVersion::V0_3 => v0_2::read_event(json, mode, &hints),
            _ => read_canonical_in(json, mode, &hints)
                .map(|read| read.map(|event| StreamItem { event, last: false })),
        });
        let read = read.map_err(Error::Malformed)?;
        if let Event::ArtifactUpdate(update) = &read.value.event {
            self.artifact = Some(update.artifact.artifact_id.clone());
        }
        let mut value = read.value;
        match &value.event {
            // Some agents send a task's status after it.
            Event::Message(_) => value.last &= !self.tells_task,
            _ => self.tells_task = true,
        }
        repairs.extend(read.repairs);
        Ok(WithRepairs { value, repairs })
    }
}
