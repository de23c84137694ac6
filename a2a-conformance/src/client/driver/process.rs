//! A client as a process, with all that it starts.

use std::io;
use std::process::Stdio;

use tokio::io::BufReader;
use tokio::process::{Child, Command};

use super::LineConnection;

/// A process with all that it has started: ended when this is dropped.
pub(super) struct Process(pub(super) Child);

impl Process {
    pub(super) fn start(mut command: Command) -> io::Result<Self> {
        #[cfg(unix)]
        command.process_group(0);
        command.kill_on_drop(true).spawn().map(Self)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.0.id()
            && let Ok(id) = i32::try_from(id)
            && let Some(group) = rustix::process::Pid::from_raw(id)
        {
            // It may have ended by itself.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

/// Returns the command that runs a line in the shell.
pub(super) fn shell(line: &str) -> Command {
    #[cfg(unix)]
    let (shell, flag) = ("sh", "-c");
    #[cfg(not(unix))]
    let (shell, flag) = ("cmd", "/C");
    let mut command = Command::new(shell);
    command.arg(flag).arg(line);
    command
}

/// Starts a client for a conversation line by line.
pub(super) fn connect(line: &str) -> io::Result<LineConnection> {
    let mut command = shell(line);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = Process::start(command)?;
    let pipes = process.0.stdin.take().zip(process.0.stdout.take());
    let (writer, reader) = pipes.ok_or_else(|| io::Error::other("it has no pipes"))?;
    Ok(LineConnection {
        reader: Box::new(BufReader::new(reader)),
        writer: Box::new(writer),
        guard: Box::new(process),
    })
}
