//! `report.html`: one self-contained page for people.

mod exchange;
mod position;
mod row;

use askama::Template;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use self::row::{Area, areas, duration};
use super::Error;
use super::verdict::{broken, conclusion, of_target};
use crate::record::visible::line;
use crate::record::{Column, Run, Score, Verdict};
use crate::requirement::{Level, Role};

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
    state: &'static str,
    /// The failed checks, by id and title, and the number of further ones.
    unmet: Vec<(String, String)>,
    more: usize,
    problems: Vec<String>,
    choices: Vec<Filter>,
    areas: Vec<Area>,
}

const STYLE: &str = include_str!("../../../templates/report.css");
const SCRIPT: &str = include_str!("../../../templates/report.js");

/// The score of a protocol version in a binding.
struct ScoreCard {
    title: String,
    note: &'static str,
    must: Score,
    should: Score,
    /// Share of the MUSTs that are met, in percent.
    percent: usize,
    state: &'static str,
    aside: Vec<String>,
}

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
            cards: cards(run),
            state: if run.exit_code() == 0 { "good" } else { "bad" },
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

fn facts(run: &Run) -> Vec<(&'static str, String)> {
    let settings = &run.settings;
    let role = match run.target.role {
        Some(Role::Agent) => "agent",
        Some(Role::Client) => "client",
        Some(Role::Operator) | None => "",
    };
    // A run without a random part has no seed.
    let seed = match settings.seed {
        0 => String::new(),
        seed => seed.to_string(),
    };
    let again = match settings.repeat {
        0 | 1 => String::new(),
        times => format!("each check {times} times"),
    };
    let strict = match settings.strict {
        true => "a SHOULD is required, too",
        false => "",
    };
    let filters: Vec<_> = settings
        .filters
        .iter()
        .map(|(name, values)| format!("--{name} {}", values.join(",")))
        .collect();
    let facts = [
        ("Tested as", role.to_owned()),
        ("Profile", settings.profile.clone()),
        ("When", readable_time(&run.began)),
        ("Took", duration(run.seconds)),
        ("Seed", seed),
        ("Repeated", again),
        ("Strict", strict.to_owned()),
        ("Only", filters.join(" ")),
        ("Offers", run.target.interfaces.join(", ")),
        ("Server", run.target.server.clone().unwrap_or_default()),
        ("Suite", run.suite.clone()),
    ];
    facts
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name, line(&value).into_owned()))
        .collect()
}

/// Formats a time for people; returns any other text unchanged.
fn readable_time(text: &str) -> String {
    match text.parse::<Timestamp>() {
        Ok(time) => time.strftime("%-d %B %Y, %H:%M UTC").to_string(),
        Err(_) => text.to_owned(),
    }
}

fn cards(run: &Run) -> Vec<ScoreCard> {
    let is_scored = |column: &Column| run.within(column).any(|result| result.verdict.is_scored());
    let columns = run.columns().into_iter().filter(is_scored);
    columns
        .map(|column| {
            let score = |level| -> Score {
                run.within(&column)
                    .filter(|result| result.level == level)
                    .collect()
            };
            let (must, should) = (score(Level::Must), score(Level::Should));
            let all: Score = run.within(&column).collect();
            let waived = run
                .within(&column)
                .filter(|result| result.verdict == Verdict::Waived);
            let aside = [
                (all.not_applicable, "not applicable"),
                (all.untestable, "untestable"),
                (waived.count(), "waived"),
                (
                    broken(run)
                        .filter(|result| result.column() == column)
                        .count(),
                    "suite at fault",
                ),
            ];
            let is_bad = of_target(run).any(|result| result.column() == column);
            ScoreCard {
                title: line(column.protocol_version.as_deref().unwrap_or("All")).into_owned(),
                note: match column.binding.as_deref() {
                    Some("JSONRPC") => "JSON-RPC",
                    Some("HTTP+JSON") => "HTTP+JSON",
                    Some("GRPC") => "gRPC",
                    Some(_) => "another binding",
                    None if column.protocol_version.is_some() => "any binding",
                    None => "versions",
                },
                percent: (must.met * 100).checked_div(must.scored).unwrap_or(0),
                state: match () {
                    () if all.scored == 0 => "none",
                    () if is_bad => "bad",
                    () if must.met < must.scored || should.met < should.scored => "fair",
                    () => "good",
                },
                must,
                should,
                aside: aside
                    .iter()
                    .filter(|(count, _)| *count > 0)
                    .map(|(count, words)| format!("{count} {words}"))
                    .collect(),
            }
        })
        .collect()
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
