//! A client that is started for each case.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpStream;

use super::process::{Process, shell};
use crate::client::driver_request::{DriverOutcome, DriverRequest, EXIT_UNIMPLEMENTED};
use crate::free_port::free_port;

/// Runs the command for one case. Only its requests and its exit code are seen.
pub(super) async fn run(command: &str, request: &DriverRequest) -> DriverOutcome {
    let mut outcome = DriverOutcome::default();
    let driving = drive(command, request, &mut outcome);
    match request.in_time(driving).await {
        Some(Ok(())) => {}
        Some(Err(problem)) => outcome.harness = Some(problem),
        None => outcome.late = true,
    }
    outcome
}

async fn drive(
    command: &str,
    request: &DriverRequest,
    outcome: &mut DriverOutcome,
) -> Result<(), String> {
    let line = match command.contains("{url}") {
        true => command.replace("{url}", request.url()),
        false => format!("{command} {}", request.url()),
    };
    let mut context = request.context()?;
    let port = match request.receives() {
        true => Some(free_port().map_err(|error| error.to_string())?),
        false => None,
    };
    if let Some(port) = port {
        context.insert("webhook_port".to_owned(), port.into());
    }
    let mut command = shell(&line);
    command
        .env("A2A_CONFORMANCE_CASE", &request.case().id)
        .env(
            "A2A_CONFORMANCE_CONTEXT",
            Value::Object(context).to_string(),
        )
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let mut process = Process::start(command).map_err(|error| format!("`{line}`: {error}"))?;
    let status = match port {
        Some(port) => tokio::select! {
            () = until_open(port) => {
                let url = format!("http://127.0.0.1:{port}/hook");
                outcome.webhook = request.notify(&url).await;
                // Nothing more comes, so its end is not awaited.
                return Ok(());
            }
            status = process.0.wait() => status,
        },
        None => process.0.wait().await,
    };
    outcome.exit = status.map_err(|error| error.to_string())?.code();
    if outcome.exit == Some(EXIT_UNIMPLEMENTED) {
        outcome.missing_feature = Some(format!("it exits with {EXIT_UNIMPLEMENTED}"));
    }
    Ok(())
}

/// Waits until the client listens on the port.
async fn until_open(port: u16) {
    while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
