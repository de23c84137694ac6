//! A hostile server, the request to it, and the expected outcome.

use std::time::Duration;

use a2a_client::{
    Client, ClientBuilder, Error, HttpClient, HttpClientBuilder, Phase, ProtocolVersion, Retries,
    SendMessageResponse, StreamExt, Timeouts,
};
use a2a_transport::sse::Bounds;
use a2a_types::TaskState;

use crate::faulty_agents::test_server::{Behaviour, TestServer};

/// One hostile behaviour.
pub(crate) struct FaultyAgent {
    name: &'static str,
    call: ClientCall,
    behaviour: Behaviour,
    wanted: &'static str,
    is_wanted: fn(&Outcome) -> bool,
    scheme: &'static str,
    short_timeout: Option<Phase>,
    deadline: Duration,
    http: fn(HttpClientBuilder) -> HttpClientBuilder,
    client: fn(ClientBuilder) -> ClientBuilder,
    max_connections: usize,
}

/// Request to a server.
#[derive(Clone, Copy)]
pub(crate) enum ClientCall {
    /// Its card; then a message to the agent it names if `true`.
    Card(bool),
    /// A message.
    Send,
    /// Two messages, one after the other.
    SendTwice,
    /// A message and the stream of its events.
    Follow,
}

pub(crate) type Outcome = Result<Reply, Error>;

/// Answer of a server. Some fields are only printed.
#[derive(Debug, Eq, PartialEq)]
#[allow(dead_code)]
pub(crate) enum Reply {
    /// The card of the agent with that name.
    Card(String),
    Message(String),
    Task(TaskState),
    /// A stream that ended after this number of events.
    Events(usize),
}

/// Defines a faulty agent: its name, the call, its behaviour, and the expected outcome.
macro_rules! faulty_agent {
    ($name:literal, $call:expr, $behaviour:expr, $wanted:pat $(if $guard:expr)?) => {
        $crate::faulty_agents::faulty_agent::FaultyAgent::new(
            $name,
            $call,
            $behaviour,
            stringify!($wanted $(if $guard)?),
            |outcome| matches!(outcome, $wanted $(if $guard)?),
        )
    };
}
pub(crate) use faulty_agent;

impl FaultyAgent {
    pub(crate) fn new(
        name: &'static str,
        call: ClientCall,
        behaviour: Behaviour,
        wanted: &'static str,
        is_wanted: fn(&Outcome) -> bool,
    ) -> Self {
        Self {
            name,
            call,
            behaviour,
            wanted,
            is_wanted,
            scheme: "http",
            short_timeout: None,
            deadline: HANG_TIMEOUT,
            http: |http| http,
            client: |client| client,
            max_connections: 8,
        }
    }

    /// Shortens the timeout of this phase at the client.
    pub(crate) fn with_short_timeout(self, phase: Phase) -> Self {
        Self {
            short_timeout: Some(phase),
            ..self
        }
    }

    /// Shortens the caller's deadline.
    pub(crate) fn until_the_deadline(self) -> Self {
        Self {
            deadline: DEADLINE,
            ..self
        }
    }

    pub(crate) fn over_tls(self) -> Self {
        Self {
            scheme: "https",
            ..self
        }
    }

    pub(crate) fn over_http2(self) -> Self {
        Self {
            http: HttpClientBuilder::http2_only,
            ..self
        }
    }

    pub(crate) fn with(self, client: fn(ClientBuilder) -> ClientBuilder) -> Self {
        Self { client, ..self }
    }

    /// Limits the number of connections of the client.
    pub(crate) fn max_connections(self, max_connections: usize) -> Self {
        Self {
            max_connections,
            ..self
        }
    }

    /// Runs the client against it. Errors: a description of the failure.
    pub(crate) async fn run(self) -> Result<(), String> {
        let name = self.name;
        let met = tokio::spawn(self.run_once()).await;
        met.unwrap_or_else(|error| Err(format!("{name}: {error}")))
    }

    async fn run_once(self) -> Result<(), String> {
        let mut server = TestServer::of(self.behaviour.clone()).await;
        let asked = tokio::time::timeout(HANG_TIMEOUT, self.call_agent(&server)).await;
        let name = self.name;
        let outcome = asked.map_err(|_| format!("{name}: the client hangs"))?;
        if !(self.is_wanted)(&outcome) {
            return Err(format!("{name}: expected {}, got {outcome:?}", self.wanted));
        }
        if tokio::time::timeout(HANG_TIMEOUT, server.wait_until_empty())
            .await
            .is_err()
        {
            let leaked = server.open();
            return Err(format!("{name}: {leaked} connections outlive their client"));
        }
        match server.connections() {
            connections if connections > self.max_connections => {
                let most = self.max_connections;
                Err(format!(
                    "{name}: {connections} connections, expected {most} at most"
                ))
            }
            _ => Ok(()),
        }
    }

    /// Sends the request and disconnects.
    async fn call_agent(&self, server: &TestServer) -> Outcome {
        let address = format!("{}://{}", self.scheme, server.address());
        let within = |phase| match self.short_timeout == Some(phase) {
            true => SHORT_TIMEOUT,
            false => HANG_TIMEOUT,
        };
        let mut timeouts = Timeouts::default();
        timeouts.connect = within(Phase::Connect);
        timeouts.first_byte = within(Phase::FirstByte);
        timeouts.idle = within(Phase::Idle);
        timeouts.body = within(Phase::Body);
        let http = HttpClient::builder().timeouts(timeouts).limit(LIMIT);
        let builder = Client::builder(&address)
            .http((self.http)(http))
            .bounds(bounds());
        let builder = (self.client)(builder);
        let client = match self.call {
            ClientCall::Card(_) => builder.connect().await?,
            _ => builder.connect_at(ProtocolVersion::V1_0)?,
        };
        let retries = Retries::default().base(Duration::from_millis(1));
        let retries = retries
            .max_delay(Duration::from_millis(20))
            .reconnections(5);
        let client = client.retries(retries);
        match self.call {
            ClientCall::Card(false) => {
                let card = client.card();
                let name = card.map(|card| card.name.clone());
                Ok(Reply::Card(name.unwrap_or_default()))
            }
            ClientCall::Card(true) | ClientCall::Send => self.send(&client).await,
            ClientCall::SendTwice => {
                self.send(&client).await?;
                self.send(&client).await
            }
            ClientCall::Follow => {
                let updates = client.send("hello").deadline(self.deadline).follow();
                let mut updates = updates.limit(MAX_TASK_BYTES);
                let mut events = 0;
                while let Some(event) = updates.next().await {
                    event?;
                    events += 1;
                }
                Ok(Reply::Events(events))
            }
        }
    }

    async fn send(&self, client: &Client) -> Outcome {
        match client.send("hello").deadline(self.deadline).await? {
            SendMessageResponse::Message(message) => Ok(Reply::Message(message.text())),
            SendMessageResponse::Task(task) => Ok(Reply::Task(task.status.state)),
        }
    }
}

fn bounds() -> Bounds {
    let mut bounds = Bounds::default();
    bounds.line = 64 << 10;
    bounds.event = 256 << 10;
    bounds
}

/// Size limit of the client in bytes; small, so that exceeding it shows.
const LIMIT: usize = 1 << 20;

const MAX_TASK_BYTES: usize = 4 << 20;

/// Timeout of an impatient client.
const SHORT_TIMEOUT: Duration = Duration::from_millis(400);

/// Deadline of an impatient caller.
const DEADLINE: Duration = Duration::from_secs(1);

/// Time after which a call counts as hanging.
const HANG_TIMEOUT: Duration = Duration::from_secs(120);
