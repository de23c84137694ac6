//! The card that a case serves.

use a2a_transport::Binding;
use a2a_transport::webhook::SigningKey;
use a2a_types::{AgentCard, AgentInterface, AgentSkill, ProtocolVersion, v0_1, v0_2};
use serde_json::{Value, json};

use super::case::Agent;
use super::jws;
use crate::case::Variables;
use crate::case::merge_patch;
use crate::interface_kind::InterfaceKind;

/// Keys that sign the card, and the URL of the second listener, which publishes the stranger's key.
pub(super) struct Signers<'a> {
    pub(super) key: &'a SigningKey,
    pub(super) stranger: &'a SigningKey,
    pub(super) elsewhere: &'a str,
}

/// Path of JSON-RPC, which only the card names.
pub(super) const RPC: &str = "/rpc";

/// Path prefix of HTTP+JSON.
pub(super) const REST: &str = "/rest";

/// Returns the URL of the agent's interface; `host:port` by gRPC.
pub(super) fn endpoint(interface: InterfaceKind, url: &str) -> String {
    match interface.binding {
        Binding::JsonRpc => format!("{url}{}", RPC.trim_start_matches('/')),
        Binding::Grpc => {
            let address = url.split_once("://").map_or(url, |(_, address)| address);
            address.trim_end_matches('/').to_owned()
        }
        _ => format!("{url}{}", REST.trim_start_matches('/')),
    }
}

/// Returns the card in protocol 1.0.
pub(super) fn canonical(
    agent: &Agent,
    interface: InterfaceKind,
    url: &str,
    names: &Variables,
) -> Result<AgentCard, String> {
    let mut card = AgentCard::new("Conformance", "An agent that tries its clients");
    card.capabilities.push_notifications = Some(true);
    card.capabilities.extended_agent_card = matches!(
        interface.protocol_version,
        ProtocolVersion::V0_2 | ProtocolVersion::V0_3 | ProtocolVersion::V1_0
    )
    .then_some(true);
    card.skills = vec![AgentSkill {
        id: "try".to_owned(),
        name: "Try".to_owned(),
        description: "Tests its callers".to_owned(),
        tags: vec!["test".to_owned()],
        ..AgentSkill::default()
    }];
    let endpoint = endpoint(interface, url);
    card.supported_interfaces = vec![match interface.binding {
        Binding::JsonRpc => AgentInterface::json_rpc(endpoint, interface.protocol_version),
        Binding::Grpc => AgentInterface::grpc(endpoint, interface.protocol_version),
        _ => AgentInterface::http_json(endpoint, interface.protocol_version),
    }];
    let mut card = serde_json::to_value(card).map_err(|error| error.to_string())?;
    merge_patch(&mut card, &names.fill(&Value::Object(agent.card.clone()))?);
    serde_json::from_value(card).map_err(|error| format!("the card: {error}"))
}

/// Returns the card in the format of the version.
pub(super) fn written(
    agent: &Agent,
    interface: InterfaceKind,
    card: AgentCard,
    names: &Variables,
    signers: &Signers<'_>,
) -> Result<Value, String> {
    let mut card = match interface.protocol_version {
        ProtocolVersion::V0_1 => {
            let mut card = json!(v0_1::AgentCard::from(card));
            // Without this member the card cannot be distinguished from one of 0.2.
            if card.get("authentication").is_none() {
                card["authentication"] = json!({"schemes": []});
            }
            card
        }
        ProtocolVersion::V0_2 => json!(v0_2::AgentCard::from(card).of_0_2()),
        ProtocolVersion::V0_3 => json!(v0_2::AgentCard::from(card)),
        _ => json!(card),
    };
    merge_patch(
        &mut card,
        &names.fill(&Value::Object(agent.written.clone()))?,
    );
    match agent.signed {
        None => Ok(card),
        Some(how) => jws::sign(card, how, signers.key, signers.stranger, signers.elsewhere),
    }
}
