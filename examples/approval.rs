//! An agent that asks a human before a dangerous step: it deletes files, and only the approved ones.
//!
//! ```console
//! $ mkdir files && touch files/a.tmp files/b.tmp files/c.txt
//! $ cargo run --example approval
//! $ a2a chat http://127.0.0.1:8080
//! ```
//!
//! The message `delete .tmp` is for the files of the directory `files` whose names end with `.tmp`. The agent keeps its
//! tasks in approval.db: an answer may also come after a restart. An argument is the address to listen at, in place of
//! 127.0.0.1:8080.

use std::path::Path;

use agent2agent::server::Recovery;
use agent2agent::{Agent, AgentCard, Failure, Part, Server, SqliteStore, Task, Turn};

struct Cleaner;

impl Agent for Cleaner {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        if turn.question().await?.is_none() {
            return propose(&turn).await;
        }
        // Any other answer declines, also a longer one with this word in it.
        match turn.text().trim() {
            "approve" => delete(&turn).await,
            _ => Ok(turn.reply("Declined: nothing was deleted").await?),
        }
    }
}

/// Writes the step that is pending into the task, and asks whether to take it: the answer begins the next turn.
async fn propose(turn: &Turn) -> Result<(), Failure> {
    let text = turn.text();
    let Some(ending) = text.trim().strip_prefix("delete ") else {
        turn.reply("Send a message like this one: delete .tmp")
            .await?;
        return Ok(());
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(FILES)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(ending) {
            files.push(name);
        }
    }
    if files.is_empty() {
        turn.reply(format!("No file ends with {ending}")).await?;
        return Ok(());
    }
    files.sort();
    let question = format!("Delete {} files? {}", files.len(), files.join(", "));
    turn.artifact(PLAN).data(files).finish().await?;
    turn.ask_choice(question, ["approve", "decline"]).await?;
    Ok(())
}

/// Deletes the files of the plan, as the human saw it: files that have come since then stay.
async fn delete(turn: &Turn) -> Result<(), Failure> {
    for file in plan(&turn.task().await?) {
        match std::fs::remove_file(Path::new(FILES).join(&file)) {
            Ok(()) => {}
            // Deleted before a restart in the middle: the turn is taken again.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                turn.fail(format!("cannot delete {file}: {error}")).await?;
                return Ok(());
            }
        }
    }
    turn.reply("Deleted").await?;
    Ok(())
}

/// Returns the files of the plan.
fn plan(task: &Task) -> Vec<String> {
    let artifacts = task.artifacts.iter();
    let plans = artifacts.filter(|artifact| artifact.name.as_deref() == Some(PLAN));
    let data = plans.flat_map(|plan| &plan.parts).filter_map(Part::as_data);
    let files = data.filter_map(|list| list.as_array()).flatten();
    let names = files.filter_map(|file| file.as_str());
    names.map(str::to_owned).collect()
}

const FILES: &str = "files";
const PLAN: &str = "plan";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let card = AgentCard::new("Cleaner", "Deletes files, after a human has approved");
    let server = Server::builder(card, Cleaner)
        .store(SqliteStore::open("approval.db")?)
        .recovery(Recovery::Resume)
        .build()?;

    let argument = std::env::args().nth(1);
    let address = argument.unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let bound = server.bind(address).await?;
    println!("{}", bound.url());
    bound.run(std::future::pending()).await?;
    Ok(())
}
