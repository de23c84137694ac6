//! Ratios of our server to the floor over time: a file with a line for each landing, so that many small losses are seen.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::Failure;
use crate::scenario::{HISTORY, Plan, against_floor};

/// Measures each row, prints it with that of the last line of the file, and returns `false` if a row has fallen by more than
/// a tenth. With `appends`, the file gets a line.
pub(crate) async fn compare(plan: &Plan, appends: bool) -> Result<bool, Failure> {
    let last = last_line(&std::fs::read_to_string(file())?)?;
    let measured = against_floor(plan).await?;
    let mut ratios = Vec::new();
    let mut is_kept = true;
    for ((name, last), ratio) in HISTORY.iter().zip(last).zip(measured) {
        let ratio = ratio.ok_or("a row could not be measured")?;
        let falls = ratio < last * (1.0 - TOLERANCE);
        let verdict = if falls { "FALLEN" } else { "ok" };
        println!("{name:<8} ours ÷ made by hand {ratio:.2}, last {last:.2}   {verdict}");
        is_kept &= !falls;
        ratios.push(format!("{ratio:.2}"));
    }
    if appends {
        let commit = git(&["rev-parse", "--short=8", "HEAD"])?;
        let date = git(&["show", "--no-patch", "--format=%cs", "HEAD"])?;
        let mut file = std::fs::OpenOptions::new().append(true).open(file())?;
        writeln!(file, "{date}\t{commit}\t{}", ratios.join("\t"))?;
    }
    Ok(is_kept)
}

/// Returns the ratios of the last line.
fn last_line(text: &str) -> Result<Vec<f64>, Failure> {
    let line = text.lines().last().ok_or("the history is empty")?;
    let ratios: Result<Vec<f64>, _> = line.split('\t').skip(2).map(str::parse).collect();
    match ratios {
        Ok(ratios) if ratios.len() == HISTORY.len() => Ok(ratios),
        _ => Err(format!(
            "{}: expected a date, a commit and {} ratios with tabs between them, found `{line}`",
            file().display(),
            HISTORY.len()
        )
        .into()),
    }
}

fn git(arguments: &[&str]) -> Result<String, Failure> {
    let said = Command::new("git").args(arguments).output()?;
    match said.status.success() {
        true => Ok(String::from_utf8(said.stdout)?.trim().to_owned()),
        false => Err(format!("git {}: {}", arguments.join(" "), said.status).into()),
    }
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("history.tsv")
}

/// Part by which a row may fall: no two runs are alike.
const TOLERANCE: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_the_history_is_read() {
        let text = std::fs::read_to_string(file()).expect("there is a history");
        assert_eq!(last_line(&text).expect("a line").len(), HISTORY.len());
        let error = last_line("2026-11-28\t01234567\t0.5").expect_err("too short");
        assert!(error.to_string().contains("3 ratios"), "{error}");
    }
}
