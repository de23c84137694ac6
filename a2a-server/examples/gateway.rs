//! Gateway from callers of every protocol version to an agent of one.
//!
//! ```sh
//! cargo run -p agent2agent-server --features webhooks --example gateway -- --listen 127.0.0.1:8090 --upstream http://localhost:8080
//! ```

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use a2a_client::credentials::Keyring;
use a2a_client::{Cards, Credentials, Error, HttpClient, HttpTransport, Origin, ProtocolVersion};
use a2a_gateway::Gateway;
use a2a_server::{GatewayWebhooks, WebhookPolicy};
use a2a_transport::http::{CredentialPlaces, Hosts, ServeOptions, serve};
use a2a_types::{AgentCard, AgentInterface};
use clap::Parser;
use tokio::net::TcpListener;

/// Lets callers of every protocol version (0.1 to 1.0, JSON-RPC and HTTP+JSON) reach an agent of one.
///
/// Callers authenticate to the agent: their credentials are passed on, and its refusals are passed back. With
/// credentials of its own the gateway authenticates for all callers.
#[derive(Parser)]
#[command(after_help = "Examples:
  gateway --listen 127.0.0.1:8090 --upstream http://localhost:8080
      serves the agent that introduces itself at port 8080, as its card says it speaks
  gateway --listen 0.0.0.0:80 --open --public-url https://agents.example/old --upstream http://10.0.0.7/a2a --speak 0.1
      speaks 0.1 to an agent, whatever its card says or if it has none, for everyone
  gateway --upstream https://agent.example --api-key @key.txt
      lets every caller of this machine use the agent with this key")]
struct Options {
    /// Address to listen on; port 0 takes any free port.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8090")]
    listen: String,
    /// URL of the agent (origin, endpoint or card); the JSON-RPC endpoint if it has no card.
    #[arg(long, value_name = "URL")]
    upstream: String,
    /// Protocol version of requests to the agent, by JSON-RPC. Default: that of its card.
    #[arg(long, value_name = "VERSION")]
    speak: Option<ProtocolVersion>,
    /// URL at which callers reach the gateway. Default: the address it listens on.
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// API key of the gateway at the agent: the key itself, `@FILE` or `$NAME`.
    #[arg(long, value_name = "KEY", value_parser = secret)]
    api_key: Option<String>,
    /// Bearer token of the gateway at the agent: the token itself, `@FILE` or `$NAME`.
    #[arg(long, value_name = "TOKEN", value_parser = secret)]
    bearer: Option<String>,
    /// Relays push notifications: the agent sends them to the gateway, at the URL of `--public-url`, and the gateway
    /// sends each to the caller's webhook, in the caller's version. Without it, webhooks of callers of another version
    /// than the agent's are refused.
    #[arg(long)]
    relay_webhooks: bool,
    /// Allows webhooks on the loopback addresses of this machine, which are refused otherwise.
    #[arg(long, requires = "relay_webhooks")]
    local_webhooks: bool,
    /// Lets everyone in who reaches an address that is not of this machine alone.
    #[arg(long)]
    open: bool,
}

/// Reads a secret: as it is, `@FILE` for the content of a file, `$NAME` for an environment variable.
fn secret(text: &str) -> Result<String, String> {
    let secret = match (text.strip_prefix('@'), text.strip_prefix('$')) {
        (Some(path), _) => std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?,
        (_, Some(name)) => std::env::var(name).map_err(|error| format!("${name}: {error}"))?,
        _ => text.to_owned(),
    };
    match secret.trim_end() {
        "" => Err("it is empty".to_owned()),
        secret => Ok(secret.to_owned()),
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    // One line for each failure.
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .init();
    match run(Options::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("gateway: {problem}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> Result<(), String> {
    let listener = TcpListener::bind(&options.listen).await;
    let listener =
        listener.map_err(|error| format!("cannot listen at {}: {error}", options.listen))?;
    let local = listener.local_addr().map_err(|error| error.to_string())?;
    let agent = Agent::find(&options).await?;
    agent.check_address(local, options.open)?;
    let url = options
        .public_url
        .unwrap_or_else(|| format!("http://{local}/"));

    let spoken = agent.transport.protocol_version();
    // Callers are told apart by the agent, or not at all.
    let mut gateway = Gateway::new(agent.transport, spoken).share_tasks();
    if agent.has_card {
        gateway = gateway.agent_card(&agent.card);
    }
    if options.relay_webhooks {
        let policy = match options.local_webhooks {
            true => WebhookPolicy::default().allow_hosts(["127.0.0.1", "localhost", "[::1]"]),
            false => WebhookPolicy::default(),
        };
        let sender = GatewayWebhooks::new(policy).map_err(|error| error.to_string())?;
        gateway = gateway.relay_webhooks(&url, sender);
    }
    let mut card = gateway.public_card().unwrap_or(agent.card).at(&url);
    let places = CredentialPlaces::of(&card);
    if agent.has_credentials {
        card.security_schemes.clear();
        card.security_requirements.clear();
        let skills = card.skills.iter_mut();
        skills.for_each(|skill| skill.security_requirements.clear());
    }
    let mut service = gateway
        .into_service()
        .hosts(Hosts::of(local).and([&url]))
        .answer_budget(MAX_ANSWER_BYTES)
        .card(&card);
    if !agent.has_credentials {
        service = service.pass_credentials(places);
    }
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

/// The agent behind the gateway.
struct Agent {
    transport: HttpTransport,
    /// The card that it has, or might have.
    card: AgentCard,
    has_card: bool,
    /// The gateway has credentials of its own.
    has_credentials: bool,
}

impl Agent {
    async fn find(options: &Options) -> Result<Self, String> {
        let url = &options.upstream;
        let explained = |error| explain(url, &error);
        let http = HttpClient::builder()
            .receive_budget(MAX_ANSWER_BYTES)
            .build();
        let mut keyring = Keyring::default();
        if let Some(key) = &options.api_key {
            keyring = keyring.api_key(key);
        }
        if let Some(token) = &options.bearer {
            keyring = keyring.bearer(token);
        }
        let origin = Origin::of(url).map_err(explained)?;
        let shown = |card: &AgentCard| keyring.for_card(card, &origin, &http).map_err(explained);

        let cards = Cards::new(http.clone());
        let found = match cards.find(url).await {
            Err(Error::Refused { .. }) if !keyring.is_empty() => {
                let cards = cards.credentials(shown(&AgentCard::default())?);
                cards.find(url).await
            }
            found => found,
        };
        let has_card = found.is_ok();
        let card = match (found, options.speak) {
            (Ok(card), _) => AgentCard::clone(&card),
            (Err(_), Some(_)) => AgentCard::new(url, "An agent behind a gateway"),
            (Err(error), None) => return Err(explained(error)),
        };
        let (transport, endpoint) = connect(url, &card, options.speak)?;
        let mut transport = transport.http(http.clone());
        // Credentials are meant for the agent that the operator has named.
        if Origin::of(&endpoint).is_ok_and(|other| other == origin) {
            transport = transport.call_credentials(true);
            let own: Option<Arc<dyn Credentials>> = match keyring.is_empty() {
                true => None,
                false => shown(&card)?,
            };
            if let Some(own) = own {
                transport = transport.credentials(own);
            }
        } else if !keyring.is_empty() {
            return Err(format!(
                "the card names {endpoint}, at another origin than {url}: to send it the credentials, name it as \
                 --upstream, with --speak"
            ));
        }
        Ok(Self {
            transport,
            card,
            has_card,
            has_credentials: !keyring.is_empty(),
        })
    }

    /// Refuses to serve other machines without authentication of their callers.
    fn check_address(&self, local: SocketAddr, open: bool) -> Result<(), String> {
        let agent_authenticates =
            !self.has_credentials && !self.card.security_requirements.is_empty();
        if local.ip().is_loopback() || open || agent_authenticates {
            return Ok(());
        }
        let why = match self.has_credentials {
            true => "could use the agent with the gateway's credentials",
            false => "could use the agent, whose card asks for no credentials",
        };
        Err(format!(
            "everyone who reaches {local} {why}: listen at 127.0.0.1, or let everyone in with --open"
        ))
    }
}

/// Returns a transport to the agent, and its URL.
fn connect(
    url: &str,
    card: &AgentCard,
    speak: Option<ProtocolVersion>,
) -> Result<(HttpTransport, String), String> {
    let explained = |error| explain(url, &error);
    let Some(protocol_version) = speak else {
        let interfaces = card.supported_interfaces.iter();
        let mut spoken = interfaces
            .filter_map(|interface| Some((HttpTransport::to(interface)?, interface.url.clone())));
        let (first, endpoint) = spoken.next().ok_or_else(|| {
            format!("{url}: the card names no interface of JSONRPC or HTTP+JSON in 0.1 to 1.0")
        })?;
        return Ok((first.map_err(explained)?, endpoint));
    };
    let endpoint = card.supported_interfaces.iter().find(|interface| {
        interface.protocol_version() == Some(protocol_version)
            && interface.protocol_binding == AgentInterface::JSON_RPC
    });
    let endpoint = endpoint.map_or(url, |interface| &interface.url);
    let agent = HttpTransport::new(endpoint, protocol_version).map_err(explained)?;
    Ok((agent.call_credentials(false), endpoint.to_owned()))
}

fn explain(url: &str, error: &Error) -> String {
    let mut message = format!("{url}: {error}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        message.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    format!("{message}\nIs the agent running? An agent without a card needs --speak.")
}

/// Limit on the agent's answers in bytes, until callers have read them.
const MAX_ANSWER_BYTES: usize = 128 << 20;
