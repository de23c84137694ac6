//! A receiver of webhooks: it checks who sent each notification, and prints it. Chapter: docs/webhooks.md.
//!
//! ```console
//! $ cargo run --example webhook_receiver -- http://127.0.0.1:8080
//! $ a2a task push-config create -a http://127.0.0.1:8080 TASK --url http://127.0.0.1:9000/hook --token token-of-the-hook
//! ```
//!
//! The arguments are the URL of the agent, and the address to listen at, 127.0.0.1:9000 by default.

use agent2agent::client::webhook::{JwksSource, JwtVerifier, Notification, Receiver};
use axum::Router;
use tokio::net::TcpListener;

/// Takes a notification: the sender gets its 200 when this returns `Ok`, and sends it again otherwise.
async fn print(notification: Notification) -> Result<(), std::io::Error> {
    let Some(event) = notification.event else {
        return Ok(());
    };
    let state = event.status().map_or("", |status| status.state.as_str());
    println!("{state} {}", event.text().trim());
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let agent = arguments.next().ok_or("expected the URL of an agent")?;
    let address = arguments.next();
    let address = address.unwrap_or_else(|| "127.0.0.1:9000".to_owned());

    let keys = format!("{}/.well-known/jwks.json", agent.trim_end_matches('/'));
    let receiver = Receiver::builder(print)
        .token("token-of-the-hook")
        .tokens(JwtVerifier::of(JwksSource::at(keys)))
        .build()?;
    let app = Router::new().route_service("/hook", receiver);
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/hook", listener.local_addr()?);
    axum::serve(listener, app).await?;
    Ok(())
}
