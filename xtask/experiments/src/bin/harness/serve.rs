//! A server in a process of its own, which can be killed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use a2a_postgres::{PostgresOptions, PostgresStore};
use a2a_server::{
    Algorithm, Recovery, Secret, Server, SigningKey, SqliteStore, WebhookKeys, WebhookPolicy,
};
use a2a_types::AgentCard;
use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};

use crate::Failure;
use crate::agent::CommandAgent;

/// Options of the server.
#[derive(Args, Clone, Default)]
pub(crate) struct Options {
    /// File of the tasks, or the URL of a Postgres database; without one they are in memory.
    #[arg(long, value_name = "FILE|URL")]
    pub(crate) db: Option<PathBuf>,
    /// Reach Postgres through a pooler in transaction mode.
    #[arg(long)]
    pub(crate) pooled: bool,
    /// Append a line to this file for each turn of the agent.
    #[arg(long, value_name = "FILE")]
    pub(crate) runs: Option<PathBuf>,
    /// Resume tasks that another process has left.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Call webhooks of this machine, and sign notifications with this secret of Standard Webhooks.
    #[arg(long, value_name = "SECRET")]
    pub(crate) webhooks: Option<String>,
    /// Milliseconds between attempts of a notification, instead of the default backoff.
    #[arg(long, value_name = "MS")]
    pub(crate) retry: Option<u64>,
}

/// Serves until the standard input ends; prints the URL.
pub(crate) async fn run(options: Options) -> Result<(), Failure> {
    let mut card = card();
    card.capabilities.push_notifications = Some(options.webhooks.is_some());
    let runs = options
        .runs
        .map(|file| File::options().create(true).append(true).open(file));
    let mut builder = Server::builder(card, CommandAgent::new(runs.transpose()?));
    if let Some(secret) = &options.webhooks {
        let here = (1..=255).map(|number| format!("127.0.0.{number}"));
        let keys = WebhookKeys::new(SigningKey::generate(Algorithm::Es256)?);
        builder = builder
            .webhooks(WebhookPolicy::default().allow_hosts(here))
            .sign_webhooks(keys.secret(Secret::parse(secret)?));
    }
    if let Some(pause) = options.retry {
        builder = builder.retry_webhooks([Duration::from_millis(pause); ATTEMPTS]);
    }
    if options.resume {
        builder = builder.recovery(Recovery::Resume);
    }
    builder = match options.db.as_ref().and_then(|db| db.to_str()) {
        Some(url) if url.starts_with("postgres") => {
            let postgres = PostgresOptions::new(url)?.pooler(options.pooled);
            builder.store(PostgresStore::open(postgres).await?)
        }
        Some(file) => builder.store(SqliteStore::open(file)?),
        None => builder,
    };
    let bound = builder.build()?.bind("127.0.0.1:0").await?;
    println!("{}", bound.url());
    // The parent process has ended, or wants this one to end.
    let stop = async { drop(tokio::io::stdin().read_to_end(&mut Vec::new()).await) };
    Ok(bound.run(stop).await?)
}

/// Number of retries of a notification with `--retry`: none is given up while three in ten attempts
/// fail.
const ATTEMPTS: usize = 60;

/// The card of every agent in the experiments.
pub(crate) fn card() -> AgentCard {
    let mut card = AgentCard::new("Commands", "Runs the command in a message");
    card.capabilities.streaming = Some(true);
    card
}

/// Creates a directory for databases, removed in the end: in `given`, or next to this program, because
/// directories of temporary files are often in memory.
pub(crate) fn directory(given: Option<&Path>) -> Result<TempDir, Failure> {
    let program = std::env::current_exe()?;
    let beside = program.parent().ok_or("this program is nowhere")?;
    Ok(tempfile::tempdir_in(given.unwrap_or(beside))?)
}

/// A server in another process.
pub(crate) struct Process {
    child: Child,
    url: String,
    /// The server ends when this is closed, also if this process dies.
    input: Option<ChildStdin>,
}

impl Process {
    /// Begins one, and waits until it listens.
    pub(crate) async fn begin(options: &Options) -> Result<Self, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("serve");
        if let Some(db) = &options.db {
            command.arg("--db").arg(db);
        }
        if options.resume {
            command.arg("--resume");
        }
        if options.pooled {
            command.arg("--pooled");
        }
        if let Some(file) = &options.runs {
            command.arg("--runs").arg(file);
        }
        if let Some(secret) = &options.webhooks {
            command.arg("--webhooks").arg(secret);
        }
        if let Some(pause) = options.retry {
            command.arg("--retry").arg(pause.to_string());
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let output = child.stdout.take().ok_or("the server has no output")?;
        let mut lines = BufReader::new(output).lines();
        match lines.next_line().await? {
            Some(url) => Ok(Self {
                input: child.stdin.take(),
                child,
                url,
            }),
            None => Err(format!("the server did not begin: {}", child.wait().await?).into()),
        }
    }

    /// Returns the URL of the server.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Waits for `period`. Errors: the server has ended meanwhile.
    pub(crate) async fn lives_for(&mut self, period: Duration) -> Result<(), Failure> {
        match tokio::time::timeout(period, self.child.wait()).await {
            Ok(ended) => Err(format!("the server has ended by itself: {}", ended?).into()),
            Err(_) => Ok(()),
        }
    }

    /// Sends it a signal: to stand still, or to go on.
    pub(crate) fn signal(&self, signal: Signal) -> Result<(), Failure> {
        let id = self
            .child
            .id()
            .and_then(|id| Pid::from_raw(id.cast_signed()));
        Ok(kill_process(id.ok_or("the server has ended")?, signal)?)
    }

    /// Returns the memory of the server, in KiB.
    pub(crate) fn memory(&self) -> Result<u64, Failure> {
        let id = self.child.id().ok_or("the server has ended")?;
        let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        Ok(number
            .ok_or("the memory of a process cannot be read here")?
            .parse()?)
    }

    /// Kills it where it stands; it has no time to say anything.
    pub(crate) async fn kill(mut self) -> Result<(), Failure> {
        Ok(self.child.kill().await?)
    }

    /// Ends it in good order: what it works on comes to its end first.
    pub(crate) async fn end(mut self) -> Result<(), Failure> {
        drop(self.input.take());
        match self.child.wait().await? {
            well if well.success() => Ok(()),
            badly => Err(format!("the server was to end, and did so badly: {badly}").into()),
        }
    }

    /// Returns the CPU time of the server, in seconds.
    pub(crate) fn cpu(&self) -> f64 {
        let id = self.child.id();
        id.map_or(0.0, |id| cpu_of(&id.to_string()))
    }
}

/// Returns the CPU time of a process in seconds, or 0 where it cannot be read.
pub(crate) fn cpu_of(process: &str) -> f64 {
    let seconds = || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // After the name, which may hold anything but is in parentheses: fields 14 and 15.
        let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
        Some((ticks(11)? + ticks(12)?) / TICKS)
    };
    seconds().unwrap_or(0.0)
}

/// Ticks that Linux reports per second.
const TICKS: f64 = 100.0;
