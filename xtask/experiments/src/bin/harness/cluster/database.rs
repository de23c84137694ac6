//! A real Postgres server in a temporary directory, which can be stopped, killed, copied and promoted.

use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

use crate::Failure;
use crate::serve::cpu_of;

/// A Postgres server on loopback, with one database and one superuser, both named `a2a`.
pub(crate) struct Database {
    programs: PathBuf,
    directory: TempDir,
    port: u16,
    process: Option<Child>,
    settings: Vec<String>,
}

impl Database {
    /// Creates an empty database and starts its server.
    pub(crate) async fn start(settings: &[&str]) -> Result<Self, Failure> {
        let mut database = Self::prepare(settings).await?;
        let data = database.data();
        database
            .run(
                "initdb",
                &[
                    "-D",
                    &data,
                    "-U",
                    "a2a",
                    "-A",
                    "trust",
                    "-E",
                    "UTF8",
                    "--locale=C",
                ],
            )
            .await?;
        database.resume().await?;
        database.psql_in("postgres", "create database a2a").await?;
        Ok(database)
    }

    /// Copies a running server to a streaming standby, and starts the standby. It replicates under the name `standby`.
    pub(crate) async fn standby_of(primary: &Self) -> Result<Self, Failure> {
        let mut standby = Self::prepare(&[]).await?;
        let (data, port) = (standby.data(), primary.port.to_string());
        let source = format!("host=127.0.0.1 port={port} user=a2a application_name=standby");
        standby
            .run(
                "pg_basebackup",
                &[
                    "-D", &data, "-R", "-X", "stream", "-c", "fast", "-d", &source,
                ],
            )
            .await?;
        standby.resume().await?;
        Ok(standby)
    }

    async fn prepare(settings: &[&str]) -> Result<Self, Failure> {
        let programs = programs()?;
        let directory = tempfile::tempdir()?;
        if is_root() {
            let (user, group) = account().await?;
            chown(directory.path(), Some(user), Some(group))?;
        }
        // The port is free now; another process could take it before the server binds it.
        let port = TcpListener::bind("127.0.0.1:0").await?.local_addr()?.port();
        Ok(Self {
            programs,
            directory,
            port,
            process: None,
            settings: settings.iter().map(|&it| it.to_owned()).collect(),
        })
    }

    /// Returns the URL of the database.
    pub(crate) fn url(&self) -> String {
        format!("postgres://a2a@127.0.0.1:{}/a2a?sslmode=disable", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    fn data(&self) -> String {
        self.directory.path().join("data").display().to_string()
    }

    /// Starts the server, and waits until it answers.
    pub(crate) async fn resume(&mut self) -> Result<(), Failure> {
        let (data, port) = (self.data(), self.port.to_string());
        let sockets = self.directory.path().display().to_string();
        let mut command = self.command("postgres");
        command.args(["-D", &data, "-p", &port, "-k", &sockets]);
        for setting in SETTINGS
            .iter()
            .copied()
            .chain(self.settings.iter().map(String::as_str))
        {
            command.args(["-c", setting]);
        }
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.directory.path().join("log"))?;
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .kill_on_drop(true);
        self.process = Some(command.spawn()?);
        let begun = std::time::Instant::now();
        while self.psql_in("postgres", "select 1").await.is_err() {
            if begun.elapsed() > MAX_START_TIME {
                let log = std::fs::read_to_string(self.directory.path().join("log"))?;
                return Err(
                    format!("Postgres did not start within {MAX_START_TIME:?}: {log}").into(),
                );
            }
        }
        Ok(())
    }

    /// Stops the server by `pg_ctl stop -m immediate`, without a shutdown of its sessions.
    pub(crate) async fn stop(&mut self) -> Result<(), Failure> {
        let data = self.data();
        self.run("pg_ctl", &["-D", &data, "-m", "immediate", "-w", "stop"])
            .await?;
        if let Some(mut process) = self.process.take() {
            process.wait().await?;
        }
        Ok(())
    }

    /// Makes a standby the primary.
    pub(crate) async fn promote(&self) -> Result<(), Failure> {
        let data = self.data();
        self.run("pg_ctl", &["-D", &data, "-w", "promote"])
            .await
            .map(drop)
    }

    /// Runs a statement in the database, and returns its rows, the columns separated by `|`.
    pub(crate) async fn psql(&self, sql: &str) -> Result<Vec<String>, Failure> {
        self.psql_in("a2a", sql).await
    }

    /// Runs a statement that yields one number.
    pub(crate) async fn number(&self, sql: &str) -> Result<u64, Failure> {
        let rows = self.psql(sql).await?;
        Ok(rows.first().ok_or("the statement yields no row")?.parse()?)
    }

    /// Returns the CPU time of the server and its processes, in seconds.
    pub(crate) fn cpu(&self) -> f64 {
        let Some(main) = self.process.as_ref().and_then(Child::id) else {
            return 0.0;
        };
        let children = std::fs::read_to_string(format!("/proc/{main}/task/{main}/children"));
        let children = children.unwrap_or_default();
        cpu_of(&main.to_string()) + children.split_whitespace().map(cpu_of).sum::<f64>()
    }

    async fn psql_in(&self, database: &str, sql: &str) -> Result<Vec<String>, Failure> {
        let port = self.port.to_string();
        let arguments = [
            "-XAtq",
            "-h",
            "127.0.0.1",
            "-p",
            &port,
            "-U",
            "a2a",
            "-d",
            database,
            "-c",
            sql,
        ];
        let printed = self.run("psql", &arguments).await?;
        Ok(printed.lines().map(str::to_owned).collect())
    }

    /// Runs one of Postgres' programs, and returns what it prints.
    async fn run(&self, program: &str, arguments: &[&str]) -> Result<String, Failure> {
        let mut command = self.command(program);
        let output = command.args(arguments).stdin(Stdio::null());
        // `pg_ctl` leaves nothing behind that would hold these open.
        let output = output
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output()
            .await?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => {
                let text = String::from_utf8_lossy(&output.stderr).into_owned();
                Err(format!("{program}: {}: {text}", output.status).into())
            }
        }
    }

    /// Postgres refuses to run as root: there it runs as the user `postgres` of the distribution's package.
    fn command(&self, program: &str) -> Command {
        let program = self.programs.join(program);
        let mut command = match is_root() {
            true => {
                let mut command = Command::new("setpriv");
                command
                    .args(["--reuid", USER, "--regid", USER, "--clear-groups", "--"])
                    .arg(program);
                command
            }
            false => Command::new(program),
        };
        command.current_dir(self.directory.path());
        command
    }
}

/// Settings of every server: durable as by default, with enough connections and senders of a log.
const SETTINGS: &[&str] = &[
    "listen_addresses=127.0.0.1",
    "max_connections=200",
    "shared_buffers=256MB",
    "max_wal_size=4GB",
    "wal_level=replica",
];
/// Account of the server where this program is root.
const USER: &str = "postgres";
/// Time limit for a start.
const MAX_START_TIME: Duration = Duration::from_secs(30);

/// Returns the directory of Postgres' programs: that of the newest version of a distribution's package, or
/// that of `initdb` in `PATH`.
fn programs() -> Result<PathBuf, Failure> {
    let installed = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let mut versions: Vec<_> = installed.map(|entry| entry.path().join("bin")).collect();
    versions.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = versions
        .into_iter()
        .rev()
        .chain(std::env::split_paths(&path));
    let found = places.find(|place| place.join("initdb").is_file());
    Ok(found.ok_or(
        "initdb is not there: install PostgreSQL 15 or later (Debian: apt-get install postgresql)",
    )?)
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns the user and the group of `USER`.
async fn account() -> Result<(u32, u32), Failure> {
    let mut ids = [0; 2];
    for (id, option) in ids.iter_mut().zip(["-u", "-g"]) {
        let output = Command::new("id").args([option, USER]).output().await?;
        *id = String::from_utf8(output.stdout)?.trim().parse()?;
    }
    Ok((ids[0], ids[1]))
}
