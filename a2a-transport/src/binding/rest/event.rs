//! The events of a stream, which stand alone in their lines.

use a2a_jsonrpc::Limits;
use a2a_types::reading::{
    Hints, Mode, StreamItem, Violation, WithRepairs, read_canonical_in, read_unwrapped,
};
use a2a_types::v0_3::{self, Flavour};
use a2a_types::{ArtifactId, Error as A2aError, Event, ProtocolVersion, v0_2};

use super::error::{error_event_in, write_error};
use crate::binding::{Line, OutgoingReply};
use crate::shared::JsonForm;
use crate::{Error, ResponseContext, SharedEvent};

/// Writes the events of one stream.
#[derive(Debug)]
pub struct EventWriter {
    protocol_version: ProtocolVersion,
    flavour: Flavour,
}

impl EventWriter {
    /// Creates a writer for the events that answer a request.
    pub fn new(envelope: &ResponseContext) -> Self {
        Self {
            protocol_version: envelope.protocol_version,
            flavour: envelope.flavour,
        }
    }

    /// Returns the line of one event.
    pub fn write<'a>(&mut self, event: &'a SharedEvent) -> Line<'a> {
        let form = match (self.protocol_version, self.flavour) {
            (ProtocolVersion::V1_0, _) => JsonForm::V1_0,
            (_, Flavour::Plain) => JsonForm::V0_2,
            (_, Flavour::Proto) => JsonForm::V0_3,
        };
        Line::of_event(None, event, form)
    }

    /// Writes an error in the middle of the stream; nothing follows it.
    pub fn write_error(&self, error: &A2aError) -> Line<'static> {
        let OutgoingReply { body, .. } = write_error(error, self.protocol_version);
        Line::of(None, body)
    }
}

/// Reads the events of one stream.
#[derive(Debug)]
pub struct EventReader {
    envelope: ResponseContext,
    mode: Mode,
    limits: Limits,
    artifact: Option<ArtifactId>,
}

impl EventReader {
    /// Creates a reader for the events that answer a request.
    pub fn new(envelope: ResponseContext, mode: Mode, limits: Limits) -> Self {
        Self {
            envelope,
            mode,
            limits,
            artifact: None,
        }
    }

    /// Reads one event.
    pub fn read(&mut self, data: &[u8]) -> Result<WithRepairs<StreamItem>, Error> {
        let json = checked(data, &self.limits)?;
        let hints = Hints {
            task: self.envelope.task.as_ref(),
            artifact: self.artifact.as_ref(),
            ..Hints::at("$")
        };
        let (mode, protocol_version) = (self.mode, self.envelope.protocol_version);
        let read = read_unwrapped(json, mode, &hints, |json| match protocol_version {
            ProtocolVersion::V1_0 => read_canonical_in(json, mode, &hints)
                .map(|read| read.map(|event| StreamItem { event, last: false })),
            _ => match Flavour::of(json) {
                Some(Flavour::Plain) => v0_2::read_event(json, mode, &hints),
                _ => v0_3::read_event(json, mode, &hints),
            },
        });
        let read = read.map_err(|violation| {
            let answer = serde_json::from_str(json).unwrap_or_default();
            error_event_in(&answer, protocol_version)
                .map_or(Error::Malformed(violation), Error::Agent)
        })?;
        if let Event::ArtifactUpdate(update) = &read.value.event {
            self.artifact = Some(update.artifact.artifact_id.clone());
        }
        Ok(read)
    }
}

/// Returns the text of a message. Errors: it exceeds the limits.
pub(super) fn checked<'a>(body: &'a [u8], limits: &Limits) -> Result<&'a str, Error> {
    let malformed = |path: &str, problem: String| {
        Error::Malformed(Violation {
            path: path.to_owned(),
            problem,
        })
    };
    a2a_jsonrpc::check(body, limits).map_err(|fault| malformed(&fault.path, fault.to_string()))?;
    std::str::from_utf8(body).map_err(|error| malformed("$", error.to_string()))
}
