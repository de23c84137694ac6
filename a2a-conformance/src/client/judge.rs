//! Verdicts on the observations of a client.

use a2a_transport::Binding;
use serde_json::Value;

use super::case::Case;
use super::driver_request::{DriverOutcome, EXIT_UNIMPLEMENTED};
use super::fixture::Fixture;
use super::observation::{evidence, observation};
use crate::case::pattern::mismatches;
use crate::interface_kind::InterfaceKind;
use crate::record::SILENCE;
use crate::record::{CheckResult, Mismatch, Verdict};
use crate::requirement::{Level, requirements};

/// Returns the result of one case in one version and binding.
pub(super) fn judge(fixture: &Fixture, outcome: &DriverOutcome, seconds: f64) -> CheckResult {
    let case = &fixture.case;
    let mut result = blank(case, fixture.interface);
    result.seconds = seconds;
    let harness = fixture
        .received()
        .into_iter()
        .find_map(|received| received.harness);
    if let Some(problem) = outcome.harness.clone().or(harness) {
        result.verdict = Verdict::HarnessError;
        result.reason = Some(problem);
        return result;
    }
    if let Some(why) = &outcome.missing_feature {
        // Clients need not speak gRPC.
        let is_grpc = fixture.interface.binding == Binding::Grpc;
        result.verdict = match (case.feature, result.level) {
            (None, Level::Must) if !is_grpc => Verdict::Untestable,
            _ => Verdict::NotApplicable,
        };
        result.reason = Some(format!("the client cannot do this: {why}"));
        return result;
    }
    let (found, compared) = match compare(fixture, outcome) {
        Ok(compared) => compared,
        Err(problem) => {
            result.verdict = Verdict::HarnessError;
            result.reason = Some(problem);
            return result;
        }
    };
    result.mismatches = found;
    if compared == 0 && result.mismatches.is_empty() {
        result.verdict = Verdict::NotApplicable;
        result.reason = Some("only a client that reports its results can show this".to_owned());
        return result;
    }
    if !result.mismatches.is_empty() {
        result.verdict = match result.level {
            Level::Must => Verdict::Fail,
            Level::Should => Verdict::Warn,
            Level::May => Verdict::Note,
        };
        result.evidence = evidence(fixture);
        result.reason = outcome.reports.as_deref().map(quoted_reports);
    }
    result
}

/// Returns whether the client did nothing that it was asked: it neither called the agent nor reported a
/// result.
pub(super) fn is_silent(fixture: &Fixture, outcome: &DriverOutcome) -> bool {
    let has_report = |report: &Value| {
        let members = ["result", "error", "done"];
        let has_outcome = members.iter().any(|member| report.get(*member).is_some());
        has_outcome
            || report["events"]
                .as_array()
                .is_some_and(|events| !events.is_empty())
    };
    let reports = outcome.reports.iter().flatten();
    outcome.harness.is_none()
        && outcome.exit != Some(EXIT_UNIMPLEMENTED)
        && outcome.webhook.is_empty()
        && fixture.received().is_empty()
        && !reports.into_iter().any(has_report)
}

/// Sets the result of a check of a client that is silent in every check.
pub(super) fn set_silent(result: &mut CheckResult) {
    result.verdict = match result.level {
        Level::Must => Verdict::Fail,
        Level::Should => Verdict::Warn,
        Level::May => Verdict::Note,
    };
    let expected = "to ask the agent something, or to say what it got";
    result.mismatches = vec![Mismatch::new("the client", expected, SILENCE)];
    result.evidence.clear();
    result.reason = Some(
        "check that the command starts the client, and that it is done in time (--timeout-scale)"
            .to_owned(),
    );
}

/// Quotes the reports of the client: where a result was expected, its error explains why there was none.
fn quoted_reports(reports: &[Value]) -> String {
    let text = Value::from(reports).to_string();
    let clipped: String = text.chars().take(MAX_QUOTED_CHARS).collect();
    let dots = if clipped.len() < text.len() {
        "…"
    } else {
        ""
    };
    format!("the client reported {clipped}{dots}")
}

/// Characters of the client's reports that are quoted.
const MAX_QUOTED_CHARS: usize = 600;

/// Returns the mismatches with the patterns of the case, and the number of patterns compared.
fn compare(fixture: &Fixture, outcome: &DriverOutcome) -> Result<(Vec<Mismatch>, usize), String> {
    let observed = observation(fixture, outcome);
    let mut found = Vec::new();
    if outcome.late && !fixture.case.endless {
        let expected = format!("to be done in {} ms", fixture.case.within);
        found.push(Mismatch::new("the client", expected, "it was not"));
    }
    if let Some(code) = outcome.exit.filter(|code| *code != 0) {
        let expected = "exit code 0: how the agent behaves is not a failure of the program";
        let found_code = format!("exit code {code}");
        found.push(Mismatch::new("the client", expected, found_code));
    }
    let mut compared = 0;
    for (name, pattern) in &fixture.case.expect {
        if name == "reported" && outcome.reports.is_none() {
            continue;
        }
        compared += 1;
        let pattern = fixture.names.fill(pattern)?;
        found.extend(mismatches(&pattern, observed.get(name), name));
    }
    Ok((found, compared))
}

/// Returns an empty result of a case.
pub(super) fn blank(case: &Case, interface: InterfaceKind) -> CheckResult {
    let covers = requirements(interface.protocol_version).iter();
    let covers = covers.filter(|requirement| requirement.checks.contains(&case.id));
    CheckResult {
        id: case.id.clone(),
        title: case.title.clone(),
        level: case.level_in(interface),
        protocol_version: Some(interface.protocol_version.version().to_owned()),
        binding: Some(interface.binding.to_string()),
        requirements: covers.map(|requirement| requirement.id.clone()).collect(),
        verdict: Verdict::Pass,
        reason: None,
        mismatches: Vec::new(),
        evidence: Vec::new(),
        seconds: 0.0,
        explanation: String::new(),
        unmet: None,
        same_cause_as: None,
        without_waiver: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::pattern::unknown_operators;
    use crate::client::cases;

    /// Returns the members of a pattern that are never seen, and operators that no pattern has.
    fn unknown_members(case: &Case) -> Vec<String> {
        const KNOWN: &[&str] = &[
            "requests",
            "operations",
            "cards",
            "elsewhere",
            "reported",
            "webhook",
            "exit",
            "repeated",
            "messages",
            "hasty",
        ];
        let unknown = case
            .expect
            .keys()
            .filter(|name| !KNOWN.contains(&name.as_str()));
        let operators = unknown_operators(&Value::Object(case.expect.clone()));
        unknown.cloned().chain(operators).collect()
    }

    #[test]
    fn instructions_about_push_configs_name_their_task() {
        let asks = cases().unwrap().iter().flat_map(|case| &case.ask);
        let asks = asks.filter(|ask| {
            use crate::client::instruction::InstructionKind;
            matches!(
                ask.op,
                InstructionKind::CreatePushConfig
                    | InstructionKind::GetPushConfig
                    | InstructionKind::ListPushConfigs
                    | InstructionKind::DeletePushConfig
            )
        });
        let mut count = 0;
        for ask in asks {
            count += 1;
            assert!(ask.task.is_some(), "no `task`: {ask:?}");
            let repeated = ask.config.as_ref().map(|config| &config["taskId"]);
            if let Some(repeated) = repeated {
                assert_eq!(Some(repeated.as_str().unwrap()), ask.task.as_deref());
            }
        }
        assert!(count >= 4, "only {count} instructions");
    }

    #[test]
    fn cases_are_well_formed() {
        let cases = cases().unwrap();
        let mut ids: Vec<_> = cases.iter().map(|case| case.id.as_str()).collect();
        for case in cases {
            assert_eq!(unknown_members(case), [""; 0], "{}", case.id);
            assert!(
                !case.expect.is_empty() && !case.ask.is_empty(),
                "{}",
                case.id
            );
            assert!(
                case.interface_kinds().next().is_some(),
                "{} applies nowhere",
                case.id
            );
            let area = case.id.split('.').next();
            assert!(matches!(area, Some("client" | "webhook")), "{}", case.id);
        }
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "an id is used twice");
    }
}
