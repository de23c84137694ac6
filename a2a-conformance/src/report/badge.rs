//! `badge.json`: a badge in the endpoint format of shields.io.

use serde_json::{Value, json};

use super::verdict::{broken, of_target};
use crate::record::{CheckResult, Run, Score};
use crate::requirement::Level;

/// Returns a badge with the score of the MUSTs of the run's newest protocol version, and of checks
/// common to all: red if the run fails for one of these checks, grey if the suite itself did not work
/// or was interrupted, yellow if a requirement is waived, green if only advice is not followed.
pub fn badge(run: &Run) -> Value {
    let newest = run
        .columns()
        .into_iter()
        .find_map(|column| column.protocol_version);
    let label = match &newest {
        Some(protocol_version) => format!("A2A {protocol_version}"),
        None => "A2A".to_owned(),
    };
    let of_newest = |result: &&CheckResult| {
        result.protocol_version.is_none() || result.protocol_version == newest
    };
    let score = |level| -> Score {
        let checks = run.checks.iter().filter(of_newest);
        checks.filter(|result| result.level == level).collect()
    };
    let (must, should) = (score(Level::Must), score(Level::Should));
    let color = match () {
        () if must.scored == 0 => "lightgrey",
        () if of_target(run).any(|result| of_newest(&result)) => "red",
        () if run.not_made > 0 || broken(run).any(|result| of_newest(&result)) => "lightgrey",
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
