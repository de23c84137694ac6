//! Options that name an agent and its connection.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use a2a_client::{
    CardVerifier, Client, ClientBuilder, HttpClient, HttpClientBuilder, Recorder, Timeouts,
};
use a2a_types::AgentCard;
use clap::Args;

use crate::connection::{ConnectionOptions, prompt};
use crate::deviations;
use crate::exit::Failure;
use crate::wire::Wire;

/// Agent to call, and options of the connection.
#[derive(Args)]
pub(crate) struct AgentArgs {
    /// URL of the agent (origin, endpoint or card), `host:port`, or a name from the configuration file.
    #[arg(value_name = "AGENT")]
    name: String,
    #[command(flatten)]
    connection: ConnectionOptions,
    #[command(flatten)]
    exchange: ExchangeOptions,
}

/// Time limit of a command's exchanges, and their observers.
#[derive(Args, Clone)]
#[command(next_help_heading = "Connection and credentials")]
struct ExchangeOptions {
    /// Time limit of the whole command in seconds; in a chat, of each answer.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Write every request and response to a file in this directory, without secrets.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Print requests and responses to standard error, without secrets.
    #[arg(long, short)]
    verbose: bool,
}

impl AgentArgs {
    /// Returns the agent as named on the command line.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the limit on the time of the whole command.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.exchange.timeout.map(Duration::from_secs)
    }

    /// Finds the agent and connects.
    pub(crate) async fn connect(self) -> Result<Client, Failure> {
        self.connect_with(|builder| builder).await
    }

    /// Finds the agent's card, whether or not it names an interface that can be called.
    pub(crate) async fn card(self) -> Result<Arc<AgentCard>, Failure> {
        if self.connection.no_card {
            return Err(Failure::usage(
                "`a2a card` cannot be used with --no-card: there is no card to show",
            ));
        }
        Ok(self.builder()?.find_card().await?)
    }

    /// Finds an agent whose card is verified, and connects.
    pub(crate) async fn connect_verified(self, verifier: CardVerifier) -> Result<Client, Failure> {
        self.connect_with(|builder| builder.verify_card(verifier))
            .await
    }

    /// Returns an HTTP client like that for the agent, without what identifies the caller.
    pub(crate) fn anonymous_http(&self) -> Result<HttpClient, Failure> {
        let settings = self.connection.clone().settings(&self.name)?;
        let http = self.exchange.apply(settings.http()?)?;
        Ok(http.without_identity().build())
    }

    async fn connect_with(
        self,
        change: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Result<Client, Failure> {
        let (no_card, protocol_version) =
            (self.connection.no_card, self.connection.protocol_version);
        let builder = change(self.builder()?);
        Ok(match protocol_version {
            Some(protocol_version) if no_card => builder.connect_at(protocol_version.into())?,
            _ => builder.connect().await?,
        })
    }

    fn builder(self) -> Result<ClientBuilder, Failure> {
        let settings = self.connection.settings(&self.name)?;
        let http = self.exchange.apply(settings.http()?)?;
        Ok(settings
            .client(http, prompt)?
            .on_deviation(deviations::found))
    }
}

impl ExchangeOptions {
    fn apply(&self, mut http: HttpClientBuilder) -> Result<HttpClientBuilder, Failure> {
        if let Some(seconds) = self.timeout {
            let timeout = Duration::from_secs(seconds);
            let mut timeouts = Timeouts::default();
            timeouts.connect = timeout.min(timeouts.connect);
            timeouts.first_byte = timeout;
            timeouts.idle = timeout;
            timeouts.body = timeout;
            http = http.timeouts(timeouts);
        }
        if let Some(directory) = &self.record {
            let failed = Failure::machine(directory.display().to_string());
            http = http.wire_observer(Arc::new(Recorder::into(directory).map_err(failed)?));
        }
        if self.verbose {
            http = http.wire_observer(Arc::new(Wire));
        }
        Ok(http)
    }
}
