//! A server in its own process, on its own processors.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::machine::{self, Failure};
use crate::serve::{Settings, cores_argument};

/// A running server; it is killed when this is dropped.
pub(crate) struct Process {
    child: Child,
    address: SocketAddr,
}

impl Process {
    /// Begins one of this program, and waits until it listens.
    pub(crate) async fn begin(settings: &Settings, limit: Option<u64>) -> Result<Self, Failure> {
        let mut command = limited(&std::env::current_exe()?, limit);
        command.arg("serve").args(settings.arguments());
        Self::spawn(command).await
    }

    /// Begins one of others, on these processors.
    pub(crate) async fn peer(
        program: &Path,
        cores: &[usize],
        limit: Option<u64>,
    ) -> Result<Self, Failure> {
        let mut command = limited(program, limit);
        command.arg(cores_argument(cores));
        Self::spawn(command).await
    }

    /// Begins a program that prints its address in the first line of its output.
    pub(crate) async fn spawn(mut command: Command) -> Result<Self, Failure> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let output = child.stdout.take().ok_or("a server has no output")?;
        let line = BufReader::new(output).lines().next_line().await?;
        match line.as_deref().map(str::parse) {
            Some(Ok(address)) => Ok(Self { child, address }),
            _ => Err(format!("a server did not start; its output was {line:?}").into()),
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the processor time that it has used, in seconds.
    pub(crate) fn cpu(&self) -> Result<f64, Failure> {
        machine::cpu(self.id()?)
    }

    /// Returns its resident memory in bytes.
    pub(crate) fn memory(&self) -> Result<f64, Failure> {
        machine::memory(self.id()?)
    }

    /// Ends the server and waits until its process has exited, so that the next one has the machine
    /// to itself.
    pub(crate) async fn end(mut self) -> Result<(), Failure> {
        Ok(self.child.kill().await?)
    }

    /// Asks the server to end and waits until it has exited, so that its last output is complete.
    pub(crate) async fn terminate(mut self) -> Result<(), Failure> {
        let id = i32::try_from(self.id()?)?;
        let id = Pid::from_raw(id).ok_or("a process has the number 0")?;
        kill_process(id, Signal::TERM)?;
        self.child.wait().await?;
        Ok(())
    }

    fn id(&self) -> Result<u32, Failure> {
        self.child
            .id()
            .ok_or_else(|| "a server has ended by itself".into())
    }
}

/// Returns the command of a program that may have `limit` bytes of memory.
fn limited(program: &Path, limit: Option<u64>) -> Command {
    match limit {
        None => Command::new(program),
        Some(bytes) => {
            let mut command = Command::new("prlimit");
            command.arg(format!("--data={bytes}")).arg(program);
            command
        }
    }
}
