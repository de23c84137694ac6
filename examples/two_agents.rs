//! Two agents in an axum program, next to other routes.
//!
//! ```console
//! $ cargo run --example two_agents
//! $ a2a send http://127.0.0.1:8080/count "one two three"
//! $ a2a send http://127.0.0.1:8080/upper "one two three"
//! ```
//!
//! An argument is the address to listen at, in place of 127.0.0.1:8080.

use std::time::Duration;

use agent2agent::server::HttpServer;
use agent2agent::{AgentCard, Failure, Server, Turn};
use axum::Router;
use axum::routing::get;
use tokio::net::TcpListener;
use tower::limit::ConcurrencyLimitLayer;

async fn count(turn: Turn) -> Result<(), Failure> {
    let words = turn.text().split_whitespace().count();
    let text = format!("{words} words");
    turn.artifact("count").text(text).complete_task().await?;
    Ok(())
}

async fn upper(turn: Turn) -> Result<(), Failure> {
    let text = turn.text().to_uppercase();
    turn.artifact("text").text(text).complete_task().await?;
    Ok(())
}

/// Refuses requests for other hosts, as a web page of another origin can send them: there is no authenticator.
fn local(agent: HttpServer) -> Router {
    agent.allow_hosts(["localhost", "127.0.0.1"]).router()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count = Server::builder(AgentCard::new("Count", "Counts words"), count).build()?;
    let upper = Server::builder(AgentCard::new("Upper", "Writes capitals"), upper).build()?;
    let app = Router::new()
        .route("/", get(async || "agents at /count and /upper\n"))
        .merge(local(count.http().path("/count")))
        .merge(local(upper.http().path("/upper")))
        .layer(ConcurrencyLimitLayer::new(1000));

    let argument = std::env::args().nth(1);
    let address = argument.unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let listener = TcpListener::bind(address).await?;
    println!("http://{}", listener.local_addr()?);
    // Turns come to their end, and their streams with them; axum waits for those.
    let grace = Duration::from_secs(30);
    let stop = count.shutdown_after(tokio::signal::ctrl_c(), grace);
    let stop = upper.shutdown_after(stop, grace);
    axum::serve(listener, app)
        .with_graceful_shutdown(stop)
        .await?;
    Ok(())
}
