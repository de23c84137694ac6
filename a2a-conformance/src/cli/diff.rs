//! `a2a-conformance diff`: the changes from one run to another.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use a2a_client::terminal::{escape, escape_line};
use a2a_conformance::record::Verdict;
use a2a_conformance::report::{ChangeKind, Changes, Error, read};
use anstyle::{AnsiColor, Style};
use clap::Args;

use super::print::{failed_by, print_json};

/// Compare two runs, check by check.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a-conformance diff main/report.json report.json
  a2a-conformance diff main/report.json report.json --markdown >> \"$GITHUB_STEP_SUMMARY\"

Exit codes: 0 nothing got worse, 1 something did, 2 usage, or a report that cannot be read.")]
pub(crate) struct Diff {
    /// `report.json` of the old run, or the directory that contains it.
    old: PathBuf,
    /// `report.json` of the new run, or the directory that contains it.
    new: PathBuf,
    /// Print the changes as JSON.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print the changes as Markdown, for example for $GITHUB_STEP_SUMMARY.
    #[arg(long)]
    markdown: bool,
}

impl Diff {
    pub(crate) fn run(&self) -> ExitCode {
        let changes = match self.changes() {
            Ok(changes) => changes,
            Err(error) => {
                return failed_by(error.exit_code(), &error);
            }
        };
        let mut out = anstream::stdout();
        // The reader of our output may have closed it: the exit code says whether anything got worse.
        let _ = match (self.json, self.markdown) {
            (true, _) => print_json(&changes),
            (_, true) => out.write_all(escape(&changes.markdown()).as_bytes()),
            _ => print(&changes, &mut out),
        };
        match changes.is_worse() {
            true => ExitCode::FAILURE,
            false => ExitCode::SUCCESS,
        }
    }

    fn changes(&self) -> Result<Changes, Error> {
        Ok(Changes::between(&read(&self.old)?, &read(&self.new)?))
    }
}

fn print(changes: &Changes, out: &mut impl Write) -> io::Result<()> {
    let bold = Style::new().bold();
    for kind in ChangeKind::ALL {
        let style = match kind {
            ChangeKind::Worse => AnsiColor::Red.on_default(),
            ChangeKind::Better => AnsiColor::Green.on_default(),
            ChangeKind::Other | ChangeKind::New | ChangeKind::Gone => Style::new(),
        };
        let mut listed = changes.of(*kind).peekable();
        if listed.peek().is_some() {
            writeln!(out, "{bold}{}{bold:#}", kind.words())?;
        }
        let words = |verdict: Option<Verdict>| verdict.map_or("–", Verdict::words);
        for change in listed {
            // A report may come from anywhere.
            let (id, place) = (escape_line(&change.id), change.column.to_string());
            let place = escape_line(&place);
            let (old, new) = (words(change.old), words(change.new));
            writeln!(out, "  {style}{id}{style:#}  {place}: {old} → {new}")?;
        }
    }
    writeln!(out, "{bold}{}{bold:#}", changes.summary())
}
