//! The suite against an agent.
//!
//! ```text
//! card ─► lanes (version × binding) ─► cases, each step: write ─ HTTP ─ read ─► what had to come
//!                                              └► invariants: what holds in every exchange
//! ```

mod answer;
mod capitals;
mod content;
mod conversation;
mod delivery;
mod errors;
mod event;
mod expectation;
mod following;
mod judge;
mod known;
mod lack;
mod lane;
mod observed;
mod options;
mod process;
mod protojson;
mod result;
mod rules;
mod step;
mod stream;
mod tail;
mod target;
mod unreachable;
mod webhook;

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use futures_util::stream::{self as streams, StreamExt};

use self::conversation::{Conversation, Stop};
use self::lane::{Callers, Lane};
pub(crate) use self::observed::INVARIANTS;
pub use self::options::{NoRun, Options, Selection};
pub use self::process::Process;
use self::result::{empty, merged, repeated, seen, unmet};
#[cfg(test)]
pub(crate) use self::rules::is_known as is_rule;
use self::target::Target;
use crate::case::{Case, Per, Profile};
use crate::catalogue;
use crate::requirement::{Level, Role};
use crate::run::{CheckResult, FORMAT, Run, Settings, Target as Tested, Verdict};

/// Tests an agent. `progress` is called with the number of checks made, and of all checks.
pub async fn run(options: &Options, mut progress: impl FnMut(usize, usize)) -> Result<Run, NoRun> {
    let told = |so_far: SoFar<'_>| progress(so_far.made, so_far.of);
    run_until(options, pending(), told).await
}

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct SoFar<'r> {
    /// Number of checks made.
    pub made: usize,
    /// Number of checks to make.
    pub of: usize,
    /// Result of the last check; `None` at the beginning.
    pub last: Option<&'r CheckResult>,
}

/// Tests an agent until all checks are made or `stop` completes: then the run has the results so far, and
/// the [number of checks not made](Run::not_made).
///
/// Errors: there was no run, for the reason that [`NoRun`] names.
pub async fn run_until(
    options: &Options,
    stop: impl Future<Output = ()>,
    mut progress: impl FnMut(SoFar<'_>),
) -> Result<Run, NoRun> {
    let (began, started) = (Instant::now(), jiff::Timestamp::now());
    let cases = catalogue::agent_cases().map_err(NoRun::Broken)?;
    let selection = &options.selection;
    let chosen: Vec<_> = cases
        .iter()
        .filter(|case| selection.names(&case.id))
        .collect();
    let invariants = INVARIANTS.iter();
    let invariants: Vec<_> = invariants
        .filter(|invariant| selection.names(invariant.id))
        .collect();
    if chosen.is_empty() && invariants.is_empty() {
        return Err(NoRun::NothingChosen);
    }
    let callers = Arc::new(Callers {
        first: options.headers.clone(),
        second: options.second_headers.clone(),
        forbidden: options.forbidden_headers.clone(),
    });
    let mut stop = pin!(stop);
    let target = tokio::select! {
        target = Target::find(options, &callers) => target.map_err(NoRun::Unreachable)?,
        () = &mut stop => return Err(NoRun::Interrupted),
    };
    let offered = target.card.supported_interfaces.iter().map(|interface| {
        format!(
            "{} {}",
            interface.protocol_binding, interface.protocol_version
        )
    });
    let offered: Vec<_> = offered.collect();
    if target.lanes.is_empty() {
        return Err(NoRun::NoLane(offered.join(", ")));
    }
    // Invariants are checked in every exchange: all cases run if only invariants are wanted.
    let are_only_invariants = chosen.is_empty();
    let said: Vec<&Case> = match are_only_invariants {
        true => cases.iter().collect(),
        false => chosen,
    };
    let (last, first): (Vec<_>, Vec<_>) = said.into_iter().partition(|case| case.last);
    let jobs = |cases: &[_]| {
        let mut jobs = jobs(&target, cases);
        if !are_only_invariants {
            jobs.retain(|(lane, case)| selection.wants(&case.id, level_of(case, lane)));
        }
        jobs
    };
    let (first, last) = (jobs(&first), jobs(&last));
    let total = first.len() + last.len();
    let mut results = Vec::new();
    progress(SoFar {
        made: 0,
        of: total,
        last: None,
    });
    'making: for jobs in [first, last] {
        let checks = jobs
            .into_iter()
            .map(|(lane, case)| check(options, &target, lane, case));
        let mut checking = pin!(streams::iter(checks).buffer_unordered(options.jobs.max(1)));
        loop {
            let result = tokio::select! {
                result = checking.next() => result,
                () = &mut stop => break 'making,
            };
            let Some(result) = result else { break };
            let made = results.len() + 1;
            progress(SoFar {
                made,
                of: total,
                last: Some(&result),
            });
            results.push(result);
        }
    }
    let not_made = total - results.len();
    results.retain(|result: &CheckResult| selection.wants(&result.id, result.level));
    for lane in &target.lanes {
        let of_lane = invariants.iter().filter(|known| {
            let level = known.level_in(lane.dialect, lane.binding);
            known.applies(lane.dialect, lane.binding) && selection.wants(known.id, level)
        });
        for invariant in of_lane {
            merged(&mut results, seen(invariant, lane));
        }
    }
    results.sort_by_key(|result| {
        let lane = (result.dialect.clone(), result.binding.clone());
        (lane, result.id.clone())
    });
    Ok(Run {
        format: FORMAT.to_owned(),
        suite: env!("CARGO_PKG_VERSION").to_owned(),
        target: Tested {
            role: Some(Role::Agent),
            place: options.url.clone(),
            name: target.card.name.clone(),
            version: target.card.version.clone(),
            server: target.server.clone(),
            interfaces: offered,
        },
        settings: settings(options),
        began: started.to_string(),
        seconds: began.elapsed().as_secs_f64(),
        checks: results,
        not_made,
        ..Run::default()
    })
}

fn settings(options: &Options) -> Settings {
    let selection = &options.selection;
    let levels = selection.levels.iter().map(|level| match level {
        Level::Must => "must",
        Level::Should => "should",
        Level::May => "may",
    });
    let dialects = options.dialects.iter().map(ToString::to_string);
    let bindings = options.bindings.iter().map(ToString::to_string);
    let filters: BTreeMap<_, Vec<_>> = [
        ("run", selection.run.clone()),
        ("skip", selection.skip.clone()),
        ("level", levels.map(str::to_owned).collect()),
        ("dialect", dialects.collect()),
        ("binding", bindings.collect()),
    ]
    .into_iter()
    .filter(|(_, values)| !values.is_empty())
    .map(|(name, values)| (name.to_owned(), values))
    .collect();
    Settings {
        profile: match options.profile {
            Profile::BlackBox => "black-box".to_owned(),
            Profile::Instrumented => "instrumented".to_owned(),
        },
        seed: 0,
        repeat: options.repeat,
        strict: false,
        filters,
    }
}

/// Returns every case with each lane in which it runs.
fn jobs<'t>(target: &'t Target, cases: &[&'t Case]) -> Vec<(&'t Lane, &'t Case)> {
    let mut jobs = Vec::new();
    for case in cases {
        let lanes = target.lanes.iter();
        let mut lanes: Vec<_> = lanes
            .filter(|lane| case.applies(lane.dialect, lane.binding))
            .collect();
        match case.per {
            Per::Lane => {}
            Per::Version => lanes.dedup_by_key(|lane| lane.dialect),
            // The latest version.
            Per::Agent => drop(lanes.drain(..lanes.len().saturating_sub(1))),
        }
        jobs.extend(lanes.into_iter().map(|lane| (lane, *case)));
    }
    jobs
}

/// Makes one check in one lane, as often as the options say.
async fn check(options: &Options, target: &Target, lane: &Lane, case: &Case) -> CheckResult {
    let mut results = Vec::new();
    for _ in 0..options.repeat.max(1) {
        results.push(check_once(options, target, lane, case).await);
    }
    repeated(results)
}

/// Returns the level of a case in a lane; the binding counts only if the case runs in each.
fn level_of(case: &Case, lane: &Lane) -> Level {
    let binding = match case.per {
        Per::Lane => Some(lane.binding),
        Per::Version | Per::Agent => None,
    };
    case.level_in(lane.dialect, binding)
}

async fn check_once(options: &Options, target: &Target, lane: &Lane, case: &Case) -> CheckResult {
    let began = Instant::now();
    let level = level_of(case, lane);
    let mut result = empty(&case.id, &case.title, level, lane);
    match case.per {
        Per::Lane => {}
        Per::Version => result.binding = None,
        Per::Agent => (result.dialect, result.binding) = (None, None),
    }
    if let Some((verdict, reason)) = target.lacks(case, lane, options).await {
        (result.verdict, result.reason) = (verdict, Some(reason));
        return result;
    }
    let mut conversation = Conversation::new(target, lane, &options.prompt);
    let held = conversation.hold(case).await;
    result.seconds = began.elapsed().as_secs_f64();
    let reason = |text: &str| Some(text.to_owned());
    let is_unmet = !conversation.mismatches.is_empty();
    (result.verdict, result.reason) = match held {
        _ if is_unmet => (unmet(level), None),
        Err(Stop::NotSpoken) => {
            let told = "this version has no such operation";
            (Verdict::NotApplicable, reason(told))
        }
        Err(Stop::NotApplicable(told)) => (Verdict::NotApplicable, Some(told)),
        Err(Stop::Nonsense(problem)) => (Verdict::HarnessError, Some(problem)),
        _ if conversation.leniences.is_empty() => (Verdict::Pass, None),
        _ => (
            Verdict::PassLenient,
            Some(conversation.leniences.join("; ")),
        ),
    };
    if result.verdict != Verdict::Pass {
        result.evidence = conversation.evidence;
    }
    result.mismatches = conversation.mismatches;
    result
}

/// Returns the id, title and level of every invariant.
pub fn invariants() -> impl Iterator<Item = (&'static str, &'static str, Level)> {
    INVARIANTS
        .iter()
        .map(|invariant| (invariant.id, invariant.title, invariant.level))
}

/// Returns the ids of all checks of agents.
pub fn check_ids() -> Result<BTreeSet<String>, String> {
    let cases = catalogue::agent_cases()?;
    let of_cases = cases.iter().map(|case| case.id.clone());
    Ok(of_cases
        .chain(invariants().map(|(id, ..)| id.to_owned()))
        .collect())
}
