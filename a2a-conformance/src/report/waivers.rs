//! Waivers: known failures, each with a reason and an expiry.

use std::fs;
use std::path::Path;

use a2a_types::ProtocolVersion;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::Error;
use crate::check::checks;
use crate::name_pattern::NamePattern;
use crate::record::{CheckResult, Run, Verdict, VerdictReason, Waiver, WaiverState, WaiverUse};

const BINDINGS: [&str; 3] = ["JSONRPC", "HTTP+JSON", "GRPC"];

/// The known failures of a target: a YAML file with a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waivers {
    list: Vec<Waiver>,
}

impl Waivers {
    /// Reads a file of waivers.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(|source| Error::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text).map_err(|problem| Error::Content {
            path: path.to_owned(),
            problem,
        })
    }

    /// Parses the text of a file. Errors: a description of the problem.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut list: Vec<Waiver> = serde_saphyr::from_str(text).map_err(|error| {
            let problem = error.to_string();
            let problem = problem.strip_prefix("error: ").unwrap_or(&problem);
            format!("expected a list of waivers: {problem}")
        })?;
        for (index, waiver) in list.iter_mut().enumerate() {
            let problem = |problem: String| format!("waiver {}: {problem}", index + 1);
            NamePattern::new(&waiver.check).map_err(problem)?;
            if let Some(binding) = &mut waiver.binding {
                let known = BINDINGS
                    .iter()
                    .find(|known| known.eq_ignore_ascii_case(&*binding));
                let known = known.or((binding == "http-json").then_some(&"HTTP+JSON"));
                let wrong = format!("binding: {binding:?}: expected {}", BINDINGS.join(", "));
                *binding = (*known.ok_or(problem(wrong))?).to_owned();
            }
            if let Some(version) = &mut waiver.protocol_version {
                let known = ProtocolVersion::from_version(version);
                let wrong = format!("protocolVersion: {version:?}: expected 0.1, 0.2, 0.3 or 1.0");
                *version = known.ok_or(problem(wrong))?.version().to_owned();
            }
            if waiver.reason.trim().is_empty() {
                return Err(problem("it gives no reason".to_owned()));
            }
            if last_day(waiver).is_none() {
                let expires = &waiver.expires;
                return Err(problem(format!(
                    "expires: {expires:?} is not a day like 2026-12-31"
                )));
            }
        }
        Ok(Self { list })
    }

    /// Waives failed checks as of today, and adds the use of each waiver to the run.
    pub fn apply(&self, run: &mut Run) {
        self.apply_on(run, Timestamp::now().to_zoned(TimeZone::UTC).date());
    }

    fn apply_on(&self, run: &mut Run, today: Date) {
        // Those of a report that was read are replaced.
        run.waivers.clear();
        for result in &mut run.checks {
            if let Some(before) = result.without_waiver.take() {
                (result.verdict, result.reason) = (before.verdict, before.reason);
            }
        }
        for waiver in &self.list {
            let is_made = run.checks.iter().any(|result| is_about(waiver, result));
            let expired = last_day(waiver).is_none_or(|day| day < today);
            let about = about(waiver, &mut run.checks);
            let mut waived = 0;
            for result in about.filter(|_| !expired) {
                let was = result.words();
                let before = result.reason.take();
                let because = before.iter().map(|reason| format!(" ({reason})"));
                let because: String = because.collect();
                let Waiver {
                    reason, expires, ..
                } = waiver;
                result.reason = Some(format!("{was}{because}, waived until {expires}: {reason}"));
                result.without_waiver = Some(VerdictReason {
                    verdict: result.verdict,
                    reason: before,
                });
                result.verdict = Verdict::Waived;
                waived += 1;
            }
            let state = match (expired, waived) {
                (true, _) => WaiverState::Expired,
                (false, 0) if !is_made && is_known(waiver) => WaiverState::NotMade,
                (false, 0) => WaiverState::Stale,
                (false, _) => WaiverState::Used,
            };
            run.waivers.push(WaiverUse {
                waiver: waiver.clone(),
                state,
                waived,
            });
        }
    }
}

/// Returns the failed checks that a waiver covers.
fn about<'a>(
    waiver: &'a Waiver,
    checks: &'a mut [CheckResult],
) -> impl Iterator<Item = &'a mut CheckResult> {
    checks
        .iter_mut()
        .filter(move |result| can_be_waived(result.verdict) && is_about(waiver, result))
}

/// Returns whether a waiver is about a check, in its version and binding.
fn is_about(waiver: &Waiver, result: &CheckResult) -> bool {
    let same =
        |wanted: &Option<String>, found: &Option<String>| wanted.is_none() || wanted == found;
    names(waiver, &result.id)
        && same(&waiver.protocol_version, &result.protocol_version)
        && same(&waiver.binding, &result.binding)
}

/// Returns whether the suite has a check that a waiver names.
fn is_known(waiver: &Waiver) -> bool {
    checks().iter().any(|check| names(waiver, &check.id))
}

fn names(waiver: &Waiver, id: &str) -> bool {
    NamePattern::new(&waiver.check).is_ok_and(|names| names.has(id))
}

/// Returns whether a verdict can be waived. Faults of the suite cannot: they are not the target's.
fn can_be_waived(verdict: Verdict) -> bool {
    matches!(
        verdict,
        Verdict::Fail | Verdict::Warn | Verdict::Untestable | Verdict::SetupFailed | Verdict::Flaky
    )
}

fn last_day(waiver: &Waiver) -> Option<Date> {
    Date::strptime("%Y-%m-%d", &waiver.expires).ok()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::requirement::Level;

    fn run() -> Run {
        let result = |id: &str, protocol_version: &str, verdict| CheckResult {
            id: id.to_owned(),
            title: String::new(),
            level: Level::Must,
            protocol_version: Some(protocol_version.to_owned()),
            binding: Some("JSONRPC".to_owned()),
            requirements: Vec::new(),
            explanation: String::new(),
            verdict,
            reason: None,
            mismatches: Vec::new(),
            evidence: Vec::new(),
            seconds: 0.0,
            unmet: None,
            same_cause_as: None,
            without_waiver: None,
        };
        Run {
            checks: vec![
                result("push.a", "1.0", Verdict::Fail),
                result("push.b", "1.0", Verdict::Pass),
                result("push.a", "0.3", Verdict::Fail),
                result("send.a", "1.0", Verdict::HarnessError),
            ],
            ..Run::default()
        }
    }

    #[track_caller]
    fn check(waivers: &str, verdicts: &[&str], states: &[WaiverState], code: u8) {
        let mut run = run();
        Waivers::parse(waivers)
            .unwrap()
            .apply_on(&mut run, date(2026, 6, 1));
        let found: Vec<_> = run
            .checks
            .iter()
            .map(|check| check.verdict.name())
            .collect();
        assert_eq!(found, verdicts);
        let found: Vec<_> = run.waivers.iter().map(|waiver| waiver.state).collect();
        assert_eq!(found, states);
        run.checks
            .retain(|check| check.verdict != Verdict::HarnessError);
        assert_eq!(run.exit_code(), code);
    }

    #[test]
    fn failed_checks_are_waived_until_the_expiry() {
        use WaiverState::{Expired, Stale, Used};
        let all = "- {check: 'push.*', reason: r, expires: 2026-06-01}\n";
        let one = "- {check: push.a, protocolVersion: '1.0', binding: JSONRPC, reason: r, expires: 2026-06-01}\n";
        let over = "- {check: 'push.*', reason: r, expires: 2026-05-31}\n";
        let broken = "- {check: 'send.*', reason: r, expires: 2027-05-31}\n";
        let met = "- {check: push.b, reason: r, expires: 2027-05-31}\n";
        check(
            all,
            &["waived", "pass", "waived", "harness-error"],
            &[Used],
            0,
        );
        check(
            one,
            &["waived", "pass", "fail", "harness-error"],
            &[Used],
            1,
        );
        check(
            over,
            &["fail", "pass", "fail", "harness-error"],
            &[Expired],
            1,
        );
        let twice = format!("{all}{over}{met}{broken}");
        let states = [Used, Expired, Stale, Stale];
        check(
            &twice,
            &["waived", "pass", "waived", "harness-error"],
            &states,
            5,
        );
    }

    #[test]
    fn waivers_replace_those_of_a_report() {
        let waivers = "- {check: 'push.*', reason: r, expires: 2026-06-01}
- {check: push.a, reason: r, expires: 2026-06-01}";
        let waivers = Waivers::parse(waivers).unwrap();
        let mut run = run();
        waivers.apply_on(&mut run, date(2026, 6, 1));
        let first = run.to_json();
        waivers.apply_on(&mut run, date(2026, 6, 1));
        assert_eq!(run.to_json(), first);
        waivers.apply_on(&mut run, date(2026, 6, 2));
        assert_eq!(run.checks[0].verdict, Verdict::Fail);
        assert_eq!(run.waivers[0].state, WaiverState::Expired);
        Waivers::default().apply_on(&mut run, date(2026, 6, 1));
        assert_eq!(run.to_json(), self::run().to_json());
    }

    #[test]
    fn waived_check_has_its_verdict_and_the_reason() {
        let mut run = run();
        let waivers = "- {check: push.a, reason: our proxy, expires: 2026-06-01}";
        Waivers::parse(waivers)
            .unwrap()
            .apply_on(&mut run, date(2026, 6, 1));
        let expected = "not met, waived until 2026-06-01: our proxy";
        assert_eq!(run.checks[0].reason.as_deref(), Some(expected));
    }

    #[test]
    fn bindings_are_named_as_on_the_command_line_too() {
        let waivers = "- {check: a, binding: http-json, reason: r, expires: 2026-06-01}
- {check: a, binding: jsonrpc, reason: r, expires: 2026-06-01}";
        let waivers = Waivers::parse(waivers).unwrap();
        let bindings = waivers.list.iter().map(|waiver| waiver.binding.as_deref());
        assert!(bindings.eq([Some("HTTP+JSON"), Some("JSONRPC")]));
    }

    #[test]
    fn waiver_requires_reason_and_expiry() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            let error = Waivers::parse(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        check("- {check: a, expires: 2026-06-01}", "reason");
        check(
            "- {check: a, reason: ' ', expires: 2026-06-01}",
            "waiver 1: it gives no reason",
        );
        check("- {check: a, reason: r}", "expires");
        check(
            "- {check: a, reason: r, expires: soon}",
            r#"waiver 1: expires: "soon" is not a day like"#,
        );
        check(
            "- {check: '[', reason: r, expires: 2026-06-01}",
            "waiver 1: ",
        );
        check(
            "- {check: a, binding: rest, reason: r, expires: 2026-06-01}",
            r#"waiver 1: binding: "rest": expected JSONRPC, HTTP+JSON, GRPC"#,
        );
        check(
            "- {check: a, protocolVersion: '9.0', reason: r, expires: 2026-06-01}",
            r#"waiver 1: protocolVersion: "9.0": expected"#,
        );
        check(
            "- {check: a, reason: r, expires: 2026-06-01, until: 3}",
            "until",
        );
        check("check: a", "expected a list of waivers: line 1");
    }
}
