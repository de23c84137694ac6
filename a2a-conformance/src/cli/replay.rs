//! `a2a-conformance replay`: replays the documented examples, or the recordings of a client.

use std::path::PathBuf;
use std::process::ExitCode;

use a2a_conformance::documents::{Corpus, Options, Report, replay};
use a2a_conformance::report::Progress;

use super::print::{failed, print_json, refused};
use super::recordings;

/// Examples or recordings to replay.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  a2a-conformance replay                     every documented example and exchange
  a2a-conformance replay --only 001          one document
  a2a-conformance replay --json > replay.json
  a2a-conformance replay record/             what `a2a send … --record record/` has written

Exit codes: 0 all is as it should be, 1 something is not, 2 usage or nothing to replay.")]
pub(crate) struct Args {
    /// Files that a client has recorded (`a2a … --record DIR`, or an export of `a2a inspect`), or
    /// directories of them, instead of the documents.
    #[arg(value_name = "FILE", conflicts_with = "only")]
    recorded: Vec<PathBuf>,
    /// Replay only examples and exchanges whose id begins with this, like 001 or 000-stream.
    #[arg(long, value_name = "PREFIX")]
    only: Option<String>,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: Args) -> ExitCode {
    let Args {
        recorded,
        only,
        json,
    } = args;
    if !recorded.is_empty() {
        return recordings::check(&recorded, json);
    }
    let corpus = match Corpus::embedded() {
        Ok(corpus) => corpus,
        Err(error) => {
            return failed(4, &format!("the corpus cannot be read: {error}"));
        }
    };
    let options = Options {
        only,
        ..Options::default()
    };
    let progress = Progress::new();
    let outcomes = replay(&corpus, &options, |done, total| progress.at(done, total)).await;
    progress.finish();
    if outcomes.is_empty() {
        let only = options.only.unwrap_or_default();
        return refused(&format!("nothing to replay: no id begins with {only:?}"));
    }
    let report = Report::new(&corpus, outcomes);
    let printed = match json {
        true => print_json(&report),
        false => report.print(&corpus, &mut anstream::stdout()),
    };
    match (printed, report.passes()) {
        (Ok(()), true) => ExitCode::SUCCESS,
        (Ok(()), false) => ExitCode::FAILURE,
        // The reader of our output has closed it.
        (Err(_), _) => ExitCode::from(2),
    }
}
