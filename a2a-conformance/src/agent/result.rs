//! Results of checks.

use super::interface::Interface;
use super::invariants::Invariant;
use crate::requirement::{Level, requirements};
use crate::run::{CheckResult, Verdict};

/// Returns the result of an invariant on an interface.
pub(super) fn invariant_result(invariant: &Invariant, interface: &Interface) -> CheckResult {
    let observation = interface.observations.of(invariant.id);
    let level = invariant.level_in(interface.dialect, interface.binding);
    let mut result = initial_result(invariant.id, invariant.title, level, interface);
    result.verdict = match (observation.times, observation.mismatches.is_empty()) {
        (0, _) => Verdict::NotApplicable,
        (_, true) => Verdict::Pass,
        (_, false) => unmet_verdict(level),
    };
    if observation.times == 0 {
        result.reason = Some("no exchange of the run concerns it".to_owned());
    }
    result.mismatches = observation.mismatches;
    result.evidence = observation.evidence;
    result
}

/// Adds the result of an invariant: to that of the case of the same id, if there is one.
pub(super) fn merge_invariant(results: &mut Vec<CheckResult>, invariant: CheckResult) {
    let same = |result: &&mut CheckResult| {
        (&result.id, &result.dialect, &result.binding)
            == (&invariant.id, &invariant.dialect, &invariant.binding)
    };
    let Some(result) = results.iter_mut().find(same) else {
        return results.push(invariant);
    };
    if invariant.mismatches.is_empty() {
        return;
    }
    let offset = result.evidence.len();
    if result.verdict.is_met() || result.verdict == Verdict::NotApplicable {
        (result.verdict, result.reason) = (invariant.verdict, None);
    }
    result.evidence.extend(invariant.evidence);
    let mismatches = invariant.mismatches.into_iter().map(|mut mismatch| {
        mismatch.evidence = mismatch.evidence.map(|index| offset + index);
        mismatch
    });
    result.mismatches.extend(mismatches);
}

/// Combines the results of making a check several times.
pub(super) fn combine_repetitions(mut results: Vec<CheckResult>) -> CheckResult {
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

pub(super) fn unmet_verdict(level: Level) -> Verdict {
    match level {
        Level::Must => Verdict::Fail,
        Level::Should => Verdict::Warn,
        Level::May => Verdict::Note,
    }
}

pub(super) fn initial_result(
    id: &str,
    title: &str,
    level: Level,
    interface: &Interface,
) -> CheckResult {
    let covered = requirements(interface.dialect)
        .iter()
        .filter(|requirement| requirement.checks.iter().any(|check| check == id));
    CheckResult {
        id: id.to_owned(),
        title: title.to_owned(),
        level,
        dialect: Some(interface.dialect.version().to_owned()),
        binding: Some(interface.binding.to_string()),
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
