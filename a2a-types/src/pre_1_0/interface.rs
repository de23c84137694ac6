//! Interfaces of a card: before 1.0 a preferred one and others.

use std::collections::BTreeSet;

use crate::{AgentInterface, ProtocolVersion};

/// Returns the interfaces of a card, the preferred one first, without duplicates of URL and binding.
/// The preferred one speaks JSON-RPC if no transport is named.
pub(crate) fn interfaces(
    protocol_version: ProtocolVersion,
    url: String,
    transport: Option<String>,
    additional: impl Iterator<Item = (String, String)>,
) -> Vec<AgentInterface> {
    let transport = transport.unwrap_or_else(|| AgentInterface::JSON_RPC.to_owned());
    let all = std::iter::once((url, transport)).chain(additional);
    let mut known = BTreeSet::new();
    all.filter(|interface| known.insert(interface.clone()))
        .map(|(url, protocol_binding)| AgentInterface {
            url,
            protocol_binding,
            tenant: None,
            protocol_version: protocol_version.version().to_owned(),
        })
        .collect()
}

/// Returns the interfaces of these versions, or all if none speaks one of them.
pub(crate) fn offered(
    mut interfaces: Vec<AgentInterface>,
    versions: &[ProtocolVersion],
) -> Vec<AgentInterface> {
    let speaks = |interface: &AgentInterface| {
        let version = interface.protocol_version();
        version.is_some_and(|version| versions.contains(&version))
    };
    if interfaces.iter().any(speaks) {
        interfaces.retain(speaks);
    }
    interfaces
}
