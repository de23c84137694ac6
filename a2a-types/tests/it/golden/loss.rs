//! List of the values that a round trip loses.

use serde::Deserialize;

use crate::golden::difference::{Change, Difference, Step};
use crate::golden::document::{data, yaml};
use crate::golden::spelling::Spelling;

/// The whole list.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Losses {
    pub(crate) rows: Vec<Row>,
}

/// One row of the reference's table of what cannot be represented, or one of ours.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    /// Name of the row there.
    pub(crate) row: String,
    /// The documents that show it.
    #[serde(default)]
    pub(crate) shown: Vec<String>,
    /// Other place to look, if it is not about one document: a file of the workspace, and why.
    pub(crate) elsewhere: Option<String>,
    #[serde(default)]
    pub(crate) losses: Vec<Loss>,
}

/// Places whose values a version cannot keep.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Loss {
    /// Versions in whose round trip they are lost; `1.0` stands for the canonical model, which every
    /// conversion uses.
    #[serde(rename = "in")]
    pub(crate) spellings: Vec<Spelling>,
    #[serde(default)]
    pub(crate) gone: Vec<Pattern>,
    #[serde(default)]
    pub(crate) new: Vec<Pattern>,
    #[serde(default)]
    pub(crate) changed: Vec<Pattern>,
    /// Documents to which it is limited; all if empty.
    #[serde(default)]
    pub(crate) only: Vec<String>,
}

/// Places in a document: `$.a[0].b`, with `*` for any member, `[*]` for any item and `**` for any
/// number of steps.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub(crate) struct Pattern {
    pub(crate) text: String,
    steps: Vec<String>,
}

impl Losses {
    pub(crate) fn load() -> Self {
        yaml(&data().with_file_name("losses.yaml"))
    }
}

impl Row {
    /// Returns every document that the row names.
    pub(crate) fn documents(&self) -> impl Iterator<Item = &String> {
        let only = self.losses.iter().flat_map(|loss| &loss.only);
        self.shown.iter().chain(only)
    }
}

impl Loss {
    /// Returns the patterns with the change that each permits.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = (Change, &Pattern)> {
        let gone = self.gone.iter().map(|pattern| (Change::Gone, pattern));
        let new = self.new.iter().map(|pattern| (Change::New, pattern));
        let changed = self
            .changed
            .iter()
            .map(|pattern| (Change::Changed, pattern));
        gone.chain(new).chain(changed)
    }
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        let path = text.trim_start_matches('$').replace('[', ".[");
        let steps = path.split('.').filter(|step| !step.is_empty());
        Self {
            steps: steps.map(str::to_owned).collect(),
            text,
        }
    }
}

impl Pattern {
    pub(crate) fn matches(&self, difference: &Difference) -> bool {
        matches(&self.steps, &difference.path)
    }
}

fn matches(pattern: &[String], path: &[Step]) -> bool {
    let Some((first, rest)) = pattern.split_first() else {
        return path.is_empty();
    };
    if first == "**" {
        return (0..=path.len()).any(|skipped| matches(rest, &path[skipped..]));
    }
    let Some((step, further)) = path.split_first() else {
        return false;
    };
    let here = match step {
        Step::Member(name) => first == "*" || first == name,
        Step::Item(index) => first == "[*]" || *first == format!("[{index}]"),
    };
    here && matches(rest, further)
}

#[test]
fn patterns_match_paths() {
    #[track_caller]
    fn check(pattern: &str, expected: bool) {
        let path = [
            Step::Member("a".to_owned()),
            Step::Item(1),
            Step::Member("b".to_owned()),
        ];
        assert_eq!(
            matches(&Pattern::from(pattern.to_owned()).steps, &path),
            expected,
            "{pattern}"
        );
    }
    for right in [
        "$.a[1].b", "$.a[*].b", "$.*[1].*", "**.b", "$.a.**", "$.**.b", "**",
    ] {
        check(right, true);
    }
    for wrong in [
        "$",
        "$.a",
        "$.a[1]",
        "$.a[0].b",
        "$.a.*.b",
        "$.[*][1].b",
        "**.a",
        "$.a[1].b.c",
    ] {
        check(wrong, false);
    }
}
