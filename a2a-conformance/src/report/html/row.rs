//! Checks of the page: a row for each, with its result in each protocol version and binding.

use crate::record::visible::{line, visible};
use crate::record::{CheckResult, Mismatch, Run, Verdict};
use crate::requirement::{Level, Requirement};

use super::exchange::{Exchange, exchange};
use crate::explanation::explanation;

/// Checks whose ids have the same first word.
pub(super) struct Area {
    pub(super) name: String,
    pub(super) met: usize,
    pub(super) applicable: usize,
    pub(super) rows: Vec<Row>,
}

/// A check.
pub(super) struct Row {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) level: Level,
    /// The worst of its verdicts.
    pub(super) verdict: Verdict,
    /// CSS class of the verdict.
    pub(super) class: &'static str,
    pub(super) open: bool,
    pub(super) explanation: String,
    /// Requirements that it covers: those shown at once, and the rest.
    pub(super) rules: Vec<CoveredRequirement>,
    pub(super) more_rules: Vec<CoveredRequirement>,
    pub(super) cells: Vec<Cell>,
}

/// A requirement that a check covers.
#[derive(PartialEq)]
pub(super) struct CoveredRequirement {
    pub(super) says: String,
    /// Its id, section and level.
    pub(super) place: String,
    /// A link to the sentence.
    pub(super) source: Option<String>,
}

/// Result of a check in a protocol version and binding.
pub(super) struct Cell {
    pub(super) column: String,
    /// Value that the filters compare.
    pub(super) version: String,
    pub(super) binding: String,
    pub(super) verdict: Verdict,
    /// CSS class of the verdict.
    pub(super) class: &'static str,
    pub(super) words: String,
    pub(super) reason: Option<String>,
    pub(super) mismatches: Vec<[String; 3]>,
    pub(super) exchanges: Vec<Exchange>,
    /// Number of further exchanges, which are in `report.json` alone.
    pub(super) more: usize,
    pub(super) took: String,
}

impl Cell {
    /// Returns whether there is more to show than the verdict and a reason.
    pub(super) fn has_details(&self) -> bool {
        !self.mismatches.is_empty() || !self.exchanges.is_empty() || self.verdict.severity() > 0
    }
}

impl Row {
    /// Returns the labels of a folded row: its verdicts, with the columns if not the same everywhere.
    pub(super) fn pills(&self) -> Vec<(&'static str, String)> {
        let mut pills = Vec::new();
        for verdict in Verdict::ALL {
            let cells: Vec<_> = self
                .cells
                .iter()
                .filter(|cell| cell.verdict == *verdict)
                .collect();
            if cells.is_empty() {
                continue;
            }
            let everywhere = cells.len() == self.cells.len();
            let is_quiet = verdict.severity() == 0;
            let class = cells.first().map_or("", |cell| cell.class);
            match (everywhere, is_quiet) {
                (true, _) => pills.push((class, verdict.words().to_owned())),
                (false, true) => {
                    pills.push((class, format!("{} {}", cells.len(), verdict.words())))
                }
                (false, false) => {
                    let pill =
                        |cell: &&Cell| (class, format!("{} {}", verdict.sign(), cell.column));
                    pills.extend(cells.iter().map(pill));
                }
            }
        }
        pills
    }
}

/// Number of rules shown at once.
const RULES: usize = 4;

/// Number of exchanges shown of the result that is shown in full; one is shown of each other.
const EXCHANGES: usize = 3;

/// Returns the checks by area; an area with failures comes before the others.
pub(super) fn areas(run: &Run) -> Vec<Area> {
    let mut areas: Vec<Area> = Vec::new();
    let mut ids: Vec<_> = run
        .checks
        .iter()
        .map(|result| (result.area(), &*result.id))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    for (name, id) in ids {
        let row = row(run, id);
        let Some(row) = row else { continue };
        let applies = usize::from(row.verdict != Verdict::NotApplicable);
        let met = usize::from(row.verdict.is_met());
        match areas.last_mut().filter(|area| area.name == line(name)) {
            Some(area) => {
                area.met += met;
                area.applicable += applies;
                area.rows.push(row);
            }
            None => areas.push(Area {
                name: line(name).into_owned(),
                met,
                applicable: applies,
                rows: vec![row],
            }),
        }
    }
    for area in &mut areas {
        area.rows.sort_by_key(|row| !row.open);
    }
    areas.sort_by_key(|area| !area.rows.iter().any(|row| row.open));
    areas
}

fn row(run: &Run, id: &str) -> Option<Row> {
    let columns = run.columns();
    let place =
        |result: &&CheckResult| columns.iter().position(|column| *column == result.column());
    let mut results: Vec<_> = run.checks.iter().filter(|result| result.id == id).collect();
    results.sort_by_key(place);
    let first = *results.first()?;
    let worst = |verdict: &&Verdict| results.iter().any(|result| result.verdict == **verdict);
    let verdict = *Verdict::ALL.iter().find(worst)?;
    let mut rules = Vec::new();
    // `a2a-conformance explain` has the rules of checks that are met.
    let of_unmet = results
        .iter()
        .filter(|result| result.verdict.severity() > 0);
    for id in of_unmet.flat_map(|result| &result.requirements) {
        let rule = rule(run, id);
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    let explanations = results.iter().map(|result| &result.explanation);
    let explained = explanations.clone().find(|text| !text.is_empty());
    // Results of met checks have no explanation: taken from the suite, if it still has the check.
    let explained = explained.cloned().or_else(|| explanation(id));
    let explained = explained.unwrap_or_default();
    // Shows the first failed result in full: the others are mostly alike.
    let first_failed = results.iter().position(|result| run.fails_for(result));
    let cells = results.iter().enumerate();
    let cells = cells.map(|(at, result)| cell(run, result, first_failed == Some(at)));
    let cells: Vec<_> = cells.collect();
    let of_worst = cells.iter().find(|cell| cell.verdict == verdict);
    Some(Row {
        id: line(id).into_owned(),
        title: line(&first.title).into_owned(),
        level: first.level,
        verdict,
        class: of_worst.map_or("", |cell| cell.class),
        open: first_failed.is_some(),
        explanation: visible(&explained).into_owned(),
        more_rules: rules.split_off(rules.len().min(RULES)),
        rules,
        cells,
    })
}

fn rule(run: &Run, id: &str) -> CoveredRequirement {
    let (says, place, source) = match run.requirement(id) {
        Some(Requirement {
            says,
            level,
            section,
            source,
            ..
        }) => (
            says.as_str(),
            format!("{id} · section {section} · {}", level.keyword()),
            source.as_str(),
        ),
        None => ("", id.to_owned(), ""),
    };
    // Reports may come from a file: nothing but a web address becomes a link.
    let source = source.starts_with("https://").then_some(source);
    CoveredRequirement {
        says: visible(says).into_owned(),
        place: line(&place).into_owned(),
        source: source.map(|source| line(source).into_owned()),
    }
}

/// Returns the CSS class of a verdict. A mismatch that does not fail the run looks like advice.
fn class(run: &Run, result: &CheckResult) -> &'static str {
    match run.is_tolerated(result) {
        true => Verdict::Warn.name(),
        false => result.verdict.name(),
    }
}

fn differing((mismatch, times): (&Mismatch, usize)) -> [String; 3] {
    let place = match times {
        1 => mismatch.place.clone(),
        _ => format!("{} ({times} times)", mismatch.place),
    };
    [&place, &mismatch.expected, &mismatch.found].map(|text| visible(text).into_owned())
}

fn cell(run: &Run, result: &CheckResult, in_full: bool) -> Cell {
    let mut shown: Vec<_> = result
        .mismatches
        .iter()
        .filter_map(|one| one.evidence)
        .collect();
    shown.dedup();
    let first = shown.first().copied().unwrap_or(0);
    shown.truncate(if in_full { EXCHANGES } else { 1 });
    let is_unmet = run.fails_for(result) || run.is_tolerated(result);
    // The exchanges of the cause are shown with the check that it is counted for.
    let is_own = is_unmet && result.same_cause_as.is_none();
    let is_shown = |index: usize| is_own && (index == first || shown.contains(&index));
    let exchanges: Vec<_> = result
        .evidence
        .iter()
        .enumerate()
        .filter(|(index, _)| is_shown(*index))
        .map(|(index, evidence)| exchange(run, result, index, evidence, in_full && index == first))
        .collect();
    let one_line = |text: &Option<String>| line(text.as_deref().unwrap_or_default()).into_owned();
    Cell {
        column: line(&result.column().to_string()).into_owned(),
        version: one_line(&result.protocol_version),
        binding: one_line(&result.binding),
        verdict: result.verdict,
        class: class(run, result),
        words: result.words(),
        reason: result
            .reason
            .as_deref()
            .map(|reason| visible(reason).into_owned()),
        mismatches: result
            .distinct_mismatches()
            .into_iter()
            .map(differing)
            .collect(),
        more: match is_unmet {
            true => result.evidence.len() - exchanges.len(),
            false => 0,
        },
        exchanges,
        took: duration(result.seconds),
    }
}

/// Formats a duration for people.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        _ if seconds < 1.0 => format!("{:.0} ms", seconds * 1000.0),
        _ if seconds < 100.0 => format!("{seconds:.1} s"),
        _ => format!("{:.0} min", seconds / 60.0),
    }
}
