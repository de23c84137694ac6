//! `a2a db check`.

use std::path::PathBuf;

use a2a_client::terminal::escape_line;
use a2a_server::{SqliteReport, SqliteStore};
use clap::Args;
use serde_json::json;

use crate::failure::Failure;
use crate::show::Screen;

/// File to check.
#[derive(Args)]
#[command(after_help = "\
Reads the whole file and changes nothing; a server may use the file meanwhile. \
A file FILE-wal next to it belongs to the database. If it was lost, the latest writes are missing, which the check \
cannot detect.

Examples:
  a2a db check tasks.db
  a2a db check tasks.db -o json | jq .damages

The exit code is 1 if the file is damaged.")]
pub(crate) struct Options {
    /// The file of `a2a serve --db`.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(crate) async fn run(options: Options, screen: &Screen) -> Result<(), Failure> {
    let file = options.file.display().to_string();
    let checked = tokio::task::spawn_blocking(move || SqliteStore::check(options.file)).await;
    let checked = checked.map_err(Failure::machine(&*file))?;
    let report = checked.map_err(Failure::machine(&*file))?;
    let SqliteReport {
        unfinished,
        ended,
        receipts,
        damages,
        ..
    } = &report;
    match screen.json {
        true => screen.value(&json!({
            "unfinished": unfinished,
            "ended": ended,
            "receipts": receipts,
            "damages": damages,
        }))?,
        false => {
            let verdict = if damages.is_empty() {
                "intact"
            } else {
                "damaged"
            };
            screen.line(&format!(
                "{file}: {verdict}; {unfinished} unfinished tasks, {ended} ended tasks, {receipts} remembered messages"
            ))?;
            for damage in damages {
                // It names tasks as their agents and callers did.
                screen.line(&format!("  {}", escape_line(&damage.to_string())))?;
            }
        }
    }
    match damages.is_empty() {
        true => Ok(()),
        false => Err(Failure::Verdict(format!("{file} is damaged"))),
    }
}
