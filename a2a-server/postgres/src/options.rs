//! Options of a store.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};

use crate::PostgresError;

/// Options of a [`PostgresStore`](crate::PostgresStore): the address of the database, and limits on its use.
#[derive(Clone)]
#[non_exhaustive]
pub struct PostgresOptions {
    pub(crate) config: Config,
    pub(crate) connections: usize,
    pub(crate) schema: String,
    pub(crate) pooler: bool,
    pub(crate) listen: bool,
    pub(crate) migrate: bool,
    pub(crate) statement_timeout: Duration,
    pub(crate) acquire_timeout: Duration,
    pub(crate) cache_bytes: usize,
    pub(crate) receipts: u64,
    pub(crate) unfinished: u64,
    pub(crate) roots: Option<PathBuf>,
    pub(crate) password: Option<Password>,
    #[cfg(feature = "faults")]
    pub(crate) fault: Option<crate::Fault>,
}

/// Source of the password, asked for each new connection.
#[derive(Clone)]
pub(crate) enum Password {
    File(PathBuf),
    Callback(Arc<dyn Fn() -> String + Send + Sync>),
}

impl PostgresOptions {
    /// Reads a URL like `postgres://user@host:5432/database?sslmode=require`, or the `key=value` form of libpq.
    ///
    /// Several hosts are tried in order, and only one that takes writes is used. TLS is on unless the URL says
    /// `sslmode=disable` or names a Unix socket, or a loopback address whose server has no TLS; the name and the
    /// certificate of the server are always checked.
    ///
    /// Errors: [`PostgresError::Options`].
    pub fn new(url: &str) -> Result<Self, PostgresError> {
        let (url, strict) = without_libpq_modes(url);
        let mut config: Config = url.parse().map_err(PostgresError::options)?;
        let on_socket = config.get_hosts().iter().all(is_socket);
        if config.get_hosts().is_empty() {
            return Err(PostgresError::Options("the URL names no host".into()));
        }
        if on_socket {
            config.ssl_mode(SslMode::Disable);
        } else if config.get_hosts().iter().all(is_loopback)
            && config
                .get_hostaddrs()
                .iter()
                .all(|address| address.is_loopback())
            && !strict
        {
            // The mode of the URL applies; its default is TLS if the server has it.
        } else if strict || config.get_ssl_mode() != SslMode::Disable {
            config.ssl_mode(SslMode::Require);
        }
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("a2a");
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(DEFAULT_STATEMENT_TIMEOUT);
        }
        Ok(Self {
            config,
            connections: DEFAULT_CONNECTIONS,
            schema: "a2a".to_owned(),
            pooler: false,
            listen: true,
            migrate: true,
            statement_timeout: DEFAULT_STATEMENT_TIMEOUT,
            acquire_timeout: CONNECT_TIMEOUT,
            cache_bytes: DEFAULT_CACHE_BYTES,
            receipts: DEFAULT_RECEIPTS,
            unfinished: DEFAULT_UNFINISHED,
            roots: None,
            password: None,
            #[cfg(feature = "faults")]
            fault: None,
        })
    }

    /// Sets the number of connections for statements; 16 by default. If there are several, one of them is kept for the
    /// renewal of leases. One more listens.
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// Sets the schema that holds the tables; `a2a` by default. Stores in different schemas know nothing of each other.
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = schema.into();
        self
    }

    /// Sets whether the database is behind a pooler in transaction mode, such as PgBouncer; `false` by default. The store
    /// then uses no `LISTEN` and no `NOTIFY`, no named statements and no session settings, and polls for other servers' events every
    /// 250 ms.
    pub fn pooler(mut self, pooler: bool) -> Self {
        self.pooler = pooler;
        self
    }

    /// Sets whether servers notify each other of events; `true` by default. Otherwise the store neither listens nor
    /// notifies, and polls for other servers' events every 250 ms.
    pub fn listen(mut self, listen: bool) -> Self {
        self.listen = listen;
        self
    }

    /// Sets whether the tables are created or migrated when the store opens; `true` by default. Otherwise
    /// [`migrate`](crate::migrate) does it, and the store needs no right to create tables.
    pub fn migrate(mut self, migrate: bool) -> Self {
        self.migrate = migrate;
        self
    }

    /// Sets the timeout of a statement; 10 seconds by default.
    pub fn statement_timeout(mut self, timeout: Duration) -> Self {
        self.statement_timeout = timeout;
        self
    }

    /// Sets the time that a caller waits for a connection; 2 seconds by default.
    pub fn acquire_timeout(mut self, timeout: Duration) -> Self {
        self.acquire_timeout = timeout;
        self
    }

    /// Sets the name under which the database lists the connections; `a2a` by default.
    pub fn application_name(mut self, name: &str) -> Self {
        self.config.application_name(name);
        self
    }

    /// Sets the bytes of recently used tasks that are cached; 64 MiB by default.
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// Sets the approximate maximum number of receipts of messages; ten million by default. The first receipts to
    /// expire are removed first.
    pub fn receipts(mut self, receipts: u64) -> Self {
        self.receipts = receipts;
        self
    }

    /// Sets the approximate maximum number of unfinished tasks; one million by default. Further ones are refused.
    pub fn unfinished(mut self, unfinished: u64) -> Self {
        self.unfinished = unfinished;
        self
    }

    /// Trusts only the certificate authorities in this PEM file; by default the system's authorities.
    pub fn root_certificates(mut self, file: impl AsRef<Path>) -> Self {
        self.roots = Some(file.as_ref().to_owned());
        self
    }

    /// Reads the password from a file before each new connection; white space around it is ignored.
    pub fn password_file(mut self, file: impl AsRef<Path>) -> Self {
        self.password = Some(Password::File(file.as_ref().to_owned()));
        self
    }

    /// Calls this function for the password before each new connection, for example for a token that expires soon.
    pub fn password(mut self, password: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.password = Some(Password::Callback(Arc::new(password)));
        self
    }

    /// Injects a fault, to show that a test detects it.
    #[cfg(feature = "faults")]
    #[doc(hidden)]
    pub fn fault(mut self, fault: crate::Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Returns whether the store listens for hints.
    pub(crate) fn listens(&self) -> bool {
        self.listen && !self.pooler
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("hosts", &self.config.get_hosts())
            .field("schema", &self.schema)
            .field("connections", &self.connections)
            .field("pooler", &self.pooler)
            .finish_non_exhaustive()
    }
}

/// Replaces the modes `verify-ca` and `verify-full` of libpq by `require`: the server is always verified. Returns whether
/// one of them was there.
fn without_libpq_modes(url: &str) -> (String, bool) {
    let strict = url.contains("sslmode=verify-");
    let plain = url.replace("sslmode=verify-full", "sslmode=require");
    (
        plain.replace("sslmode=verify-ca", "sslmode=require"),
        strict,
    )
}

fn is_socket(host: &tokio_postgres::config::Host) -> bool {
    !matches!(host, tokio_postgres::config::Host::Tcp(_))
}

/// Returns whether a host is this machine, by its name or address, or a socket.
fn is_loopback(host: &tokio_postgres::config::Host) -> bool {
    match host {
        tokio_postgres::config::Host::Tcp(host) => {
            let address = host.parse();
            host == "localhost"
                || address.is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
        #[cfg(unix)]
        tokio_postgres::config::Host::Unix(_) => true,
    }
}

const DEFAULT_CONNECTIONS: usize = 16;
const DEFAULT_CACHE_BYTES: usize = 64 << 20;
const DEFAULT_RECEIPTS: u64 = 10_000_000;
const DEFAULT_UNFINISHED: u64 = 1_000_000;
const DEFAULT_STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of an attempt to connect to one host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
