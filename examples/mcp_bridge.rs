//! Agents as tools of an editor or assistant, by the Model Context Protocol.
//!
//! ```console
//! $ a2a serve joke &
//! $ claude mcp add joker -- cargo run --example mcp_bridge -- http://127.0.0.1:8080
//! ```
//!
//! The arguments are the URLs of the agents. `a2a mcp` does the same, with credentials and by HTTP, too.

use agent2agent::{Client, mcp::Bridge};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut bridge = Bridge::builder();
    for url in std::env::args().skip(1) {
        let place = url.clone();
        bridge = bridge.agent(place, move || {
            let url = url.clone();
            async move { Ok(Client::connect(&url).await?) }
        });
    }
    bridge.build()?.serve_stdio(std::future::pending()).await?;
    Ok(())
}
