//! Reading of 1.0 cards, which may be one document for callers of every protocol version.
//!
//! Such a card repeats its data in several forms, of which the forms of 1.0 count (specification 1.0
//! App. A.2.2). If 1.0's own form is missing, another is read: requirements under
//! `security`, as even the sample card of 1.0.1 has them, schemes as OpenAPI writes them, and the
//! flag of the extended card next to `capabilities` instead of in it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::Value;

use crate::pre_1_0::security::{self, Variants};
use crate::wire_types::wire_types;
use crate::{
    AgentCapabilities, AgentCard, AgentCardSignature, AgentInterface, AgentProvider, AgentSkill,
    SecurityRequirement, SecurityScheme, StringList,
};

wire_types! { members of
    /// The members of a card as they stand on the wire.
    Card {
        name: String,
        description: String = or_default,
        supported_interfaces: Vec<AgentInterface> = or_default | "supported_interfaces",
        provider: Option<AgentProvider>,
        version: String,
        documentation_url: Option<String> | "documentation_url",
        capabilities: AgentCapabilities,
        security_schemes: BTreeMap<String, Scheme> = or_default | "security_schemes",
        security_requirements: Vec<SecurityRequirement> = or_default | "security_requirements",
        security: Option<Value>,
        default_input_modes: Vec<String> = or_default | "default_input_modes",
        default_output_modes: Vec<String> = or_default | "default_output_modes",
        skills: Vec<AgentSkill> = or_default,
        signatures: Vec<AgentCardSignature> = or_default,
        icon_url: Option<String> | "icon_url",
        supports_extended_agent_card: Option<bool> | "supports_extended_agent_card",
        supports_authenticated_extended_card: Option<bool> | "supports_authenticated_extended_card",
    }

    /// The members of a skill as they stand on the wire.
    Skill {
        id: String,
        name: String,
        description: String = or_default,
        tags: Vec<String> = or_default,
        examples: Vec<String> = or_default,
        input_modes: Vec<String> = or_default | "input_modes",
        output_modes: Vec<String> = or_default | "output_modes",
        security_requirements: Vec<SecurityRequirement> = or_default | "security_requirements",
        security: Option<Value>,
    }
}

/// A scheme as any protocol version writes it, perhaps with several flows; `None` if unknown. The
/// requirements that name an unknown scheme stay, so that the agent is not mistaken for an open one.
struct Scheme(Option<SecurityScheme>);

impl<'de> Deserialize<'de> for Scheme {
    /// Fails if a scheme with a member of 1.0 is malformed; any other malformed scheme becomes `None`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scheme = Value::deserialize(deserializer)?;
        let is_canonical = scheme.as_object().is_some_and(|members| {
            let mut present = members.iter().filter(|(_, value)| !value.is_null());
            present.any(|(name, _)| KINDS.contains(&name.as_str()))
        });
        if is_canonical {
            let scheme = SecurityScheme::deserialize(scheme).map_err(Error::custom);
            return scheme.map(|scheme| Self(Some(scheme)));
        }
        let older = security::SecurityScheme::deserialize(scheme).ok();
        Ok(Self(older.map(Into::into)))
    }
}

/// The members that make a scheme one of 1.0, in both spellings.
const KINDS: &[&str] = &[
    "apiKeySecurityScheme",
    "api_key_security_scheme",
    "httpAuthSecurityScheme",
    "http_auth_security_scheme",
    "oauth2SecurityScheme",
    "oauth2_security_scheme",
    "openIdConnectSecurityScheme",
    "open_id_connect_security_scheme",
    "mtlsSecurityScheme",
    "mtls_security_scheme",
];

impl TryFrom<Card> for AgentCard {
    type Error = String;

    fn try_from(card: Card) -> Result<Self, String> {
        let known = card.security_schemes.into_iter();
        let known = known.filter_map(|(name, Scheme(scheme))| Some((name, scheme?)));
        let (variants, security_schemes) = Variants::of(known.collect());
        let required = requirements(card.security_requirements, card.security)?;
        let with_variants = |skill: AgentSkill| AgentSkill {
            security_requirements: variants.apply(skill.security_requirements),
            ..skill
        };
        let extended_agent_card = card
            .capabilities
            .extended_agent_card
            .or(card.supports_extended_agent_card)
            .or(card.supports_authenticated_extended_card);
        Ok(Self {
            name: card.name,
            description: card.description,
            supported_interfaces: card.supported_interfaces,
            provider: card.provider,
            version: card.version,
            documentation_url: card.documentation_url,
            capabilities: AgentCapabilities {
                extended_agent_card,
                ..card.capabilities
            },
            security_schemes,
            security_requirements: variants.apply(required),
            default_input_modes: card.default_input_modes,
            default_output_modes: card.default_output_modes,
            skills: card.skills.into_iter().map(with_variants).collect(),
            signatures: card.signatures,
            icon_url: card.icon_url,
        })
    }
}

impl TryFrom<Skill> for AgentSkill {
    type Error = String;

    fn try_from(skill: Skill) -> Result<Self, String> {
        Ok(Self {
            id: skill.id,
            name: skill.name,
            description: skill.description,
            tags: skill.tags,
            examples: skill.examples,
            input_modes: skill.input_modes,
            output_modes: skill.output_modes,
            security_requirements: requirements(skill.security_requirements, skill.security)?,
        })
    }
}

/// Returns the requirements under 1.0's name or, if there are none, the requirements under `security`.
fn requirements(
    canonical: Vec<SecurityRequirement>,
    security: Option<Value>,
) -> Result<Vec<SecurityRequirement>, String> {
    let Some(security) = security.filter(|_| canonical.is_empty()) else {
        return Ok(canonical);
    };
    let read: Vec<Requirement> = serde_json::from_value(security)
        .map_err(|_| "`security` is not a list of schemes with their scopes".to_owned())?;
    let convert = |requirement| match requirement {
        Requirement::Older(requirement) => requirement.into(),
        Requirement::Canonical { schemes } => SecurityRequirement { schemes },
    };
    Ok(read.into_iter().map(convert).collect())
}

/// A requirement under `security`, where texts of 1.0 keep it too, in either shape.
#[derive(Deserialize)]
#[serde(untagged)]
enum Requirement {
    Older(security::SecurityRequirement),
    Canonical {
        schemes: BTreeMap<String, StringList>,
    },
}
