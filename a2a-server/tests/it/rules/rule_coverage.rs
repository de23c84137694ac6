//! The account of every rule.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

/// Number of rules of each section.
const SECTIONS: [(&str, usize); 4] = [("5.1", 27), ("5.2", 20), ("5.3", 12), ("5.4", 47)];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleEntry {
    /// Text of the rule, and its place in the specification.
    rule: String,
    /// The test that shows it.
    test: Option<TestNames>,
    /// Reason why there is none.
    unseen: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum TestNames {
    One(String),
    More(Vec<String>),
}

impl TestNames {
    fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::More(names) => names,
        }
    }
}

#[test]
fn every_rule_is_accounted_for() {
    let entries: BTreeMap<String, RuleEntry> =
        serde_saphyr::from_str(include_str!("rules.yaml")).unwrap();
    let numbers: BTreeSet<_> = SECTIONS
        .iter()
        .flat_map(|(section, count)| (1..=*count).map(move |number| format!("{section}.{number}")))
        .collect();
    assert_eq!(entries.keys().cloned().collect::<BTreeSet<_>>(), numbers);

    let mut named = BTreeSet::new();
    for (number, entry) in &entries {
        assert!(entry.rule.len() > 20, "{number} says something");
        match (&entry.test, &entry.unseen) {
            (Some(tests), None) => {
                let names = tests.names();
                assert!(!names.is_empty(), "{number} has a test");
                for name in names {
                    assert!(name.starts_with(&prefix(number)), "{number}: {name}");
                    assert!(named.insert(name.clone()), "{name} is named once");
                }
            }
            (None, Some(reason)) => assert!(reason.len() > 20, "{number} has a reason: {reason}"),
            _ => panic!("{number} has either a test or a reason for none"),
        }
    }
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/rules");
    assert_eq!(named, tests_in(&directory));
}

/// Returns the beginning of the name of a rule's test.
fn prefix(number: &str) -> String {
    let mut parts = number.split('.');
    let mut next = || parts.next().unwrap().parse::<u32>().unwrap();
    format!("rule_{}_{}_{:02}_", next(), next(), next())
}

/// The names of all tests of rules in the sources.
fn tests_in(directory: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            names.extend(tests_in(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let lines: Vec<_> = text.lines().collect();
            for pair in lines.windows(2) {
                let Some(rest) = pair[1].strip_prefix("async fn rule_") else {
                    continue;
                };
                let (name, _) = rest.split_once('(').unwrap();
                assert_eq!(pair[0], "#[tokio::test]", "{name} runs");
                assert!(names.insert(format!("rule_{name}")), "{name} is one");
            }
        }
    }
    names
}
