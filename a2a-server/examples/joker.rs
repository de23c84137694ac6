//! An agent that tells a joke: `cargo run -p agent2agent-server --example joker`.

use a2a_server::{Agent, Failure, Server, SqliteStore, Turn};
use a2a_types::AgentCard;

struct Joker;

impl Agent for Joker {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        turn.working("looking for a joke").await?;
        turn.artifact("joke")
            .text("Why did the chicken cross the road?")
            .finish()
            .await?;
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let card = AgentCard::new("Joker", "Tells jokes");
    let store = SqliteStore::open("joker.db")?;
    let server = Server::builder(card, Joker).store(store).build()?;
    println!("http://127.0.0.1:8080");
    server.serve("127.0.0.1:8080").await?;
    Ok(())
}
