//! PgBouncer in transaction mode before the database.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};

use a2a_postgres::PostgresOptions;

use crate::database::{Database, wait_until};

/// A pooler, which ends with this process. Transactions of one client run on changing connections.
pub(crate) struct Pooler {
    url: String,
    _running: Child,
}

impl Pooler {
    /// Starts a pooler; returns `None` if PgBouncer is not installed, which is printed and fails in CI.
    pub(crate) fn start(database: &Database) -> Option<Self> {
        let program = Path::new("/usr/sbin/pgbouncer");
        if !program.exists() {
            let in_ci = std::env::var_os("CI").is_some();
            assert!(
                !in_ci,
                "PgBouncer is not installed: apt-get install pgbouncer"
            );
            eprintln!("PGBOUNCER IS NOT INSTALLED: the mode for poolers is tested without one.");
            return None;
        }
        let directory = database.directory();
        let settings = directory.join("pgbouncer.ini");
        let place = directory.display();
        let text = format!(
            "[databases]\n* = host={place} user=a2a\n[pgbouncer]\npool_mode = transaction\nauth_type = any\n\
             listen_addr =\nlisten_port = 6432\nunix_socket_dir = {place}\ndefault_pool_size = 8\n\
             max_client_conn = 1000\nlogfile = {place}/pgbouncer.log\n"
        );
        fs::write(&settings, text).expect("there is room");
        let mut command = database.run_with_input(program);
        command
            .arg(&settings)
            .stderr(Stdio::null())
            .stdout(Stdio::null());
        let running = command.spawn().expect("pgbouncer is there");
        let socket = directory.join(".s.PGSQL.6432");
        // The file of the socket is there before it accepts connections.
        let answers = wait_until(|| UnixStream::connect(&socket).is_ok());
        let log = fs::read_to_string(directory.join("pgbouncer.log")).unwrap_or_default();
        assert!(answers, "pgbouncer does not start:\n{log}");
        let url = format!("{}?", database.url()).replace("/postgres?", ":6432/postgres");
        Some(Self {
            url,
            _running: running,
        })
    }

    /// Returns options of a schema of its own.
    pub(crate) fn options(&self) -> PostgresOptions {
        let schema = a2a_types::TaskId::random().to_string();
        let options = PostgresOptions::new(&self.url).expect("it is a URL");
        options.schema(schema).connections(8).pooler(true)
    }
}
