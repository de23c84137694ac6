//! Agents to try things with: one that echoes, one that jokes, and one that does on request whatever an
//! agent can do.

mod echo;
mod joker;
mod reference;

pub use self::echo::Echo;
pub use self::joker::Joker;
pub use self::reference::Reference;

use a2a_types::{AgentCard, AgentSkill};

/// The card of such an agent.
fn card(name: &str, description: &str, skill: AgentSkill) -> AgentCard {
    let mut card = AgentCard::new(name, description);
    card.capabilities.streaming = Some(true);
    card.skills = vec![skill];
    card
}

fn skill(id: &str, description: &str, examples: &[&str]) -> AgentSkill {
    AgentSkill {
        id: id.to_owned(),
        name: id.to_owned(),
        description: description.to_owned(),
        tags: vec!["demo".to_owned()],
        examples: examples.iter().map(|&example| example.to_owned()).collect(),
        ..AgentSkill::default()
    }
}
