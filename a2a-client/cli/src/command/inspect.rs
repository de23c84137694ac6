//! `a2a inspect`.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use a2a_inspector::Inspector;
use clap::Args;
use tokio::net::TcpListener;

use crate::agent::AgentArgs;
use crate::browser;
use crate::connection::read_address;
use crate::failure::Failure;
use crate::files::expand;
use crate::interrupt;
use crate::show::{Screen, note};

/// Agent to connect to, and addresses to listen at.
#[derive(Args)]
#[command(after_help = "\
The page is part of this program and loads nothing from elsewhere. It is served on this machine \
alone, to holders of the token in the printed URL. Other users of this machine can see that URL among \
the browser's arguments; with --no-open it is printed and nothing more.

Examples:
  a2a inspect http://127.0.0.1:8080
  a2a inspect -a https://agent.example --a2a-version 0.3 --transport HTTP+JSON
  a2a inspect --no-open --listen 127.0.0.1:0 -o json | jq -r .url
  a2a inspect --proxy-listen 127.0.0.1:7421 --upstream https://agent.example")]
pub(crate) struct Options {
    /// Agent to connect to. Others are added on the page.
    #[arg(value_name = "URL")]
    reference: Option<String>,
    /// Address of the page, on this machine; port 0 takes any free port. Default: 127.0.0.1:7420, or any free port if
    /// that is taken.
    #[arg(long, value_name = "ADDRESS", value_parser = read_address)]
    listen: Option<SocketAddr>,
    /// Do not open the page in a browser.
    #[arg(long)]
    no_open: bool,
    /// Listen at this address for other clients, record what they send, and pass it on to --upstream.
    #[arg(long, value_name = "ADDRESS", requires = "upstream", value_parser = read_address)]
    proxy_listen: Option<SocketAddr>,
    /// URL of the agent behind --proxy-listen.
    #[arg(long, value_name = "URL", requires = "proxy_listen")]
    upstream: Option<String>,
    /// Pass requests on to this origin, too, if the card behind --upstream names it, like `https://api.example`; may be
    /// repeated.
    #[arg(long, value_name = "ORIGIN", requires = "proxy_listen")]
    proxy_origin: Vec<String>,
    #[command(flatten)]
    agent: AgentArgs,
}

pub(crate) async fn run(options: Options, screen: &Screen) -> Result<(), Failure> {
    let stop = interrupt::stop();
    let settings = options.agent.or(options.reference).settings()?;
    let mut builder = Inspector::builder();
    if let Some(file) = state_file() {
        builder = builder.state_file(file);
    }
    let inspector = builder
        .build()
        .map_err(Failure::machine("the inspector cannot be started"))?;
    let place = format!("--listen {}", options.listen.unwrap_or(DEFAULT_ADDRESS));
    let listener = match options.listen {
        Some(address) => TcpListener::bind(address).await,
        None => match TcpListener::bind(DEFAULT_ADDRESS).await {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                TcpListener::bind((DEFAULT_ADDRESS.ip(), 0)).await
            }
            listener => listener,
        },
    };
    let listener = listener.map_err(Failure::machine(&*place))?;
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() {
        return Err(Failure::usage(format!(
            "{place}: expected an address of this machine alone, like 127.0.0.1:7420"
        )));
    }
    let url = inspector.url(address);
    let proxy = match (options.proxy_listen, &options.upstream) {
        (Some(listen), Some(upstream)) => {
            let (listen, origins) = (listen.to_string(), &options.proxy_origin);
            let started = inspector.start_proxy(&listen, upstream, origins).await;
            let failed = Failure::machine(format!("--proxy-listen {listen}"));
            Some(format!("http://{}/", started.map_err(failed)?))
        }
        _ => None,
    };
    match screen.json {
        true => screen.value(&serde_json::json!({"url": url, "proxy": proxy}))?,
        false => {
            screen.line(&url)?;
            if let Some(proxy) = &proxy {
                note(&format!("proxy: {proxy}"));
            }
        }
    }
    if !options.no_open {
        browser::open(url);
    }
    let connecting = inspector.clone();
    tokio::spawn(async move {
        // The page is served even while the agent is slow or unreachable.
        if let Some(settings) = settings
            && let Err(error) = connecting.connect(settings).await
        {
            note(&format!("not connected: {error}"));
        }
    });
    let served = inspector.serve(listener, stop).await;
    served.map_err(Failure::machine(place))?;
    Ok(())
}

/// Returns the path of the file with the saved settings.
fn state_file() -> Option<PathBuf> {
    let state = match std::env::var_os("XDG_STATE_HOME") {
        Some(state) if !state.is_empty() => PathBuf::from(state),
        _ if std::env::home_dir().is_none() => return None,
        _ => expand("~/.local/state"),
    };
    Some(state.join("a2a/inspector.json"))
}

/// Address of the page unless it is taken.
const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7420);
