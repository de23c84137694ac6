//! Runs of the suite against an agent, for which it is known what must be found.

use std::time::{Duration, Instant};

use a2a_transport::http::HttpClient;

use super::bug::Bug;
use super::control::Control;
use super::running_agent::{AgentSubject, RunningAgent};
use crate::proof::is_failed;
use crate::{Extent, FailedCheck, Proof};
use a2a_conformance::agent::{Options, RunError, Selection, invariants, run};
use a2a_conformance::case::Profile;
use a2a_conformance::interface_kind::InterfaceKind;
use a2a_conformance::record::{CheckResult, Run};
use a2a_conformance::requirement::Role;

/// Runs the suite against a mutant or a control.
///
/// Errors: why there was no run.
pub async fn prove(subject: &AgentSubject, extent: Extent) -> Result<Proof, String> {
    let began = Instant::now();
    let stand = RunningAgent::open(subject).await;
    let stand = stand.map_err(|error| error.to_string())?;
    let options = options(&stand, subject);
    let mut proof = match subject {
        AgentSubject::Mutant(bug) => prove_mutant(*bug, extent, options).await?,
        AgentSubject::Reference | AgentSubject::Control(_) => {
            prove_right(subject, extent, options).await?
        }
    };
    proof.seconds = began.elapsed().as_secs_f64();
    Ok(proof)
}

/// Proves that no check fails.
async fn prove_right(
    subject: &AgentSubject,
    extent: Extent,
    options: Options,
) -> Result<Proof, String> {
    let options = match extent {
        Extent::Whole => options,
        Extent::Brief => {
            let interface = interface_of(subject);
            on_interface(options, interface.ok_or("it is right nowhere")?)
        }
    };
    let results = made(&options).await?;
    let mut proof = Proof::new(Role::Agent, subject.name(), subject.says(), &[]);
    let red = proof.note_others(&results, &[]);
    proof.collateral = red.into_iter().map(FailedCheck::of).collect();
    Ok(proof)
}

/// Returns an interface on which the subject is correct: not the same for all subjects.
fn interface_of(subject: &AgentSubject) -> Option<InterfaceKind> {
    let (control, number) = match subject {
        AgentSubject::Control(control) => (Some(control), *control as usize),
        _ => (None, 0),
    };
    let is_right = |interface: &&InterfaceKind| {
        control.is_none_or(|control| {
            control
                .protocol_versions()
                .contains(&interface.protocol_version)
        })
    };
    let interfaces: Vec<_> = InterfaceKind::ALL.iter().filter(is_right).collect();
    let interface = interfaces.get(number % interfaces.len().max(1)).copied();
    interface.copied()
}

async fn prove_mutant(bug: Bug, extent: Extent, options: Options) -> Result<Proof, String> {
    let mutant = bug.mutant();
    let first = mutant.interfaces.first().copied();
    let first = first.ok_or_else(|| format!("{} shows nowhere", bug.name()))?;
    let mut proof = Proof::new(Role::Agent, bug.name(), &mutant.says, &mutant.caught_by);
    let there = on_interface(options.clone(), first);
    let there = match extent.is_wide(bug as usize) {
        true => there,
        false => near(there, &mutant.caught_by, &mutant.may_fail),
    };
    let mut results = made(&there).await?;
    let suspects = proof.note_others(&results, &mutant.may_fail);
    let suspects = suspects.into_iter().map(|result| result.id.clone());
    let expected_to_fail = [mutant.caught_by.as_slice(), &mutant.may_fail].concat();
    proof.collateral = confirmed(suspects.collect(), expected_to_fail, there).await?;
    let mut interfaces = vec![first];
    if extent == Extent::Whole {
        interfaces = mutant.interfaces.clone();
        results = made(&only(options, &mutant.caught_by)).await?;
    }
    let shows =
        |result: &&CheckResult| interfaces.iter().any(|interface| is_in(result, *interface));
    for check in &mutant.caught_by {
        proof.note_wanted(check, results.iter().filter(shows));
    }
    let elsewhere = results.iter().filter(|result| !shows(result));
    let elsewhere =
        elsewhere.filter(|result| proof.wanted.contains(&result.id) && is_failed(result));
    let elsewhere: Vec<_> = elsewhere.map(FailedCheck::of).collect();
    proof.collateral.extend(elsewhere);
    Ok(proof)
}

/// Returns the failed checks that also fail with long timeouts: the others
/// failed because the machine is slow.
async fn confirmed(
    suspects: Vec<String>,
    expected_to_fail: Vec<String>,
    options: Options,
) -> Result<Vec<FailedCheck>, String> {
    if suspects.is_empty() {
        return Ok(Vec::new());
    }
    // Invariants need the exchanges in which they were observed.
    let (run, skip) = match suspects.iter().any(|check| is_invariant(check)) {
        true => (options.selection.run.clone(), Vec::new()),
        // The others would wait for events that never come.
        false => (suspects.clone(), expected_to_fail),
    };
    let again = Options {
        response_timeout: LONG_TIMEOUT,
        delivery_timeout: LONG_TIMEOUT,
        selection: Selection {
            run,
            skip,
            ..Selection::default()
        },
        ..options
    };
    let results = made(&again).await?;
    let suspected = |result: &&CheckResult| suspects.contains(&result.id) && is_failed(result);
    Ok(results
        .iter()
        .filter(suspected)
        .map(FailedCheck::of)
        .collect())
}

/// Returns options that select these checks, and probes if invariants are among them.
fn only(options: Options, checks: &[String]) -> Options {
    let seen = checks.iter().any(|check| is_invariant(check));
    let probes = PROBES.iter().filter(|_| seen);
    Options {
        selection: Selection {
            run: checks
                .iter()
                .cloned()
                .chain(probes.map(|&check| check.to_owned()))
                .collect(),
            ..Selection::default()
        },
        ..options
    }
}

/// Returns options that select these checks, all checks of the same areas, and `more`.
fn near(options: Options, checks: &[String], more: &[String]) -> Options {
    let area = |check: &String| check.split_once('.').map(|(area, _)| format!("{area}.*"));
    let mut near = only(options, &[checks, more].concat());
    near.selection.run.extend(checks.iter().filter_map(area));
    near
}

fn on_interface(options: Options, interface: InterfaceKind) -> Options {
    Options {
        protocol_versions: vec![interface.protocol_version],
        bindings: vec![interface.binding],
        ..options
    }
}

fn is_invariant(check: &str) -> bool {
    invariants().any(|(id, ..)| id == check)
}

fn is_in(result: &CheckResult, interface: InterfaceKind) -> bool {
    let binding = interface.binding.to_string();
    let is = |found: &Option<String>, own: &str| found.as_deref().is_none_or(|found| found == own);
    is(
        &result.protocol_version,
        interface.protocol_version.version(),
    ) && is(&result.binding, &binding)
}

async fn made(options: &Options) -> Result<Vec<CheckResult>, String> {
    let mut made = run(options, |_, _| {}).await;
    if let Err(RunError::Unreachable(_)) = &made {
        // The agent is running, and was too slow on this machine.
        let patient = Options {
            response_timeout: LONG_TIMEOUT,
            delivery_timeout: LONG_TIMEOUT,
            ..options.clone()
        };
        made = run(&patient, |_, _| {}).await;
    }
    made.map(|run| run.checks)
        .map_err(|error| error.to_string())
}

/// The checks of a run that are not met.
pub(super) fn failed_checks(run: &Run) -> impl Iterator<Item = FailedCheck> {
    run.checks
        .iter()
        .filter(|result| is_failed(result))
        .map(FailedCheck::of)
}

/// Returns the options of a test of an agent wherever it can be right.
pub(super) fn options(stand: &RunningAgent, subject: &AgentSubject) -> Options {
    let options = stand.options();
    let http = match subject {
        AgentSubject::Control(Control::Http2) => HttpClient::builder().http2_only().build(),
        _ => options.http.clone(),
    };
    let response_timeout = match subject {
        AgentSubject::Mutant(bug) if bug.mutant().alone => LONG_TIMEOUT,
        AgentSubject::Mutant(_) => IMPATIENT,
        AgentSubject::Reference | AgentSubject::Control(_) => LONG_TIMEOUT,
    };
    Options {
        profile: match subject {
            AgentSubject::Control(control) => control.profile(),
            AgentSubject::Reference | AgentSubject::Mutant(_) => Profile::Instrumented,
        },
        protocol_versions: match subject {
            AgentSubject::Control(control) => control.protocol_versions().to_vec(),
            AgentSubject::Reference | AgentSubject::Mutant(_) => Vec::new(),
        },
        card_keys: Some(stand.keys.clone()),
        response_timeout,
        delivery_timeout: response_timeout * 3,
        jobs: match subject {
            AgentSubject::Mutant(bug) if bug.mutant().alone => 1,
            _ => 16,
        },
        http,
        ..options
    }
}

/// Timeout of responses that must come, even on a slow machine.
const LONG_TIMEOUT: Duration = Duration::from_secs(30);
/// Timeout of responses that may never come.
const IMPATIENT: Duration = Duration::from_millis(1200);

/// Checks that exercise most responses of an agent.
const PROBES: &[&str] = &[
    "send.task-or-message",
    "task.get-unknown",
    "list.pages",
    "stream.opens",
    "stream.closes",
    "stream.subscribe-goes-on",
    "stream.subscribe-unknown",
];
