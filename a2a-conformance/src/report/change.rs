//! Comparison of two runs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::markdown;
use crate::record::{CheckResult, Column, Run, Verdict};

/// Differences between two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Changes {
    /// The target, the suite and the time of the old run.
    pub old: RunOrigin,
    /// The target, the suite and the time of the new run.
    pub new: RunOrigin,
    /// The changes, regressions first.
    pub changes: Vec<Change>,
    /// Number of checks with the same verdict in both.
    pub unchanged: usize,
}

/// Origin of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunOrigin {
    /// The tested agent or client.
    pub target: String,
    /// The version of the suite.
    pub suite: String,
    /// Time at which it began.
    pub began: String,
}

/// A check whose verdict differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Direction of the change.
    pub kind: ChangeKind,
    /// The check.
    pub id: String,
    /// The title of the check.
    pub title: String,
    /// Its protocol version and binding.
    #[serde(flatten)]
    pub column: Column,
    /// Its verdict in the old run, if it was part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Verdict>,
    /// Its verdict in the new run, if it was part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Verdict>,
}

/// Direction of a change.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// Met before and not now, or less so.
    Worse,
    /// Not met before and met now, or more so.
    Better,
    /// Neither: met in another way, no longer offered, waived.
    Other,
    /// Not part of the old run.
    New,
    /// Not part of the new run.
    Gone,
}

impl ChangeKind {
    /// All kinds, in the order of the report.
    pub const ALL: &[Self] = &[
        Self::Worse,
        Self::Better,
        Self::Other,
        Self::New,
        Self::Gone,
    ];

    /// Returns its name for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Other => "otherwise changed",
            Self::New => "new",
            Self::Gone => "gone",
        }
    }
}

impl Changes {
    /// Compares two runs, check by check.
    pub fn between(old: &Run, new: &Run) -> Self {
        let (before, after) = (by_key(old), by_key(new));
        let mut changes: Vec<_> = after
            .iter()
            .filter_map(|(key, new)| change(before.get(key).copied(), Some(new)))
            .collect();
        let removed = before.iter().filter(|(key, _)| !after.contains_key(*key));
        changes.extend(removed.filter_map(|(_, old)| change(Some(old), None)));
        changes.sort_by_key(|change| change.kind);
        let kept = changes
            .iter()
            .filter(|change| change.kind != ChangeKind::Gone);
        Self {
            old: RunOrigin::from(old),
            new: RunOrigin::from(new),
            unchanged: after.len() - kept.count(),
            changes,
        }
    }

    /// Returns the changes of a kind.
    pub fn of(&self, kind: ChangeKind) -> impl Iterator<Item = &Change> {
        self.changes
            .iter()
            .filter(move |change| change.kind == kind)
    }

    /// Returns whether any check got worse.
    pub fn is_worse(&self) -> bool {
        self.of(ChangeKind::Worse).next().is_some()
    }

    /// Returns the changes as Markdown.
    pub fn markdown(&self) -> String {
        let mut text = String::from("## What changed\n\n");
        text += &format!(
            "From {}  \nto {}\n\n",
            self.old.markdown(),
            self.new.markdown()
        );
        text += &format!("{}\n", self.summary());
        for kind in ChangeKind::ALL {
            let mut rows = self.of(*kind).peekable();
            if rows.peek().is_none() {
                continue;
            }
            text += &format!(
                "\n### {}\n\n| check | where | was | is |\n| --- | --- | --- | --- |\n",
                kind.words()
            );
            for change in rows {
                let Change {
                    id, title, column, ..
                } = change;
                text += &format!(
                    "| {}<br>{} | {column} | {} | {} |\n",
                    markdown::code(id),
                    markdown::plain(title),
                    words(change.old),
                    words(change.new),
                );
            }
        }
        text
    }

    /// Returns the numbers of changed checks, in one line.
    pub fn summary(&self) -> String {
        let counts = ChangeKind::ALL
            .iter()
            .map(|kind| (self.of(*kind).count(), kind.words()));
        let parts: Vec<_> = counts
            .chain([(self.unchanged, "as before")])
            .filter(|(count, _)| *count > 0)
            .map(|(count, words)| format!("{count} {words}"))
            .collect();
        match parts.is_empty() {
            true => "nothing to compare".to_owned(),
            false => parts.join(", "),
        }
    }
}

impl RunOrigin {
    fn from(run: &Run) -> Self {
        Self {
            target: run.target.title(),
            suite: run.suite.clone(),
            began: run.began.clone(),
        }
    }

    fn markdown(&self) -> String {
        let Self {
            target,
            suite,
            began,
        } = self;
        let [target, suite, began] = [target, suite, began].map(|text| markdown::plain(text));
        format!("{target}, suite {suite}, {began}")
    }
}

/// Returns a verdict in words; a dash if the check is not part of the run.
pub(crate) fn words(verdict: Option<Verdict>) -> &'static str {
    verdict.map_or("–", Verdict::words)
}

type Key<'a> = (&'a str, Option<&'a str>, Option<&'a str>);

fn by_key(run: &Run) -> BTreeMap<Key<'_>, &CheckResult> {
    run.checks
        .iter()
        .map(|result| (key(result), result))
        .collect()
}

fn key(result: &CheckResult) -> Key<'_> {
    (
        &result.id,
        result.protocol_version.as_deref(),
        result.binding.as_deref(),
    )
}

fn change(old: Option<&CheckResult>, new: Option<&CheckResult>) -> Option<Change> {
    let (was, is) = (old.map(|old| old.verdict), new.map(|new| new.verdict));
    let kind = match (was, is) {
        (Some(was), Some(is)) if was == is => return None,
        (Some(was), Some(is)) if was.severity() < is.severity() => ChangeKind::Worse,
        (Some(was), Some(is)) if was.severity() > is.severity() => ChangeKind::Better,
        (Some(_), Some(_)) => ChangeKind::Other,
        (None, _) => ChangeKind::New,
        (_, None) => ChangeKind::Gone,
    };
    let result = new.or(old)?;
    Some(Change {
        kind,
        id: result.id.clone(),
        title: result.title.clone(),
        column: result.column(),
        old: was,
        new: is,
    })
}
