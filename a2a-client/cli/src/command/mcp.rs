//! `a2a mcp`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use a2a_client::Client;
use a2a_mcp::{BoxError, Bridge};
use a2a_transport::http::{ServeOptions, serve};
use clap::Args;
use serde_json::json;
use tokio::net::TcpListener;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::agent::AgentArgs;
use crate::connection::{read_address, read_duration};
use crate::failure::Failure;
use crate::interrupt;
use crate::log::LogOptions;
use crate::show::Screen;

/// Agents, and the way by which they are called.
#[derive(Args)]
#[command(after_help = "\
Each skill of an agent is a tool. A question of the agent is asked in the editor, if that can; a task that takes long is a \
task of MCP, if the editor knows them; else the call waits, and tells its progress. Agents of all versions are called.

Examples:
  claude mcp add travel -- a2a mcp https://agent.example
  codex mcp add travel -- a2a mcp https://agent.example
  a2a mcp https://one.example https://two.example           the tools of both
  a2a mcp travel.env weather.env                            each with credentials of its own
  a2a mcp http://127.0.0.1:8080 --http 127.0.0.1:8100       by streamable HTTP

In the configuration of other programs:
  {\"mcpServers\": {\"travel\": {\"command\": \"a2a\", \"args\": [\"mcp\", \"https://agent.example\"]}}}

A file of settings has what --config takes, like:
  A2ACLI_AGENT_CARD=https://agent.example
  A2ACLI_BEARER=…")]
pub(crate) struct Options {
    /// Agents: each as --agent-card takes it, or a file of settings (`*.env`). Default: the agent of --agent-card.
    #[arg(value_name = "AGENT")]
    agents: Vec<String>,
    /// Serve streamable HTTP at this address, at the path `/mcp` or any other, in place of standard input and output; port 0
    /// takes any free port.
    #[arg(long, value_name = "ADDRESS", value_parser = read_address)]
    http: Option<SocketAddr>,
    /// Time after which a call becomes a task, for editors that know tasks.
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = read_duration)]
    grace: Duration,
    /// Sign the state of questions by the content of this file, at least 32 secret bytes: they can then be answered after a
    /// restart. Default: a key for this run.
    #[arg(long, value_name = "FILE")]
    state_key_file: Option<PathBuf>,
    /// Serve everyone who reaches --http: they call the agents with your credentials. On the loopback addresses of this
    /// machine it is the default.
    #[arg(long, requires = "http")]
    open: bool,
    #[command(flatten)]
    log: LogOptions,
    #[command(flatten)]
    agent: AgentArgs,
}

pub(crate) async fn run(options: Options, screen: &Screen) -> Result<(), Failure> {
    let stop = interrupt::stop();
    let logging = tracing_subscriber::registry().with(options.log.layer());
    logging.try_init().map_err(Failure::machine("--log"))?;
    let mut bridge = Bridge::builder().grace(options.grace);
    if let Some(file) = &options.state_key_file {
        let place = format!("--state-key-file {}", file.display());
        let key = std::fs::read(file);
        let key = key.map_err(|error| Failure::usage(format!("{place}: {error}")))?;
        bridge = bridge.state_key(key);
    }
    for (place, agent) in agents(options.agents, options.agent)? {
        bridge = bridge.agent(place, move || connect(agent.clone()));
    }
    let bridge = bridge
        .build()
        .map_err(|error| Failure::usage(format!("--state-key-file: {error}")))?;
    let Some(address) = options.http else {
        let served = bridge.serve_stdio(stop).await;
        return served.map_err(Failure::machine("standard input"));
    };
    let place = format!("--http {address}");
    let is_local = address.ip().to_canonical().is_loopback();
    if !is_local && !options.open {
        return Err(Failure::usage(format!(
            "{place}: others than this machine could call the agents with your credentials; expected --open to let everyone in, or an address of this machine"
        )));
    }
    let listener = TcpListener::bind(address)
        .await
        .map_err(Failure::machine(&*place))?;
    let local = listener.local_addr()?;
    let url = format!("http://{local}/mcp");
    match screen.json {
        true => screen.value(&json!({ "url": url }))?,
        false => screen.line(&url)?,
    }
    let hosts = match is_local {
        true => vec![
            "localhost".to_owned(),
            "127.0.0.1".to_owned(),
            "[::1]".to_owned(),
            local.to_string(),
        ],
        // rmcp takes an empty list for any host.
        false => Vec::new(),
    };
    let service = bridge.into_http_service(hosts);
    let calls = service.clone();
    let stop = async move {
        stop.await;
        calls.shutdown().await;
    };
    serve(listener, service, ServeOptions::default(), stop).await;
    Ok(())
}

/// Connects to an agent, on a thread of its own: the compiler does not see that the future of `connect` can be sent to
/// another one (rust-lang/rust#102211).
async fn connect(agent: AgentArgs) -> Result<Client, BoxError> {
    let runtime = tokio::runtime::Handle::current();
    let connecting = move || runtime.block_on(agent.connect());
    Ok(tokio::task::spawn_blocking(connecting).await??)
}

/// Returns the agents that the arguments name, each with the name that a user knows it by.
fn agents(words: Vec<String>, common: AgentArgs) -> Result<Vec<(String, AgentArgs)>, Failure> {
    let is_file = |word: &&String| Path::new(word).extension().is_some_and(|it| it == "env");
    let named = words.iter().filter(|word| !is_file(word)).count();
    if (named > 1 || words.len() > named) && common.has_credentials() {
        return Err(Failure::usage(
            "the credentials of options and variables are for one agent that is named by its URL: expected a file of settings for each other agent, like travel.env with the lines A2ACLI_AGENT_CARD=… and A2ACLI_BEARER=…",
        ));
    }
    if words.is_empty() {
        let agent = common.any_version();
        agent.named_origin()?;
        return Ok(vec![(agent.as_option(), agent)]);
    }
    let agents = words.into_iter().map(|word| {
        let agent = match is_file(&&word) {
            true => AgentArgs::of_file(Path::new(&word))?,
            false => common.clone().or(Some(word.clone())),
        };
        // A mistake of the user is told at the start: only what may come later is tried again.
        agent.named_origin()?;
        if word
            .split(['/', '?'])
            .nth(2)
            .is_some_and(|it| it.contains('@'))
        {
            let problem = "a URL with a password: expected it in --basic, or in a file of settings";
            return Err(Failure::usage(problem));
        }
        Ok((word, agent.any_version()))
    });
    agents.collect()
}
