//! The events of a stream, in each binding.

use a2a_jsonrpc::Limits;
use a2a_types::reading::{Mode, Read, Streamed};
use a2a_types::v0_3;
use a2a_types::{Dialect, Error as A2aError, v0_2};
use bytes::Bytes;
use serde::Serialize;

use super::{jsonrpc, rest};
use crate::shared::Form;
use crate::{Binding, Envelope, Error, SharedEvent};

/// One event on its way to Server-Sent Events.
#[derive(Clone, Debug)]
pub struct Line {
    /// The name that trpc-a2a-go's clients look at; others ignore it.
    pub name: Option<&'static str>,
    /// The JSON: the event, and what its envelope has before and behind it.
    pieces: [Bytes; 3],
}

impl Line {
    /// A line of this JSON.
    pub(super) fn new(name: Option<&'static str>, json: impl Into<Bytes>) -> Self {
        Self::within(name, Bytes::new(), json.into(), b"")
    }

    /// A line of an event within its envelope.
    pub(super) fn within(
        name: Option<&'static str>,
        before: Bytes,
        event: Bytes,
        behind: &'static [u8],
    ) -> Self {
        Self {
            name,
            pieces: [before, event, Bytes::from_static(behind)],
        }
    }

    /// The JSON, without line breaks, in pieces.
    pub fn pieces(&self) -> [&[u8]; 3] {
        self.pieces.each_ref().map(|piece| &piece[..])
    }

    /// The JSON, without line breaks.
    pub fn json(&self) -> Vec<u8> {
        self.pieces().concat()
    }
}

/// Writes the events of one stream, each a line of JSON.
#[derive(Debug)]
pub struct EventWriter {
    dialect: Dialect,
    writer: Writer,
}

#[derive(Debug)]
enum Writer {
    JsonRpc(jsonrpc::EventWriter),
    Rest(rest::EventWriter),
}

impl EventWriter {
    /// A writer for the answer to a question.
    pub fn new(envelope: &Envelope) -> Self {
        Self {
            dialect: envelope.dialect,
            writer: match envelope.binding {
                Binding::JsonRpc => Writer::JsonRpc(jsonrpc::EventWriter::new(envelope)),
                Binding::HttpJson => Writer::Rest(rest::EventWriter::new(envelope)),
            },
        }
    }

    /// The generation that is written.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// What the generation says for one event: usually one line, in 0.1 sometimes more.
    pub fn write(&mut self, event: &SharedEvent) -> Vec<Line> {
        match &mut self.writer {
            Writer::JsonRpc(writer) => writer.write(event),
            Writer::Rest(writer) => vec![writer.write(event)],
        }
    }

    /// An error in the middle of the stream; nothing follows it.
    pub fn write_error(&self, error: A2aError) -> Line {
        match &self.writer {
            Writer::JsonRpc(writer) => writer.write_error(error),
            Writer::Rest(writer) => writer.write_error(&error),
        }
    }
}

/// An event in a form, without any envelope.
pub(super) fn write_event(event: &SharedEvent, form: Form) -> Bytes {
    event.json(form, |event| match form {
        Form::V0_2 => json(&v0_2::write_event(event.clone())),
        Form::V0_3 => json(&v0_3::write_event(event.clone())),
        Form::V1_0 => json(event),
    })
}

pub(super) fn json(item: &impl Serialize) -> Vec<u8> {
    // Everything in it is our own type with string keys, so it always serialises.
    serde_json::to_vec(item).unwrap_or_default()
}

/// Reads the events of one stream.
#[derive(Debug)]
pub struct EventReader(Reader);

#[derive(Debug)]
enum Reader {
    JsonRpc(jsonrpc::EventReader),
    Rest(rest::EventReader),
}

impl EventReader {
    /// A reader for the answer to a question.
    pub fn new(envelope: Envelope, mode: Mode, limits: Limits) -> Self {
        Self(match envelope.binding {
            Binding::JsonRpc => Reader::JsonRpc(jsonrpc::EventReader::new(envelope, mode, limits)),
            Binding::HttpJson => Reader::Rest(rest::EventReader::new(envelope, mode, limits)),
        })
    }

    /// Reads one event.
    pub fn read(&mut self, data: &[u8]) -> Result<Read<Streamed>, Error> {
        match &mut self.0 {
            Reader::JsonRpc(reader) => reader.read(data),
            Reader::Rest(reader) => reader.read(data),
        }
    }
}
