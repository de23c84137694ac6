//! Going every way, and judging by the list what does not come back.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::golden::difference::{Change, Difference, differences};
use crate::golden::document::Document;
use crate::golden::loss::Losses;
use crate::golden::spelling::Spelling;

/// Findings on the ways.
pub(crate) struct Survey {
    losses: Losses,
    /// Entries of the list that were needed.
    needed: BTreeSet<Need>,
    /// Number of ways that were gone, there and back.
    pub(crate) ways: usize,
    pub(crate) failures: Vec<String>,
}

/// An entry of the list (row, loss, pattern) in one spelling and one document.
#[derive(Clone, Eq, Ord, PartialEq, PartialOrd)]
struct Need {
    row: usize,
    loss: usize,
    spelling: Spelling,
    pattern: (Change, String),
    document: String,
}

impl Survey {
    pub(crate) fn new() -> Self {
        Self {
            losses: Losses::load(),
            needed: BTreeSet::new(),
            ways: 0,
            failures: Vec::new(),
        }
    }

    /// Every spelling reads as what 1.0 says, and 1.0 is written as every spelling.
    pub(crate) fn read_and_write(&mut self, document: &Document) {
        let object = document.object;
        let canonical = match object.read(Spelling::V1_0, document.canonical()) {
            Ok(canonical) => canonical,
            Err(problem) => return self.fail(document, "1.0", &problem),
        };
        for (&spelling, text) in &document.spellings {
            let way = format!("{spelling} → canonical");
            match object.read(spelling, text) {
                Err(problem) => self.fail(document, &way, &problem),
                Ok(read) => {
                    let read = object.write(Spelling::V1_0, read).unwrap_or_default();
                    let back = document.back.get(&spelling);
                    if back == Some(document.canonical()) {
                        self.fail(document, &way, "`back` says what 1.0 says");
                    }
                    let expected = back.unwrap_or(document.canonical());
                    self.judge(document, &way, &[spelling], expected, &read);
                }
            }
            let way = format!("canonical → {spelling}");
            match object.write(spelling, canonical.clone()) {
                None => self.fail(document, &way, "cannot be said"),
                Some(written) => {
                    self.judge(document, &way, &[spelling, Spelling::V1_0], text, &written);
                }
            }
        }
        for &spelling in document.cannot.keys() {
            if object.write(spelling, canonical.clone()).is_some() {
                let way = format!("canonical → {spelling}");
                self.fail(document, &way, "can be said after all");
            }
        }
    }

    /// Goes from every spelling to every other, and back.
    pub(crate) fn ways_and_back(&mut self, document: &Document) {
        for (&from, text) in &document.spellings {
            for &to in document.spellings.keys() {
                self.ways += 1;
                let way = format!("{from} → {to} → {from}");
                match there_and_back(document, from, to) {
                    Err(problem) => self.fail(document, &way, &problem),
                    Ok(back) => self.judge(document, &way, &[to, Spelling::V1_0], text, &back),
                }
            }
        }
    }

    /// Every entry of the list that nothing needed.
    pub(crate) fn unneeded(&self) -> Vec<String> {
        let mut unneeded = Vec::new();
        for (row_index, row) in self.losses.rows.iter().enumerate() {
            for (loss_index, loss) in row.losses.iter().enumerate() {
                let needs = |of: &dyn Fn(&Need) -> bool| {
                    let here = |need: &&Need| (need.row, need.loss) == (row_index, loss_index);
                    self.needed.iter().filter(here).any(of)
                };
                for &spelling in &loss.spellings {
                    for (change, pattern) in loss.patterns() {
                        let is = (change, pattern.text.clone());
                        if !needs(&|need| need.spelling == spelling && need.pattern == is) {
                            let text = &pattern.text;
                            unneeded.push(format!("{}: {text} {change:?} in {spelling}", row.row));
                        }
                    }
                }
                for name in &loss.only {
                    if !needs(&|need| need.document == *name) {
                        unneeded.push(format!("{}: not in {name}", row.row));
                    }
                }
            }
        }
        unneeded
    }

    fn judge(
        &mut self,
        document: &Document,
        way: &str,
        through: &[Spelling],
        before: &Value,
        after: &Value,
    ) {
        for difference in differences(before, after) {
            let permits = self.permits(document, through, &difference);
            if permits.is_empty() {
                self.fail(document, way, &difference.to_string());
            }
            self.needed.extend(permits);
        }
    }

    fn permits(
        &self,
        document: &Document,
        through: &[Spelling],
        difference: &Difference,
    ) -> Vec<Need> {
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
                    permits.extend(spellings.map(|&spelling| Need {
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

    fn fail(&mut self, document: &Document, way: &str, problem: &str) {
        self.failures.push(format!("{document} {way} {problem}"));
    }
}

fn there_and_back(document: &Document, from: Spelling, to: Spelling) -> Result<Value, String> {
    let object = document.object;
    let say = |spelling, value| {
        let written = object.write(spelling, value);
        written.ok_or_else(|| format!("{spelling} cannot say it"))
    };
    let there = say(to, object.read(from, &document.spellings[&from])?)?;
    let read = object.read(to, &there);
    let read = read.map_err(|problem| format!("{problem} in {there}"))?;
    say(from, read)
}
