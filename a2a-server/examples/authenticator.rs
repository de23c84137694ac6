//! An agent for callers with a token: `cargo run -p agent2agent-server --example authenticator`.

use a2a_server::{Agent, AuthError, Authenticator, Failure, Principal, Server, Turn};
use a2a_types::AgentCard;
use http::request::Parts;

struct Tokens;

impl Authenticator for Tokens {
    async fn authenticate(&self, head: &Parts) -> Result<Principal, AuthError> {
        let shown = head.headers.get("authorization");
        match shown.map(|value| value.as_bytes()) {
            Some(b"Bearer token-of-ada") => Ok(Principal::named("ada")),
            _ => Err(AuthError::unauthenticated("Bearer")),
        }
    }
}

struct Greeter;

impl Agent for Greeter {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        let name = turn.principal().name().unwrap_or("you").to_owned();
        let text = format!("Hello {name}, you said: {}", turn.text());
        turn.artifact("greeting").text(text).complete_task().await?;
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let card = AgentCard::new("Greeter", "Greets");
    let server = Server::builder(card, Greeter)
        .authenticator(Tokens)
        .build()?;
    Ok(server.serve("127.0.0.1:8080").await?)
}
