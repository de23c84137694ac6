//! Verdicts for which a run fails, and verdicts for which it does not: the same in every report.

use a2a_conformance::record::Verdict::{
    self, Fail, Flaky, HarnessError, NotApplicable, Note, Pass, SetupFailed, Untestable, Waived,
    Warn,
};
use a2a_conformance::record::{CheckResult, Run};
use a2a_conformance::report::{Form, print};
use a2a_conformance::requirement::Level::{self, May, Must, Should};

use super::sample;

const ID: &str = "send.ended-task-refused";

/// A run of two checks: one that is met, and this one.
fn run(level: Level, verdict: Verdict, strict: bool) -> Run {
    let mut run = sample::run();
    run.settings.strict = strict;
    run.checks.retain(|result| {
        let is_first = result.protocol_version.as_deref() == Some("1.0")
            && result.binding.as_deref() == Some("JSONRPC");
        is_first && ["rpc.parse-error", ID].contains(&&*result.id)
    });
    for CheckResult {
        id,
        level: of,
        verdict: is,
        ..
    } in &mut run.checks
    {
        if id == ID {
            (*of, *is) = (level, verdict);
        }
    }
    assert_eq!(run.checks.len(), 2);
    run
}

#[track_caller]
fn check(level: Level, verdict: Verdict, strict: bool, code: u8, color: &str) {
    let run = run(level, verdict, strict);
    let case = format!("{level:?} {verdict:?}, strict: {strict}");
    assert_eq!(run.exit_code(), code, "{case}");
    let (fails, is_fault) = (code == 1, code == 4);
    assert_eq!(run.unmet().count(), usize::from(code != 0), "{case}");

    let junit = Form::Junit.text(&run).unwrap();
    assert_eq!(junit.contains("<failure"), fails, "{case}: {junit}");
    assert_eq!(junit.contains("<error"), is_fault, "{case}: {junit}");

    let badge: serde_json::Value = serde_json::from_str(&Form::Badge.text(&run).unwrap()).unwrap();
    assert_eq!(badge["color"], color, "{case}");

    let page = Form::Html.text(&run).unwrap();
    assert_eq!(
        page.contains(r#"<div class="verdict bad">"#),
        code != 0,
        "{case}"
    );
    let row = format!(r#"id="{ID}" open"#);
    assert_eq!(page.contains(&row), code != 0, "{case}: open");

    let mut console = Vec::new();
    print(&run, &mut anstream::StripStream::new(&mut console)).unwrap();
    let console = String::from_utf8(console).unwrap();
    let summary = Form::Md.text(&run).unwrap();
    let is_tolerated = run.tolerated().count() == 1;
    for text in [&console, &summary, &page] {
        let advised = text.contains("Of what is only advised, 1 check is not met.");
        assert_eq!(advised, is_tolerated, "{case}: {text}");
        let times = text.matches("1 check is not met.").count();
        assert_eq!(times, usize::from(fails || is_tolerated), "{case}: {text}");
    }
}

#[test]
fn unmet_must_fails_the_run() {
    for strict in [false, true] {
        for verdict in [Fail, Untestable, SetupFailed, Flaky] {
            check(Must, verdict, strict, 1, "red");
        }
        for (verdict, color) in [
            (Pass, "brightgreen"),
            (NotApplicable, "brightgreen"),
            (Waived, "yellow"),
        ] {
            check(Must, verdict, strict, 0, color);
        }
        check(Must, HarnessError, strict, 4, "lightgrey");
        check(Should, HarnessError, strict, 4, "lightgrey");
        check(May, Note, strict, 0, "brightgreen");
    }
}

#[test]
fn advice_fails_only_a_strict_run() {
    for verdict in [Warn, Untestable, SetupFailed, Flaky] {
        check(Should, verdict, false, 0, "green");
        check(Should, verdict, true, 1, "red");
    }
    for verdict in [Untestable, SetupFailed, Flaky] {
        check(May, verdict, false, 0, "brightgreen");
        check(May, verdict, true, 0, "brightgreen");
    }
    check(Should, Waived, true, 0, "green");
}

#[test]
fn an_interrupted_run_is_not_a_success() {
    let mut run = run(Must, Pass, false);
    run.not_made = 3;
    assert_eq!(run.exit_code(), 130);
    let summary = Form::Md.text(&run).unwrap();
    assert!(
        summary.contains("Interrupted: 2 of 5 checks were made."),
        "{summary}"
    );
    let badge = Form::Badge.text(&run).unwrap();
    assert!(badge.contains("lightgrey"), "{badge}");
    run.checks.clear();
    assert_eq!(run.exit_code(), 130);
}

#[test]
fn not_applicable_checks_count_as_nothing_checked() {
    let mut run = run(Must, NotApplicable, false);
    run.checks.retain(|result| result.id == ID);
    assert_eq!(run.exit_code(), 2);
}
