//! An agent with an authenticator of its own: it lets in callers with a token.
//!
//! ```console
//! $ cargo run --example authenticator
//! $ a2a send http://127.0.0.1:8080 "good morning" --bearer token-of-ada
//! ```
//!
//! An argument is the address to listen at, in place of 127.0.0.1:8080. Authenticators that check API keys, passwords and
//! JSON Web Tokens are in the module `agent2agent::auth`: docs/who-may-call.md.

use agent2agent::server::{AuthError, Authenticator, Principal};
use agent2agent::{Agent, AgentCard, Failure, Server, Turn};
use http::request::Parts;

struct Tokens;

impl Authenticator for Tokens {
    async fn authenticate(&self, head: &Parts) -> Result<Principal, AuthError> {
        let header = head.headers.get("authorization");
        match header.map(|value| value.as_bytes()) {
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

    let argument = std::env::args().nth(1);
    let address = argument.unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let bound = server.bind(address).await?;
    println!("{}", bound.url());
    bound.run(std::future::pending()).await?;
    Ok(())
}
