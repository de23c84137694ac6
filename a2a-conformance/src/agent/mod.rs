//! The suite against an agent.
//!
//! ```text
//! card ─► interfaces (version × binding) ─► cases, each step: write ─ HTTP ─ read ─► expected result
//!                                                   └► invariants: what holds in every exchange
//! ```

mod call_step;
mod callers;
mod case_run;
mod connection_hints;
mod event_stream;
mod expectation;
mod forged_tokens;
mod grpc;
mod handshake;
mod interface;
mod options;
mod patience;
mod prerequisites;
mod process;
mod rules;
mod steps;
mod stream_step;
mod target;
mod title_case_headers;
mod webhook;

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use futures_util::stream::{self as streams, StreamExt};

use self::callers::Callers;
use self::case_run::{CaseRun, StopReason};
use self::interface::Interface;
pub use self::options::{Options, RunError, Selection};
pub use self::process::Process;
#[cfg(test)]
pub(crate) use self::rules::is_known as is_rule;
use self::target::Target;
use crate::case::{Case, CasePhase, CaseScope, Profile};
use crate::catalogue;
use crate::judge::invariants::INVARIANTS;
use crate::judge::result::{
    combine_repetitions, initial_result, invariant_result, merge_invariant, narrow_requirements,
    unmet_verdict,
};
use crate::record::{CheckResult, FORMAT, Run, Settings, Target as Tested, Verdict};
use crate::requirement::{Level, Role};

/// Tests an agent. `progress` is called with the number of checks made, and of all checks.
pub async fn run(
    options: &Options,
    mut progress: impl FnMut(usize, usize),
) -> Result<Run, RunError> {
    let report = |state: RunProgress<'_>| progress(state.completed, state.total);
    run_until(options, pending(), report).await
}

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunProgress<'r> {
    /// Number of checks made.
    pub completed: usize,
    /// Number of checks to make.
    pub total: usize,
    /// Result of the last check; `None` at the beginning.
    pub last: Option<&'r CheckResult>,
}

/// Tests an agent until all checks are made or `stop` completes: then the run has the results so far, and
/// the [number of checks not made](Run::not_made).
///
/// Errors: there was no run, for the reason that [`RunError`] names.
pub async fn run_until(
    options: &Options,
    stop: impl Future<Output = ()>,
    mut progress: impl FnMut(RunProgress<'_>),
) -> Result<Run, RunError> {
    let (began, started) = (Instant::now(), jiff::Timestamp::now());
    let cases = catalogue::agent_cases().map_err(RunError::Broken)?;
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
        return Err(RunError::NoCheckSelected);
    }
    let callers = Arc::new(Callers::of(options));
    let mut stop = pin!(stop);
    let target = tokio::select! {
        target = Target::find(options, &callers) => target.map_err(RunError::Unreachable)?,
        () = &mut stop => return Err(RunError::Interrupted),
    };
    let offered = target.card.supported_interfaces.iter().map(|declared| {
        format!(
            "{} {} at `{}`",
            declared.protocol_binding, declared.protocol_version, declared.url
        )
    });
    let offered: Vec<_> = offered.collect();
    if target.interfaces.is_empty() {
        return Err(RunError::NoInterface(match offered.is_empty() {
            true => "none".to_owned(),
            false => offered.join(", "),
        }));
    }
    // Invariants are checked in every exchange: all cases run if only invariants are wanted.
    let are_only_invariants = chosen.is_empty();
    let selected: Vec<&Case> = match are_only_invariants {
        true => cases.iter().collect(),
        false => chosen,
    };
    let phases = CasePhase::ALL.map(|phase| {
        let of_phase = selected.iter().copied().filter(|case| case.phase == phase);
        let mut jobs = jobs(&target, of_phase);
        if !are_only_invariants {
            jobs.retain(|(interface, case)| selection.wants(&case.id, level_of(case, interface)));
        }
        jobs
    });
    let total = phases.iter().map(Vec::len).sum();
    let mut results = Vec::new();
    progress(RunProgress {
        completed: 0,
        total,
        last: None,
    });
    'making: for jobs in phases {
        let checks = jobs
            .into_iter()
            .map(|(interface, case)| check(options, &target, interface, case));
        let mut checking = pin!(streams::iter(checks).buffer_unordered(options.jobs.max(1)));
        loop {
            let result = tokio::select! {
                result = checking.next() => result,
                () = &mut stop => break 'making,
            };
            let Some(result) = result else { break };
            let completed = results.len() + 1;
            progress(RunProgress {
                completed,
                total,
                last: Some(&result),
            });
            results.push(result);
        }
    }
    let not_made = total - results.len();
    results.retain(|result: &CheckResult| selection.wants(&result.id, result.level));
    for interface in &target.interfaces {
        let of_interface = invariants.iter().filter(|known| {
            let level = known.level_in(interface.protocol_version, interface.binding);
            known.applies(interface.protocol_version, interface.binding)
                && selection.wants(known.id, level)
        });
        for invariant in of_interface {
            merge_invariant(&mut results, invariant_result(invariant, &interface.judge));
        }
    }
    results.sort_by_key(|result| {
        let interface = (result.protocol_version.clone(), result.binding.clone());
        (interface, result.id.clone())
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
    let protocol_versions = options.protocol_versions.iter().map(ToString::to_string);
    let bindings = options.bindings.iter().map(ToString::to_string);
    let filters: BTreeMap<_, Vec<_>> = [
        ("run", selection.run.clone()),
        ("skip", selection.skip.clone()),
        ("level", levels.map(str::to_owned).collect()),
        ("protocol-version", protocol_versions.collect()),
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

/// Returns every case with each interface on which it runs.
fn jobs<'t>(
    target: &'t Target,
    cases: impl Iterator<Item = &'t Case>,
) -> Vec<(&'t Interface, &'t Case)> {
    let mut jobs = Vec::new();
    for case in cases {
        let interfaces = target.interfaces.iter();
        let mut interfaces: Vec<_> = interfaces
            .filter(|interface| case.applies(interface.protocol_version, interface.binding))
            .collect();
        match case.per {
            CaseScope::Interface => {}
            CaseScope::Version => interfaces.dedup_by_key(|interface| interface.protocol_version),
            // The latest version.
            CaseScope::Agent => drop(interfaces.drain(..interfaces.len().saturating_sub(1))),
        }
        jobs.extend(interfaces.into_iter().map(|interface| (interface, case)));
    }
    jobs
}

/// Makes one check on one interface, as often as the options say.
async fn check(
    options: &Options,
    target: &Target,
    interface: &Interface,
    case: &Case,
) -> CheckResult {
    let mut results = Vec::new();
    for _ in 0..options.repeat.max(1) {
        results.push(check_once(options, target, interface, case).await);
    }
    combine_repetitions(results)
}

/// Returns the level of a case on an interface; the binding counts only if the case runs in each.
fn level_of(case: &Case, interface: &Interface) -> Level {
    let binding = match case.per {
        CaseScope::Interface => Some(interface.binding),
        CaseScope::Version | CaseScope::Agent => None,
    };
    case.level_in(interface.protocol_version, binding)
}

async fn check_once(
    options: &Options,
    target: &Target,
    interface: &Interface,
    case: &Case,
) -> CheckResult {
    let began = Instant::now();
    let level = level_of(case, interface);
    let mut result = initial_result(&case.id, &case.title, level, &interface.judge);
    match case.per {
        CaseScope::Interface => {}
        CaseScope::Version => result.binding = None,
        CaseScope::Agent => (result.protocol_version, result.binding) = (None, None),
    }
    if let Some((verdict, reason)) = prerequisites::missing(target, case, interface, options).await
    {
        (result.verdict, result.reason) = (verdict, Some(reason));
        return result;
    }
    let mut case_run = CaseRun::new(target, interface, &options.prompt);
    let ending = steps::run(&mut case_run, case).await;
    result.seconds = began.elapsed().as_secs_f64();
    let reason = |text: &str| Some(text.to_owned());
    let is_unmet = !case_run.mismatches.is_empty();
    (result.verdict, result.reason) = match ending {
        _ if is_unmet => (unmet_verdict(level), None),
        Err(StopReason::OperationNotInVersion) => {
            let reason_text = "this version has no such operation";
            (Verdict::NotApplicable, reason(reason_text))
        }
        Err(StopReason::NotApplicable(reason_text)) => (Verdict::NotApplicable, Some(reason_text)),
        Err(StopReason::InvalidCase(problem)) => (Verdict::HarnessError, Some(problem)),
        Err(StopReason::SetupFailed(problem)) => (Verdict::SetupFailed, Some(problem)),
        _ if case_run.leniences.is_empty() => (Verdict::Pass, None),
        _ => (Verdict::PassLenient, Some(case_run.leniences.join("; "))),
    };
    if result.verdict != Verdict::Pass {
        result.evidence = case_run.evidence;
    }
    result.mismatches = case_run.mismatches;
    narrow_requirements(&mut result);
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
