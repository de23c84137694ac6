//! `a2a serve`.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use a2a_client::{Origin, causes};
use a2a_postgres::PostgresStore;
use a2a_server::demo::{Echo, Joker, Reference};
use a2a_server::{
    Agent, CardKeys, EncryptionKeys, Recovery, Server, SigningKey, SqliteStore, WebhookPolicy,
};
use a2a_types::AgentCard;
use clap::{Args, ValueEnum};
use tokio::net::{TcpListener, TcpSocket};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::authentication::AuthenticationArgs;
use crate::card_keys::signing_key;
use crate::connection::{read_address, read_duration, read_public_url};
use crate::exec_agent::ExecOptions;
use crate::failure::Failure;
use crate::interrupt;
use crate::log::LogOptions;
use crate::metrics::Metrics;
use crate::model_agent::ModelOptions;
#[cfg(feature = "opentelemetry")]
use crate::otlp;
use crate::postgres::{PostgresArgs, is_url};
use crate::show::Screen;
use crate::tls::{TlsArgs, reload_on_hangup};

/// Agent to serve, and its address.
#[derive(Args)]
#[command(after_help = "\
The agent speaks all protocol versions at once: 0.1, 0.2, 0.3 and 1.0 by JSON-RPC, 0.3 and 1.0 by HTTP+JSON and \
by gRPC.

Examples:
  a2a serve joke
  a2a serve reference --address 127.0.0.1:0 --db tasks.db      any free port; tasks survive a restart
  a2a serve joke --db postgres://a2a@db.example.com/a2a        as many of them as you like
  a2a serve joke --api-key-file keys.txt --basic users.htpasswd        callers with a key or a password
  a2a serve joke --jwt-issuer https://login.example --jwt-audience https://agent.example/
  a2a serve --exec 'tr a-z A-Z'                                an agent from a command
  a2a serve model --base-url http://127.0.0.1:11434/v1 --model llama3.2         an agent over a language model
  a2a serve model --base-url https://models.example/v1 --model large --api-key-env MODEL_KEY --system helper.txt
  a2a serve joke --public-url https://agent.example/joke/ --sign-key key.pem
  a2a serve echo --log debug --log-format json                 a line for each request; or set RUST_LOG
  a2a serve echo -o json | jq -r .url

With TLS, and a certificate authority of your own:
  openssl req -x509 -newkey rsa:3072 -nodes -days 365 -subj /CN=authority \\
    -keyout ca-key.pem -out ca.pem
  openssl req -x509 -newkey rsa:3072 -nodes -days 90 -subj /CN=localhost \\
    -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -addext basicConstraints=CA:FALSE \\
    -CA ca.pem -CAkey ca-key.pem -keyout key.pem -out cert.pem
  a2a serve joke --tls-cert cert.pem --tls-key key.pem
  a2a card get https://localhost:8080 --ca ca.pem")]
pub(crate) struct Options {
    /// Agent to run.
    #[arg(value_enum, default_value = "joke")]
    agent: Demo,
    #[command(flatten)]
    exec: ExecOptions,
    #[command(flatten)]
    model: ModelOptions,
    /// Address to listen on; port 0 takes any free port.
    #[arg(long, alias = "listen", default_value = "127.0.0.1:8080", value_parser = read_address)]
    address: SocketAddr,
    /// URL by which callers reach the server, as the card names it: needed behind a proxy. Its host is answered, too.
    /// Default: the host that each caller used.
    #[arg(long, value_name = "URL", value_parser = read_public_url)]
    public_url: Option<String>,
    /// Sign the card by this private key (PEM, not encrypted, of P-256 or Ed25519), and publish the public key at
    /// `/.well-known/jwks.json`. The card then names --public-url, or else --address.
    #[arg(long, value_name = "FILE")]
    sign_key: Option<PathBuf>,
    /// SQLite file that keeps the tasks, or URL of a Postgres database, which any number of servers share; unfinished
    /// tasks continue after a restart. Default: in memory.
    #[arg(long, value_name = "FILE|URL")]
    db: Option<String>,
    /// Seconds for which a running turn waits for a Postgres database that is away. After that it is interrupted, and
    /// resumed once the database is back.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, requires = "db")]
    max_outage: u64,
    #[command(flatten)]
    postgres: PostgresArgs,
    /// Let other servers listen at the same address, too: the system shares connections out among them.
    #[cfg(unix)]
    #[arg(long)]
    reuse_port: bool,
    /// Serve metrics for Prometheus at this address; port 0 takes any free port.
    #[arg(long, value_name = "ADDRESS", value_parser = read_address)]
    metrics: Option<SocketAddr>,
    /// Export spans to this OpenTelemetry collector over OTLP/HTTP, like `http://localhost:4318`.
    #[cfg(feature = "opentelemetry")]
    #[arg(long, value_name = "URL", env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    otlp: Option<String>,
    #[command(flatten)]
    authentication: AuthenticationArgs,
    /// Serve everyone who reaches --address, without credentials. On the loopback addresses of this machine it is the default.
    #[arg(long)]
    open: bool,
    /// Allow webhooks on the loopback addresses of this machine, which are refused otherwise.
    #[arg(long)]
    local_webhooks: bool,
    /// Seal the webhooks in the database by the first key in this file, and open them by any: in each line an id and 32
    /// bytes in Base64.
    #[arg(long, value_name = "FILE")]
    encryption_key_file: Option<PathBuf>,
    /// Time for which the server goes on as before when it is to shut down, and only reports at `/readyz` that it is not
    /// ready, like 5s: load balancers may take that long to notice.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = read_duration)]
    drain: Duration,
    #[command(flatten)]
    log: LogOptions,
    #[command(flatten)]
    tls: TlsArgs,
}

/// Agent by its name.
#[derive(Clone, Copy, ValueEnum)]
enum Demo {
    /// Repeats each message.
    Echo,
    /// Tells jokes in chunks, and asks for the subject.
    Joke,
    /// Runs the command in the first word of a message: echo, reply, chunks, ask, fail, file, data, wait …
    Reference,
    /// Passes the conversation to a language model, and streams its answer: needs --base-url and --model.
    Model,
}

pub(crate) async fn run(options: Options, screen: &Screen) -> Result<(), Failure> {
    if let Some(command) = &options.exec.exec {
        let (card, agent) = options.exec.agent(command)?;
        return serve(card, agent, options, screen).await;
    }
    if !matches!(options.agent, Demo::Model) {
        options.model.check_unused()?;
    }
    match options.agent {
        Demo::Echo => serve(Echo::card(), Echo, options, screen).await,
        Demo::Joke => serve(Joker::card(), Joker, options, screen).await,
        Demo::Reference => serve(Reference::card(), Reference, options, screen).await,
        Demo::Model => {
            let (card, agent) = options.model.agent()?;
            let checked = tokio::select! {
                checked = agent.check_tools() => checked,
                () = interrupt::first() => return Err(Failure::Interrupted),
            };
            checked.map_err(|error| Failure::usage(format!("--mcp: {}", causes(&error))))?;
            serve(card, agent, options, screen).await
        }
    }
}

async fn serve(
    mut card: AgentCard,
    agent: impl Agent,
    options: Options,
    screen: &Screen,
) -> Result<(), Failure> {
    let certificates = options.tls.client_auth();
    let authenticator = options.authentication.authenticator(certificates);
    let authenticator = authenticator.map_err(Failure::machine("credentials"))?;
    if authenticator.is_none()
        && !options.open
        && !options.address.ip().to_canonical().is_loopback()
    {
        return Err(Failure::usage(format!(
            "--address {}: others than this machine could call the agent; expected --api-key-file, --basic or --jwt-issuer, or --open to serve everyone",
            options.address
        )));
    }
    let stop = interrupt::stop();
    card.capabilities.push_notifications = Some(true);
    // First of all: counts made before the recorder is installed are lost.
    let metrics = match options.metrics {
        Some(address) => Some(Metrics::listen(address).await?),
        None => None,
    };
    let subscriber = tracing_subscriber::registry().with(options.log.layer());
    #[cfg(feature = "opentelemetry")]
    let (subscriber, exporting) = match &options.otlp {
        Some(collector) => {
            let (layer, exporting) = otlp::layer(card.name.clone(), collector)?;
            (subscriber.with(Some(layer)), Some(exporting))
        }
        None => (subscriber.with(None), None),
    };
    let logging = subscriber.try_init();
    logging.map_err(Failure::machine("--log"))?;
    let place = format!("--address {}", options.address);
    let listener = listen(&options).map_err(Failure::machine(&*place))?;
    let tls = options.tls.load()?;
    let signed = options.sign_key.as_deref().map(signing_key).transpose()?;
    if let Some(url) = card_url(&options, signed.is_some(), tls.is_some(), &listener)? {
        card = card.at(url).with_grpc();
    }
    let keys = signed.map(|key| card_keys(&card, key));
    let mut builder = Server::builder(card, agent);
    if let Some(keys) = keys {
        builder = builder.sign_card(keys);
    }
    if let Some(limits) = options.exec.limits() {
        builder = builder.turns(limits);
    }
    if let Some(authenticator) = authenticator {
        builder = builder.authenticator(authenticator);
    }
    if options.local_webhooks {
        let policy = WebhookPolicy::default().allow_hosts(["127.0.0.1", "localhost", "[::1]"]);
        builder = builder.webhooks(policy);
    }
    if let Some(file) = &options.encryption_key_file {
        let keys = EncryptionKeys::from_file(file);
        let place = format!("--encryption-key-file {}", file.display());
        builder = builder.encrypt_secrets(keys.map_err(Failure::machine(place))?);
    }
    if let Some(db) = &options.db {
        builder = match is_url(db) {
            true => {
                let postgres = options.postgres.options(db);
                let postgres = postgres.map_err(Failure::machine("--db"))?;
                let store = PostgresStore::open(postgres).await;
                builder.store(store.map_err(Failure::machine("--db"))?)
            }
            false => {
                let store = SqliteStore::open(db);
                builder.store(store.map_err(Failure::machine(format!("--db {db}")))?)
            }
        };
        builder = builder
            .recovery(Recovery::Resume)
            .max_outage(Duration::from_secs(options.max_outage));
    }
    let server = builder
        .build()
        .map_err(Failure::machine("the server cannot be configured"))?;
    let mut http = server.http().drain(options.drain);
    if options.open {
        http = http.allow_unauthenticated();
    }
    let http = match &tls {
        Some(tls) => http.tls(tls.clone()),
        None => http,
    };
    let bound = http.listen(listener).map_err(Failure::machine(&*place))?;
    let has_tls = tls.is_some();
    let reloading = reload_on_hangup(tls);
    match screen.json {
        true => screen.value(&serde_json::json!({
            "url": bound.url(),
            "metrics": metrics.as_ref().map(Metrics::url),
        }))?,
        false => {
            screen.line(&bound.url())?;
            if let Some(metrics) = &metrics {
                eprintln!("metrics: {}", metrics.url());
            }
            let trust = if has_tls { " --ca FILE" } else { "" };
            eprintln!(
                "try: a2a card get {0}{trust}\n     a2a chat {0}{trust}",
                bound.url()
            );
        }
    }
    let metrics_task = metrics.map(|metrics| tokio::spawn(metrics.serve()));
    let run = tokio::select! {
        run = bound.run(stop) => run,
        () = reloading => Ok(()),
    };
    if let Some(metrics_task) = metrics_task {
        metrics_task.abort();
    }
    #[cfg(feature = "opentelemetry")]
    if let Some(exporting) = exporting {
        exporting.shutdown().await;
    }
    run.map_err(Failure::machine(place))?;
    Ok(())
}

/// Returns the URL that the card is to name, if it does not name the host that each caller used.
fn card_url(
    options: &Options,
    is_signed: bool,
    has_tls: bool,
    listener: &TcpListener,
) -> Result<Option<String>, Failure> {
    if options.public_url.is_some() || !is_signed {
        return Ok(options.public_url.clone());
    }
    let address = listener.local_addr()?;
    if address.ip().is_unspecified() {
        return Err(Failure::usage(
            "--sign-key signs the URL on the card: expected the one that callers use, by --public-url",
        ));
    }
    let scheme = if has_tls { "https" } else { "http" };
    Ok(Some(format!("{scheme}://{address}/")))
}

/// Returns the keys that sign the card, with the URL below its own at which the server publishes them.
fn card_keys(card: &AgentCard, key: SigningKey) -> CardKeys {
    let origin = card
        .supported_interfaces
        .first()
        .map(|first| Origin::of(&first.url));
    match origin {
        Some(Ok(origin)) => CardKeys::new(key).url(format!("{origin}/.well-known/jwks.json")),
        _ => CardKeys::new(key),
    }
}

/// Listens at the address, and with --reuse-port lets others listen there, too.
fn listen(options: &Options) -> io::Result<TcpListener> {
    let socket = match options.address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    #[cfg(unix)]
    {
        // Otherwise the address would stay in use for a while after a restart.
        socket.set_reuseaddr(true)?;
        socket.set_reuseport(options.reuse_port)?;
    }
    socket.bind(options.address)?;
    socket.listen(1024)
}
