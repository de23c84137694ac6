//! Connections to the database. Each serves many callers at once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Row, Socket, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::options::Password;
use crate::{PostgresError, PostgresOptions, metric, tls};

/// A statement and its values. In its text `@` stands for the schema.
pub(crate) struct Query<'a> {
    text: Cow<'static, str>,
    values: Vec<(&'a (dyn ToSql + Sync), Type)>,
}

impl<'a> Query<'a> {
    pub(crate) fn new(text: impl Into<Cow<'static, str>>) -> Self {
        let (text, values) = (text.into(), Vec::new());
        Self { text, values }
    }

    /// Adds the value of the next parameter.
    pub(crate) fn with(mut self, value: &'a (dyn ToSql + Sync), of: Type) -> Self {
        self.values.push((value, of));
        self
    }
}

/// Effect of a statement that runs twice.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Repeat {
    /// The same as once: the statement is tried again if the connection is lost.
    Harmless,
    /// Another one than once: if the connection is lost, the outcome is unknown.
    Harmful,
}

/// A fixed number of connections. Each statement is a transaction of its own and is sent without waiting for the answers
/// to earlier ones: no caller has a connection to itself.
pub(crate) struct Connections {
    config: Config,
    tls: MakeRustlsConnect,
    password: Option<Password>,
    /// The quoted schema and a dot, the prefix of each table's name.
    prefix: String,
    pooler: bool,
    statement_timeout: Duration,
    acquire_timeout: Duration,
    slots: Vec<Slot>,
    /// Permits of statements in flight.
    places: Semaphore,
    pause: Mutex<Pause>,
    #[cfg(feature = "faults")]
    fault: Option<crate::Fault>,
}

/// Place of one connection.
#[derive(Default)]
struct Slot {
    open: Mutex<Option<Arc<Open>>>,
    opening: tokio::sync::Mutex<()>,
    in_flight: AtomicUsize,
}

/// An open connection, and its prepared statements.
struct Open {
    client: Client,
    prepared: Mutex<HashMap<String, Statement>>,
}

/// Backoff after failed attempts to connect.
#[derive(Default)]
struct Pause {
    length: Duration,
    until: Option<Instant>,
    /// End of the last failed attempt.
    failed: Option<Instant>,
}

impl Connections {
    pub(crate) fn new(options: &PostgresOptions) -> Result<Self, PostgresError> {
        let mut config = options.config.clone();
        if !options.pooler {
            let millis = options.statement_timeout.as_millis();
            let before = config.get_options().unwrap_or_default();
            config.options(format!("{before} -c statement_timeout={millis} -c jit=off"));
        }
        Ok(Self {
            tls: tls::connector(options)?,
            password: options.password.clone(),
            prefix: format!("\"{}\".", options.schema.replace('"', "\"\"")),
            pooler: options.pooler,
            statement_timeout: options.statement_timeout,
            acquire_timeout: options.acquire_timeout,
            slots: (0..options.connections).map(|_| Slot::default()).collect(),
            places: Semaphore::new(options.connections * MAX_IN_FLIGHT),
            pause: Mutex::default(),
            #[cfg(feature = "faults")]
            fault: options.fault,
            config,
        })
    }

    /// Runs a statement, and returns its rows.
    pub(crate) async fn run(
        &self,
        query: &Query<'_>,
        repeat: Repeat,
    ) -> Result<Vec<Row>, PostgresError> {
        let mut tries = 0;
        loop {
            let error = match self.try_once(query).await {
                Err(error) => error,
                done => return done,
            };
            tries += 1;
            let again = match &error {
                PostgresError::Lost(_) => repeat == Repeat::Harmless && tries < 2,
                error => error.is_passing() && tries < MAX_TRIES,
            };
            if !again {
                return Err(error);
            }
        }
    }

    async fn try_once(&self, query: &Query<'_>) -> Result<Vec<Row>, PostgresError> {
        let waiting = metric::WAITING.raise();
        let place = timeout(self.acquire_timeout, self.places.acquire()).await;
        drop(waiting);
        let Ok(Ok(_place)) = place else {
            return Err(no_connection("all are in use"));
        };
        let slot = self.least_used();
        let _in_flight = InFlight::of(slot);
        let open = self.open(slot).await?;
        // A connection whose packets are dropped silently never answers.
        let done = timeout(
            self.statement_timeout + CUT_OFF_AFTER,
            self.send(&open, query),
        )
        .await;
        let done = match done {
            Ok(done) => done.map_err(PostgresError::of_statement),
            Err(_) => Err(PostgresError::Lost(None)),
        };
        if done.as_ref().is_err_and(PostgresError::breaks_connection) {
            slot.close(&open);
        }
        done
    }

    async fn send(
        &self,
        open: &Open,
        query: &Query<'_>,
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
        let text = self.text(&query.text);
        if self.pooler {
            return open.client.query_typed(&text, &query.values).await;
        }
        let known = lock(&open.prepared).get(&text).cloned();
        let statement = match known {
            Some(statement) => statement,
            None => {
                let types: Vec<_> = query.values.iter().map(|(_, of)| of.clone()).collect();
                let statement = open.client.prepare_typed(&text, &types).await?;
                lock(&open.prepared).insert(text, statement.clone());
                statement
            }
        };
        let values: Vec<_> = query.values.iter().map(|(value, _)| *value).collect();
        open.client.query(&statement, &values).await
    }

    /// Runs several statements without values in one transaction, on a connection of its own.
    pub(crate) async fn batch(&self, text: &str) -> Result<(), PostgresError> {
        let (client, connection) = self.connect().await?;
        let driver = tokio::spawn(connection);
        let done = client.batch_execute(&self.text(text)).await;
        driver.abort();
        done.map_err(PostgresError::of_statement)
    }

    /// Returns a statement with the schema in place of `@`.
    pub(crate) fn text(&self, text: &str) -> String {
        #[cfg(feature = "faults")]
        if let Some(changed) = self.fault.and_then(|fault| fault.change(text)) {
            return changed.replace('@', &self.prefix);
        }
        text.replace('@', &self.prefix)
    }

    /// Returns whether no attempt to connect has failed for this long.
    pub(crate) fn is_steady(&self, since: Duration) -> bool {
        let failed = lock(&self.pause).failed;
        failed.is_none_or(|failed| failed.elapsed() >= since)
    }

    fn least_used(&self) -> &Slot {
        let used = |slot: &&Slot| slot.in_flight.load(Ordering::Relaxed);
        // There is at least one: see `PostgresOptions::connections`.
        self.slots.iter().min_by_key(used).unwrap_or(&self.slots[0])
    }

    async fn open(&self, slot: &Slot) -> Result<Arc<Open>, PostgresError> {
        if let Some(open) = slot.usable() {
            return Ok(open);
        }
        let opening = timeout(self.acquire_timeout, slot.opening.lock()).await;
        let Ok(_opening) = opening else {
            return Err(no_connection("it is being opened"));
        };
        if let Some(open) = slot.usable() {
            return Ok(open);
        }
        let (client, connection) = self.connect().await?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "a connection to the database ended");
            }
        });
        let open = Arc::new(Open {
            client,
            prepared: Mutex::default(),
        });
        *lock(&slot.open) = Some(Arc::clone(&open));
        Ok(open)
    }

    /// Opens a connection; fails at once during the backoff after a failed attempt.
    pub(crate) async fn connect(
        &self,
    ) -> Result<(Client, Connection<Socket, TlsSocket>), PostgresError> {
        if lock(&self.pause)
            .until
            .is_some_and(|until| Instant::now() < until)
        {
            return Err(no_connection("the last attempt failed a moment ago"));
        }
        let mut config = self.config.clone();
        match &self.password {
            None => {}
            Some(Password::Callback(password)) => _ = config.password(password()),
            Some(Password::File(file)) => {
                let text = tokio::fs::read_to_string(file).await;
                let unreadable = |error| no_connection(format!("{}: {error}", file.display()));
                config.password(text.map_err(unreadable)?.trim());
            }
        }
        let connected = timeout(MAX_CONNECT, config.connect(self.tls.clone())).await;
        let connected = match connected {
            Ok(connected) => connected.map_err(PostgresError::of_connect),
            Err(_) => Err(no_connection("it took too long")),
        };
        lock(&self.pause).note(connected.is_ok());
        connected
    }
}

impl Pause {
    fn note(&mut self, connected: bool) {
        if connected {
            (self.length, self.until) = (Duration::ZERO, None);
            return;
        }
        let now = Instant::now();
        self.length = (self.length * 2).clamp(MIN_PAUSE, MAX_PAUSE);
        self.until = Some(now + self.length.mul_f64(0.5 + fastrand::f64() / 2.0));
        self.failed = Some(now);
    }
}

impl Slot {
    fn usable(&self) -> Option<Arc<Open>> {
        lock(&self.open)
            .as_ref()
            .filter(|open| !open.client.is_closed())
            .cloned()
    }

    /// Drops a broken connection, unless another one has replaced it.
    fn close(&self, broken: &Arc<Open>) {
        let mut open = lock(&self.open);
        if open.as_ref().is_some_and(|open| Arc::ptr_eq(open, broken)) {
            *open = None;
        }
    }
}

/// Counts a statement until it is dropped.
struct InFlight<'s>(
    &'s Slot,
    #[expect(dead_code, reason = "it counts until it is dropped")] metric::Raised,
);

impl<'s> InFlight<'s> {
    fn of(slot: &'s Slot) -> Self {
        slot.in_flight.fetch_add(1, Ordering::Relaxed);
        Self(slot, metric::IN_USE.raise())
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection's socket with TLS.
type TlsSocket = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// Waits for the next message on a listening connection; returns `None` at its end.
pub(crate) async fn next_message<T>(
    connection: &mut Connection<Socket, T>,
) -> Option<Result<AsyncMessage, tokio_postgres::Error>>
where
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    std::future::poll_fn(|context| connection.poll_message(context)).await
}

fn no_connection(reason: impl Into<String>) -> PostgresError {
    PostgresError::NoConnection(reason.into(), None)
}

/// Locks a mutex. No code that holds it panics half-way, so a poisoned one is still consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Maximum number of statements in flight on a connection; further ones wait for a permit.
const MAX_IN_FLIGHT: usize = 32;
/// Maximum number of tries of a statement that the database refuses for a passing reason.
const MAX_TRIES: usize = 4;
/// Time after the statement timeout at which a connection that has not answered counts as lost.
const CUT_OFF_AFTER: Duration = Duration::from_secs(2);
/// Time limit for an attempt to connect, over all hosts.
const MAX_CONNECT: Duration = Duration::from_secs(5);
/// Bounds of the backoff.
const MIN_PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_millis(1000);
