//! `badge.json`: a shield for a page, as shields.io reads it from an endpoint.

use serde_json::{Value, json};

use super::verdict::{broken, of_target};
use crate::requirement::Level;
use crate::run::{CheckResult, Run, Score};

/// How many of the MUSTs of the newest generation of the run are met: red if one is not, yellow if
/// what is not met is waived, grey if the suite itself did not work, green if only advice is not followed.
pub fn badge(run: &Run) -> Value {
    let newest = run.columns().into_iter().find_map(|column| column.dialect);
    let newest = newest.as_deref();
    let label = match newest {
        Some(dialect) => format!("A2A {dialect}"),
        None => "A2A".to_owned(),
    };
    let must = run.score(Level::Must, newest, None);
    let should = run.score(Level::Should, newest, None);
    let of_newest = |result: &&CheckResult| newest.is_none() || result.dialect.as_deref() == newest;
    let unmet = of_target(run).filter(of_newest);
    let unmet = unmet.filter(|result| result.level == Level::Must).count();
    let color = match () {
        () if must.scored == 0 => "lightgrey",
        () if unmet > 0 => "red",
        () if broken(run).filter(of_newest).count() > 0 => "lightgrey",
        () if !all(must) => "yellow",
        () if !all(should) => "green",
        () => "brightgreen",
    };
    let message = match must.scored {
        0 => "nothing checked".to_owned(),
        scored => format!("{}/{scored}", must.met),
    };
    json!({
        "schemaVersion": 1,
        "label": label,
        "message": message,
        "color": color,
    })
}

fn all(score: Score) -> bool {
    score.met == score.scored
}
