//! The compliance report: its statuses follow from the tests that it names as evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use a2a_types::Timestamp;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/compliance-report.yaml");

#[test]
fn the_report_is_that_of_the_tests() {
    let report = std::fs::read_to_string(PATH).unwrap();
    let requirements = requirements(&report);
    let named: BTreeSet<_> = requirements
        .values()
        .flat_map(|one| &one.evidence)
        .collect();
    let known = run(&["--list"], ": test");
    for test in &named {
        assert!(
            known.contains(*test),
            "{test} is named as evidence, and does not exist"
        );
    }
    if std::env::var_os("A2A_REWRITE").is_none() {
        // The other tests of this program show that the named tests pass.
        let passes = |id: &str| {
            let requirement = &requirements[id];
            requirement.status == "pass" && !requirement.evidence.is_empty()
        };
        assert_eq!(
            written(&report, &requirements, passes, &date_of(&report)),
            report
        );
        return;
    }
    let mut arguments = vec!["--exact"];
    arguments.extend(named.iter().map(|test| test.as_str()));
    let passed = run(&arguments, " ... ok");
    let passes = |id: &str| {
        let evidence = &requirements[id].evidence;
        !evidence.is_empty() && evidence.iter().all(|test| passed.contains(test))
    };
    let today = &Timestamp::now().to_string()[..10];
    std::fs::write(PATH, written(&report, &requirements, passes, today)).unwrap();
}

/// A requirement of the report.
#[derive(Default)]
struct Requirement {
    tier: usize,
    status: String,
    evidence: Vec<String>,
}

fn requirements(report: &str) -> BTreeMap<String, Requirement> {
    let mut found = BTreeMap::<String, Requirement>::new();
    let mut last = String::new();
    for line in report.lines() {
        if let Some(id) = id_of(line) {
            last = id.to_owned();
            found.insert(last.clone(), Requirement::default());
        }
        let Some((name, value)) = line.trim().split_once(": ") else {
            continue;
        };
        let Some(requirement) = found.get_mut(&last) else {
            continue;
        };
        match name {
            "tier" => requirement.tier = value.parse().unwrap(),
            "status" => requirement.status = value.to_owned(),
            "evidence" if value != "null" => {
                let tests = value.trim_matches(['[', ']']).split(", ");
                requirement.evidence = tests.map(str::to_owned).collect();
            }
            _ => {}
        }
    }
    found
}

/// Returns the identifier of a requirement that begins in a line.
fn id_of(line: &str) -> Option<&str> {
    let id = line.strip_prefix("  A2ACLI_")?.strip_suffix(':')?;
    Some(id)
}

fn date_of(report: &str) -> String {
    let mut lines = report.lines();
    let date = lines.find_map(|line| line.strip_prefix("  report_date: "));
    date.unwrap().to_owned()
}

/// Returns the report with what follows from the outcomes of the tests.
fn written(
    report: &str,
    requirements: &BTreeMap<String, Requirement>,
    passes: impl Fn(&str) -> bool,
    date: &str,
) -> String {
    let of_tier = |tier| requirements.iter().filter(move |(_, one)| one.tier == tier);
    let passed = |tier| of_tier(tier).filter(|(id, _)| passes(id)).count();
    let is_satisfied = |tier| passed(tier) == of_tier(tier).count();
    let claimed = (1..=3).take_while(|tier| is_satisfied(*tier)).count();
    let summary = |tier| {
        let (total, pass) = (of_tier(tier).count(), passed(tier));
        let (fail, satisfied) = (total - pass, is_satisfied(tier));
        format!(
            "  tier_{tier}: {{total: {total}, pass: {pass}, partial: 0, fail: {fail}, not_measured: 0, na: 0, satisfied: {satisfied}}}"
        )
    };
    let yes = |is| if is { "yes" } else { "no" };
    let line = |section: &str, id: &str, line: &str| {
        let name = line.split_once(':').map_or(line, |(name, _)| name);
        match (section, name) {
            (_, "  tool_version") => format!("{name}: {}", env!("CARGO_PKG_VERSION")),
            (_, "  report_date" | "  date") => format!("{name}: {date}"),
            (_, "  tier_claimed") => format!("{name}: {claimed}"),
            ("summary:", "  tier_1") => summary(1),
            ("summary:", "  tier_2") => summary(2),
            ("summary:", "  tier_3") => summary(3),
            ("requirements:", "    status") => {
                format!("{name}: {}", if passes(id) { "pass" } else { "fail" })
            }
            ("requirements:", "    note") if passes(id) => format!("{name}: null"),
            ("requirements:", "    note") if line.ends_with(" null") => {
                format!("{name}: \"a test that is named as evidence fails\"")
            }
            ("default_001_breakdown:", _) if line.contains('{') => {
                let is = yes(passes("DEFAULT_001"));
                format!("{name}: {{shipped: {is}, overridable: {is}, note: null}}")
            }
            ("error_codes:", _) if line.contains('{') => {
                format!(
                    "{name}: {{emitted: {}, note: null}}",
                    yes(passes("OUT_004"))
                )
            }
            _ => line.to_owned(),
        }
    };
    let (mut section, mut id) = ("", "");
    let mut lines = Vec::new();
    for of_report in report.lines() {
        if !of_report.starts_with([' ', '#']) && of_report.ends_with(':') {
            section = of_report;
        }
        id = id_of(of_report).unwrap_or(id);
        lines.push(line(section, id, of_report));
    }
    lines.join("\n") + "\n"
}

/// Runs this program, and returns the names of the tests whose lines of output have this end.
fn run(arguments: &[&str], end: &str) -> BTreeSet<String> {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program)
        .args(arguments)
        .env_remove("A2A_REWRITE")
        .output()
        .unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let names = output.lines().filter_map(|line| line.strip_suffix(end));
    let names = names.map(|name| name.trim_start_matches("test "));
    names.map(str::to_owned).collect()
}
