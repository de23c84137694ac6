//! `a2a-conformance replay FILE…`: what a client has recorded.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use a2a_conformance::recorded::{ExchangeFindings, check as check_exchange};
use serde_json::json;

use super::print::refused;

/// Checks files and directories of files.
pub(crate) fn check(places: &[PathBuf], as_json: bool) -> ExitCode {
    let files = match files(places) {
        Ok(files) if files.is_empty() => {
            return refused("nothing to replay: no `.json` file is there");
        }
        Ok(files) => files,
        Err(problem) => {
            return refused(&problem);
        }
    };
    let checked = files.iter().map(|file| (file, read(file)));
    let checked: Vec<_> = checked.collect();
    let red = checked.iter().filter(|(_, found)| !found.passes()).count();
    let mut out = anstream::stdout();
    let written = match as_json {
        true => {
            let all = checked
                .iter()
                .map(|(file, found)| json!({"file": file, "found": found}));
            writeln!(
                out,
                "{}",
                json!({"green": red == 0, "exchanges": all.collect::<Vec<_>>()})
            )
        }
        false => checked
            .iter()
            .try_for_each(|(file, found)| print_result(file, found, &mut out))
            .and_then(|()| {
                writeln!(
                    out,
                    "{} of {} exchanges green",
                    checked.len() - red,
                    checked.len()
                )
            }),
    };
    match (written, red) {
        (Ok(()), 0) => ExitCode::SUCCESS,
        (Ok(()), _) => ExitCode::FAILURE,
        (Err(_), _) => ExitCode::from(2),
    }
}

fn files(places: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for place in places {
        let problem = |error: std::io::Error| format!("{}: {error}", place.display());
        if !place.is_dir() {
            files.push(place.clone());
            continue;
        }
        for entry in std::fs::read_dir(place).map_err(problem)? {
            let path = entry.map_err(problem)?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn read(file: &Path) -> ExchangeFindings {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string());
    let exchange = text.and_then(|text| {
        let read = serde_json::from_str(&text);
        read.map_err(|error| format!("this is no recorded exchange: {error}"))
    });
    match exchange {
        Ok(exchange) => check_exchange(&exchange),
        Err(problem) => ExchangeFindings {
            problems: vec![problem],
            ..ExchangeFindings::default()
        },
    }
}

fn print_result(
    file: &Path,
    found: &ExchangeFindings,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let verdict = if found.passes() { "ok  " } else { "FAIL" };
    let operation = found.operation.unwrap_or("unknown");
    let dialect = found.dialect.unwrap_or_default();
    let events = match found.events {
        0 => String::new(),
        count => format!(", {count} events"),
    };
    writeln!(
        out,
        "{verdict} {} {operation} {dialect}{events}",
        file.display()
    )?;
    for problem in &found.problems {
        writeln!(out, "       {problem}")?;
    }
    for mended in &found.mended {
        writeln!(out, "       not as specified: {mended}")?;
    }
    Ok(())
}
