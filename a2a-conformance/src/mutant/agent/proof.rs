//! The suite is run against an agent of which it is known what it has to find.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use a2a_transport::http::HttpClient;
use serde::Serialize;

use super::bug::{Bug, Place};
use super::control::Control;
use super::stand::{Stand, Subject, credentials, forbidden};
use crate::agent::{NoRun, Options, Selection, run};
use crate::case::Profile;
use crate::names::is_like;
use crate::run::{CheckResult, Run, Verdict};

/// What came of a run against an agent of which it is known what has to be found.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Proof {
    /// The mutant or control.
    pub name: String,
    /// What it does.
    pub says: String,
    /// Where the suite was run, like `1.0 JSONRPC`; everywhere if none is named.
    pub places: Vec<String>,
    /// The checks that had to be red.
    pub wanted: Vec<String>,
    /// Those of them that were.
    pub caught: Vec<Red>,
    /// Those of them that do not exist.
    pub unknown: Vec<String>,
    /// Checks that were red although they should not have been.
    pub collateral: Vec<Red>,
    /// Checks that were red, as they may be.
    pub allowed: Vec<Red>,
    /// How many checks were met.
    pub green: usize,
    /// How long it took.
    pub seconds: f64,
}

/// A check that is not met.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Red {
    /// Its id.
    pub check: String,
    /// Where: the generation and binding.
    pub place: String,
    /// The first thing that was not as it should be.
    pub why: String,
}

impl Proof {
    /// Whether exactly what had to be found was found.
    pub fn holds(&self) -> bool {
        let caught: BTreeSet<_> = self.caught.iter().map(|red| &red.check).collect();
        self.wanted.iter().all(|check| caught.contains(check))
            && self.collateral.is_empty()
            && self.green > 0
    }
}

/// Runs the suite against a mutant or a control.
///
/// Errors: why there was no run.
pub async fn prove(subject: &Subject) -> Result<Proof, String> {
    let began = Instant::now();
    let stand = Stand::open(subject)
        .await
        .map_err(|error| error.to_string())?;
    let made = run(&options(&stand, subject), |_, _| {}).await;
    let made = made.map_err(|error: NoRun| error.to_string())?;
    let (wanted, allows): (&[&str], &[&str]) = match subject {
        Subject::Mutant(bug) => (bug.story().kills, bug.story().allows),
        Subject::Reference | Subject::Control(_) => (&[], &[]),
    };
    let (name, says) = match subject {
        Subject::Reference => ("reference", "nothing"),
        Subject::Mutant(bug) => (bug.name(), bug.story().says),
        Subject::Control(control) => (control.name(), control.says()),
    };
    let owned = |names: &[&str]| {
        names
            .iter()
            .map(|&name| name.to_owned())
            .collect::<Vec<_>>()
    };
    let known = |check: &&str| made.checks.iter().any(|result| result.id == *check);
    let mut proof = Proof {
        name: name.to_owned(),
        says: says.to_owned(),
        places: places(subject).iter().map(told).collect(),
        wanted: owned(wanted),
        caught: Vec::new(),
        unknown: wanted
            .iter()
            .filter(|check| !known(check))
            .map(|&check| check.to_owned())
            .collect(),
        collateral: Vec::new(),
        allowed: Vec::new(),
        green: made
            .checks
            .iter()
            .filter(|result| result.verdict.is_met())
            .count(),
        seconds: 0.0,
    };
    for red in reds(&made) {
        let like = |patterns: &[&str]| patterns.iter().any(|pattern| is_like(pattern, &red.check));
        match (like(wanted), like(allows)) {
            (true, _) => proof.caught.push(red),
            (false, true) => proof.allowed.push(red),
            (false, false) => proof.collateral.push(red),
        }
    }
    proof.seconds = began.elapsed().as_secs_f64();
    Ok(proof)
}

/// The checks of a run that are not met.
pub(super) fn reds(run: &Run) -> impl Iterator<Item = Red> {
    let unmet = run
        .checks
        .iter()
        .filter(|result| !result.verdict.is_met() && result.verdict != Verdict::NotApplicable);
    unmet.map(|result: &CheckResult| {
        let mismatch = result.mismatches.first();
        let why = mismatch.map(|mismatch| {
            format!(
                "{}: expected {}, found {}",
                mismatch.place, mismatch.expected, mismatch.found
            )
        });
        let (dialect, binding) = (result.dialect.as_deref(), result.binding.as_deref());
        Red {
            check: result.id.clone(),
            place: format!(
                "{} {}",
                dialect.unwrap_or_default(),
                binding.unwrap_or_default()
            )
            .trim()
            .to_owned(),
            why: why.or_else(|| result.reason.clone()).unwrap_or_default(),
        }
    })
}

fn places(subject: &Subject) -> &'static [Place] {
    match subject {
        Subject::Mutant(bug) => bug.story().places,
        Subject::Reference | Subject::Control(_) => &[],
    }
}

pub(super) fn told((dialect, binding): &Place) -> String {
    format!("{} {binding}", dialect.version())
}

pub(super) fn options(stand: &Stand, subject: &Subject) -> Options {
    let places = places(subject);
    let mut dialects: Vec<_> = places.iter().map(|(dialect, _)| *dialect).collect();
    if let Subject::Control(control) = subject {
        dialects = control.dialects().to_vec();
    }
    let http = match subject {
        Subject::Control(Control::Http2) => HttpClient::builder().http2_only().build(),
        _ => HttpClient::default(),
    };
    Options {
        url: stand.url.clone(),
        profile: match subject {
            Subject::Control(control) => control.profile(),
            Subject::Reference | Subject::Mutant(_) => Profile::Instrumented,
        },
        dialects,
        bindings: places.iter().map(|(_, binding)| *binding).collect(),
        selection: Selection::default(),
        prompt: "hello".to_owned(),
        headers: credentials(false),
        second_headers: credentials(true),
        forbidden_headers: forbidden(),
        card_keys: Some(stand.keys.clone()),
        patience: match subject {
            Subject::Mutant(bug) if *bug == Bug::S12 || bug.is_about_webhooks() => IMPATIENT,
            _ => PATIENT,
        },
        jobs: match subject {
            Subject::Mutant(bug) if bug.story().alone => 1,
            _ => 8,
        },
        repeat: 1,
        scale: 1.0,
        webhook_host: None,
        http,
    }
}

/// How long is waited for what comes.
const PATIENT: Duration = Duration::from_secs(5);
/// How long is waited for what never comes.
const IMPATIENT: Duration = Duration::from_millis(1500);
