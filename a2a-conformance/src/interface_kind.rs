//! A protocol version in a binding: the kind of interface that a check runs on.

use std::fmt;

use a2a_transport::Binding;
use a2a_types::ProtocolVersion;
use serde::de::{Deserialize, Deserializer, Error};

/// A protocol version in a binding.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct InterfaceKind {
    /// The protocol version.
    pub protocol_version: ProtocolVersion,
    /// The binding.
    pub binding: Binding,
}

impl InterfaceKind {
    /// Every protocol version in every binding that it has; the newest version first.
    pub const ALL: &[Self] = &[
        Self::new(ProtocolVersion::V1_0, Binding::JsonRpc),
        Self::new(ProtocolVersion::V1_0, Binding::HttpJson),
        Self::new(ProtocolVersion::V1_0, Binding::Grpc),
        Self::new(ProtocolVersion::V0_3, Binding::JsonRpc),
        Self::new(ProtocolVersion::V0_3, Binding::HttpJson),
        Self::new(ProtocolVersion::V0_3, Binding::Grpc),
        Self::new(ProtocolVersion::V0_2, Binding::JsonRpc),
        Self::new(ProtocolVersion::V0_1, Binding::JsonRpc),
    ];

    /// Returns the kind of this protocol version and binding.
    pub const fn new(protocol_version: ProtocolVersion, binding: Binding) -> Self {
        Self {
            protocol_version,
            binding,
        }
    }
}

impl fmt::Display for InterfaceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.binding, self.protocol_version)
    }
}

impl<'de> Deserialize<'de> for InterfaceKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = Self::ALL.iter().find(|kind| kind.to_string() == name);
        found
            .copied()
            .ok_or_else(|| D::Error::custom(format!("no interface `{name}`")))
    }
}
