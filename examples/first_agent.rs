//! An agent in one file: it finds the to-dos in the notes of a meeting. Chapter: docs/first-agent.md.
//!
//! ```console
//! $ cargo run --example first_agent
//! $ a2a send http://127.0.0.1:8080 "TODO ada: book a room"
//! ```
//!
//! An argument is the address to listen at, in place of 127.0.0.1:8080.

use agent2agent::{Agent, AgentCard, Failure, Server, Turn};

struct Notes;

impl Agent for Notes {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        let lines = to_dos(&turn.text());
        if lines.is_empty() {
            turn.reply("Send notes with lines like this one: TODO ada: book a room")
                .await?;
            return Ok(());
        }
        turn.artifact("to-dos").text(lines).complete_task().await?;
        Ok(())
    }
}

/// Returns a list of what follows the word TODO on the lines that begin with it.
fn to_dos(notes: &str) -> String {
    let to_dos = notes.lines().filter_map(|line| line.strip_prefix("TODO"));
    let lines: Vec<_> = to_dos.map(|to_do| format!("-{to_do}")).collect();
    lines.join("\n")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let card = AgentCard::new("Notes", "Finds the to-dos in the notes of a meeting");
    let server = Server::builder(card, Notes).build()?;

    let argument = std::env::args().nth(1);
    let address = argument.unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let bound = server.bind(address).await?;
    println!("{}", bound.url());
    bound.run(std::future::pending()).await?;
    Ok(())
}
