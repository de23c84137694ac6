//! Security of a card, derived from the authenticator and the authorizer.

use std::collections::BTreeMap;

use a2a_transport::http::Security;
use a2a_types::{AgentCard, SecurityRequirement};

use crate::build_error::BuildError;

/// Schemes, requirements and scopes of skills that a card states.
#[derive(Clone, Debug, Default)]
pub(crate) struct CardSecurity {
    security: Security,
    /// Scopes that skills need in addition to the scopes of the requirements, by skill.
    skill_scopes: BTreeMap<String, Vec<String>>,
}

impl CardSecurity {
    pub(crate) fn new(security: Security, skill_scopes: BTreeMap<String, Vec<String>>) -> Self {
        Self {
            security,
            skill_scopes,
        }
    }

    /// Writes the security into a card that states none. Errors: the card states another one, or is signed
    /// without any.
    pub(crate) fn state(&self, card: &mut AgentCard) -> Result<(), BuildError> {
        let is_silent = card.security_schemes.is_empty() && card.security_requirements.is_empty();
        if is_silent && !card.signatures.is_empty() && !self.security.schemes.is_empty() {
            return Err(BuildError::SignedWithoutSecurity);
        }
        if is_silent {
            self.write(card);
        } else if !self.security.is_stated_by(card) {
            let names = |names: Vec<&String>| match names.as_slice() {
                [] => "none".to_owned(),
                names => format!("{names:?}"),
            };
            return Err(BuildError::OtherSecurity {
                checked: names(self.security.schemes.keys().collect()),
                stated: names(card.security_schemes.keys().collect()),
            });
        }
        for (skill, scopes) in &self.skill_scopes {
            let derived = self.of_skill(scopes);
            let Some(stated) = card.skills.iter_mut().find(|known| known.id == *skill) else {
                return Err(BuildError::UnknownSkill(skill.clone()));
            };
            match stated.security_requirements.is_empty() {
                true if card.signatures.is_empty() => stated.security_requirements = derived,
                _ if stated.security_requirements == derived => {}
                _ => return Err(BuildError::OtherSkillSecurity(skill.clone())),
            }
        }
        Ok(())
    }

    /// Writes the security into a card, whatever it states, unless it is signed.
    pub(crate) fn overwrite(&self, card: &mut AgentCard) {
        if !card.signatures.is_empty() {
            return;
        }
        self.write(card);
        for skill in &mut card.skills {
            if let Some(scopes) = self.skill_scopes.get(&skill.id) {
                skill.security_requirements = self.of_skill(scopes);
            }
        }
    }

    fn write(&self, card: &mut AgentCard) {
        card.security_schemes.clone_from(&self.security.schemes);
        card.security_requirements
            .clone_from(&self.security.requirements);
    }

    /// Returns the requirements with these scopes in addition. It leaves out a requirement without schemes, which
    /// admits no caller to the skill.
    fn of_skill(&self, scopes: &[String]) -> Vec<SecurityRequirement> {
        let requirements = self.security.requirements.iter();
        let requirements = requirements.filter(|requirement| !requirement.schemes.is_empty());
        let with_scopes = |requirement: &SecurityRequirement| {
            let mut requirement = requirement.clone();
            for granted in requirement.schemes.values_mut() {
                granted.list.extend_from_slice(scopes);
            }
            requirement
        };
        requirements.map(with_scopes).collect()
    }
}
