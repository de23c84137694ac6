//! Runs of the suite against a client, for which it is known what must be found.

use std::time::Instant;

use super::{Bug, ClientSubject};
use crate::proof::is_failed;
use crate::reference_client::connect;
use crate::{Extent, FailedCheck, Proof};
use a2a_conformance::client::{Driver, Selection, cases};
use a2a_conformance::interface_kind::InterfaceKind;
use a2a_conformance::requirement::Role;

/// Runs the suite against a mutant or a control.
///
/// Errors: why there was no run.
pub async fn prove(subject: ClientSubject, extent: Extent) -> Result<Proof, String> {
    let began = Instant::now();
    let driver = Driver::connections(move || Ok(connect(subject)));
    let mut proof = match subject {
        ClientSubject::Mutant(bug) => prove_mutant(bug, extent, &driver).await?,
        ClientSubject::Reference | ClientSubject::Control(_) => {
            prove_right(subject, extent, &driver).await?
        }
    };
    proof.seconds = began.elapsed().as_secs_f64();
    Ok(proof)
}

/// Proves that no check fails.
async fn prove_right(
    subject: ClientSubject,
    extent: Extent,
    driver: &Driver,
) -> Result<Proof, String> {
    let all = Selection {
        scale: SLOW_MACHINE_SCALE,
        ..match extent {
            Extent::Whole => everywhere(),
            Extent::Brief => on_interface(interface_of(subject)),
        }
    };
    let results = all.run(driver, |_| {}).await?;
    let mut proof = Proof::new(Role::Client, subject.name(), subject.says(), &[]);
    let red = proof.note_others(&results, &[]);
    proof.collateral = red.into_iter().map(FailedCheck::of).collect();
    Ok(proof)
}

/// Returns an interface: not the same for all subjects.
fn interface_of(subject: ClientSubject) -> InterfaceKind {
    let number = match subject {
        ClientSubject::Control(control) => control as usize,
        _ => 0,
    };
    InterfaceKind::ALL[number % InterfaceKind::ALL.len()]
}

/// Proves that its check catches the mutant on every interface to which it applies, and that no
/// other check fails on one interface.
async fn prove_mutant(bug: Bug, extent: Extent, driver: &Driver) -> Result<Proof, String> {
    let mutant = bug.mutant();
    let [named] = mutant.caught_by.as_slice() else {
        return Err(format!("{} has not one check that catches it", mutant.name));
    };
    let mut proof = Proof::new(Role::Client, &mutant.name, &mutant.says, &mutant.caught_by);
    let case = cases()?.iter().find(|case| case.id == *named);
    let interface = case.and_then(|case| case.interface_kinds().next());
    let interface =
        interface.ok_or_else(|| format!("{}: there is no check {named}", mutant.name))?;
    let selection = Selection {
        run: vec![named.clone()],
        ..match extent {
            Extent::Whole => everywhere(),
            Extent::Brief => on_interface(interface),
        }
    };
    let results = selection.run(driver, |_| {}).await?;
    proof.note_wanted(named, &results);
    let others = Selection {
        run: match extent.is_wide(bug as usize) {
            true => Vec::new(),
            false => near(named, &mutant.may_fail),
        },
        skip: vec![named.clone()],
        ..on_interface(interface)
    };
    let results = others.run(driver, |_| {}).await?;
    let suspects = proof.note_others(&results, &mutant.may_fail);
    let suspects = suspects.into_iter().map(|result| result.id.clone());
    let suspects: Vec<_> = suspects.collect();
    if !suspects.is_empty() {
        // Some may only have been too slow on this machine.
        let again = Selection {
            run: suspects,
            scale: SLOW_MACHINE_SCALE,
            ..on_interface(interface)
        };
        let results = again.run(driver, |_| {}).await?;
        let red = results.iter().filter(|result| is_failed(result));
        proof.collateral = red.map(FailedCheck::of).collect();
    }
    Ok(proof)
}

/// Returns the checks that may also catch the mutant: `more`, and patterns of similar names like `client.stream*`.
fn near(named: &str, more: &[String]) -> Vec<String> {
    let kind = named.split('-').next().unwrap_or_default();
    let more = more.iter().cloned();
    let near = more.chain([format!("{kind}*"), "client.reads-*".to_owned()]);
    near.collect()
}

fn on_interface(interface: InterfaceKind) -> Selection {
    Selection {
        protocol_versions: vec![interface.protocol_version],
        bindings: vec![interface.binding],
        ..everywhere()
    }
}

fn everywhere() -> Selection {
    Selection {
        flood: Some(FLOOD),
        ..Selection::default()
    }
}

/// Bytes of an oversized body: more than the reference client takes and sockets keep, and little memory for a client that
/// takes all.
const FLOOD: u64 = 20 << 20;

/// Factor of the timeouts of clients that must pass, for slow machines.
const SLOW_MACHINE_SCALE: f64 = 6.0;
