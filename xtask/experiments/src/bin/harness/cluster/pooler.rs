//! PgBouncer in transaction mode, before a database.

use std::os::unix::fs::chown;
use std::process::Stdio;

use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

use super::database::Database;
use crate::Failure;

/// A running PgBouncer.
pub(crate) struct Pooler {
    port: u16,
    _process: Child,
}

impl Pooler {
    /// Starts one, and waits until it listens.
    pub(crate) async fn start(database: &Database) -> Result<Self, Failure> {
        let port = TcpListener::bind("127.0.0.1:0").await?.local_addr()?.port();
        let configuration = format!(
            "[databases]\na2a = host=127.0.0.1 port={} user=a2a\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\n\
             default_pool_size = 16\nmax_client_conn = 500\n",
            database.port()
        );
        let file = database.directory().join("pgbouncer.ini");
        std::fs::write(&file, configuration)?;
        let (user, group) = std::fs::metadata(database.directory()).map(|it| {
            use std::os::unix::fs::MetadataExt;
            (it.uid(), it.gid())
        })?;
        chown(&file, Some(user), Some(group))?;
        let mut command = Command::new("setpriv");
        command.args([
            "--reuid",
            &user.to_string(),
            "--regid",
            &group.to_string(),
            "--clear-groups",
            "--",
        ]);
        let mut process = command
            .arg("pgbouncer")
            .arg("-q")
            .arg(&file)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            if let Some(status) = process.try_wait()? {
                let text = "pgbouncer did not start (Debian: apt-get install pgbouncer)";
                return Err(format!("{text}: {status}").into());
            }
            tokio::task::yield_now().await;
        }
        Ok(Self {
            port,
            _process: process,
        })
    }

    /// Returns the URL of the database behind it.
    pub(crate) fn url(&self) -> String {
        format!("postgres://a2a@127.0.0.1:{}/a2a?sslmode=disable", self.port)
    }
}
