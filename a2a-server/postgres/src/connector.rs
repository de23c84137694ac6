//! Attempts to connect, and the backoff after failed attempts.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::lock::lock;
use crate::options::Password;
use crate::{PostgresError, PostgresOptions, tls};

/// Opens connections to the database.
pub(crate) struct Connector {
    config: Config,
    tls: MakeRustlsConnect,
    password: Option<Password>,
}

/// Backoff after failed attempts to connect.
#[derive(Default)]
pub(crate) struct Backoff(Mutex<Pause>);

#[derive(Default)]
struct Pause {
    length: Duration,
    until: Option<Instant>,
}

impl Connector {
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
            config,
        })
    }

    /// Opens a connection; fails at once during the backoff after a failed attempt.
    pub(crate) async fn connect(
        &self,
        backoff: &Backoff,
    ) -> Result<(Client, Connection<Socket, TlsSocket>), PostgresError> {
        if backoff.is_on() {
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
        let connected = match timeout(MAX_CONNECT, config.connect(self.tls.clone())).await {
            Ok(connected) => connected.map_err(PostgresError::of_connect),
            Err(_) => Err(no_connection("it took too long")),
        };
        backoff.note(connected.is_ok());
        connected
    }
}

impl Backoff {
    /// Returns whether attempts fail at once.
    pub(crate) fn is_on(&self) -> bool {
        let until = lock(&self.0).until;
        until.is_some_and(|until| Instant::now() < until)
    }

    fn note(&self, connected: bool) {
        let mut pause = lock(&self.0);
        if connected {
            *pause = Pause::default();
            return;
        }
        pause.length = (pause.length * 2).clamp(MIN_BACKOFF, MAX_BACKOFF);
        let jittered = pause.length.mul_f64(0.5 + fastrand::f64() / 2.0);
        pause.until = Some(Instant::now() + jittered);
    }
}

/// A connection's socket with TLS.
pub(crate) type TlsSocket = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

pub(crate) fn no_connection(reason: impl Into<String>) -> PostgresError {
    PostgresError::NoConnection(reason.into(), None)
}

/// Time limit for an attempt to connect, over all hosts.
const MAX_CONNECT: Duration = Duration::from_secs(5);
/// Bounds of the backoff.
const MIN_BACKOFF: Duration = Duration::from_millis(50);
const MAX_BACKOFF: Duration = Duration::from_millis(1000);
