//! The events of a stream, in each binding.

use a2a_jsonrpc::Limits;
use a2a_types::reading::{Mode, StreamItem, WithRepairs};
use a2a_types::{Error as A2aError, ProtocolVersion};

use super::{Line, grpc, jsonrpc, rest};
use crate::{Binding, Error, ResponseContext, SharedEvent};

/// Writes the events of one stream, each a line of JSON.
#[derive(Debug)]
pub struct EventWriter {
    protocol_version: ProtocolVersion,
    writer: Writer,
}

#[derive(Debug)]
enum Writer {
    JsonRpc(jsonrpc::EventWriter),
    Rest(rest::EventWriter),
    Grpc(rest::EventWriter),
}

impl EventWriter {
    /// Creates a writer for the events that answer a request.
    pub fn new(envelope: &ResponseContext) -> Self {
        Self {
            protocol_version: envelope.protocol_version,
            writer: match envelope.binding {
                Binding::JsonRpc => Writer::JsonRpc(jsonrpc::EventWriter::new(envelope)),
                Binding::HttpJson => Writer::Rest(rest::EventWriter::new(envelope)),
                Binding::Grpc => Writer::Grpc(rest::EventWriter::new(envelope)),
            },
        }
    }

    /// Returns whether the events of a stream have ids, by which a caller that was cut off goes on.
    pub(crate) fn numbers_events(&self) -> bool {
        self.protocol_version() != ProtocolVersion::V0_1
    }

    /// Returns the protocol version that is written.
    pub fn protocol_version(&self) -> ProtocolVersion {
        self.protocol_version
    }

    /// Writes one event in the protocol version: usually one line, in 0.1 sometimes more.
    pub fn write<'a>(&'a mut self, event: &'a SharedEvent) -> Vec<Line<'a>> {
        match &mut self.writer {
            Writer::JsonRpc(writer) => writer.write(event),
            Writer::Rest(writer) | Writer::Grpc(writer) => vec![writer.write(event)],
        }
    }

    /// Writes an error in the middle of the stream; nothing follows it.
    pub fn write_error(&self, error: A2aError) -> Line<'static> {
        match &self.writer {
            Writer::JsonRpc(writer) => writer.write_error(error),
            Writer::Rest(writer) => writer.write_error(&error),
            Writer::Grpc(_) => Line::of(
                None,
                grpc::write_error(&error, self.protocol_version, None).body,
            ),
        }
    }
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
    /// Creates a reader for the events that answer a request.
    pub fn new(envelope: ResponseContext, mode: Mode, limits: Limits) -> Self {
        Self(match envelope.binding {
            Binding::JsonRpc => Reader::JsonRpc(jsonrpc::EventReader::new(envelope, mode, limits)),
            // The error of a stream by gRPC is not among its events.
            Binding::HttpJson | Binding::Grpc => {
                Reader::Rest(rest::EventReader::new(envelope, mode, limits))
            }
        })
    }

    /// Reads one event.
    pub fn read(&mut self, data: &[u8]) -> Result<WithRepairs<StreamItem>, Error> {
        match &mut self.0 {
            Reader::JsonRpc(reader) => reader.read(data),
            Reader::Rest(reader) => reader.read(data),
        }
    }
}
