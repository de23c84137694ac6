//! A client that is started for each case.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::process::{Process, shell};
use crate::client::errand::{Errand, LACKS, Told};

/// Runs the command for one case. Only its requests and its exit code are seen.
pub(super) async fn run(command: &str, errand: &Errand) -> Told {
    let mut told = Told::default();
    match timeout(errand.within, see_through(command, errand, &mut told)).await {
        Ok(Ok(())) => {}
        Ok(Err(problem)) => told.harness = Some(problem),
        Err(_) => told.late = true,
    }
    told
}

async fn see_through(command: &str, errand: &Errand, told: &mut Told) -> Result<(), String> {
    let line = match command.contains("{url}") {
        true => command.replace("{url}", errand.url()),
        false => format!("{command} {}", errand.url()),
    };
    let mut context = errand.context()?;
    let port = match errand.receives() {
        true => Some(free_port().await?),
        false => None,
    };
    if let Some(port) = port {
        context.insert("webhook_port".to_owned(), port.into());
    }
    let mut command = shell(&line);
    command
        .env("A2A_CONFORMANCE_CASE", &errand.case().id)
        .env(
            "A2A_CONFORMANCE_CONTEXT",
            Value::Object(context).to_string(),
        )
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let mut process = Process::start(command).map_err(|error| format!("`{line}`: {error}"))?;
    if let Some(port) = port {
        tokio::select! {
            () = until_open(port) => {
                let url = format!("http://127.0.0.1:{port}/hook");
                told.webhook = errand.notify(&url).await;
                // Nothing more comes, so its end is not awaited.
                return Ok(());
            }
            status = process.0.wait() => {
                let status = status.map_err(|error| error.to_string())?;
                return end(status.code(), told);
            }
        }
    }
    let status = process.0.wait().await.map_err(|error| error.to_string())?;
    end(status.code(), told)
}

fn end(code: Option<i32>, told: &mut Told) -> Result<(), String> {
    told.exit = code;
    if code == Some(LACKS) {
        told.lacks = Some(format!("it exits with {LACKS}"));
    }
    match code {
        // The shell found no such command.
        Some(126 | 127) => Err("the command cannot be started".to_owned()),
        _ => Ok(()),
    }
}

/// Returns a free port for the client to listen on.
async fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let address = listener.and_then(|listener| listener.local_addr());
    address
        .map(|address| address.port())
        .map_err(|error| error.to_string())
}

/// Waits until the client listens on the port.
async fn until_open(port: u16) {
    while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
