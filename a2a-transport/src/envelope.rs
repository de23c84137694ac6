//! Envelope of an answer: binding, version and id of its request.

use std::fmt;

use a2a_jsonrpc::Id;
use a2a_types::v0_3::Flavour;
use a2a_types::{AgentInterface, Operation, ProtocolVersion, TaskId};

/// Properties of a request that its answer has to repeat.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ResponseContext {
    /// Protocol version of the request.
    pub protocol_version: ProtocolVersion,
    /// Binding of the request.
    pub binding: Binding,
    /// Operation of the request.
    pub operation: Operation,
    /// The JSON-RPC id; `None` for a notification or a request by another binding.
    pub id: Option<Id>,
    /// The task that the request names.
    pub task: Option<TaskId>,
    /// `true` if the request names no version and several spell it alike.
    pub ambiguous: bool,
    /// JSON form of the request, by HTTP+JSON in 0.3.
    pub flavour: Flavour,
}

impl ResponseContext {
    /// Creates an envelope without an id and a task; a request by JSON-RPC that expects an answer needs an id.
    pub fn new(protocol_version: ProtocolVersion, binding: Binding, operation: Operation) -> Self {
        Self {
            protocol_version,
            binding,
            operation,
            id: None,
            task: None,
            ambiguous: false,
            flavour: Flavour::Proto,
        }
    }

    /// Sets the version of the answer to the one that the task was created in, if the request is
    /// [ambiguous](Self::ambiguous) and spelled alike in both.
    pub fn settle(&mut self, created_in: Option<ProtocolVersion>) {
        let alike = |protocol_version: &ProtocolVersion| {
            protocol_version.method(self.operation) == self.protocol_version.method(self.operation)
        };
        if self.ambiguous
            && let Some(protocol_version) = created_in.filter(alike)
        {
            self.protocol_version = protocol_version;
        }
    }

    /// Returns whether the caller waits for an answer: not if it sent a JSON-RPC notification.
    pub fn wants_answer(&self) -> bool {
        self.binding != Binding::JsonRpc || self.id.is_some()
    }
}

/// Binding of the protocol to HTTP.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Binding {
    /// One URL, every operation a method of JSON-RPC. Specification 1.0 §9.
    JsonRpc,
    /// A path and a method for every operation: versions 0.3 and 1.0. Specification 1.0 §11.
    HttpJson,
    /// A service of gRPC: versions 0.3 and 1.0. Specification 1.0 §10. Spoken with the feature `grpc`.
    Grpc,
}

impl Binding {
    /// Returns the binding of an interface on a card, if it is one that we speak.
    pub fn of(interface: &AgentInterface) -> Option<Self> {
        match interface.protocol_binding.as_str() {
            AgentInterface::JSON_RPC => Some(Self::JsonRpc),
            AgentInterface::HTTP_JSON => Some(Self::HttpJson),
            AgentInterface::GRPC if cfg!(feature = "grpc") => Some(Self::Grpc),
            _ => None,
        }
    }

    /// Returns the name that cards have for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JsonRpc => AgentInterface::JSON_RPC,
            Self::HttpJson => AgentInterface::HTTP_JSON,
            Self::Grpc => AgentInterface::GRPC,
        }
    }
}

impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
