//! Interfaces of a card: before 1.0 a preferred one and others.

use std::collections::BTreeSet;

use crate::{AgentInterface, Dialect};

/// Returns the interfaces of a card, the preferred one first, without duplicates of URL and binding.
pub(crate) fn interfaces(
    dialect: Dialect,
    preferred: (String, String),
    additional: impl Iterator<Item = (String, String)>,
) -> Vec<AgentInterface> {
    let mut known = BTreeSet::new();
    let all = std::iter::once(preferred).chain(additional);
    all.filter(|interface| known.insert(interface.clone()))
        .map(|(url, protocol_binding)| AgentInterface {
            url,
            protocol_binding,
            tenant: None,
            protocol_version: dialect.version().to_owned(),
        })
        .collect()
}
