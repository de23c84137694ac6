//! `index.html`: the scores of several runs in a table, with links to the pages of the runs.

use askama::Template;

use super::facts::facts;
use super::score_card::{ScoreCard, ScoreState, binding, version};
use crate::record::visible::line;
use crate::record::{Column, Run};
use crate::report::Error;
use crate::report::verdict::conclusion;
use crate::requirement::Role;

/// Returns a page with the scores of runs, each with the name of its files. The page loads nothing and runs no script.
pub(crate) fn index_page(title: &str, runs: &[(String, &Run)]) -> Result<String, Error> {
    let is_client = |run: &Run| run.target.role == Some(Role::Client);
    let (clients, agents): (Vec<_>, Vec<_>) = runs.iter().partition(|(_, run)| is_client(run));
    let tables = [("Agents", "Agent", agents), ("Clients", "Client", clients)];
    let page = IndexPage {
        style: STYLE,
        title: line(title).into_owned(),
        tables: tables
            .into_iter()
            .filter(|(_, _, runs)| !runs.is_empty())
            .map(|(heading, role, runs)| Table::of(heading, role, &runs))
            .collect(),
        legend: [ScoreState::Good, ScoreState::Fair, ScoreState::Bad],
    };
    page.render().map_err(|error| Error::Form {
        form: "index",
        problem: error.to_string(),
    })
}

#[derive(Template)]
#[template(path = "index.html")]
struct IndexPage {
    style: &'static str,
    title: String,
    tables: Vec<Table>,
    legend: [ScoreState; 3],
}

const STYLE: &str = concat!(
    include_str!("../../../templates/page.css"),
    include_str!("../../../templates/index.css")
);

/// The runs of agents, or of clients.
struct Table {
    heading: &'static str,
    /// Heading of the names.
    role: &'static str,
    /// The protocol versions, each with its number of columns.
    versions: Vec<(String, usize)>,
    /// The bindings, one for each column.
    bindings: Vec<&'static str>,
    rows: Vec<Row>,
}

/// A run.
struct Row {
    /// Name of its files, without an extension.
    name: String,
    title: String,
    place: Option<String>,
    state: ScoreState,
    conclusion: String,
    cells: Vec<Cell>,
    facts: Vec<(&'static str, String)>,
}

/// Result of a run in a column.
enum Cell {
    Score(ScoreCard),
    /// The reason why there is no score.
    Absent(&'static str),
}

impl Table {
    fn of(heading: &'static str, role: &'static str, runs: &[&(String, &Run)]) -> Self {
        let mut columns: Vec<Column> = Vec::new();
        for column in runs.iter().flat_map(|(_, run)| run.scored_columns()) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns.sort_by_key(Column::rank);
        let versions = columns.chunk_by(|one, next| one.protocol_version == next.protocol_version);
        Self {
            heading,
            role,
            versions: versions
                .map(|columns| (version(&columns[0]), columns.len()))
                .collect(),
            bindings: columns.iter().map(binding).collect(),
            rows: runs
                .iter()
                .map(|(name, run)| Row::of(name, run, &columns))
                .collect(),
        }
    }
}

impl Row {
    fn of(name: &str, run: &Run, columns: &[Column]) -> Self {
        let title = line(&run.target.title()).into_owned();
        let place = line(&run.target.place).into_owned();
        let scored = run.scored_columns();
        let cell = |column: &Column| match scored.contains(column) {
            true => Cell::Score(ScoreCard::of(run, column)),
            false => Cell::Absent(absence(run, column)),
        };
        let mut facts = facts(run);
        facts.retain(|(name, _)| FACTS.contains(name));
        Self {
            name: name.to_owned(),
            place: (place != title).then_some(place),
            title,
            state: ScoreState::of(run),
            conclusion: conclusion(run),
            cells: columns.iter().map(cell).collect(),
            facts,
        }
    }
}

/// Facts about each run.
const FACTS: &[&str] = &["Profile", "When", "Strict", "Only", "Server", "Suite"];

/// Returns the reason why a run has no score in a column. The card of an agent says what it offers; of a client, and
/// of an interface that a filter leaves out, nothing is known.
fn absence(run: &Run, column: &Column) -> &'static str {
    let Some(version) = &column.protocol_version else {
        return "not tested";
    };
    // Each is `binding version at URL`; a version may have a third number.
    let is_offered = run.target.interfaces.iter().any(|interface| {
        let mut words = interface.split(' ');
        let has_binding = words.next() == column.binding.as_deref() || column.binding.is_none();
        let rest = words.next().and_then(|word| word.strip_prefix(&**version));
        has_binding && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    });
    match is_offered || run.target.interfaces.is_empty() {
        true => "not tested",
        false => "not offered",
    }
}
