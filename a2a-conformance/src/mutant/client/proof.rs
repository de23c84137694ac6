//! Runs of the suite against a client, for which it is known what must be found.

use std::time::Instant;

use super::{Bug, Subject};
use crate::client::{Driver, Selection, WAYS, Way, cases};
use crate::mutant::proof::is_red;
use crate::mutant::{Extent, Proof, Red};
use crate::requirement::Role;

/// Runs the suite against a mutant or a control.
///
/// Errors: why there was no run.
pub async fn prove(subject: Subject, extent: Extent) -> Result<Proof, String> {
    let began = Instant::now();
    let driver = Driver::of(subject);
    let mut proof = match subject {
        Subject::Mutant(bug) => prove_mutant(bug, extent, &driver).await?,
        Subject::Ours | Subject::Control(_) => prove_right(subject, extent, &driver).await?,
    };
    proof.seconds = began.elapsed().as_secs_f64();
    Ok(proof)
}

/// Nothing may be red.
async fn prove_right(subject: Subject, extent: Extent, driver: &Driver) -> Result<Proof, String> {
    let all = Selection {
        scale: PATIENT,
        ..match extent {
            Extent::Whole => Selection::default(),
            Extent::Brief => in_way(place_of(subject)),
        }
    };
    let results = all.run(driver, |_| {}).await?;
    let mut proof = Proof::new(Role::Client, subject.name(), subject.says(), &[]);
    let red = proof.note_others(&results, &[]);
    proof.collateral = red.into_iter().map(Red::of).collect();
    Ok(proof)
}

/// One of the ways: not the same for all.
fn place_of(subject: Subject) -> Way {
    let number = match subject {
        Subject::Control(control) => control as usize,
        _ => 0,
    };
    WAYS[number % WAYS.len()]
}

/// Proves that its check catches the mutant wherever that applies, and that no other does in one way.
async fn prove_mutant(bug: Bug, extent: Extent, driver: &Driver) -> Result<Proof, String> {
    let mutant = bug.mutant();
    let named = mutant.caught_by;
    let mut proof = Proof::new(Role::Client, mutant.id, mutant.says, &[named]);
    let case = cases()?.iter().find(|case| case.id == named);
    let way = case.and_then(|case| case.ways().next());
    let way = way.ok_or_else(|| format!("{}: there is no check {named}", mutant.id))?;
    let selection = Selection {
        run: vec![named.to_owned()],
        ..match extent {
            Extent::Whole => Selection::default(),
            Extent::Brief => in_way(way),
        }
    };
    let results = selection.run(driver, |_| {}).await?;
    proof.note_wanted(named, &results);
    let others = Selection {
        run: match extent.is_wide(bug as usize) {
            true => Vec::new(),
            false => near(named, mutant.collateral),
        },
        skip: vec![named.to_owned()],
        ..in_way(way)
    };
    let results = others.run(driver, |_| {}).await?;
    let suspects = proof.note_others(&results, mutant.collateral);
    let suspects = suspects.into_iter().map(|result| result.id.clone());
    let suspects: Vec<_> = suspects.collect();
    if !suspects.is_empty() {
        // Some may only have been too slow on this machine.
        let again = Selection {
            run: suspects,
            scale: PATIENT,
            ..in_way(way)
        };
        let results = again.run(driver, |_| {}).await?;
        let red = results.iter().filter(|result| is_red(result));
        proof.collateral = red.map(Red::of).collect();
    }
    Ok(proof)
}

/// The checks that may catch it, too, and those whose names begin alike: `client.stream-…`.
fn near(named: &str, more: &[&str]) -> Vec<String> {
    let kind = named.split('-').next().unwrap_or_default();
    let more = more.iter().map(|&check| check.to_owned());
    let near = more.chain([format!("{kind}*"), "client.reads-*".to_owned()]);
    near.collect()
}

fn in_way(way: Way) -> Selection {
    Selection {
        dialects: vec![way.dialect],
        bindings: vec![way.binding],
        ..Selection::default()
    }
}

/// Factor on the time of clients that should be green, for slow machines.
const PATIENT: f64 = 6.0;
