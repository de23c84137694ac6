//! Our client as a client under test: `reference-client` reads one instruction per line, or performs those in
//! `A2A_CONFORMANCE_CONTEXT`.

use std::process::ExitCode;

use a2a_conformance_proof::client::ClientSubject;
use a2a_conformance_proof::reference_client::{perform_context, perform_lines};

#[tokio::main]
async fn main() -> ExitCode {
    let ended = match std::env::var("A2A_CONFORMANCE_CONTEXT") {
        Ok(context) => perform_context(&serde_json::from_str(&context).unwrap_or_default()).await,
        Err(_) => {
            let input = tokio::io::BufReader::new(tokio::io::stdin());
            let output = tokio::io::stdout();
            let ended = perform_lines(input, output, ClientSubject::Reference).await;
            ended.map(|()| 0)
        }
    };
    match ended {
        Ok(code) => u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from),
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}
