//! `a2a-conformance replay`: the documented examples, or what a client has recorded.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use a2a_conformance::documents::{Corpus, Fault, Options, Report, replay};
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::recordings;

/// What is replayed.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files that a client has recorded (`a2a … --record DIR`), or directories of them, instead of
    /// the documents.
    #[arg(value_name = "FILE", conflicts_with_all = ["only", "fault"])]
    recorded: Vec<PathBuf>,
    /// Only examples and exchanges whose id begins so, like 001 or 000-stream.
    #[arg(long, value_name = "PREFIX")]
    only: Option<String>,
    /// Prints the report as JSON.
    #[arg(long)]
    json: bool,
    /// Builds a deliberate fault into one of the ends.
    #[arg(long, value_name = "FAULT", value_parser = fault_names())]
    fault: Option<Fault>,
}

/// The names of the faults, for the help and for the message about a name that is none.
fn fault_names() -> impl TypedValueParser<Value = Fault> {
    let names = PossibleValuesParser::new(Fault::ALL.iter().map(|fault| fault.name()));
    names.try_map(|name| name.parse())
}

pub(crate) async fn run(args: Args) -> ExitCode {
    let Args {
        recorded,
        only,
        json,
        fault,
    } = args;
    if !recorded.is_empty() {
        return recordings::check(&recorded, json);
    }
    let corpus = match Corpus::embedded() {
        Ok(corpus) => corpus,
        Err(error) => {
            eprintln!("the corpus cannot be read: {error}");
            return ExitCode::from(2);
        }
    };
    let options = Options { only, fault };
    let terminal = std::io::stderr().is_terminal();
    let outcomes = replay(&corpus, &options, |done, total| {
        if terminal {
            eprint!("\r{done} of {total} exchanges\x1b[K");
        }
    })
    .await;
    if terminal {
        eprint!("\r\x1b[K");
    }
    if outcomes.is_empty() {
        eprintln!(
            "nothing to replay: no id begins with {:?}",
            options.only.unwrap_or_default()
        );
        return ExitCode::from(2);
    }
    let report = Report::new(&corpus, outcomes);
    let mut out = anstream::stdout();
    let printed = match json {
        true => serde_json::to_string_pretty(&report)
            .map_err(std::io::Error::other)
            .and_then(|text| writeln!(out, "{text}")),
        false => report.print(&corpus, &mut out),
    };
    match (printed, report.is_green()) {
        (Ok(()), true) => ExitCode::SUCCESS,
        (Ok(()), false) => ExitCode::FAILURE,
        // Whoever reads our output has had enough of it.
        (Err(_), _) => ExitCode::from(2),
    }
}
