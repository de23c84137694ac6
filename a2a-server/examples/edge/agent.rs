//! The server that is measured, as a process of its own.

use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use a2a_server::{Failure as Failed, Server, Turn};
use a2a_types::AgentCard;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

use crate::Failure;

/// How many events `talk` tells of.
pub(crate) const EVENTS: usize = 10_000;

/// Serves until standard input ends. `talk` waits for `go`, and then says much; `go` says so.
pub(crate) async fn serve() -> Result<(), Failure> {
    let gate = Arc::new(Semaphore::new(0));
    let agent = move |turn: Turn| {
        let gate = Arc::clone(&gate);
        async move { take_turn(&turn, &gate).await }
    };
    let server = Server::builder(AgentCard::new("Talker", "Says much"), agent)
        // Each chunk is an event of its own.
        .merge_chunks(Duration::ZERO)
        .build()?;
    let bound = server.bind("127.0.0.1:0").await?;
    println!("{}", bound.local_addr());
    let stop = async {
        let mut told = Vec::new();
        // However it ends, it does.
        let _ = tokio::io::stdin().read_to_end(&mut told).await;
    };
    Ok(bound.run(stop).await?)
}

async fn take_turn(turn: &Turn, gate: &Semaphore) -> Result<(), Failed> {
    if turn.text() != "talk" {
        gate.add_permits(1);
        return Ok(());
    }
    turn.working("waiting").await?;
    if let Ok(permit) = gate.acquire().await {
        permit.forget();
    }
    let mut talk = turn.artifact("talk");
    for _ in 0..EVENTS {
        talk = talk
            .text("a chunk of some fifty bytes, as a model writes it ")
            .send()
            .await?;
    }
    talk.done().await?;
    Ok(())
}

/// The other process.
pub(crate) struct Running {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Running {
    /// Starts a server that may have so many file descriptors open.
    pub(crate) async fn start(descriptors: usize) -> Result<Self, Failure> {
        let script = format!("ulimit -n {descriptors} && exec \"$0\" --serve");
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .arg(std::env::current_exe()?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().ok_or("the server has no output")?;
        let line = BufReader::new(stdout).lines().next_line().await?;
        let address = line.ok_or("the server did not start")?.parse()?;
        Ok(Self { child, address })
    }

    /// MiB of memory that it holds.
    pub(crate) fn resident(&self) -> Result<f64, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id()?))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next());
        let kilobytes: f64 = kilobytes.ok_or("no VmRSS in /proc")?.parse()?;
        Ok(kilobytes / 1024.0)
    }

    /// How many file descriptors it has open.
    pub(crate) fn descriptors(&self) -> Result<usize, Failure> {
        Ok(std::fs::read_dir(format!("/proc/{}/fd", self.id()?))?.count())
    }

    fn id(&self) -> Result<u32, Failure> {
        Ok(self.child.id().ok_or("the server ended")?)
    }
}
