//! Results of checks.

use super::lane::Lane;
use super::observed::Invariant;
use crate::requirement::{Level, requirements};
use crate::run::{CheckResult, Verdict};

/// Returns the result of an invariant in a lane.
pub(super) fn seen(invariant: &Invariant, lane: &Lane) -> CheckResult {
    let seen = lane.observed.of(invariant.id);
    let level = invariant.level_in(lane.dialect, lane.binding);
    let mut result = empty(invariant.id, invariant.title, level, lane);
    result.verdict = match (seen.times, seen.mismatches.is_empty()) {
        (0, _) => Verdict::NotApplicable,
        (_, true) => Verdict::Pass,
        (_, false) => unmet(level),
    };
    if seen.times == 0 {
        result.reason = Some("nothing was said in which it could hold".to_owned());
    }
    result.mismatches = seen.mismatches;
    result.evidence = seen.evidence;
    result
}

/// Adds the result of an invariant: to that of the case of the same id, if there is one.
pub(super) fn merged(results: &mut Vec<CheckResult>, seen: CheckResult) {
    let same = |result: &&mut CheckResult| {
        (&result.id, &result.dialect, &result.binding) == (&seen.id, &seen.dialect, &seen.binding)
    };
    let Some(result) = results.iter_mut().find(same) else {
        return results.push(seen);
    };
    if seen.mismatches.is_empty() {
        return;
    }
    let shown = result.evidence.len();
    if result.verdict.is_met() || result.verdict == Verdict::NotApplicable {
        (result.verdict, result.reason) = (seen.verdict, None);
    }
    result.evidence.extend(seen.evidence);
    let mismatches = seen.mismatches.into_iter().map(|mut mismatch| {
        mismatch.evidence = mismatch.evidence.map(|index| shown + index);
        mismatch
    });
    result.mismatches.extend(mismatches);
}

/// Combines the results of making a check several times.
pub(super) fn repeated(mut results: Vec<CheckResult>) -> CheckResult {
    let is_unmet = |result: &&CheckResult| {
        !result.verdict.is_met() && result.verdict != Verdict::NotApplicable
    };
    let count = results.len();
    let unmet = results.iter().filter(is_unmet).count();
    // An unmet result is the one worth showing.
    let worst = results.iter().position(|result| is_unmet(&result));
    let mut result = results.swap_remove(worst.unwrap_or(0));
    if count > 1 {
        result.unmet = Some((unmet as u32, count as u32));
        if unmet > 0 && unmet < count {
            result.verdict = Verdict::Flaky;
        }
    }
    result
}

pub(super) fn unmet(level: Level) -> Verdict {
    match level {
        Level::Must => Verdict::Fail,
        Level::Should => Verdict::Warn,
        Level::May => Verdict::Note,
    }
}

pub(super) fn empty(id: &str, title: &str, level: Level, lane: &Lane) -> CheckResult {
    let covered = requirements(lane.dialect)
        .iter()
        .filter(|requirement| requirement.checks.iter().any(|check| check == id));
    CheckResult {
        id: id.to_owned(),
        title: title.to_owned(),
        level,
        dialect: Some(lane.dialect.version().to_owned()),
        binding: Some(lane.binding.to_string()),
        requirements: covered.map(|requirement| requirement.id.clone()).collect(),
        verdict: Verdict::Pass,
        reason: None,
        mismatches: Vec::new(),
        evidence: Vec::new(),
        explanation: String::new(),
        seconds: 0.0,
        unmet: None,
        same_cause_as: None,
    }
}
