//! `a2a-conformance replay FILE…`: replays the recordings of a client.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use a2a_client::terminal::{escape_json, escape_line as line};
use a2a_conformance::recorded::{
    ExchangeFindings, check as check_exchange, read as read_recording,
};
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
    let checked = files.iter().flat_map(|file| read(file));
    let checked: Vec<_> = checked.collect();
    let red = checked.iter().filter(|(_, found)| !found.passes()).count();
    let mut out = anstream::stdout();
    let written = match as_json {
        true => {
            let all = checked
                .iter()
                .map(|(place, found)| json!({"file": place, "found": found}));
            let report = json!({"green": red == 0, "exchanges": all.collect::<Vec<_>>()});
            writeln!(out, "{}", escape_json(&report.to_string()))
        }
        false => checked
            .iter()
            .try_for_each(|(place, found)| print_result(place, found, &mut out))
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
        if !std::fs::metadata(place).map_err(problem)?.is_dir() {
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

/// Checks the exchanges of a file, each with its place: the file, and the number in a list.
fn read(file: &Path) -> Vec<(String, ExchangeFindings)> {
    let place = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string());
    let exchanges = text.and_then(|text| {
        let read = read_recording(&text);
        read.map_err(|error| format!("this is not a recorded exchange: {error}"))
    });
    match exchanges {
        Ok(exchanges) if exchanges.len() == 1 => vec![(place, check_exchange(&exchanges[0]))],
        Ok(exchanges) => {
            let numbered = exchanges.iter().zip(1..);
            let checked = numbered
                .map(|(exchange, number)| (format!("{place}#{number}"), check_exchange(exchange)));
            checked.collect()
        }
        Err(problem) => {
            let found = ExchangeFindings {
                problems: vec![problem],
                ..ExchangeFindings::default()
            };
            vec![(place, found)]
        }
    }
}

fn print_result(
    place: &str,
    found: &ExchangeFindings,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let verdict = if found.passes() { "ok  " } else { "FAIL" };
    let operation = found.operation.unwrap_or("unknown");
    let protocol_version = found.protocol_version.unwrap_or_default();
    let events = match found.events {
        0 => String::new(),
        count => format!(", {count} events"),
    };
    let place = line(place);
    writeln!(
        out,
        "{verdict} {place} {operation} {protocol_version}{events}"
    )?;
    for problem in &found.problems {
        writeln!(out, "       {}", line(problem))?;
    }
    for mended in &found.mended {
        writeln!(out, "       not as specified: {}", line(mended))?;
    }
    Ok(())
}
