//! The agent card, 0.3 §5.5 as in the proto.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::security;
use crate::pre_1_0::{self, both_ways};
use crate::proto::{or_default, unless_empty};
use crate::reading::Wire;
use crate::{
    AgentCardSignature, AgentExtension, AgentProvider, Dialect, SecurityRequirement, SecurityScheme,
};

/// Self-description of an agent: identity and skills, 0.3 §5.5.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentCard {
    /// Protocol version spoken at `url`.
    #[serde(
        default = "protocol_version",
        alias = "protocol_version",
        deserialize_with = "or_protocol_version"
    )]
    pub protocol_version: String,
    /// Human-readable name.
    pub name: String,
    /// Purpose of the agent.
    #[serde(default, deserialize_with = "or_default")]
    pub description: String,
    /// URL of the preferred interface.
    pub url: String,
    /// Transport at `url`: `JSONRPC` if absent.
    #[serde(default, deserialize_with = "unless_empty")]
    #[serde(alias = "preferred_transport", skip_serializing_if = "Option::is_none")]
    pub preferred_transport: Option<String>,
    /// Further interfaces.
    #[serde(default, deserialize_with = "or_default")]
    #[serde(alias = "additional_interfaces", skip_serializing_if = "Vec::is_empty")]
    pub additional_interfaces: Vec<AgentInterface>,
    /// A picture; not in the text of 0.3.0's proto.
    #[serde(default, alias = "icon_url", deserialize_with = "unless_empty")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon_url: Option<String>,
    /// Organization that runs the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<AgentProvider>,
    /// The agent's own version.
    pub version: String,
    /// URL of the documentation.
    #[serde(default, deserialize_with = "unless_empty")]
    #[serde(alias = "documentation_url", skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
    /// The optional parts of the protocol that it offers.
    #[serde(default, deserialize_with = "or_default")]
    pub capabilities: AgentCapabilities,
    /// The ways to authenticate, by name.
    #[serde(default, alias = "security_schemes", deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub security_schemes: BTreeMap<String, SecurityScheme>,
    /// Required schemes: satisfying any one entry suffices.
    #[serde(default, deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub security: Vec<SecurityRequirement>,
    /// Media types that every skill accepts, unless it lists its own.
    #[serde(
        default,
        alias = "default_input_modes",
        deserialize_with = "or_default"
    )]
    pub default_input_modes: Vec<String>,
    /// Media types that every skill produces, unless it lists its own.
    #[serde(
        default,
        alias = "default_output_modes",
        deserialize_with = "or_default"
    )]
    pub default_output_modes: Vec<String>,
    /// Skills of the agent.
    #[serde(default, deserialize_with = "or_default")]
    pub skills: Vec<AgentSkill>,
    /// `true` if there is a longer card for authenticated callers.
    #[serde(alias = "supports_authenticated_extended_card")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supports_authenticated_extended_card: Option<bool>,
    /// Signatures over this card.
    #[serde(default, deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<AgentCardSignature>,
}

/// A further interface of an agent, 0.3 §5.5.5.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentInterface {
    /// The absolute URL.
    pub url: String,
    /// `JSONRPC`, `GRPC`, `HTTP+JSON`, or another.
    pub transport: String,
}

/// The optional parts of the protocol that an agent offers, 0.3 §5.5.2.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentCapabilities {
    /// Server-Sent Events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streaming: Option<bool>,
    /// Webhooks.
    #[serde(alias = "push_notifications", skip_serializing_if = "Option::is_none")]
    pub push_notifications: Option<bool>,
    /// Protocol extensions.
    #[serde(default, deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<AgentExtension>,
}

/// An ability of an agent, 0.3 §5.5.4.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentSkill {
    /// Identifier of the skill.
    pub id: String,
    /// Human-readable name.
    #[serde(default, deserialize_with = "or_default")]
    pub name: String,
    /// Description of the skill.
    #[serde(default, deserialize_with = "or_default")]
    pub description: String,
    /// Keywords.
    #[serde(default, deserialize_with = "or_default")]
    pub tags: Vec<String>,
    /// Example prompts.
    #[serde(default, deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// Media types it takes, if not the card's.
    #[serde(default, alias = "input_modes", deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub input_modes: Vec<String>,
    /// Media types it produces, if not the card's.
    #[serde(default, alias = "output_modes", deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub output_modes: Vec<String>,
    /// Security requirements of this skill, if not the card's.
    #[serde(default, deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub security: Vec<SecurityRequirement>,
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
        let dialect = Dialect::from_version(&card.protocol_version).unwrap_or(Dialect::V0_3);
        let additional = card.additional_interfaces;
        let additional = additional.into_iter().map(|it| (it.url, it.transport));
        let supported_interfaces =
            pre_1_0::interfaces(dialect, card.url, card.preferred_transport, additional);
        Self {
            name: card.name,
            description: card.description,
            supported_interfaces,
            provider: card.provider,
            version: card.version,
            documentation_url: card.documentation_url,
            capabilities: crate::AgentCapabilities {
                streaming: card.capabilities.streaming,
                push_notifications: card.capabilities.push_notifications,
                extensions: card.capabilities.extensions,
                extended_agent_card: card.supports_authenticated_extended_card,
            },
            security_schemes: card.security_schemes,
            security_requirements: card.security,
            default_input_modes: card.default_input_modes,
            default_output_modes: card.default_output_modes,
            skills: card.skills.into_iter().map(Into::into).collect(),
            signatures: card.signatures,
            icon_url: card.icon_url,
        }
    }
}

impl From<crate::AgentCard> for AgentCard {
    /// Drops tenants, what security schemes have since 1.0, and signatures: each covers the card
    /// as 1.0 spells it.
    fn from(card: crate::AgentCard) -> Self {
        let interfaces = pre_1_0::offered(card.supported_interfaces, &[Dialect::V0_3]);
        let mut interfaces = interfaces.into_iter();
        let preferred = interfaces.next().unwrap_or_default();
        let additional_interfaces = interfaces
            .filter(|other| {
                other.url != preferred.url || other.protocol_binding != preferred.protocol_binding
            })
            .map(|interface| AgentInterface {
                url: interface.url,
                transport: interface.protocol_binding,
            })
            .collect();
        let (security_schemes, dropped) = security::known(card.security_schemes);
        let skill = |mut skill: crate::AgentSkill| {
            let required = std::mem::take(&mut skill.security_requirements);
            AgentSkill {
                security: security::satisfiable(required, &dropped),
                ..skill.into()
            }
        };
        Self {
            protocol_version: protocol_version(),
            name: card.name,
            description: card.description,
            url: preferred.url,
            preferred_transport: pre_1_0::unless_empty::write(preferred.protocol_binding),
            additional_interfaces,
            icon_url: card.icon_url,
            provider: card.provider,
            version: card.version,
            documentation_url: card.documentation_url,
            capabilities: AgentCapabilities {
                streaming: card.capabilities.streaming,
                push_notifications: card.capabilities.push_notifications,
                extensions: card.capabilities.extensions,
            },
            skills: card.skills.into_iter().map(skill).collect(),
            security_schemes,
            security: security::satisfiable(card.security_requirements, &dropped),
            default_input_modes: card.default_input_modes,
            default_output_modes: card.default_output_modes,
            supports_authenticated_extended_card: card.capabilities.extended_agent_card,
            signatures: Vec::new(),
        }
    }
}

both_ways! {
    AgentSkill = crate::AgentSkill {
        id, name, description, tags, examples, input_modes, output_modes,
    } renamed { security = security_requirements };
}
