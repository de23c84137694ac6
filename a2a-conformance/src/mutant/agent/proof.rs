//! Runs of the suite against an agent, for which it is known what must be found.

use std::time::{Duration, Instant};

use a2a_transport::http::HttpClient;

use super::bug::{Bug, PLACES, Place};
use super::control::Control;
use super::stand::{Stand, Subject, credentials, forbidden};
use crate::agent::{NoRun, Options, Selection, invariants, run};
use crate::case::Profile;
use crate::mutant::proof::is_red;
use crate::mutant::{Extent, Proof, Red};
use crate::requirement::Role;
use crate::run::{CheckResult, Run};

/// Runs the suite against a mutant or a control.
///
/// Errors: why there was no run.
pub async fn prove(subject: &Subject, extent: Extent) -> Result<Proof, String> {
    let began = Instant::now();
    let stand = Stand::open(subject).await;
    let stand = stand.map_err(|error| error.to_string())?;
    let options = options(&stand, subject);
    let mut proof = match subject {
        Subject::Mutant(bug) => prove_mutant(*bug, extent, options).await?,
        Subject::Reference | Subject::Control(_) => prove_right(subject, extent, options).await?,
    };
    proof.seconds = began.elapsed().as_secs_f64();
    Ok(proof)
}

/// Nothing may be red.
async fn prove_right(subject: &Subject, extent: Extent, options: Options) -> Result<Proof, String> {
    let options = match extent {
        Extent::Whole => options,
        Extent::Brief => {
            let place = place_of(subject);
            in_place(options, place.ok_or("it is right nowhere")?)
        }
    };
    let results = made(&options).await?;
    let mut proof = Proof::new(Role::Agent, subject.name(), subject.says(), &[]);
    let red = proof.note_others(&results, &[]);
    proof.collateral = red.into_iter().map(Red::of).collect();
    Ok(proof)
}

/// One of the places in which it is right: not the same for all.
fn place_of(subject: &Subject) -> Option<Place> {
    let (control, number) = match subject {
        Subject::Control(control) => (Some(control), *control as usize),
        _ => (None, 0),
    };
    let is_right =
        |(dialect, _): &&Place| control.is_none_or(|control| control.dialects().contains(dialect));
    let places: Vec<_> = PLACES.iter().filter(is_right).collect();
    let place = places.get(number % places.len().max(1)).copied();
    place.copied()
}

async fn prove_mutant(bug: Bug, extent: Extent, options: Options) -> Result<Proof, String> {
    let story = bug.story();
    let first = story.places.first().copied();
    let first = first.ok_or_else(|| format!("{} shows nowhere", bug.name()))?;
    let mut proof = Proof::new(Role::Agent, bug.name(), story.says, story.kills);
    let there = in_place(options.clone(), first);
    let there = match extent.is_wide(bug as usize) {
        true => there,
        false => near(there, story.kills, story.allows),
    };
    let mut results = made(&there).await?;
    let suspects = proof.note_others(&results, story.allows);
    let suspects = suspects.into_iter().map(|result| result.id.clone());
    let known: Vec<_> = story.kills.iter().chain(story.allows).copied().collect();
    proof.collateral = confirmed(suspects.collect(), &known, there).await?;
    let mut places = vec![first];
    if extent == Extent::Whole {
        places = story.places.to_vec();
        results = made(&only(options, story.kills)).await?;
    }
    let shows = |result: &&CheckResult| places.iter().any(|place| is_in(result, place));
    for check in story.kills {
        proof.note_wanted(check, results.iter().filter(shows));
    }
    let elsewhere = results.iter().filter(|result| !shows(result));
    let elsewhere = elsewhere.filter(|result| proof.wanted.contains(&result.id) && is_red(result));
    let elsewhere: Vec<_> = elsewhere.map(Red::of).collect();
    proof.collateral.extend(elsewhere);
    Ok(proof)
}

/// Those of the checks that are red, too, when the agent has all the time that it may want: the
/// others were made too fast for this machine.
async fn confirmed(
    suspects: Vec<String>,
    known: &[&str],
    options: Options,
) -> Result<Vec<Red>, String> {
    if suspects.is_empty() {
        return Ok(Vec::new());
    }
    let again = Options {
        patience: PATIENT,
        delivery_patience: PATIENT,
        selection: Selection {
            // What is seen of invariants is seen in everything that is said.
            run: match suspects.iter().any(|check| is_invariant(check)) {
                true => options.selection.run.clone(),
                false => suspects.clone(),
            },
            // They would wait for what never comes.
            skip: known.iter().map(|&check| check.to_owned()).collect(),
            ..Selection::default()
        },
        ..options
    };
    let results = made(&again).await?;
    let suspected = |result: &&CheckResult| suspects.contains(&result.id) && is_red(result);
    Ok(results.iter().filter(suspected).map(Red::of).collect())
}

/// The checks of these ids, and something to see invariants in.
fn only(options: Options, checks: &[&str]) -> Options {
    let seen = checks.iter().any(|check| is_invariant(check));
    let probes = PROBES.iter().filter(|_| seen);
    Options {
        selection: Selection {
            run: checks
                .iter()
                .chain(probes)
                .map(|&check| check.to_owned())
                .collect(),
            ..Selection::default()
        },
        ..options
    }
}

/// The checks that are about the same as these, and `more`.
fn near(options: Options, checks: &[&str], more: &[&str]) -> Options {
    let area = |check: &&str| check.split_once('.').map(|(area, _)| format!("{area}.*"));
    let mut near = only(options, &[checks, more].concat());
    near.selection.run.extend(checks.iter().filter_map(area));
    near
}

fn in_place(options: Options, (dialect, binding): Place) -> Options {
    Options {
        dialects: vec![dialect],
        bindings: vec![binding],
        ..options
    }
}

fn is_invariant(check: &str) -> bool {
    invariants().any(|(id, ..)| id == check)
}

fn is_in(result: &CheckResult, (dialect, binding): &Place) -> bool {
    let binding = binding.to_string();
    let is = |told: &Option<String>, own: &str| told.as_deref().is_none_or(|told| told == own);
    is(&result.dialect, dialect.version()) && is(&result.binding, &binding)
}

async fn made(options: &Options) -> Result<Vec<CheckResult>, String> {
    let mut made = run(options, |_, _| {}).await;
    if let Err(NoRun::Unreachable(_)) = &made {
        // It is there, and was too slow on this machine.
        let patient = Options {
            patience: PATIENT,
            delivery_patience: PATIENT,
            ..options.clone()
        };
        made = run(&patient, |_, _| {}).await;
    }
    made.map(|run| run.checks)
        .map_err(|error| error.to_string())
}

/// The checks of a run that are not met.
pub(super) fn reds(run: &Run) -> impl Iterator<Item = Red> {
    run.checks
        .iter()
        .filter(|result| is_red(result))
        .map(Red::of)
}

pub(super) fn told((dialect, binding): &Place) -> String {
    format!("{} {binding}", dialect.version())
}

/// Returns the options of a test of an agent wherever it can be right.
pub(super) fn options(stand: &Stand, subject: &Subject) -> Options {
    let http = match subject {
        Subject::Control(Control::Http2) => HttpClient::builder().http2_only().build(),
        _ => HttpClient::default(),
    };
    let patience = match subject {
        Subject::Mutant(bug) if bug.story().alone => PATIENT,
        Subject::Mutant(_) => IMPATIENT,
        Subject::Reference | Subject::Control(_) => PATIENT,
    };
    Options {
        profile: match subject {
            Subject::Control(control) => control.profile(),
            Subject::Reference | Subject::Mutant(_) => Profile::Instrumented,
        },
        dialects: match subject {
            Subject::Control(control) => control.dialects().to_vec(),
            Subject::Reference | Subject::Mutant(_) => Vec::new(),
        },
        headers: credentials(false),
        second_headers: credentials(true),
        forbidden_headers: forbidden(),
        card_keys: Some(stand.keys.clone()),
        patience,
        delivery_patience: patience * 3,
        jobs: match subject {
            Subject::Mutant(bug) if bug.story().alone => 1,
            _ => 16,
        },
        http,
        ..Options::of(&stand.url)
    }
}

/// Time limit for what comes, however slow the machine.
const PATIENT: Duration = Duration::from_secs(30);
/// Time limit for what may never come.
const IMPATIENT: Duration = Duration::from_millis(1200);

/// Checks by which most of what an agent can say is said.
const PROBES: &[&str] = &[
    "send.task-or-message",
    "task.get-unknown",
    "list.pages",
    "stream.opens",
    "stream.subscribe-goes-on",
];
