//! Result of running the suite against subjects whose findings are known beforehand.

use std::collections::BTreeSet;

use serde::Serialize;

use a2a_conformance::record::{CheckResult, Verdict};
use a2a_conformance::requirement::Role;

/// Extent of the runs that prove something.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Extent {
    /// In one version and binding. The whole suite is run against the controls and against one
    /// mutant in three; the checks near its bug are run against each other mutant.
    Brief,
    /// In addition, the checks named for a bug on every interface on which it shows, and the controls on every interface
    /// on which they are correct.
    Whole,
}

impl Extent {
    /// Returns whether everything is run against the mutant of this number, in its one place.
    pub(crate) fn is_wide(self, number: usize) -> bool {
        match self {
            Self::Brief => number.is_multiple_of(3),
            Self::Whole => true,
        }
    }
}

/// Result of running the suite against one mutant or control.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Proof {
    /// The mutant or control.
    pub name: String,
    /// Party that the subject plays.
    pub role: Role,
    /// Description of what it does.
    pub says: String,
    /// The checks that must fail; none for a control.
    pub wanted: Vec<String>,
    /// Wanted checks that failed, with their interfaces.
    pub caught: Vec<FailedCheck>,
    /// Wanted checks that passed, with their interfaces.
    pub survived: Vec<FailedCheck>,
    /// Checks that failed unexpectedly.
    pub collateral: Vec<FailedCheck>,
    /// Checks that failed, as they may.
    pub allowed: Vec<FailedCheck>,
    /// Number of checks that were met.
    pub green: usize,
    /// Duration in seconds.
    pub seconds: f64,
}

/// A check that failed, or that should have failed.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedCheck {
    /// Its id.
    pub check: String,
    /// Version and binding.
    pub place: String,
    /// The first thing that was not as it should be.
    pub why: String,
}

impl FailedCheck {
    /// Returns the entry of a result.
    pub(crate) fn of(result: &CheckResult) -> Self {
        let mismatch = result.mismatches.first();
        let why = mismatch.map(|mismatch| {
            format!(
                "{}: expected {}, found {}",
                mismatch.place, mismatch.expected, mismatch.found
            )
        });
        Self {
            check: result.id.clone(),
            place: result.column().to_string(),
            why: why.or_else(|| result.reason.clone()).unwrap_or_default(),
        }
    }

    /// Returns the entry of a result that should have failed.
    pub(crate) fn missing(result: &CheckResult) -> Self {
        Self {
            why: "it is met".to_owned(),
            ..Self::of(result)
        }
    }
}

impl Proof {
    /// Nothing yet.
    pub(crate) fn new(role: Role, name: &str, says: &str, wanted: &[String]) -> Self {
        Self {
            name: name.to_owned(),
            role,
            says: says.to_owned(),
            wanted: wanted.to_vec(),
            caught: Vec::new(),
            survived: Vec::new(),
            collateral: Vec::new(),
            allowed: Vec::new(),
            green: 0,
            seconds: 0.0,
        }
    }

    /// Records the results of checks that should pass or may fail; returns the failed results of all other checks.
    pub(crate) fn note_others<'r>(
        &mut self,
        results: &'r [CheckResult],
        allows: &[String],
    ) -> Vec<&'r CheckResult> {
        self.green += results
            .iter()
            .filter(|result| result.verdict.is_met())
            .count();
        let (allowed, rest): (Vec<_>, Vec<_>) = results
            .iter()
            .filter(|result| is_failed(result) && !self.wanted.contains(&result.id))
            .partition(|result| allows.contains(&result.id));
        self.allowed
            .extend(allowed.into_iter().map(FailedCheck::of));
        rest
    }

    /// Records the results of a check that must fail on every interface.
    pub(crate) fn note_wanted<'r>(
        &mut self,
        check: &str,
        results: impl IntoIterator<Item = &'r CheckResult>,
    ) {
        let mut is_made = false;
        for result in results {
            if result.id != check || result.verdict == Verdict::NotApplicable {
                continue;
            }
            is_made = true;
            match is_failed(result) {
                true => self.caught.push(FailedCheck::of(result)),
                false => self.survived.push(FailedCheck::missing(result)),
            }
        }
        if !is_made {
            self.survived.push(FailedCheck {
                check: check.to_owned(),
                place: "nowhere".to_owned(),
                why: "the check is not made there".to_owned(),
            });
        }
    }

    /// Returns whether it is a mutant, and not a control.
    pub fn is_of_mutant(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Returns whether exactly what had to be found was found.
    pub fn holds(&self) -> bool {
        let caught: BTreeSet<_> = self.caught.iter().map(|red| &red.check).collect();
        self.wanted.iter().all(|check| caught.contains(check))
            && self.survived.is_empty()
            && self.collateral.is_empty()
            && self.green > 0
    }
}

/// Returns whether a check applies and is not met.
pub(crate) fn is_failed(result: &CheckResult) -> bool {
    !result.verdict.is_met() && result.verdict != Verdict::NotApplicable
}

/// Counts of mutants that were caught, and of controls that passed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// Mutants caught by the checks named for them, and by no others.
    pub caught: usize,
    /// Mutants in all.
    pub mutants: usize,
    /// Controls that passed.
    pub green: usize,
    /// Controls in all.
    pub controls: usize,
}

impl Tally {
    /// Returns whether all mutants were caught and all controls passed.
    pub fn is_complete(&self) -> bool {
        self.caught == self.mutants && self.green == self.controls
    }
}

impl<'p> FromIterator<&'p Proof> for Tally {
    fn from_iter<T: IntoIterator<Item = &'p Proof>>(proofs: T) -> Self {
        let mut tally = Self::default();
        for proof in proofs {
            let (matching, all) = match proof.is_of_mutant() {
                true => (&mut tally.caught, &mut tally.mutants),
                false => (&mut tally.green, &mut tally.controls),
            };
            *matching += usize::from(proof.holds());
            *all += 1;
        }
        tally
    }
}
