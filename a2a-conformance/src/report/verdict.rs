//! Table of verdicts: name, words, sign and severity.

use crate::record::{CheckResult, Run, Verdict};

impl Verdict {
    /// Every verdict, the worst first.
    pub const ALL: &[Self] = &[
        Self::Fail,
        Self::Untestable,
        Self::SetupFailed,
        Self::HarnessError,
        Self::Flaky,
        Self::Waived,
        Self::Warn,
        Self::Note,
        Self::PassLenient,
        Self::Pass,
        Self::NotApplicable,
    ];

    /// Returns its name in files.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// Returns its name for people.
    pub fn words(self) -> &'static str {
        self.row().1
    }

    /// Returns one character for it.
    pub fn sign(self) -> &'static str {
        self.row().2
    }

    /// Returns its severity: 0 is as required, and two verdicts of the same number are equally bad.
    pub fn severity(self) -> u8 {
        self.row().3
    }

    /// Returns its name, words, sign and severity.
    #[rustfmt::skip]
    fn row(self) -> (&'static str, &'static str, &'static str, u8) {
        match self {
            Self::Pass          => ("pass",           "met",            "✓", 0),
            Self::PassLenient   => ("pass-lenient",   "met leniently",  "✓", 0),
            Self::Note          => ("note",           "noted",          "·", 0),
            Self::NotApplicable => ("not-applicable", "not applicable", "–", 0),
            Self::Warn          => ("warn",           "not as advised", "!", 1),
            Self::Flaky         => ("flaky",          "flaky",          "~", 2),
            Self::Waived        => ("waived",         "waived",         "○", 3),
            Self::Fail          => ("fail",           "not met",        "✗", 3),
            Self::Untestable    => ("untestable",     "untestable",     "?", 3),
            Self::SetupFailed   => ("setup-failed",   "setup failed",   "✗", 3),
            Self::HarnessError  => ("harness-error",  "suite at fault", "⚠", 3),
        }
    }
}

impl CheckResult {
    /// Returns its verdict in words, with the number of failed repetitions.
    pub fn words(&self) -> String {
        match self.unmet {
            Some((unmet, times)) => {
                format!("{}: {unmet} of {times} times not met", self.verdict.words())
            }
            None => self.verdict.words().to_owned(),
        }
    }
}

/// Returns the conclusion of a run, in a line.
pub(crate) fn conclusion(run: &Run) -> String {
    let (unmet, broken) = (of_target(run).count(), broken(run).count());
    let made = run.checks.len();
    let is_waived = |result: &CheckResult| result.verdict == Verdict::Waived;
    let waived = run.checks.iter().any(is_waived);
    let mut text = match run.not_made {
        0 => String::new(),
        left => format!("Interrupted: {made} of {} checks were made. ", made + left),
    };
    text += &match (run.exit_code(), unmet) {
        (2, _) if made == 0 => "Nothing was checked.".to_owned(),
        (2, _) => "Nothing was checked: nothing of what was chosen applies.".to_owned(),
        (0, _) if waived => "Everything that is required is met or waived.".to_owned(),
        (0, _) => "Everything that is required is met.".to_owned(),
        (5, _) => "Everything is met or waived, but a waiver is out of date.".to_owned(),
        (_, 0) => String::new(),
        (_, unmet) => format!("{} not met.", are(unmet)),
    };
    match run.tolerated().count() {
        0 => {}
        tolerated => text += &format!(" Of what is only advised, {} not met.", are(tolerated)),
    }
    if broken > 0 {
        let plural = if broken == 1 { "check" } else { "checks" };
        text += &format!(" In {broken} {plural} the suite itself did not work.");
    }
    text.trim().to_owned()
}

fn are(checks: usize) -> String {
    match checks {
        1 => "1 check is".to_owned(),
        _ => format!("{checks} checks are"),
    }
}

/// Returns the checks for which the target fails the run.
pub(crate) fn of_target(run: &Run) -> impl Iterator<Item = &CheckResult> {
    run.unmet()
        .filter(|result| result.verdict != Verdict::HarnessError)
}

/// Returns the checks that failed by a fault of the suite.
pub(crate) fn broken(run: &Run) -> impl Iterator<Item = &CheckResult> {
    let checks = run.checks.iter();
    checks.filter(|result| result.verdict == Verdict::HarnessError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_files_say() {
        for verdict in Verdict::ALL {
            assert_eq!(serde_json::json!(verdict), verdict.name());
        }
    }
}
