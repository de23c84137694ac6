use std::time::Duration;

use a2a_types::AgentCard;

use super::{card, skill};
use crate::{Agent, Failure, Turn};

/// Sends a joke, word by word; before that it asks what about, unless the message names that.
#[derive(Clone, Copy, Debug, Default)]
pub struct Joker;

impl Joker {
    /// Its card.
    pub fn card() -> AgentCard {
        let examples = ["tell me a joke", "tell me a joke about chickens"];
        let skill = skill("joke", "Tells a joke", &examples);
        card("Joker", "Tells jokes about chickens and computers", skill)
    }
}

impl Agent for Joker {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        let text = turn.text().to_lowercase();
        let known = JOKES.iter().find(|(about, _)| text.contains(about));
        let Some((about, joke)) = known else {
            return Ok(turn.ask("What about: chickens, or computers?").await?);
        };
        turn.working(format!("looking for a joke about {about}s"))
            .await?;
        let mut words = joke.split_inclusive(' ').peekable();
        let mut draft = turn.artifact("joke");
        while let Some(word) = words.next() {
            draft = draft.text(word);
            if words.peek().is_none() {
                return Ok(draft.finish().await?);
            }
            draft = draft.send().await?;
            let breath = Duration::from_millis(60);
            if tokio::time::timeout(breath, turn.canceled()).await.is_ok() {
                break;
            }
        }
        Ok(())
    }
}

const JOKES: [(&str, &str); 2] = [
    (
        "chicken",
        "Why did the chicken cross the road? To get to the other side.",
    ),
    (
        "computer",
        "There are 10 kinds of people: those who read binary, and those who do not.",
    ),
];
