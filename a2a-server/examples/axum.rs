//! Two agents in an axum program, next to other routes: `cargo run -p agent2agent-server --example axum`.

use std::future::IntoFuture;
use std::time::Duration;

use a2a_server::{Failure, Server, Turn};
use a2a_types::AgentCard;
use axum::Router;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
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

/// Adds an agent to a router, at a path and below it.
fn mount(app: Router, server: &Server, path: &str) -> Router {
    // Pages of other hosts are refused, for anyone is let in: there is no authenticator.
    let hosts = ["localhost", "127.0.0.1"];
    let agent = server.http().path(path).allow_hosts(hosts).service();
    app.route_service(path, agent.clone())
        .route_service(&format!("{path}/{{*rest}}"), agent)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let joker = Server::builder(AgentCard::new("Joker", "Tells a joke"), joker).build()?;
    let parrot = Server::builder(AgentCard::new("Parrot", "Says it back"), parrot).build()?;
    let app = Router::new().route("/", get(async || "agents at /joker and /parrot\n"));
    let app = mount(app, &joker, "/joker");
    let app = mount(app, &parrot, "/parrot").layer(ConcurrencyLimitLayer::new(1000));

    let listener = TcpListener::bind("127.0.0.1:8080").await?;
    println!("http://127.0.0.1:8080/joker\nhttp://127.0.0.1:8080/parrot");
    let stop = CancellationToken::new();
    let serving = axum::serve(listener, app).with_graceful_shutdown(stop.clone().cancelled_owned());
    // Turns come to their end, and streams with them; axum waits for those.
    let shutdown = async {
        drop(tokio::signal::ctrl_c().await);
        stop.cancel();
        let grace = Duration::from_secs(30);
        tokio::join!(joker.shutdown(grace), parrot.shutdown(grace));
    };
    let (served, ()) = tokio::join!(serving.into_future(), shutdown);
    Ok(served?)
}
