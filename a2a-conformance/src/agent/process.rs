//! An agent process under test.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use a2a_client::Cards;
use a2a_transport::http::HttpClient;
use tokio::process::{Child, Command};

use crate::free_port::free_port;

/// An agent process under test, in its own process group, which is killed when this value is dropped.
pub struct Process {
    child: Child,
    url: String,
}

impl Process {
    /// Starts a command in which `{port}` stands for the port to listen at, and waits for the card
    /// at that port of 127.0.0.1.
    ///
    /// Errors: the command cannot be started, it ends, or there is no card in time.
    pub async fn start(command: &str, timeout: Duration) -> io::Result<Self> {
        let port = free_port()?;
        let text = command.replace("{port}", &port.to_string());
        let mut shell = shell(&text);
        shell.stdin(Stdio::null()).stdout(Stdio::null());
        let mut process = Self {
            child: shell.kill_on_drop(true).spawn()?,
            url: format!("http://127.0.0.1:{port}"),
        };
        let ready = async {
            let cards = Cards::new(HttpClient::default());
            let mut ticks = tokio::time::interval(Duration::from_millis(50));
            loop {
                ticks.tick().await;
                if let Some(status) = process.child.try_wait()? {
                    let problem = format!("`{text}` ended before it could be asked: {status}");
                    return Err(io::Error::other(problem));
                }
                if cards.find(&process.url).await.is_ok() {
                    return Ok(());
                }
            }
        };
        let late = || {
            let mut problem = format!("`{text}` has no card at 127.0.0.1:{port} after {timeout:?}");
            if text == command {
                problem +=
                    "; expected `{port}` in the command, for the port at which it has to listen";
            }
            io::Error::new(io::ErrorKind::TimedOut, problem)
        };
        tokio::time::timeout(timeout, ready)
            .await
            .map_err(|_| late())??;
        Ok(process)
    }

    /// Returns the URL of the agent.
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// Returns a command that the shell of this system runs, in its own process group on Unix.
#[cfg(not(windows))]
fn shell(text: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(text);
    #[cfg(unix)]
    shell.process_group(0);
    shell
}

/// Returns a command that the shell of this system runs. It parses the text itself, without the outer quotes.
#[cfg(windows)]
fn shell(text: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell
        .args(["/D", "/S", "/C"])
        .raw_arg(format!("\"{text}\""));
    shell
}

impl Drop for Process {
    fn drop(&mut self) {
        // The shell would end alone, and its children keep the port and our standard error.
        #[cfg(windows)]
        if let Some(id) = self.child.id() {
            let mut end = std::process::Command::new("taskkill");
            end.args(["/T", "/F", "/PID", &id.to_string()]);
            let _ = end.stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
        #[cfg(unix)]
        if let Some(id) = self.child.id()
            && let Ok(id) = i32::try_from(id)
            && let Some(group) = rustix::process::Pid::from_raw(id)
        {
            // Kills the process with its children; it may have ended already.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}
