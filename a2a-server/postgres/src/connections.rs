//! Connections to the database. Each serves many callers at once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::pin::pin;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Connection, Row, Socket, Statement};

use crate::connector::{Backoff, Connector, TlsSocket, no_connection};
use crate::lock::lock;
use crate::{PostgresError, PostgresOptions, metric};

/// A statement and its values. In its text `@` stands for the schema.
pub(crate) struct Query<'a> {
    text: Cow<'static, str>,
    values: Vec<(&'a (dyn ToSql + Sync), Type)>,
    is_urgent: bool,
}

impl<'a> Query<'a> {
    pub(crate) fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            text: text.into(),
            values: Vec::new(),
            is_urgent: false,
        }
    }

    /// Adds text in which each `?` is the next of these values.
    pub(crate) fn add(&mut self, text: &str, values: &[(&'a (dyn ToSql + Sync), Type)]) {
        let mut values = values.iter();
        for (place, piece) in text.split('?').enumerate() {
            if place > 0 {
                self.values.extend(values.next().cloned());
                *self.text.to_mut() += &format!("${}", self.values.len());
            }
            *self.text.to_mut() += piece;
        }
    }

    /// Has the statement wait for no other statements than urgent ones.
    pub(crate) fn urgent(mut self) -> Self {
        self.is_urgent = true;
        self
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
///
/// A connection answers in order, so a slow statement delays those behind it: while others are free, none is sent behind
/// a statement that has not been answered for a while. A connection is lost if it answers *nothing* for longer than a
/// statement may take. The clock starts again with each answer, because only then the next statement has its turn.
pub(crate) struct Connections {
    connector: Connector,
    /// The quoted schema and a dot, the prefix of each table's name.
    prefix: String,
    pooler: bool,
    /// Time after which a connection that answers nothing counts as lost.
    turn_timeout: Duration,
    acquire_timeout: Duration,
    slots: Vec<Slot>,
    /// The connection of urgent statements, if there are several.
    urgent: Option<Slot>,
    /// Permits of statements in flight.
    permits: Semaphore,
    backoff: Backoff,
    /// Backoff of the connection that listens, whose failures do not keep others from connecting.
    listener_backoff: Backoff,
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
    /// Start of the turn of the first unanswered statement.
    turn: Mutex<Instant>,
}

impl Connections {
    pub(crate) fn new(options: &PostgresOptions) -> Result<Self, PostgresError> {
        let has_urgent = options.connections > 1;
        let shared = options.connections - usize::from(has_urgent);
        Ok(Self {
            connector: Connector::new(options)?,
            prefix: format!("\"{}\".", options.schema.replace('"', "\"\"")),
            pooler: options.pooler,
            turn_timeout: options.statement_timeout + CUT_OFF_AFTER,
            acquire_timeout: options.acquire_timeout,
            slots: (0..shared).map(|_| Slot::default()).collect(),
            urgent: has_urgent.then(Slot::default),
            permits: Semaphore::new(shared * MAX_IN_FLIGHT),
            backoff: Backoff::default(),
            listener_backoff: Backoff::default(),
            #[cfg(feature = "faults")]
            fault: options.fault,
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

    /// Runs a statement, and returns its first row.
    pub(crate) async fn row(
        &self,
        query: &Query<'_>,
        repeat: Repeat,
    ) -> Result<Option<Row>, PostgresError> {
        Ok(self.run(query, repeat).await?.into_iter().next())
    }

    async fn try_once(&self, query: &Query<'_>) -> Result<Vec<Row>, PostgresError> {
        if let Some(slot) = self.urgent.as_ref().filter(|_| query.is_urgent) {
            // If that connection cannot be opened, the statement is sent on one of the others.
            if let Ok((in_flight, open)) = self.turn(slice::from_ref(slot)).await {
                return self.run_on(in_flight, &open, query).await;
            }
        }
        let waiting = metric::WAITING.raise();
        let permit = timeout(self.acquire_timeout, self.permits.acquire()).await;
        drop(waiting);
        let Ok(Ok(_permit)) = permit else {
            return Err(no_connection("all are in use"));
        };
        let (in_flight, open) = self.turn(&self.slots).await?;
        self.run_on(in_flight, &open, query).await
    }

    async fn run_on(
        &self,
        in_flight: InFlight<'_>,
        open: &Arc<Open>,
        query: &Query<'_>,
    ) -> Result<Vec<Row>, PostgresError> {
        if in_flight.is_first {
            open.begin_turn();
        }
        let mut answer = pin!(self.send(open, query));
        let done = loop {
            // A connection whose packets are dropped silently never answers.
            let due = open.turn() + self.turn_timeout;
            match timeout_at(due, answer.as_mut()).await {
                Ok(done) => break done.map_err(PostgresError::of_statement),
                // Another statement was answered meanwhile.
                Err(_) if open.turn() + self.turn_timeout > due => {}
                Err(_) => break Err(PostgresError::Lost(None)),
            }
        };
        match done.as_ref().is_err_and(PostgresError::breaks_connection) {
            true => in_flight.slot.close(open),
            false => open.begin_turn(),
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
        let (client, connection) = self.connector.connect(&self.backoff).await?;
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

    /// Opens a connection of its own to listen on.
    pub(crate) async fn connect_listener(
        &self,
    ) -> Result<(Client, Connection<Socket, TlsSocket>), PostgresError> {
        self.connector.connect(&self.listener_backoff).await
    }

    /// Returns the connection for the next statement: one that is idle, else another one that can be opened, else the one
    /// that has the least to do.
    async fn turn<'s>(
        &self,
        slots: &'s [Slot],
    ) -> Result<(InFlight<'s>, Arc<Open>), PostgresError> {
        let best = least_used(slots, |slot| slot.usable().is_some());
        let closed = match best {
            Some(best) if best.in_flight() == 0 => None,
            Some(_) if self.backoff.is_on() => None,
            // Only one statement waits for a connection to be opened while others answer.
            Some(best) => least_used(slots, |slot| {
                slot.usable().is_none() && (slot.in_flight() == 0 || best.is_slow())
            }),
            None => least_used(slots, |_| true),
        };
        let mut failed = None;
        if let Some(closed) = closed {
            let in_flight = InFlight::of(closed);
            match self.open(closed).await {
                Ok(open) => return Ok((in_flight, open)),
                Err(error) => {
                    if best.is_some() {
                        let error = &error as &dyn std::error::Error;
                        tracing::warn!(error, "could not open another connection to the database");
                    }
                    failed = Some(error);
                }
            }
        }
        loop {
            let Some(best) = least_used(slots, |slot| slot.usable().is_some()) else {
                return Err(failed.unwrap_or_else(|| no_connection("it was closed")));
            };
            let in_flight = InFlight::of(best);
            if let Some(open) = best.usable() {
                return Ok((in_flight, open));
            }
        }
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
        let (client, connection) = self.connector.connect(&self.backoff).await?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "a connection to the database ended");
            }
        });
        let open = Arc::new(Open {
            client,
            prepared: Mutex::default(),
            turn: Mutex::new(Instant::now()),
        });
        *lock(&slot.open) = Some(Arc::clone(&open));
        Ok(open)
    }
}

/// Returns the slot with the least to do; slots that are not slow come first.
fn least_used(slots: &[Slot], is_eligible: impl Fn(&Slot) -> bool) -> Option<&Slot> {
    let eligible = slots.iter().filter(|slot| is_eligible(slot));
    eligible.min_by_key(|slot| (slot.is_slow(), slot.in_flight()))
}

impl Open {
    /// Returns the start of the turn of the first unanswered statement.
    fn turn(&self) -> Instant {
        *lock(&self.turn)
    }

    /// Starts the turn of a statement: the one before it is answered, or there is none.
    fn begin_turn(&self) {
        *lock(&self.turn) = Instant::now();
    }
}

impl Slot {
    fn usable(&self) -> Option<Arc<Open>> {
        lock(&self.open)
            .as_ref()
            .filter(|open| !open.client.is_closed())
            .cloned()
    }

    fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Returns whether statements wait behind one that is not answered for a while.
    fn is_slow(&self) -> bool {
        let open = lock(&self.open);
        let is_late = |open: &Arc<Open>| open.turn().elapsed() > SLOW_AFTER;
        self.in_flight() > 0 && open.as_ref().is_some_and(is_late)
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
struct InFlight<'s> {
    slot: &'s Slot,
    /// `true` if no other statement was in flight.
    is_first: bool,
    _raised: metric::Raised,
}

impl<'s> InFlight<'s> {
    fn of(slot: &'s Slot) -> Self {
        let before = slot.in_flight.fetch_add(1, Ordering::Relaxed);
        Self {
            slot,
            is_first: before == 0,
            _raised: metric::IN_USE.raise(),
        }
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.slot.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Maximum number of statements in flight on a connection; further ones wait for a permit.
const MAX_IN_FLIGHT: usize = 32;
/// Maximum number of tries of a statement that the database refuses for a passing reason.
const MAX_TRIES: usize = 4;
/// Time after the statement timeout at which a connection that has not answered counts as lost.
const CUT_OFF_AFTER: Duration = Duration::from_secs(2);
/// Time without an answer after which other statements avoid a connection.
const SLOW_AFTER: Duration = Duration::from_millis(100);
