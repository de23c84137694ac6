//! Score of a run in a protocol version and binding.

use crate::record::visible::line;
use crate::record::{CheckResult, Column, Run, Score, Verdict};
use crate::report::verdict::{broken, of_target};
use crate::requirement::Level;

/// The score of a protocol version in a binding.
pub(super) struct ScoreCard {
    pub(super) title: String,
    pub(super) note: &'static str,
    pub(super) must: Score,
    pub(super) should: Score,
    /// Share of the MUSTs that are met, in percent.
    pub(super) percent: usize,
    pub(super) state: ScoreState,
    pub(super) aside: Vec<String>,
}

impl ScoreCard {
    pub(super) fn of(run: &Run, column: &Column) -> Self {
        let score = |level| run.column_score(column, level);
        let (must, should) = (score(Level::Must), score(Level::Should));
        let all: Score = run.within(column).collect();
        let waived = run
            .within(column)
            .filter(|result| result.verdict == Verdict::Waived);
        let aside = [
            (all.not_applicable, "not applicable"),
            (all.untestable, "untestable"),
            (waived.count(), "waived"),
            (
                broken(run)
                    .filter(|result| result.column() == *column)
                    .count(),
                "suite at fault",
            ),
        ];
        let is_bad = of_target(run).any(|result| result.column() == *column);
        Self {
            title: version(column),
            note: binding(column),
            percent: (must.met * 100).checked_div(must.scored).unwrap_or(0),
            state: match () {
                () if all.scored == 0 => ScoreState::Empty,
                () if is_bad => ScoreState::Bad,
                () if must.met < must.scored || should.met < should.scored => ScoreState::Fair,
                () => ScoreState::Good,
            },
            must,
            should,
            aside: aside
                .iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, words)| format!("{count} {words}"))
                .collect(),
        }
    }
}

/// Returns the protocol version of a column.
pub(super) fn version(column: &Column) -> String {
    line(column.protocol_version.as_deref().unwrap_or("All")).into_owned()
}

/// Returns the binding of a column.
pub(super) fn binding(column: &Column) -> &'static str {
    match column.binding.as_deref() {
        Some("JSONRPC") => "JSON-RPC",
        Some("HTTP+JSON") => "HTTP+JSON",
        Some("GRPC") => "gRPC",
        Some(_) => "another binding",
        None if column.protocol_version.is_some() => "any binding",
        None => "versions",
    }
}

/// State of a score.
#[derive(Clone, Copy)]
pub(super) enum ScoreState {
    Good,
    Fair,
    Bad,
    /// Nothing is scored.
    Empty,
}

impl ScoreState {
    /// Returns the state of a whole run.
    pub(super) fn of(run: &Run) -> Self {
        let is_waived = |result: &CheckResult| result.verdict == Verdict::Waived;
        let is_fair = run.checks.iter().any(is_waived) || run.tolerated().next().is_some();
        match run.exit_code() {
            0 if !is_fair => Self::Good,
            // 5: a waiver is out of date.
            0 | 5 => Self::Fair,
            // No check could be made.
            2 => Self::Empty,
            _ => Self::Bad,
        }
    }

    /// Returns its CSS class.
    pub(super) fn class(self) -> &'static str {
        self.row().0
    }

    /// Returns one character for it.
    pub(super) fn sign(self) -> &'static str {
        self.row().1
    }

    /// Returns its meaning.
    pub(super) fn words(self) -> &'static str {
        self.row().2
    }

    /// Returns its class, sign and words.
    #[rustfmt::skip]
    fn row(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Good  => ("good", "✓", "all met"),
            Self::Fair  => ("fair", "!", "required checks are met; some are waived, advised ones are not met, or a waiver is out of date"),
            Self::Bad   => ("bad",  "✗", "required checks are not met, or could not be made"),
            Self::Empty => ("none", "–", "no verdict"),
        }
    }
}
