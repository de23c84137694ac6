//! The events of a stream, in each binding.

use a2a_jsonrpc::Limits;
use a2a_types::reading::{Mode, Read, Streamed};
use a2a_types::v0_3;
use a2a_types::{Dialect, Error as A2aError, Event, v0_2};
use serde::Serialize;

use super::{jsonrpc, rest};
use crate::shared::Form;
use crate::{Binding, Envelope, Error, SharedEvent};

/// One event on its way to Server-Sent Events.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// The name of the event, which some clients look at and others ignore.
    pub name: Option<&'static str>,
    /// Envelope before the content and behind it.
    around: (&'a [u8], &'static [u8]),
    content: Content<'a>,
}

#[derive(Clone, Debug)]
enum Content<'a> {
    Event(&'a SharedEvent, Form),
    Json(Vec<u8>),
}

impl<'a> Line<'a> {
    /// A line of this JSON.
    pub(super) fn of(name: Option<&'static str>, json: Vec<u8>) -> Self {
        Self {
            name,
            around: (b"", b""),
            content: Content::Json(json),
        }
    }

    /// A line of an event.
    pub(super) fn of_event(name: Option<&'static str>, event: &'a SharedEvent, form: Form) -> Self {
        Self {
            name,
            around: (b"", b""),
            content: Content::Event(event, form),
        }
    }

    /// The same in an envelope, which has this before it and behind it.
    pub(super) fn within(self, before: &'a [u8], behind: &'static [u8]) -> Self {
        Self {
            around: (before, behind),
            ..self
        }
    }

    /// Writes the JSON, without line breaks.
    pub fn write(&self, buffer: &mut Vec<u8>) {
        let (before, behind) = self.around;
        buffer.extend_from_slice(before);
        match &self.content {
            Content::Event(event, form) => event.write(*form, buffer, write_event),
            Content::Json(json) => buffer.extend_from_slice(json),
        }
        buffer.extend_from_slice(behind);
    }

    /// The JSON, without line breaks.
    pub fn json(&self) -> Vec<u8> {
        let mut json = Vec::new();
        self.write(&mut json);
        json
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

    /// Returns the protocol version that is written.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Writes one event in the protocol version: usually one line, in 0.1 sometimes more.
    pub fn write<'a>(&'a mut self, event: &'a SharedEvent) -> Vec<Line<'a>> {
        match &mut self.writer {
            Writer::JsonRpc(writer) => writer.write(event),
            Writer::Rest(writer) => vec![writer.write(event)],
        }
    }

    /// An error in the middle of the stream; nothing follows it.
    pub fn write_error(&self, error: A2aError) -> Line<'static> {
        match &self.writer {
            Writer::JsonRpc(writer) => writer.write_error(error),
            Writer::Rest(writer) => writer.write_error(&error),
        }
    }
}

/// Writes an event in a form, without any envelope.
fn write_event(event: &Event, form: Form, buffer: &mut Vec<u8>) {
    match form {
        Form::V0_2 => write_json(&v0_2::write_event(event.clone()), buffer),
        Form::V0_3 => write_json(&v0_3::write_event(event.clone()), buffer),
        Form::V1_0 => write_json(event, buffer),
    }
}

pub(super) fn write_json(item: &impl Serialize, buffer: &mut Vec<u8>) {
    let written = serde_json::to_writer(buffer, item);
    // Everything in it is our own type with string keys, and there is always room.
    debug_assert!(written.is_ok());
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
