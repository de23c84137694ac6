//! The skills of an agent, 0.2 §5.5.4.

use crate::pre_1_0::security::{self, SecurityRequirement, Variants};
use crate::pre_1_0::{unless_empty, wire_types};

wire_types! {
    /// An ability of an agent, 0.2 §5.5.4.
    pub struct AgentSkill: Debug {
        /// Identifier of the skill.
        pub id: String,
        /// Human-readable name.
        pub name: String,
        /// Description of the skill.
        pub description: String,
        /// Keywords.
        pub tags: Vec<String>,
        /// Example prompts.
        pub examples: Option<Vec<String>> = optional,
        /// Media types it takes, if not the card's.
        pub input_modes: Option<Vec<String>> = optional,
        /// Media types it produces, if not the card's.
        pub output_modes: Option<Vec<String>> = optional,
        /// Security requirements of this skill, if not the card's (0.3).
        pub security: Option<Vec<SecurityRequirement>> = optional,
    }
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
