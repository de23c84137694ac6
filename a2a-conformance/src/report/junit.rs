//! `junit.xml`: a run in the JUnit format of build servers.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use super::Error;
use super::curl::curl;
use crate::record::visible::{head, line, visible};
use crate::record::{CheckResult, Run, Verdict};

/// Returns a test suite for each protocol version and binding, with a case for each check.
pub fn junit(run: &Run) -> Result<String, Error> {
    let mut report = Report::new(format!("A2A conformance of {}", line(&run.target.title())));
    report.set_time(seconds(run.seconds));
    for column in run.columns() {
        let mut suite = TestSuite::new(line(&column.to_string()));
        suite.set_time(
            run.within(&column)
                .map(|result| seconds(result.seconds))
                .sum(),
        );
        suite.add_test_cases(run.within(&column).map(|result| case(run, result)));
        report.add_test_suite(suite);
    }
    let problems = run.waivers.iter().filter_map(|waiver| waiver.problem());
    let problems: Vec<_> = problems.map(|problem| out_of_date(&problem)).collect();
    if !problems.is_empty() {
        let mut suite = TestSuite::new("waivers");
        suite.add_test_cases(problems);
        report.add_test_suite(suite);
    }
    report.to_string().map_err(|error| Error::Form {
        form: "junit",
        problem: error.to_string(),
    })
}

fn case(run: &Run, result: &CheckResult) -> TestCase {
    let mut case = TestCase::new(line(&result.id), status(run, result));
    let column = result.column().to_string();
    case.set_classname(format!(
        "{}.{}",
        line(&column).replace('.', "_"),
        line(result.area())
    ));
    case.set_time(seconds(result.seconds));
    case.add_property(Property::new("title", line(&result.title)));
    case.add_property(Property::new("verdict", result.verdict.name()));
    for requirement in &result.requirements {
        case.add_property(Property::new("requirement", line(requirement)));
    }
    if run.is_tolerated(result) || result.verdict == Verdict::Note {
        case.set_system_out(details(run, result));
    }
    case
}

/// Returns the status of a case. Only what fails the run is a failure: ignored advice is output.
fn status(run: &Run, result: &CheckResult) -> TestCaseStatus {
    let mut status = match result.verdict {
        _ if result.verdict.is_met() || run.is_tolerated(result) => {
            return TestCaseStatus::success();
        }
        Verdict::NotApplicable | Verdict::Waived => TestCaseStatus::skipped(),
        _ if result.same_cause_as.is_some() => TestCaseStatus::skipped(),
        Verdict::HarnessError => TestCaseStatus::non_success(NonSuccessKind::Error),
        _ => TestCaseStatus::non_success(NonSuccessKind::Failure),
    };
    status.set_type(result.verdict.name());
    let reason = result.reason.as_deref().map(line);
    let first = result.mismatches.first().map(|mismatch| {
        let [place, expected, found] = [&mismatch.place, &mismatch.expected, &mismatch.found]
            .map(|text| line(head(text, 200).0));
        format!("{place}: expected {expected}, found {found}")
    });
    let message = first.or(reason.map(|reason| reason.into_owned()));
    status.set_message(message.unwrap_or_else(|| result.words()));
    if !matches!(result.verdict, Verdict::NotApplicable | Verdict::Waived) {
        status.set_description(details(run, result));
    }
    status
}

/// Returns all details of a check as text.
fn details(run: &Run, result: &CheckResult) -> String {
    let mut text = format!("{}\n{}\n", line(&result.title), result.words());
    for id in &result.requirements {
        match run.requirement(id) {
            Some(rule) => {
                text += &format!(
                    "\n{} (section {}): {}",
                    line(id),
                    line(&rule.section),
                    line(&rule.says)
                );
                if !rule.source.is_empty() {
                    text += &format!("\n{}", line(&rule.source));
                }
            }
            None => text += &format!("\n{}", line(id)),
        }
    }
    if !result.explanation.is_empty() {
        text += &format!("\n\n{}", visible(&result.explanation));
    }
    if let Some(reason) = &result.reason {
        text += &format!("\n\n{}", visible(reason));
    }
    for mismatch in &result.mismatches {
        let [place, expected, found] =
            [&mismatch.place, &mismatch.expected, &mismatch.found].map(|text| visible(text));
        text += &format!("\n\nat        {place}\nexpected  {expected}\nfound     {found}");
    }
    for evidence in &result.evidence {
        let response = evidence
            .response
            .as_ref()
            .map(|response| line(&response.start));
        let status = response
            .or(evidence.failure.as_deref().map(line))
            .unwrap_or_default();
        text += &format!(
            "\n\nstep {}: {} → {status}",
            evidence.step,
            line(&evidence.request.start)
        );
        if let Some(line) = curl(evidence) {
            text += &format!(
                "
{line}"
            );
        }
    }
    text
}

fn out_of_date(problem: &str) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type("waiver");
    status.set_message(line(problem));
    TestCase::new(line(problem), status)
}

/// Converts seconds; an invalid time is zero.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
