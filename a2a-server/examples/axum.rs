//! Two agents in an axum program, next to other routes: `cargo run -p agent2agent-server --example axum`.

use std::time::Duration;

use a2a_server::{Failure, HttpServer, Server, Turn};
use a2a_types::AgentCard;
use axum::Router;
use axum::routing::get;
use tokio::net::TcpListener;
use tower::limit::ConcurrencyLimitLayer;

async fn joker(turn: Turn) -> Result<(), Failure> {
    let joke = "Why did the chicken cross the road?";
    Ok(turn.artifact("joke").text(joke).complete_task().await?)
}

async fn parrot(turn: Turn) -> Result<(), Failure> {
    Ok(turn
        .artifact("echo")
        .text(turn.text())
        .complete_task()
        .await?)
}

/// Refuses the pages of other hosts, for anyone is let in: there is no authenticator.
fn local(agent: HttpServer) -> Router {
    agent.allow_hosts(["localhost", "127.0.0.1"]).router()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let joker = Server::builder(AgentCard::new("Joker", "Tells a joke"), joker).build()?;
    let parrot = Server::builder(AgentCard::new("Parrot", "Says it back"), parrot).build()?;
    let app = Router::new()
        .route("/", get(async || "agents at /joker and /parrot\n"))
        .merge(local(joker.http().path("/joker")))
        .merge(local(parrot.http().path("/parrot")))
        .layer(ConcurrencyLimitLayer::new(1000));

    let listener = TcpListener::bind("127.0.0.1:8080").await?;
    println!("http://127.0.0.1:8080/joker\nhttp://127.0.0.1:8080/parrot");
    // Turns come to their end, and their streams with them; axum waits for those.
    let grace = Duration::from_secs(30);
    let stop = joker.shutdown_after(tokio::signal::ctrl_c(), grace);
    let stop = parrot.shutdown_after(stop, grace);
    axum::serve(listener, app)
        .with_graceful_shutdown(stop)
        .await?;
    Ok(())
}
