//! `a2a-conformance index`: a page for several runs.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use a2a_conformance::report::{Error, prepare, read, write_index};
use clap::Args;

use super::print::failed_by;

/// Write a page with the scores of several runs, for a web server.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a-conformance index report.json -o public/
  a2a-conformance index runs/* -o public/ --title 'Nightly runs'   directories with a report.json

It writes index.html, and for each run its page and a copy of its report.json, named after the \
agent or client. The runs are listed in the order of the arguments.

Exit codes: 0 the index is written, 2 usage, a report that cannot be read, or a directory that cannot be made, 4 a file cannot be written.")]
pub(crate) struct Index {
    /// `report.json` of a run, or a directory that contains it.
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Directory to write the pages to.
    #[arg(short, long = "output", value_name = "DIR")]
    output: PathBuf,
    /// Title of the page.
    #[arg(long, value_name = "TEXT", default_value = "Index of runs")]
    title: String,
}

impl Index {
    pub(crate) fn run(&self) -> ExitCode {
        match self.write() {
            Ok(path) => {
                // The reader of our output may have closed it: the index is written.
                let _ = writeln!(anstream::stdout(), "{}", path.display());
                ExitCode::SUCCESS
            }
            Err(error) => failed_by(error.exit_code(), &error),
        }
    }

    /// Reads every run before it writes anything.
    fn write(&self) -> Result<PathBuf, Error> {
        let runs = self.runs.iter().map(|path| read(path));
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
        prepare(&self.output)?;
        write_index(&self.title, &runs, &self.output)
    }
}
