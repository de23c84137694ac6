//! `a2a gateway`.

use std::net::SocketAddr;

use a2a_gateway::Gateway;
use a2a_server::{ClientAuth, GatewayWebhooks, WebhookPolicy};
use a2a_transport::http::{CredentialPlaces, Hosts, ServeOptions, serve, serve_tls};
use clap::Args;
use serde_json::json;
use tokio::net::TcpListener;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::agent::{Access, AgentArgs, Upstream};
use crate::connection::{read_address, read_public_url};
use crate::failure::Failure;
use crate::interrupt;
use crate::log::LogOptions;
use crate::show::{Screen, note};
use crate::tls::{TlsArgs, reload_on_hangup};

/// Address of the gateway, and the agent behind it.
#[derive(Args)]
#[command(after_help = "\
Callers speak 0.1, 0.2, 0.3 or 1.0, by JSON-RPC, HTTP+JSON or gRPC. The agent is called in the version and binding of the \
first interface on its card that this program speaks; --a2a-version and --transport choose another.

Callers authenticate to the agent: their credentials are passed on, and its refusals are passed back. With --bearer, \
--api-key or another credential the gateway authenticates for all callers.

Examples:
  a2a gateway http://localhost:8080
  A2ACLI_BEARER=… a2a gateway https://agent.example --address 127.0.0.1:9000
  a2a gateway http://10.0.0.7/a2a --no-card --a2a-version 0.1 --address 0.0.0.0:80 --open \\
    --public-url https://agents.example/old
  a2a gateway https://agent.example --relay-webhooks --public-url https://gateway.example/")]
pub(crate) struct Options {
    /// URL of the agent, in place of --agent-card.
    #[arg(value_name = "URL")]
    reference: Option<String>,
    /// Address to listen on; port 0 takes any free port.
    #[arg(long, default_value = "127.0.0.1:8090", value_parser = read_address)]
    address: SocketAddr,
    /// URL by which callers reach the gateway, as its card names it. Default: the host that each caller used.
    #[arg(long, value_name = "URL", value_parser = read_public_url)]
    public_url: Option<String>,
    /// Receive the agent's push notifications at --public-url, and send each to the caller's webhook, in the caller's
    /// version. Without it, webhooks of callers of another version than the agent's are refused.
    #[arg(long)]
    relay_webhooks: bool,
    /// Allow webhooks on the loopback addresses of this machine, which are refused otherwise.
    #[arg(long, requires = "relay_webhooks")]
    local_webhooks: bool,
    /// Serve everyone who reaches --address. On the loopback addresses of this machine it is the default.
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    log: LogOptions,
    #[command(flatten)]
    tls: TlsArgs,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

pub(crate) async fn run(options: Options, screen: &Screen) -> Result<(), Failure> {
    let stop = interrupt::stop();
    let logging = tracing_subscriber::registry().with(options.log.layer());
    logging.try_init().map_err(Failure::machine("--log"))?;
    let place = format!("--address {}", options.address);
    let listener = TcpListener::bind(options.address).await;
    let listener = listener.map_err(Failure::machine(&*place))?;
    let local = listener.local_addr()?;
    let tls = options.tls.load()?;
    let upstream = options.agent.or(options.reference);
    let upstream = upstream.upstream(MAX_ANSWER_BYTES).await?;
    let is_local = local.ip().to_canonical().is_loopback();
    let needs_certificate = options.tls.client_auth() == Some(ClientAuth::Required);
    if !is_local && !options.open && !needs_certificate {
        check_access(&upstream, local)?;
    }
    let scheme = if tls.is_some() { "https" } else { "http" };
    let here = format!("{scheme}://{local}/");
    let url = options.public_url.as_deref().unwrap_or(&here);

    let Upstream {
        transport,
        endpoint,
        card,
        has_card,
        passes_credentials,
        access,
    } = upstream;
    let version = transport.protocol_version();
    // The agent authenticates the callers, so all of them share its tasks here.
    let mut gateway = Gateway::new(transport, version).share_tasks();
    if has_card {
        gateway = gateway.agent_card(&card);
    }
    if options.relay_webhooks {
        if options.public_url.is_none() && local.ip().is_unspecified() {
            return Err(Failure::usage(
                "--relay-webhooks: expected --public-url, by which the agent reaches the gateway",
            ));
        }
        let policy = match options.local_webhooks {
            true => WebhookPolicy::default().allow_hosts(["127.0.0.1", "localhost", "[::1]"]),
            false => WebhookPolicy::default(),
        };
        let sender = GatewayWebhooks::new(policy);
        let sender = sender.map_err(Failure::machine("--relay-webhooks"))?;
        gateway = gateway.relay_webhooks(url, sender);
    }
    let mut card = gateway.public_card().unwrap_or(card);
    card.supported_interfaces.clear();
    if let Some(url) = &options.public_url {
        card = card.at(url).with_grpc();
    }
    let places = CredentialPlaces::of(&card);
    if access == Access::OfGateway {
        card.security_schemes.clear();
        card.security_requirements.clear();
        let skills = card.skills.iter_mut();
        skills.for_each(|skill| skill.security_requirements.clear());
    }
    let mut service = gateway
        .into_service()
        .hosts(Hosts::of(local).and([url]))
        .answer_budget(MAX_ANSWER_BYTES)
        .card(&card);
    if passes_credentials {
        service = service.pass_credentials(places);
    }
    match screen.json {
        true => {
            screen.value(&json!({"url": url, "agent": endpoint, "version": version.version()}))?
        }
        false => {
            screen.line(url)?;
            note(&format!("{} speaks {version} at {endpoint}", card.name));
        }
    }
    let reloading = reload_on_hangup(tls.clone());
    let serving = async {
        match tls {
            Some(tls) => serve_tls(listener, tls, service, ServeOptions::default(), stop).await,
            None => serve(listener, service, ServeOptions::default(), stop).await,
        }
    };
    tokio::select! {
        () = serving => {}
        () = reloading => {}
    }
    Ok(())
}

/// Refuses to serve other machines if neither the gateway nor the agent authenticates callers.
fn check_access(upstream: &Upstream, local: SocketAddr) -> Result<(), Failure> {
    let why = match upstream.access {
        Access::OfCallers => return Ok(()),
        Access::OfGateway => "with the gateway's credentials",
        Access::Anyone => "whose card asks for no credentials",
    };
    Err(Failure::usage(format!(
        "--address {local}: others than this machine could call the agent, {why}; expected --client-ca, --open to let everyone in, or an --address of this machine"
    )))
}

/// Limit on the agent's answers in bytes, until callers have read them.
const MAX_ANSWER_BYTES: usize = 128 << 20;
