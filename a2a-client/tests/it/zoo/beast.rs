//! A hostile server, the request to it, and the expected outcome.

use std::time::Duration;

use a2a_client::{
    Client, ClientBuilder, Dialect, Error, HttpClient, HttpClientBuilder, Phase, Retries,
    SendMessageResponse, StreamExt, Timeouts,
};
use a2a_transport::sse::Bounds;
use a2a_types::TaskState;

use crate::zoo::cage::{Act, Cage};

/// One hostile behaviour.
pub(crate) struct Beast {
    name: &'static str,
    ask: Ask,
    act: Act,
    wanted: &'static str,
    is_wanted: fn(&Outcome) -> bool,
    scheme: &'static str,
    haste: Option<Phase>,
    deadline: Duration,
    http: fn(HttpClientBuilder) -> HttpClientBuilder,
    client: fn(ClientBuilder) -> ClientBuilder,
    most_visits: usize,
}

/// Request to a server.
#[derive(Clone, Copy)]
pub(crate) enum Ask {
    /// Its card; then a message to the agent it names if `true`.
    Card(bool),
    /// A message.
    Send,
    /// Two messages, one after the other.
    SendTwice,
    /// A message and the stream of its events.
    Follow,
}

pub(crate) type Outcome = Result<Answered, Error>;

/// Answer of a server. Some fields are only printed.
#[derive(Debug, Eq, PartialEq)]
#[allow(dead_code)]
pub(crate) enum Answered {
    /// The card of the agent with that name.
    Card(String),
    Message(String),
    Task(TaskState),
    /// A stream that ended after this number of events.
    Events(usize),
}

/// A beast: its name, the request, its behaviour, and the expected outcome.
macro_rules! beast {
    ($name:literal, $ask:expr, $act:expr, $wanted:pat $(if $guard:expr)?) => {
        $crate::zoo::beast::Beast::new(
            $name,
            $ask,
            $act,
            stringify!($wanted $(if $guard)?),
            |outcome| matches!(outcome, $wanted $(if $guard)?),
        )
    };
}
pub(crate) use beast;

impl Beast {
    pub(crate) fn new(
        name: &'static str,
        ask: Ask,
        act: Act,
        wanted: &'static str,
        is_wanted: fn(&Outcome) -> bool,
    ) -> Self {
        Self {
            name,
            ask,
            act,
            wanted,
            is_wanted,
            scheme: "http",
            haste: None,
            deadline: HANG,
            http: |http| http,
            client: |client| client,
            most_visits: 8,
        }
    }

    /// The client does not wait for this for long.
    pub(crate) fn hastily(self, phase: Phase) -> Self {
        Self {
            haste: Some(phase),
            ..self
        }
    }

    /// The caller does not wait for long.
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
    pub(crate) fn most_visits(self, most_visits: usize) -> Self {
        Self {
            most_visits,
            ..self
        }
    }

    /// Runs the client against it. Errors: a description of the failure.
    pub(crate) async fn meet(self) -> Result<(), String> {
        let name = self.name;
        let met = tokio::spawn(self.met()).await;
        met.unwrap_or_else(|error| Err(format!("{name}: {error}")))
    }

    async fn met(self) -> Result<(), String> {
        let mut cage = Cage::of(self.act.clone()).await;
        let asked = tokio::time::timeout(HANG, self.asked(&cage)).await;
        let name = self.name;
        let outcome = asked.map_err(|_| format!("{name}: the client hangs"))?;
        if !(self.is_wanted)(&outcome) {
            return Err(format!("{name}: expected {}, got {outcome:?}", self.wanted));
        }
        if tokio::time::timeout(HANG, cage.emptied()).await.is_err() {
            let leaked = cage.inside();
            return Err(format!("{name}: {leaked} connections outlive their client"));
        }
        match cage.visits() {
            visits if visits > self.most_visits => {
                let most = self.most_visits;
                Err(format!(
                    "{name}: {visits} connections, expected {most} at most"
                ))
            }
            _ => Ok(()),
        }
    }

    /// Sends the request and disconnects.
    async fn asked(&self, cage: &Cage) -> Outcome {
        let address = format!("{}://{}", self.scheme, cage.address());
        let within = |phase| match self.haste == Some(phase) {
            true => HASTE,
            false => HANG,
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
        let client = match self.ask {
            Ask::Card(_) => builder.connect().await?,
            _ => builder.connect_at(Dialect::V1_0)?,
        };
        let retries = Retries::default().base(Duration::from_millis(1));
        let retries = retries.most(Duration::from_millis(20)).reconnections(5);
        let client = client.retries(retries);
        match self.ask {
            Ask::Card(false) => {
                let card = client.card();
                let name = card.map(|card| card.name.clone());
                Ok(Answered::Card(name.unwrap_or_default()))
            }
            Ask::Card(true) | Ask::Send => self.send(&client).await,
            Ask::SendTwice => {
                self.send(&client).await?;
                self.send(&client).await
            }
            Ask::Follow => {
                let updates = client.send("hello").deadline(self.deadline).follow();
                let mut updates = updates.limit(HEAVY);
                let mut events = 0;
                while let Some(event) = updates.next().await {
                    event?;
                    events += 1;
                }
                Ok(Answered::Events(events))
            }
        }
    }

    async fn send(&self, client: &Client) -> Outcome {
        match client.send("hello").deadline(self.deadline).await? {
            SendMessageResponse::Message(message) => Ok(Answered::Message(message.text())),
            SendMessageResponse::Task(task) => Ok(Answered::Task(task.status.state)),
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

const HEAVY: usize = 4 << 20;

/// Timeout of an impatient client.
const HASTE: Duration = Duration::from_millis(400);

/// Deadline of an impatient caller.
const DEADLINE: Duration = Duration::from_secs(2);

/// Time after which a call counts as hanging.
const HANG: Duration = Duration::from_secs(120);
