//! The server that is measured, as a process of its own.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use a2a_gateway::Gateway;
use a2a_server::{Failure, Server, SqliteStore, Turn, WebhookPolicy};
use a2a_transport::http::{HttpService, HttpTransport, ServeOptions, serve as serve_http};
use a2a_types::{AgentCard, Part, ProtocolVersion};
use clap::ValueEnum;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

use crate::{TrialError, tls};

/// Number of chunks that `talk` sends, each an event.
pub(crate) const EVENTS: usize = 10_000;

/// Store of the server.
#[derive(Clone, Copy, Eq, PartialEq, ValueEnum)]
pub(crate) enum StoreKind {
    Memory,
    Sqlite,
}

impl StoreKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Sqlite => "SQLite",
        }
    }
}

/// Serves until standard input ends. The turn `talk` waits for a turn `go`, then sends `EVENTS`
/// events. `murmur` does so with few small ones, and does not end, nor does `hold`. `grow` makes an artifact of 57 MiB,
/// `chunks` one of endless small chunks, and `artifacts` as many artifacts as a task may have.
pub(crate) async fn serve(db: Option<&Path>, tls: Option<&Path>) -> Result<(), TrialError> {
    let gate = Arc::new(Semaphore::new(0));
    let agent = move |turn: Turn| {
        let gate = Arc::clone(&gate);
        async move { take_turn(&turn, &gate).await }
    };
    let mut card = AgentCard::new("Talker", "Says much");
    card.capabilities.push_notifications = Some(true);
    let mut builder = Server::builder(card, agent)
        .webhooks(WebhookPolicy::default().allow_hosts(["127.0.0.1"]))
        // Each chunk is an event of its own.
        .merge_chunks(false);
    if let Some(db) = db {
        builder = builder.store(SqliteStore::open(db)?);
    }
    let server = builder.build()?;
    let http = match tls {
        Some(directory) => server.http().tls(tls::load(directory)?),
        None => server.http(),
    };
    let bound = http.bind("127.0.0.1:0").await?;
    println!("{}", bound.local_addr());
    Ok(bound.run(end_of_input()).await?)
}

/// Serves a gateway to the agent at this URL, until standard input ends.
pub(crate) async fn serve_gateway(url: &str) -> Result<(), TrialError> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let gateway = Gateway::new(
        HttpTransport::new(url, ProtocolVersion::V1_0)?,
        ProtocolVersion::V1_0,
    );
    let service = HttpService::new(gateway.share_tasks());
    serve_http(listener, service, ServeOptions::default(), end_of_input()).await;
    Ok(())
}

async fn end_of_input() {
    let mut input = Vec::new();
    // The server stops at the end of its input, also if reading fails.
    let _ = tokio::io::stdin().read_to_end(&mut input).await;
}

async fn take_turn(turn: &Turn, gate: &Semaphore) -> Result<(), Failure> {
    match turn.message().parts.first().and_then(Part::as_text) {
        Some("talk" | "murmur") => {}
        Some("hold") => {
            turn.working("on it").await?;
            turn.canceled().await;
            return Ok(());
        }
        Some("grow") => return grow(turn).await,
        Some("chunks") => return chunks(turn, usize::MAX).await,
        Some("artifacts") => {
            for number in 0..10_000 {
                let number = number.to_string();
                turn.artifact(&number).text(&number).finish().await?;
            }
            return Ok(());
        }
        Some("go") => {
            gate.add_permits(1);
            return Ok(());
        }
        _ => return Ok(()),
    }
    turn.working("waiting").await?;
    if let Ok(permit) = gate.acquire().await {
        permit.forget();
    }
    if turn.text() == "murmur" {
        chunks(turn, 200).await?;
        turn.canceled().await;
        return Ok(());
    }
    let mut talk = turn.artifact("talk");
    for _ in 0..EVENTS {
        talk = talk
            .text("a chunk of some fifty bytes, as a model writes it ")
            .send()
            .await?;
    }
    talk.finish().await?;
    Ok(())
}

async fn chunks(turn: &Turn, count: usize) -> Result<(), Failure> {
    let mut artifact = turn.artifact("chunks");
    for number in 0..count {
        artifact = artifact.text(format!("{number} ")).send().await?;
        // Others have their turn: the store in memory is never waited for.
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Makes an artifact of 57 MiB, and asks for more to do: the task takes further messages.
async fn grow(turn: &Turn) -> Result<(), Failure> {
    let mut artifact = turn.artifact("large");
    for _ in 0..57 {
        artifact = artifact.text("x".repeat(1 << 20)).send().await?;
    }
    artifact.finish().await?;
    Ok(turn.ask("what else?").await?)
}

/// The other process.
pub(crate) struct ServerProcess {
    child: Child,
    pub(crate) address: SocketAddr,
    /// The directory of its database.
    _files: Option<TempDir>,
}

impl ServerProcess {
    /// Starts a server that may have `descriptors` file descriptors open.
    pub(crate) async fn start(descriptors: usize) -> Result<Self, TrialError> {
        Self::with_store(descriptors, StoreKind::Memory).await
    }

    /// The same, with a store of this kind.
    pub(crate) async fn with_store(
        descriptors: usize,
        store: StoreKind,
    ) -> Result<Self, TrialError> {
        let files = match store {
            StoreKind::Memory => None,
            StoreKind::Sqlite => Some(TempDir::new()?),
        };
        let mut command = Self::command(descriptors)?;
        if let Some(files) = &files {
            command.arg("--db").arg(files.path().join("tasks.db"));
        }
        Self::spawn(command, files).await
    }

    /// Starts a gateway to the agent at this URL, which speaks 1.0.
    pub(crate) async fn gateway(descriptors: usize, url: &str) -> Result<Self, TrialError> {
        let mut command = Self::command(descriptors)?;
        command.args(["--gateway", url]);
        Self::spawn(command, None).await
    }

    /// The same, by TLS with the files of this directory.
    pub(crate) async fn with_tls(descriptors: usize, files: &Path) -> Result<Self, TrialError> {
        let mut command = Self::command(descriptors)?;
        command.arg("--tls").arg(files);
        Self::spawn(command, None).await
    }

    fn command(descriptors: usize) -> Result<Command, TrialError> {
        let script = format!("ulimit -n {descriptors} && exec \"$0\" --serve \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).arg(std::env::current_exe()?);
        // By default glibc keeps freed blocks of up to 32 MiB, which adds up to 200 MiB in some runs.
        command.env("MALLOC_MMAP_THRESHOLD_", "1048576");
        Ok(command)
    }

    async fn spawn(mut command: Command, files: Option<TempDir>) -> Result<Self, TrialError> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().ok_or("the server has no output")?;
        let line = BufReader::new(stdout).lines().next_line().await?;
        let address = line.ok_or("the server did not start")?.parse()?;
        Ok(Self {
            child,
            address,
            _files: files,
        })
    }

    /// MiB of memory that it holds.
    pub(crate) fn resident(&self) -> Result<f64, TrialError> {
        self.status("VmRSS:")
    }

    /// MiB of memory that it held at most.
    pub(crate) fn peak(&self) -> Result<f64, TrialError> {
        self.status("VmHWM:")
    }

    fn status(&self, name: &str) -> Result<f64, TrialError> {
        memory_of(self.id()?, name)
    }

    /// Returns the number of open file descriptors.
    pub(crate) fn descriptors(&self) -> Result<usize, TrialError> {
        Ok(std::fs::read_dir(format!("/proc/{}/fd", self.id()?))?.count())
    }

    fn id(&self) -> Result<u32, TrialError> {
        Ok(self.child.id().ok_or("the server ended")?)
    }
}

/// Returns MiB of memory of a process, by their name in `/proc`.
pub(crate) fn memory_of(process: u32, name: &str) -> Result<f64, TrialError> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    let kilobytes = kilobytes.ok_or_else(|| format!("no {name} in /proc"))?;
    Ok(kilobytes.parse::<f64>()? / 1024.0)
}
