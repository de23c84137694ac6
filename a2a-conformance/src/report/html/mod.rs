//! `report.html`: one self-contained page for people.

mod exchange;
mod facts;
mod index;
mod position;
mod row;
mod score_card;

use askama::Template;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use self::facts::facts;
pub(super) use self::index::index_page;
use self::row::{Area, areas};
use self::score_card::{ScoreCard, ScoreState};
use super::Error;
use super::verdict::conclusion;
use crate::record::visible::line;
use crate::record::{Run, Verdict};
use crate::requirement::Level;

/// Returns the run as a page, which loads nothing from elsewhere and runs no script but its own.
pub fn html(run: &Run) -> Result<String, Error> {
    Page::of(run).render().map_err(|error| Error::Form {
        form: "html",
        problem: error.to_string(),
    })
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page {
    style: &'static str,
    script: &'static str,
    /// Hash of the only script that may run, for the content security policy.
    script_source: String,
    title: String,
    place: Option<String>,
    facts: Vec<(&'static str, String)>,
    cards: Vec<ScoreCard>,
    /// The conclusion, shown first.
    conclusion: String,
    state: ScoreState,
    /// The failed checks, by id and title, and the number of further ones.
    unmet: Vec<(String, String)>,
    more: usize,
    problems: Vec<String>,
    choices: Vec<Filter>,
    areas: Vec<Area>,
}

const STYLE: &str = concat!(
    include_str!("../../../templates/page.css"),
    include_str!("../../../templates/report.css")
);
const SCRIPT: &str = include_str!("../../../templates/report.js");

/// A filter and its options.
struct Filter {
    name: &'static str,
    label: &'static str,
    options: Vec<(String, String)>,
}

impl Page {
    fn of(run: &Run) -> Self {
        let title = line(&run.target.title()).into_owned();
        let place = line(&run.target.place).into_owned();
        let unmet = unmet(run);
        let hash = BASE64_STANDARD.encode(Sha256::digest(SCRIPT));
        Self {
            style: STYLE,
            script: SCRIPT,
            script_source: format!("'sha256-{hash}'"),
            place: (place != title).then_some(place),
            title,
            facts: facts(run),
            cards: run
                .scored_columns()
                .iter()
                .map(|column| ScoreCard::of(run, column))
                .collect(),
            state: ScoreState::of(run),
            conclusion: conclusion(run),
            more: unmet.len().saturating_sub(LINKS),
            unmet: unmet.into_iter().take(LINKS).collect(),
            problems: run
                .waivers
                .iter()
                .filter_map(|waiver| waiver.problem())
                .collect(),
            choices: choices(run),
            areas: areas(run),
        }
    }
}

/// Number of failed checks linked at the top.
const LINKS: usize = 12;

/// Returns each failed check once.
fn unmet(run: &Run) -> Vec<(String, String)> {
    let mut unmet = Vec::new();
    for result in run.unmet() {
        let link = (
            line(&result.id).into_owned(),
            line(&result.title).into_owned(),
        );
        if !unmet.contains(&link) {
            unmet.push(link);
        }
    }
    unmet.sort();
    unmet
}

fn choices(run: &Run) -> Vec<Filter> {
    let columns = run.columns();
    let distinct = |values: Vec<Option<String>>| {
        let mut distinct: Vec<(String, String)> = Vec::new();
        for value in values.into_iter().flatten() {
            let value = line(&value).into_owned();
            let option = (value.clone(), value);
            if !distinct.contains(&option) {
                distinct.push(option);
            }
        }
        distinct
    };
    let occurs = |verdict: &&Verdict| run.checks.iter().any(|result| result.verdict == **verdict);
    let verdicts = Verdict::ALL.iter().filter(occurs);
    let verdicts = verdicts.map(|verdict| (verdict.name().to_owned(), verdict.words().to_owned()));
    let levels = [Level::Must, Level::Should, Level::May];
    let levels = levels
        .iter()
        .filter(|level| run.checks.iter().any(|result| result.level == **level));
    let levels = levels.map(|level| (level.keyword().to_owned(), level.keyword().to_owned()));
    let choices = [
        ("verdict", "Verdict", verdicts.collect()),
        ("level", "Level", levels.collect()),
        (
            "version",
            "Version",
            distinct(
                columns
                    .iter()
                    .map(|column| column.protocol_version.clone())
                    .collect(),
            ),
        ),
        (
            "binding",
            "Binding",
            distinct(
                columns
                    .iter()
                    .map(|column| column.binding.clone())
                    .collect(),
            ),
        ),
    ];
    choices
        .into_iter()
        .filter(|(_, _, options): &(_, _, Vec<_>)| options.len() > 1)
        .map(|(name, label, options)| Filter {
            name,
            label,
            options,
        })
        .collect()
}
