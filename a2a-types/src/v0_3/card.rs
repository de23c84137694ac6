//! The agent card, 0.3 §5.5 as in the proto.

use std::collections::BTreeMap;

use serde::Deserializer;

use crate::pre_1_0::{self, both_ways, security, wire_types, with_members_of};
use crate::proto::unless_empty;
use crate::reading::Wire;
pub use crate::v0_2::AgentInterface;
use crate::{
    AgentCardSignature, AgentExtension, AgentProvider, ProtocolVersion, SecurityRequirement,
    SecurityScheme,
};

wire_types! {
    /// Self-description of an agent: identity and skills, 0.3 §5.5.
    pub struct AgentCard: Debug {
        /// Protocol version spoken at `url`.
        #[serde(default = "protocol_version", deserialize_with = "or_protocol_version")]
        pub protocol_version: String | "protocol_version",
        /// Human-readable name.
        pub name: String,
        /// Purpose of the agent.
        pub description: String = or_default,
        /// URL of the preferred interface.
        pub url: String,
        /// Transport at `url`: `JSONRPC` if absent.
        pub preferred_transport: Option<String> = unless_empty | "preferred_transport",
        /// Further interfaces.
        pub additional_interfaces: Vec<AgentInterface> = unless_default | "additional_interfaces",
        /// A picture; not in the text of 0.3.0's proto.
        pub icon_url: Option<String> = unless_empty | "icon_url",
        /// Organization that runs the agent.
        pub provider: Option<AgentProvider> = optional,
        /// The agent's own version.
        pub version: String,
        /// URL of the documentation.
        pub documentation_url: Option<String> = unless_empty | "documentation_url",
        /// The optional parts of the protocol that it offers.
        pub capabilities: AgentCapabilities = or_default,
        /// The ways to authenticate, by name.
        pub security_schemes: BTreeMap<String, SecurityScheme> = unless_default | "security_schemes",
        /// Required schemes: satisfying any one entry suffices.
        pub security: Vec<SecurityRequirement> = unless_default,
        /// Media types that every skill accepts, unless it lists its own.
        pub default_input_modes: Vec<String> = or_default | "default_input_modes",
        /// Media types that every skill produces, unless it lists its own.
        pub default_output_modes: Vec<String> = or_default | "default_output_modes",
        /// Skills of the agent.
        pub skills: Vec<AgentSkill> = or_default,
        /// `true` if there is a longer card for authenticated callers.
        pub supports_authenticated_extended_card: Option<bool> = optional | "supports_authenticated_extended_card",
        /// Signatures over this card.
        pub signatures: Vec<AgentCardSignature> = unless_default,
    }

    /// The optional parts of the protocol that an agent offers, 0.3 §5.5.2.
    pub struct AgentCapabilities: Debug, Default {
        /// Server-Sent Events.
        pub streaming: Option<bool> = optional,
        /// Webhooks.
        pub push_notifications: Option<bool> = optional | "push_notifications",
        /// Protocol extensions.
        pub extensions: Vec<AgentExtension> = unless_default,
    }

    /// An ability of an agent, 0.3 §5.5.4.
    pub struct AgentSkill: Debug {
        /// Identifier of the skill.
        pub id: String,
        /// Human-readable name.
        pub name: String = or_default,
        /// Description of the skill.
        pub description: String = or_default,
        /// Keywords.
        pub tags: Vec<String> = or_default,
        /// Example prompts.
        pub examples: Vec<String> = unless_default,
        /// Media types it takes, if not the card's.
        pub input_modes: Vec<String> = unless_default | "input_modes",
        /// Media types it produces, if not the card's.
        pub output_modes: Vec<String> = unless_default | "output_modes",
        /// Security requirements of this skill, if not the card's.
        pub security: Vec<SecurityRequirement> = unless_default,
    }
}

fn protocol_version() -> String {
    "0.3.0".to_owned()
}

fn or_protocol_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(unless_empty(deserializer)?.unwrap_or_else(protocol_version))
}

impl Wire for AgentCard {}

impl From<AgentCard> for crate::AgentCard {
    fn from(card: AgentCard) -> Self {
        let protocol_version =
            ProtocolVersion::from_version(&card.protocol_version).unwrap_or(ProtocolVersion::V0_3);
        let additional = card.additional_interfaces;
        let additional = additional.into_iter().map(|it| (it.url, it.transport));
        let supported_interfaces = pre_1_0::interfaces(
            protocol_version,
            card.url,
            card.preferred_transport,
            additional,
        );
        with_members_of! {
            card {
                name, description, provider, version, documentation_url, security_schemes,
                default_input_modes, default_output_modes, skills as list, signatures, icon_url,
            } and {
                supported_interfaces,
                security_requirements: card.security,
                capabilities: crate::AgentCapabilities {
                    extended_agent_card: card.supports_authenticated_extended_card,
                    ..card.capabilities.into()
                },
            }
        }
    }
}

impl From<crate::AgentCard> for AgentCard {
    /// Drops tenants, what security schemes have since 1.0, and signatures: each covers the card
    /// as 1.0 spells it.
    fn from(mut card: crate::AgentCard) -> Self {
        security::downgrade(&mut card);
        let interfaces = pre_1_0::offered(card.supported_interfaces, &[ProtocolVersion::V0_3]);
        let mut interfaces = interfaces
            .into_iter()
            .map(|interface| (interface.url, interface.protocol_binding));
        let (url, transport) = interfaces.next().unwrap_or_default();
        let others = interfaces
            .filter(|other| (&other.0, &other.1) != (&url, &transport))
            .map(|(url, transport)| AgentInterface { url, transport })
            .collect();
        with_members_of! {
            card {
                name, description, icon_url, provider, version, documentation_url, security_schemes,
                default_input_modes, default_output_modes, skills as list,
            } and {
                protocol_version: protocol_version(),
                additional_interfaces: others,
                url,
                preferred_transport: pre_1_0::unless_empty::write(transport),
                security: card.security_requirements,
                supports_authenticated_extended_card: card.capabilities.extended_agent_card,
                capabilities: card.capabilities.into(),
                signatures: Vec::new(),
            }
        }
    }
}

both_ways! {
    AgentCapabilities = crate::AgentCapabilities { streaming, push_notifications, extensions }
        canonical only { extended_agent_card };
    AgentSkill = crate::AgentSkill {
        id, name, description, tags, examples, input_modes, output_modes,
    } renamed { security = security_requirements };
}
