//! The card of the agent, in both versions.

use crate::{v0_3, v1_0};

/// Returns the card for callers of 1.0. `address` is `host:port`.
pub(crate) fn card_v1_0(address: &str) -> v1_0::AgentCard {
    let interface = |version: &str| v1_0::AgentInterface {
        url: address.to_owned(),
        protocol_binding: "GRPC".to_owned(),
        tenant: String::new(),
        protocol_version: version.to_owned(),
    };
    v1_0::AgentCard {
        name: NAME.to_owned(),
        description: DESCRIPTION.to_owned(),
        supported_interfaces: ["1.0", "0.3"].map(interface).into(),
        version: VERSION.to_owned(),
        capabilities: Some(v1_0::AgentCapabilities {
            streaming: Some(true),
            push_notifications: Some(true),
            extended_agent_card: Some(true),
            ..v1_0::AgentCapabilities::default()
        }),
        default_input_modes: vec![TEXT.to_owned()],
        default_output_modes: vec![TEXT.to_owned()],
        skills: vec![v1_0::AgentSkill {
            id: "echo".to_owned(),
            name: NAME.to_owned(),
            description: DESCRIPTION.to_owned(),
            tags: vec!["echo".to_owned()],
            ..v1_0::AgentSkill::default()
        }],
        ..v1_0::AgentCard::default()
    }
}

/// Returns the card for callers of 0.3. `address` is `host:port`.
pub(crate) fn card_v0_3(address: &str) -> v0_3::AgentCard {
    v0_3::AgentCard {
        protocol_version: "0.3.0".to_owned(),
        name: NAME.to_owned(),
        description: DESCRIPTION.to_owned(),
        url: address.to_owned(),
        preferred_transport: "GRPC".to_owned(),
        version: VERSION.to_owned(),
        capabilities: Some(v0_3::AgentCapabilities {
            streaming: true,
            push_notifications: true,
            extensions: Vec::new(),
        }),
        default_input_modes: vec![TEXT.to_owned()],
        default_output_modes: vec![TEXT.to_owned()],
        skills: vec![v0_3::AgentSkill {
            id: "echo".to_owned(),
            name: NAME.to_owned(),
            description: DESCRIPTION.to_owned(),
            tags: vec!["echo".to_owned()],
            ..v0_3::AgentSkill::default()
        }],
        supports_authenticated_extended_card: true,
        ..v0_3::AgentCard::default()
    }
}

const NAME: &str = "Echo";
const DESCRIPTION: &str = "Repeats the text of a message";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const TEXT: &str = "text/plain";
