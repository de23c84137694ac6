//! Results of checks.

use a2a_transport::Binding;
use a2a_types::ProtocolVersion;

use super::Judge;
use super::invariants::Invariant;
use crate::record::{CheckResult, Mismatch, Verdict};
use crate::requirement::{Level, requirement, requirements};

/// Returns the result of an invariant by the observations of a judge.
pub(crate) fn invariant_result(invariant: &Invariant, judge: &Judge) -> CheckResult {
    let observation = judge.observation(invariant.id);
    let level = invariant.level_in(judge.protocol_version, judge.binding);
    let mut result = initial_result(invariant.id, invariant.title, level, judge);
    result.verdict = match (observation.times, observation.found.is_empty()) {
        (0, _) => Verdict::NotApplicable,
        (_, true) => Verdict::Pass,
        (_, false) => unmet_verdict(level),
    };
    if observation.times == 0 {
        result.reason = Some("no exchange of the run concerns it".to_owned());
    }
    for (mismatch, evidence) in observation.found {
        result.mismatches.push(Mismatch {
            evidence: Some(result.evidence.len()),
            ..mismatch
        });
        result.evidence.push(evidence);
    }
    if SHAPES.contains(&invariant.id) {
        let broken = broken_requirements(&result, judge);
        if !broken.is_empty() {
            result.requirements = broken;
        }
    }
    result
}

/// Reduces the requirements of a result to the ones whose sentences its mismatches name, if they name any.
pub(crate) fn narrow_requirements(result: &mut CheckResult) {
    let is_named = |id: &String| {
        let named = requirement(id);
        let mut mismatches = result.mismatches.iter();
        named.is_some_and(|named| mismatches.any(|mismatch| mismatch.expected == named.says))
    };
    let named: Vec<_> = result
        .requirements
        .iter()
        .filter(|id| is_named(id))
        .cloned()
        .collect();
    if !named.is_empty() {
        result.requirements = named;
    }
}

/// Checks of the form of documents, which cover a requirement for each kind of object.
const SHAPES: [&str; 3] = ["task.shape", "stream.event-shapes", "push.body"];

/// Returns the covered requirements that are about the objects in which mismatches were found.
fn broken_requirements(result: &CheckResult, judge: &Judge) -> Vec<String> {
    let covered = requirements(judge.protocol_version)
        .iter()
        .filter(|one| result.requirements.contains(&one.id));
    let covered: Vec<_> = covered.collect();
    let mut broken = Vec::new();
    for mismatch in &result.mismatches {
        let sections = sections_of(&mismatch.place, judge);
        let of_place = sections.iter().find_map(|section| {
            let mut in_section = covered.iter().filter(|one| one.section == *section);
            in_section.find(|one| one.level == result.level)
        });
        if let Some(found) = of_place.filter(|found| !broken.contains(&found.id)) {
            broken.push(found.id.clone());
        }
    }
    broken
}

/// Returns the sections about the object at a place like `event 2: $.result.task.status.state`, the narrowest first.
fn sections_of(place: &str, judge: &Judge) -> Vec<&'static str> {
    let is_1_0 = judge.protocol_version == ProtocolVersion::V1_0;
    let names = place
        .rsplit('.')
        .map(|name| name.split('[').next().unwrap_or_default());
    let objects = names.filter_map(|name| SECTIONS.iter().find(|(known, ..)| *known == name));
    let mut sections: Vec<_> = objects
        .map(|(_, of_1_0, before)| if is_1_0 { *of_1_0 } else { *before })
        .collect();
    // The whole result.
    sections.extend(match (is_1_0, judge.binding) {
        (true, Binding::JsonRpc) => &["9.4"][..],
        (true, Binding::Grpc) => &["10.4"],
        (true, _) => &["11.4"],
        (false, _) => &["11.1.5", "6.1"],
    });
    sections
}

/// Members, and the sections about the objects in them: in 1.0, and in the versions before.
const SECTIONS: &[(&str, &str, &str)] = &[
    ("parts", "4.1.6", "6.5"),
    ("state", "4.1.3", "6.3"),
    ("status", "4.1.2", "6.2"),
    ("role", "4.1.5", "6.4"),
    ("message", "4.1.4", "6.4"),
    ("history", "4.1.4", "6.4"),
    ("artifact", "4.1.7", "6.7"),
    ("artifacts", "4.1.7", "6.7"),
    ("task", "4.1.1", "6.1"),
    ("tasks", "4.1.1", "6.1"),
];

/// Adds the result of an invariant: to that of the case of the same id, if there is one.
pub(crate) fn merge_invariant(results: &mut Vec<CheckResult>, invariant: CheckResult) {
    let same = |result: &&mut CheckResult| {
        (&result.id, &result.protocol_version, &result.binding)
            == (
                &invariant.id,
                &invariant.protocol_version,
                &invariant.binding,
            )
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
pub(crate) fn combine_repetitions(mut results: Vec<CheckResult>) -> CheckResult {
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

pub(crate) fn unmet_verdict(level: Level) -> Verdict {
    match level {
        Level::Must => Verdict::Fail,
        Level::Should => Verdict::Warn,
        Level::May => Verdict::Note,
    }
}

pub(crate) fn initial_result(id: &str, title: &str, level: Level, judge: &Judge) -> CheckResult {
    let covered = requirements(judge.protocol_version)
        .iter()
        .filter(|requirement| requirement.checks.iter().any(|check| check == id));
    CheckResult {
        id: id.to_owned(),
        title: title.to_owned(),
        level,
        protocol_version: Some(judge.protocol_version.version().to_owned()),
        binding: Some(judge.binding.to_string()),
        requirements: covered.map(|requirement| requirement.id.clone()).collect(),
        verdict: Verdict::Pass,
        reason: None,
        mismatches: Vec::new(),
        evidence: Vec::new(),
        explanation: String::new(),
        seconds: 0.0,
        unmet: None,
        same_cause_as: None,
        without_waiver: None,
    }
}
