//! The agent card, 0.2 §5.5.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::message::some;
use super::security::{self, SecurityRequirement, SecurityScheme};
use crate::reading::{Mender, Quirk, Wire, absent};
use crate::{Dialect, Object};

/// Who an agent is and what it can do, 0.2 §5.5.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentCard {
    /// The generation spoken at `url` (0.2.5).
    pub protocol_version: String,
    /// A name for people.
    pub name: String,
    /// What the agent is for.
    pub description: String,
    /// Where it is reached.
    pub url: String,
    /// How it is reached there: `JSONRPC` if not given (0.2.4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferred_transport: Option<String>,
    /// Where else it is reached (0.2.4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_interfaces: Option<Vec<AgentInterface>>,
    /// A picture (0.2.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon_url: Option<String>,
    /// Who runs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<AgentProvider>,
    /// The agent's own version.
    pub version: String,
    /// Where people read about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
    /// The optional parts of the protocol that it offers.
    pub capabilities: AgentCapabilities,
    /// The ways to authenticate, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_schemes: Option<BTreeMap<String, SecurityScheme>>,
    /// Which of them are required: any one entry suffices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security: Option<Vec<SecurityRequirement>>,
    /// Media types that every skill takes, unless it says otherwise.
    pub default_input_modes: Vec<String>,
    /// Media types that every skill produces, unless it says otherwise.
    pub default_output_modes: Vec<String>,
    /// What it can do.
    pub skills: Vec<AgentSkill>,
    /// Whether there is a longer card for callers who authenticate (0.2.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supports_authenticated_extended_card: Option<bool>,
}

/// One more place where an agent is reached (0.2.4).
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentInterface {
    /// The absolute URL.
    pub url: String,
    /// `JSONRPC`, `GRPC`, `HTTP+JSON`, or another.
    pub transport: String,
}

/// Who runs an agent, 0.2 §5.5.1.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentProvider {
    /// Their name.
    pub organization: String,
    /// Their home page.
    pub url: String,
}

/// The optional parts of the protocol that an agent offers, 0.2 §5.5.2.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentCapabilities {
    /// Server-Sent Events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streaming: Option<bool>,
    /// Webhooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub push_notifications: Option<bool>,
    /// A record of state changes, which no generation ever defined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_transition_history: Option<bool>,
    /// Protocol extensions (0.2.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Vec<AgentExtension>>,
}

/// A protocol extension that an agent offers (0.2.2).
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentExtension {
    /// Names the extension.
    pub uri: String,
    /// How the agent uses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether a caller must speak it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// Settings of the extension.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Object>,
}

/// Something that an agent can do, 0.2 §5.5.4.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentSkill {
    /// Names the skill.
    pub id: String,
    /// A name for people.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Keywords.
    pub tags: Vec<String>,
    /// What one might ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples: Option<Vec<String>>,
    /// Media types it takes, if not the card's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_modes: Option<Vec<String>>,
    /// Media types it produces, if not the card's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_modes: Option<Vec<String>>,
}

impl Wire for AgentCard {
    /// Cards in the field leave out much that the schema requires.
    fn mend(card: &mut Map<String, Value>, mender: &mut Mender<'_>) {
        // Only 0.2.5 made this a member; a card without it is no worse.
        if absent(card, "protocolVersion") {
            card.insert("protocolVersion".to_owned(), "0.2".into());
        }
        mender.supply(card, "description", "", Quirk::NoCardMember);
        mender.supply(card, "capabilities", Map::new(), Quirk::NoCardMember);
        for modes in ["defaultInputModes", "defaultOutputModes"] {
            mender.supply(card, modes, vec!["text/plain"], Quirk::NoCardMember);
        }
        mender.supply(
            card,
            "skills",
            Value::Array(Vec::new()),
            Quirk::NoCardMember,
        );
        mender.member(card, "provider", |provider, mender| {
            mender.supply(provider, "url", "", Quirk::NoCardMember);
        });
        mender.items(card, "skills", |skill, mender| {
            mender.supply(skill, "description", "", Quirk::NoCardMember);
            mender.supply(skill, "tags", Value::Array(Vec::new()), Quirk::NoCardMember);
        });
    }
}

impl From<AgentCard> for crate::AgentCard {
    fn from(card: AgentCard) -> Self {
        let dialect = Dialect::from_version(&card.protocol_version).unwrap_or(Dialect::V0_2);
        let interface = |url: String, binding: String| crate::AgentInterface {
            url,
            protocol_binding: binding,
            tenant: None,
            protocol_version: dialect.version().to_owned(),
        };
        let preferred = card
            .preferred_transport
            .unwrap_or_else(|| crate::AgentInterface::JSON_RPC.to_owned());
        let mut supported_interfaces = vec![interface(card.url, preferred)];
        for additional in card.additional_interfaces.into_iter().flatten() {
            let additional = interface(additional.url, additional.transport);
            if !supported_interfaces.contains(&additional) {
                supported_interfaces.push(additional);
            }
        }
        let (security_schemes, security_requirements) = security::to_canonical(
            card.security_schemes.unwrap_or_default(),
            card.security.unwrap_or_default(),
        );
        Self {
            name: card.name,
            description: card.description,
            supported_interfaces,
            provider: card.provider.map(|provider| crate::AgentProvider {
                url: provider.url,
                organization: provider.organization,
            }),
            version: card.version,
            documentation_url: card.documentation_url,
            capabilities: crate::AgentCapabilities {
                streaming: card.capabilities.streaming,
                push_notifications: card.capabilities.push_notifications,
                extensions: card
                    .capabilities
                    .extensions
                    .into_iter()
                    .flatten()
                    .map(Into::into)
                    .collect(),
                extended_agent_card: card.supports_authenticated_extended_card,
            },
            security_schemes,
            security_requirements,
            default_input_modes: card.default_input_modes,
            default_output_modes: card.default_output_modes,
            skills: card.skills.into_iter().map(Into::into).collect(),
            signatures: Vec::new(),
            icon_url: card.icon_url,
        }
    }
}

impl From<crate::AgentCard> for AgentCard {
    /// Tenants, signatures and what the security schemes of 0.2 do not know are lost.
    fn from(card: crate::AgentCard) -> Self {
        let mut interfaces: Vec<_> = card.supported_interfaces;
        let spoken = |interface: &crate::AgentInterface| {
            matches!(interface.dialect(), Some(Dialect::V0_2 | Dialect::V0_3))
        };
        if interfaces.iter().any(spoken) {
            interfaces.retain(spoken);
        }
        let mut interfaces = interfaces.into_iter();
        let preferred = interfaces.next().unwrap_or_default();
        let additional: Vec<_> = interfaces
            .map(|interface| AgentInterface {
                url: interface.url,
                transport: interface.protocol_binding,
            })
            .filter(|other| {
                other.url != preferred.url || other.transport != preferred.protocol_binding
            })
            .collect();
        let (schemes, requirements) =
            security::from_canonical(card.security_schemes, card.security_requirements);
        Self {
            protocol_version: match preferred.dialect() {
                Some(Dialect::V0_3) => "0.3.0",
                _ => "0.2.6",
            }
            .to_owned(),
            name: card.name,
            description: card.description,
            url: preferred.url,
            preferred_transport: Some(preferred.protocol_binding)
                .filter(|binding| !binding.is_empty()),
            additional_interfaces: some(additional),
            icon_url: card.icon_url,
            provider: card.provider.map(|provider| AgentProvider {
                organization: provider.organization,
                url: provider.url,
            }),
            version: card.version,
            documentation_url: card.documentation_url,
            capabilities: AgentCapabilities {
                streaming: card.capabilities.streaming,
                push_notifications: card.capabilities.push_notifications,
                state_transition_history: None,
                extensions: some(
                    card.capabilities
                        .extensions
                        .into_iter()
                        .map(Into::into)
                        .collect(),
                ),
            },
            security_schemes: (!schemes.is_empty()).then_some(schemes),
            security: some(requirements),
            default_input_modes: card.default_input_modes,
            default_output_modes: card.default_output_modes,
            skills: card.skills.into_iter().map(Into::into).collect(),
            supports_authenticated_extended_card: card.capabilities.extended_agent_card,
        }
    }
}

impl From<AgentExtension> for crate::AgentExtension {
    fn from(extension: AgentExtension) -> Self {
        Self {
            uri: extension.uri,
            description: extension.description,
            required: extension.required.unwrap_or_default(),
            params: extension.params,
        }
    }
}

impl From<crate::AgentExtension> for AgentExtension {
    fn from(extension: crate::AgentExtension) -> Self {
        Self {
            uri: extension.uri,
            description: extension.description,
            required: extension.required.then_some(true),
            params: extension.params,
        }
    }
}

impl From<AgentSkill> for crate::AgentSkill {
    fn from(skill: AgentSkill) -> Self {
        Self {
            id: skill.id,
            name: skill.name,
            description: skill.description,
            tags: skill.tags,
            examples: skill.examples.unwrap_or_default(),
            input_modes: skill.input_modes.unwrap_or_default(),
            output_modes: skill.output_modes.unwrap_or_default(),
            security_requirements: Vec::new(),
        }
    }
}

impl From<crate::AgentSkill> for AgentSkill {
    fn from(skill: crate::AgentSkill) -> Self {
        Self {
            id: skill.id,
            name: skill.name,
            description: skill.description,
            tags: skill.tags,
            examples: some(skill.examples),
            input_modes: some(skill.input_modes),
            output_modes: some(skill.output_modes),
        }
    }
}
