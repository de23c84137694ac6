//! Gateway from callers of every protocol version to an agent of one.
//!
//! ```sh
//! cargo run -p a2a-client --example gateway -- --listen 127.0.0.1:8090 --upstream http://localhost:8080
//! ```

use std::process::ExitCode;
use std::sync::Arc;

use a2a_client::{Cards, Dialect, Error, HttpTransport};
use a2a_transport::Gateway;
use a2a_transport::http::{Hosts, HttpService, ServeOptions, serve};
use a2a_types::AgentCard;
use clap::Parser;
use tokio::net::TcpListener;

/// Lets callers of every protocol version (0.1 to 1.0, JSON-RPC and HTTP+JSON) reach an agent of one.
#[derive(Parser)]
#[command(after_help = "Examples:
  gateway --listen 127.0.0.1:8090 --upstream http://localhost:8080
      serves the agent that introduces itself at port 8080, as its card says it speaks
  gateway --listen 0.0.0.0:80 --public-url https://agents.example/old --upstream http://10.0.0.7/a2a --speak 0.1
      speaks 0.1 to an agent, whatever its card says or if it has none")]
struct Options {
    /// Address to listen on; port 0 takes any free port.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8090")]
    listen: String,
    /// URL of the agent (origin, endpoint or card); the JSON-RPC endpoint if it has no card.
    #[arg(long, value_name = "URL")]
    upstream: String,
    /// Protocol version of requests to the agent, by JSON-RPC. Default: that of its card.
    #[arg(long, value_name = "VERSION", value_parser = dialect)]
    speak: Option<Dialect>,
    /// URL at which callers reach the gateway. Default: the address it listens on.
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
}

fn dialect(version: &str) -> Result<Dialect, String> {
    Dialect::from_version(version).ok_or_else(|| "expected 0.1, 0.2, 0.3 or 1.0".to_owned())
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Options::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("gateway: {problem}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> Result<(), String> {
    let (agent, card) = agent(&options).await?;
    let listener = TcpListener::bind(&options.listen).await;
    let listener =
        listener.map_err(|error| format!("cannot listen at {}: {error}", options.listen))?;
    let local = listener.local_addr().map_err(|error| error.to_string())?;
    let url = options
        .public_url
        .unwrap_or_else(|| format!("http://{local}/"));

    let spoken = agent.dialect();
    let card = AgentCard::clone(&card).at(&url);
    // It has no authenticator, so callers are indistinguishable.
    let gateway = Gateway::new(agent, spoken).share_tasks();
    let service = HttpService::new(gateway)
        .hosts(Hosts::of(local).and([&url]))
        .card(&card);
    println!(
        "{} at {url}, asked in {spoken} at {}",
        card.name, options.upstream
    );
    let stop = async {
        // Without a signal handler the gateway runs until it is killed.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    serve(listener, service, ServeOptions::default(), stop).await;
    Ok(())
}

/// Returns a transport to the agent, and the card it has or might have.
async fn agent(options: &Options) -> Result<(HttpTransport, Arc<AgentCard>), String> {
    let url = &options.upstream;
    let explained = |error: Error| {
        let mut message = format!("{url}: {error}");
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            message.push_str(&format!(": {cause}"));
            source = cause.source();
        }
        format!("{message}\nIs the agent running? An agent without a card needs --speak.")
    };
    let card = Cards::default().find(url).await;
    let Some(dialect) = options.speak else {
        let card = card.map_err(explained)?;
        let mut spoken = card
            .supported_interfaces
            .iter()
            .filter_map(HttpTransport::to);
        let first = spoken.next().ok_or_else(|| {
            format!("{url}: the card names no interface of JSONRPC or HTTP+JSON in 0.1 to 1.0")
        })?;
        return Ok((first.map_err(explained)?, card));
    };
    let card = card.unwrap_or_else(|_| Arc::new(AgentCard::new(url, "An agent behind a gateway")));
    let endpoint = card.supported_interfaces.iter().find(|interface| {
        interface.dialect() == Some(dialect)
            && interface.protocol_binding == a2a_types::AgentInterface::JSON_RPC
    });
    let endpoint = endpoint.map_or(url, |interface| &interface.url);
    let agent = HttpTransport::new(endpoint, dialect).map_err(explained)?;
    Ok((agent, card))
}
