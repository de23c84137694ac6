//! Cost of our server relative to the floor over time: a file with a line for each landing, so that many small losses are
//! seen.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::instructions::{ROWS, each};
use crate::machine::{Failure, git};
use crate::serve::ServerKind;

/// Counts the instructions of each row, prints their ratio to the floor with that of the last line of the file, and returns
/// `false` if a row has grown by more than a tenth. With `appends`, the file gets a line.
pub(crate) async fn compare(appends: bool) -> Result<bool, Failure> {
    let last = last_line(&std::fs::read_to_string(file())?)?;
    let mut ratios = Vec::new();
    let mut is_kept = true;
    println!(
        "{:<8}{:>12}{:>14}{:>10}{:>10}",
        "", "ours", "made by hand", "ratio", "last"
    );
    for ((name, row), last) in ROWS.into_iter().zip(last) {
        let ours = each(ServerKind::Ours, row).await?;
        let floor = each(ServerKind::Floor, row).await?;
        let ratio = ours / floor;
        let grows = ratio > last * (1.0 + TOLERANCE);
        let verdict = if grows { "GROWN" } else { "ok" };
        println!("{name:<8}{ours:>12.0}{floor:>14.0}{ratio:>10.2}{last:>10.2}   {verdict}");
        is_kept &= !grows;
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
        Ok(ratios) if ratios.len() == ROWS.len() => Ok(ratios),
        _ => Err(format!(
            "{}: expected a date, a commit and {} ratios with tabs between them, found `{line}`",
            file().display(),
            ROWS.len()
        )
        .into()),
    }
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("history.tsv")
}

/// Part by which a row may grow.
const TOLERANCE: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_line_of_the_history_is_read() {
        let text = std::fs::read_to_string(file()).expect("there is a history");
        assert_eq!(last_line(&text).expect("a line").len(), ROWS.len());
        let error = last_line("2026-11-28\t01234567\t0.5").expect_err("too short");
        assert!(error.to_string().contains("3 ratios"), "{error}");
    }
}
