//! The skills of an agent, 0.2 §5.5.4.

use serde::{Deserialize, Serialize};

use crate::pre_1_0::security::{self, SecurityRequirement, Variants};
use crate::pre_1_0::unless_empty;

/// An ability of an agent, 0.2 §5.5.4.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentSkill {
    /// Identifier of the skill.
    pub id: String,
    /// Human-readable name.
    pub name: String,
    /// Description of the skill.
    pub description: String,
    /// Keywords.
    pub tags: Vec<String>,
    /// Example prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples: Option<Vec<String>>,
    /// Media types it takes, if not the card's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_modes: Option<Vec<String>>,
    /// Media types it produces, if not the card's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_modes: Option<Vec<String>>,
    /// Security requirements of this skill, if not the card's (0.3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security: Option<Vec<SecurityRequirement>>,
}

impl AgentSkill {
    pub(super) fn into_canonical(self, variants: &Variants) -> crate::AgentSkill {
        crate::AgentSkill {
            id: self.id,
            name: self.name,
            description: self.description,
            tags: self.tags,
            examples: self.examples.unwrap_or_default(),
            input_modes: self.input_modes.unwrap_or_default(),
            output_modes: self.output_modes.unwrap_or_default(),
            security_requirements: security::to_canonical(self.security, variants),
        }
    }

    /// Converts a skill with downgraded requirements.
    pub(super) fn from_canonical(skill: crate::AgentSkill) -> Self {
        Self {
            id: skill.id,
            name: skill.name,
            description: skill.description,
            tags: skill.tags,
            examples: unless_empty::write(skill.examples),
            input_modes: unless_empty::write(skill.input_modes),
            output_modes: unless_empty::write(skill.output_modes),
            security: security::from_canonical(skill.security_requirements),
        }
    }
}
