use std::time::Duration;

use a2a_types::{AgentCard, Artifact, Message, Part, Role, TaskState};

use super::{card, skill};
use crate::{Agent, ArtifactUpdate, Failure, Turn};

/// Obeys the first word of a message, so that a caller can see everything that an agent can do:
///
#[doc = include_str!("orders.md")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Reference;

impl Reference {
    /// Its action for each message, as a table in Markdown.
    pub const ORDERS: &str = include_str!("orders.md");

    /// Its card.
    pub fn card() -> AgentCard {
        let examples = [
            "echo hello",
            "chunks 5 200",
            "ask which phone?",
            "fail no paper",
        ];
        let skill = skill("reference", "Does what the first word says", &examples);
        card("Reference", "Does each thing that an agent can do", skill)
    }
}

impl Agent for Reference {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        let text = turn.text();
        if was_asked(&turn).await? {
            return Ok(turn.artifact("answer").text(text).finish().await?);
        }
        let (order, rest) = text.split_once(' ').unwrap_or((&text, ""));
        let mut numbers = rest.split(' ').map(|word| word.parse::<u64>().unwrap_or(1));
        let mut number = || numbers.next().unwrap_or(1);
        match order {
            "parts" => {
                let parts = turn.message().parts.iter().cloned();
                let artifact = turn.artifact("parts");
                parts
                    .fold(artifact, |artifact, part| artifact.part(part))
                    .finish()
                    .await?;
            }
            "reply" => turn.reply(Message::agent(rest)).await?,
            "chunks" => {
                let (count, pause) = (number(), Duration::from_millis(number()));
                chunks(&turn, count, pause).await?;
            }
            "artifacts" => {
                for number in 1..=number() {
                    let number = number.to_string();
                    turn.artifact(number.as_str())
                        .text(number.as_str())
                        .finish()
                        .await?;
                }
            }
            "data" => {
                let data = Part::data(serde_json::json!({"answer": 42}));
                turn.artifact("data").part(data).finish().await?;
            }
            "file" => {
                let file = Part {
                    filename: Some("hello.txt".to_owned()),
                    ..Part::bytes("hello", "text/plain")
                };
                turn.artifact("file").part(file).finish().await?;
            }
            "link" => turn.artifact("link").part(Part::url(rest)).finish().await?,
            "say" => turn.working(rest).await?,
            "ask" => turn.ask(rest).await?,
            "auth" => {
                turn.status(TaskState::AuthRequired, Some(Message::agent(rest)))
                    .await?
            }
            "fail" => {
                turn.status(TaskState::Failed, Some(Message::agent(rest)))
                    .await?
            }
            "reject" => turn.reject(rest).await?,
            "crash" => return Err("the message asks for it".into()),
            "wait" => {
                turn.working("waiting").await?;
                turn.canceled().await;
            }
            "echo" => turn.artifact("echo").text(rest).finish().await?,
            _ => turn.artifact("echo").text(text).finish().await?,
        }
        Ok(())
    }
}

/// Returns whether the message answers a question of the turn before.
async fn was_asked(turn: &Turn) -> Result<bool, Failure> {
    let task = turn.task().await?;
    let earlier = |message: &&Message| {
        message.role == Role::User && message.message_id != turn.message().message_id
    };
    let before = task.history.iter().rev().find(earlier);
    Ok(before.is_some_and(|before| {
        let text = before.text();
        text.starts_with("ask") || text.starts_with("auth")
    }))
}

async fn chunks(turn: &Turn, count: u64, pause: Duration) -> Result<(), Failure> {
    // After a crash it goes on where it was.
    let begun = turn.task().await?.artifacts.pop();
    let parts = begun.iter().flat_map(|artifact| &artifact.parts);
    let text: String = parts.filter_map(Part::as_text).collect();
    let done = text.split_whitespace().count() as u64;
    for number in done + 1..=count {
        let update = ArtifactUpdate {
            artifact: Artifact {
                artifact_id: "chunks".into(),
                name: Some("chunks".to_owned()),
                parts: vec![Part::text(format!("{number} "))],
                ..Artifact::default()
            },
            append: number > 1,
            last_chunk: number == count,
            metadata: None,
        };
        turn.publish(update).await?;
        if number < count && tokio::time::timeout(pause, turn.canceled()).await.is_ok() {
            break;
        }
    }
    Ok(())
}
