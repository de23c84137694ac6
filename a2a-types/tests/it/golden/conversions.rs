//! Conversions between all versions, checked against the list of allowed losses.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::golden::difference::{Change, Difference, differences};
use crate::golden::document::Document;
use crate::golden::loss::Losses;
use crate::golden::spelling::Spelling;

/// Findings of the conversions.
pub(crate) struct ConversionReport {
    losses: Losses,
    /// Entries of the list that were used.
    used: BTreeSet<UsedEntry>,
    /// Number of round trips.
    pub(crate) round_trips: usize,
    pub(crate) failures: Vec<String>,
}

/// An entry of the list (row, loss, pattern) in one spelling and one document.
#[derive(Clone, Eq, Ord, PartialEq, PartialOrd)]
struct UsedEntry {
    row: usize,
    loss: usize,
    spelling: Spelling,
    pattern: (Change, String),
    document: String,
}

impl ConversionReport {
    pub(crate) fn new() -> Self {
        Self {
            losses: Losses::load(),
            used: BTreeSet::new(),
            round_trips: 0,
            failures: Vec::new(),
        }
    }

    /// Checks that every spelling reads as the document in 1.0, and that 1.0 is written as every spelling.
    pub(crate) fn read_and_write(&mut self, document: &Document) {
        let object = document.object;
        let canonical = match object.read(Spelling::V1_0, document.canonical()) {
            Ok(canonical) => canonical,
            Err(problem) => return self.fail(document, "1.0", &problem),
        };
        for (&spelling, text) in &document.spellings {
            let conversion = format!("{spelling} → canonical");
            match object.read(spelling, text) {
                Err(problem) => self.fail(document, &conversion, &problem),
                Ok(read) => {
                    let read = object.write(Spelling::V1_0, read).unwrap_or_default();
                    let back = document.back.get(&spelling);
                    if back == Some(document.canonical()) {
                        self.fail(document, &conversion, "`back` equals the document of 1.0");
                    }
                    let expected = back.unwrap_or(document.canonical());
                    self.judge(document, &conversion, &[spelling], expected, &read);
                }
            }
            let conversion = format!("canonical → {spelling}");
            match object.write(spelling, canonical.clone()) {
                None => self.fail(document, &conversion, "cannot be expressed"),
                Some(written) => {
                    self.judge(
                        document,
                        &conversion,
                        &[spelling, Spelling::V1_0],
                        text,
                        &written,
                    );
                }
            }
        }
        for &spelling in document.cannot.keys() {
            if object.write(spelling, canonical.clone()).is_some() {
                let conversion = format!("canonical → {spelling}");
                self.fail(document, &conversion, "can be expressed after all");
            }
        }
    }

    /// Converts from every spelling to every other, and back.
    pub(crate) fn round_trips(&mut self, document: &Document) {
        for (&from, text) in &document.spellings {
            for &to in document.spellings.keys() {
                self.round_trips += 1;
                let conversion = format!("{from} → {to} → {from}");
                match round_trip(document, from, to) {
                    Err(problem) => self.fail(document, &conversion, &problem),
                    Ok(back) => {
                        self.judge(document, &conversion, &[to, Spelling::V1_0], text, &back)
                    }
                }
            }
        }
    }

    /// Returns every entry of the list that nothing used.
    pub(crate) fn unused(&self) -> Vec<String> {
        let mut unused = Vec::new();
        for (row_index, row) in self.losses.rows.iter().enumerate() {
            for (loss_index, loss) in row.losses.iter().enumerate() {
                let is_used = |of: &dyn Fn(&UsedEntry) -> bool| {
                    let here =
                        |entry: &&UsedEntry| (entry.row, entry.loss) == (row_index, loss_index);
                    self.used.iter().filter(here).any(of)
                };
                for &spelling in &loss.spellings {
                    for (change, pattern) in loss.patterns() {
                        let is = (change, pattern.text.clone());
                        if !is_used(&|entry| entry.spelling == spelling && entry.pattern == is) {
                            let text = &pattern.text;
                            unused.push(format!("{}: {text} {change:?} in {spelling}", row.row));
                        }
                    }
                }
                for name in &loss.only {
                    if !is_used(&|entry| entry.document == *name) {
                        unused.push(format!("{}: not in {name}", row.row));
                    }
                }
            }
        }
        unused
    }

    fn judge(
        &mut self,
        document: &Document,
        conversion: &str,
        through: &[Spelling],
        before: &Value,
        after: &Value,
    ) {
        for difference in differences(before, after) {
            let permits = self.permits(document, through, &difference);
            if permits.is_empty() {
                self.fail(document, conversion, &difference.to_string());
            }
            self.used.extend(permits);
        }
    }

    fn permits(
        &self,
        document: &Document,
        through: &[Spelling],
        difference: &Difference,
    ) -> Vec<UsedEntry> {
        let mut permits = Vec::new();
        for (row_index, row) in self.losses.rows.iter().enumerate() {
            for (loss_index, loss) in row.losses.iter().enumerate() {
                if !loss.only.is_empty() && !loss.only.contains(&document.name) {
                    continue;
                }
                let here = loss.patterns().filter(|(change, pattern)| {
                    *change == difference.change && pattern.matches(difference)
                });
                for (change, pattern) in here {
                    let spellings = loss.spellings.iter().filter(|one| through.contains(one));
                    permits.extend(spellings.map(|&spelling| UsedEntry {
                        row: row_index,
                        loss: loss_index,
                        spelling,
                        pattern: (change, pattern.text.clone()),
                        document: document.name.clone(),
                    }));
                }
            }
        }
        permits
    }

    fn fail(&mut self, document: &Document, conversion: &str, problem: &str) {
        self.failures
            .push(format!("{document} {conversion} {problem}"));
    }
}

fn round_trip(document: &Document, from: Spelling, to: Spelling) -> Result<Value, String> {
    let object = document.object;
    let write = |spelling, value| {
        let written = object.write(spelling, value);
        written.ok_or_else(|| format!("{spelling} cannot express it"))
    };
    let there = write(to, object.read(from, &document.spellings[&from])?)?;
    let read = object.read(to, &there);
    let read = read.map_err(|problem| format!("{problem} in {there}"))?;
    write(from, read)
}
