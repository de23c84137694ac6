//! The agent card, 0.2 §5.5.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::AgentSkill;
use crate::pre_1_0::security::{self, SecurityRequirement, SecurityScheme, Variants};
use crate::pre_1_0::{self, both_ways, optional_list, unless_empty, wire_types, with_members_of};
use crate::reading::{Normalizer, Quirk, Wire, absent};
use crate::{Object, ProtocolVersion};

wire_types! {
    /// Self-description of an agent: identity and skills, 0.2 §5.5.
    pub struct AgentCard: Debug {
        /// Protocol version spoken at `url` (0.2.5).
        pub protocol_version: String,
        /// Human-readable name.
        pub name: String,
        /// Purpose of the agent.
        pub description: String,
        /// URL of the preferred interface.
        pub url: String,
        /// Transport at `url`: `JSONRPC` if absent (0.2.4).
        pub preferred_transport: Option<String> = optional,
        /// Further interfaces (0.2.4).
        pub additional_interfaces: Option<Vec<AgentInterface>> = optional,
        /// A picture (0.2.2).
        pub icon_url: Option<String> = optional,
        /// Organization that runs the agent.
        pub provider: Option<AgentProvider> = optional,
        /// The agent's own version.
        pub version: String,
        /// URL of the documentation.
        pub documentation_url: Option<String> = optional,
        /// The optional parts of the protocol that it offers.
        pub capabilities: AgentCapabilities,
        /// The ways to authenticate, by name.
        pub security_schemes: Option<BTreeMap<String, SecurityScheme>> = optional,
        /// Required schemes: satisfying any one entry suffices.
        pub security: Option<Vec<SecurityRequirement>> = optional,
        /// Media types that every skill accepts, unless it lists its own.
        pub default_input_modes: Vec<String>,
        /// Media types that every skill produces, unless it lists its own.
        pub default_output_modes: Vec<String>,
        /// Skills of the agent.
        pub skills: Vec<AgentSkill>,
        /// `true` if there is a longer card for authenticated callers (0.2.1).
        pub supports_authenticated_extended_card: Option<bool> = optional,
        /// Signatures over this card (0.3).
        pub signatures: Option<Vec<AgentCardSignature>> = optional,
    }
}

impl AgentCard {
    /// Returns the card without what only 0.3 has: signatures, client certificates, the requirements
    /// of skills, and the metadata URL of an authorization server.
    ///
    /// A requirement that needs a client certificate is dropped as a whole, never made weaker: a
    /// card that allows nothing else then names no requirement.
    pub fn of_0_2(self) -> Self {
        let (schemes, dropped) =
            security::schemes_of_0_2(self.security_schemes.unwrap_or_default());
        Self {
            protocol_version: LATEST_0_2.to_owned(),
            security_schemes: unless_empty::write(schemes),
            security: self
                .security
                .and_then(|security| security::satisfiable(security, &dropped)),
            skills: self
                .skills
                .into_iter()
                .map(|skill| AgentSkill {
                    security: None,
                    ..skill
                })
                .collect(),
            signatures: None,
            ..self
        }
    }
}

/// `protocolVersion` of a 0.2 card.
const LATEST_0_2: &str = "0.2.6";
/// `protocolVersion` of a 0.3 card.
const LATEST_0_3: &str = "0.3.0";

wire_types! {
    /// A further interface of an agent (0.2.4).
    pub struct AgentInterface: Debug {
        /// The absolute URL.
        pub url: String,
        /// `JSONRPC`, `GRPC`, `HTTP+JSON`, or another.
        pub transport: String,
    }

    /// Provider of an agent, 0.2 §5.5.1.
    pub struct AgentProvider: Debug {
        /// Name of the provider.
        pub organization: String,
        /// Home page of the provider.
        pub url: String,
    }

    /// The optional parts of the protocol that an agent offers, 0.2 §5.5.2.
    pub struct AgentCapabilities: Debug, Default {
        /// Server-Sent Events.
        pub streaming: Option<bool> = optional,
        /// Webhooks.
        pub push_notifications: Option<bool> = optional,
        /// A record of state changes, which no protocol version ever defined.
        pub state_transition_history: Option<bool> = optional,
        /// Protocol extensions (0.2.2).
        pub extensions: Option<Vec<AgentExtension>> = optional,
    }

    /// A protocol extension that an agent offers (0.2.2).
    pub struct AgentExtension: Debug {
        /// Identifier of the extension.
        pub uri: String,
        /// Description of how the agent uses it.
        pub description: Option<String> = optional,
        /// `true` if a caller must support it.
        pub required: Option<bool> = optional,
        /// Settings of the extension.
        pub params: Option<Object> = optional,
    }

    /// A signature over a card (RFC 7515), 0.3 §5.5.6.
    pub struct AgentCardSignature: Debug, Default {
        /// The protected header, base64url.
        pub protected: String,
        /// The signature, base64url.
        pub signature: String,
        /// The unprotected header.
        pub header: Option<Object> = optional,
    }
}

impl Wire for AgentCard {
    /// Supplies members that the schema requires and cards in the field omit.
    fn normalize(card: &mut Object, normalizer: &mut Normalizer<'_>) {
        // A member since 0.2.5; a card without it is just as good.
        if absent(card, "protocolVersion") {
            card.insert("protocolVersion".to_owned(), "0.2".into());
        }
        normalizer.supply(card, "description", "", Quirk::NoCardMember);
        normalizer.supply(card, "capabilities", Map::new(), Quirk::NoCardMember);
        for modes in ["defaultInputModes", "defaultOutputModes"] {
            normalizer.supply(card, modes, vec!["text/plain"], Quirk::NoCardMember);
        }
        normalizer.supply(
            card,
            "skills",
            Value::Array(Vec::new()),
            Quirk::NoCardMember,
        );
        normalizer.member(
            card,
            "securitySchemes",
            security::normalize_security_schemes,
        );
        normalizer.member(card, "provider", |provider, normalizer| {
            normalizer.supply(provider, "url", "", Quirk::NoCardMember);
        });
        normalizer.items(card, "skills", |skill, normalizer| {
            normalizer.supply(skill, "description", "", Quirk::NoCardMember);
            normalizer.supply(skill, "tags", Value::Array(Vec::new()), Quirk::NoCardMember);
        });
    }
}

impl From<AgentCard> for crate::AgentCard {
    fn from(card: AgentCard) -> Self {
        let protocol_version =
            ProtocolVersion::from_version(&card.protocol_version).unwrap_or(ProtocolVersion::V0_2);
        let additional = card.additional_interfaces.into_iter().flatten();
        let additional = additional.map(|it| (it.url, it.transport));
        let supported_interfaces = pre_1_0::interfaces(
            protocol_version,
            card.url,
            card.preferred_transport,
            additional,
        );
        let schemes = card.security_schemes.into_iter().flatten();
        let schemes = schemes.map(|(name, scheme)| (name, scheme.into()));
        let (variants, security_schemes) = Variants::of(schemes.collect());
        let skills = card.skills.into_iter();
        with_members_of! {
            card {
                name, description, provider as option, version, documentation_url, default_input_modes,
                default_output_modes, icon_url,
            } and {
                supported_interfaces,
                capabilities: crate::AgentCapabilities {
                    extended_agent_card: card.supports_authenticated_extended_card,
                    ..card.capabilities.into()
                },
                security_schemes,
                security_requirements: security::to_canonical(card.security, &variants),
                skills: skills.map(|skill| skill.into_canonical(&variants)).collect(),
                signatures: optional_list::read(card.signatures),
            }
        }
    }
}

impl From<crate::AgentCard> for AgentCard {
    /// Returns the card of 0.3; [`AgentCard::of_0_2`] makes that of 0.2. Tenants, the device code
    /// flow and PKCE are lost; so are requirements that cannot be satisfied without that flow.
    fn from(mut card: crate::AgentCard) -> Self {
        security::downgrade(&mut card);
        let (preferred, additional) = interfaces(card.supported_interfaces);
        let version = match preferred.protocol_version() {
            Some(ProtocolVersion::V0_3) => LATEST_0_3,
            _ => LATEST_0_2,
        };
        let skills = card.skills.into_iter();
        with_members_of! {
            card {
                name, description, icon_url, provider as option, version, documentation_url,
                default_input_modes, default_output_modes,
            } and {
                protocol_version: version.to_owned(),
                url: preferred.url,
                preferred_transport: unless_empty::write(preferred.protocol_binding),
                additional_interfaces: unless_empty::write(additional),
                supports_authenticated_extended_card: card.capabilities.extended_agent_card,
                capabilities: card.capabilities.into(),
                security_schemes: security::schemes_from_canonical(card.security_schemes),
                security: security::from_canonical(card.security_requirements),
                skills: skills.map(AgentSkill::from_canonical).collect(),
                signatures: optional_list::write(card.signatures),
            }
        }
    }
}

/// Returns the interface that a caller of 0.2 or 0.3 tries first, and the others that it may try:
/// JSON-RPC before every other transport, and no other versions if one of these is offered.
fn interfaces(
    interfaces: Vec<crate::AgentInterface>,
) -> (crate::AgentInterface, Vec<AgentInterface>) {
    let mut interfaces =
        pre_1_0::offered(interfaces, &[ProtocolVersion::V0_2, ProtocolVersion::V0_3]);
    let is_json_rpc = |interface: &crate::AgentInterface| {
        interface.protocol_binding == crate::AgentInterface::JSON_RPC
    };
    let first = interfaces.iter().position(is_json_rpc).unwrap_or(0);
    let preferred = match first < interfaces.len() {
        true => interfaces.remove(first),
        false => crate::AgentInterface::default(),
    };
    let mut additional = Vec::new();
    for interface in interfaces {
        let other = AgentInterface {
            url: interface.url,
            transport: interface.protocol_binding,
        };
        let is_preferred =
            other.url == preferred.url && other.transport == preferred.protocol_binding;
        if !is_preferred && !additional.contains(&other) {
            additional.push(other);
        }
    }
    (preferred, additional)
}

both_ways! {
    AgentCapabilities = crate::AgentCapabilities { streaming, push_notifications, extensions as optional_list }
        wire only { state_transition_history } canonical only { extended_agent_card };
    AgentProvider = crate::AgentProvider { organization, url };
    AgentExtension = crate::AgentExtension { uri, description, required as unless_empty, params };
    AgentCardSignature = crate::AgentCardSignature { protected, signature, header };
}
