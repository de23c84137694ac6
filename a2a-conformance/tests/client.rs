//! The suite as the agent: our client meets everything, and each broken one is caught by its check.

use std::time::Instant;

use a2a_conformance::client::{Driver, Selection, cases};
use a2a_conformance::mutant::client::{Mutant, mutants};
use a2a_conformance::run::{CheckResult, Verdict};
use futures_util::{StreamExt, stream};

/// Deadlines are for a machine that has other things to do, too.
const SCALE: f64 = 3.0;

/// What was not met, as text.
fn told(results: &[CheckResult]) -> String {
    let mut text = String::new();
    for result in results {
        let (binding, dialect) = (&result.binding, &result.dialect);
        text += &format!(
            "\n{:?} {} {binding:?} {dialect:?}",
            result.verdict, result.id
        );
        text += &format!(" {:?} {:#?}", result.reason, result.mismatches);
    }
    text
}

async fn unmet(driver: &Driver, selection: &Selection) -> Vec<CheckResult> {
    let results = selection.run(driver, |_| {}).await.unwrap();
    assert!(!results.is_empty());
    let is_met = |result: &CheckResult| result.verdict == Verdict::Pass;
    results
        .into_iter()
        .filter(|result| !is_met(result))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_meets_every_check() {
    let selection = Selection {
        scale: SCALE,
        ..Selection::default()
    };
    let unmet = unmet(&Driver::ours(), &selection).await;
    assert!(unmet.is_empty(), "{}", told(&unmet));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_mutant_is_caught_by_its_check_and_by_no_other() {
    let outcomes = stream::iter(mutants()).map(caught).buffer_unordered(3);
    let problems: Vec<String> = outcomes.filter_map(std::future::ready).collect().await;
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// What is wrong with how a mutant is caught: by its check wherever that applies, and by no other in
/// one way.
async fn caught(mutant: &Mutant) -> Option<String> {
    let began = Instant::now();
    let Mutant {
        id, bug, caught_by, ..
    } = mutant;
    let driver = Driver::broken(Some(*bug));
    let case = cases().unwrap().iter().find(|case| case.id == *caught_by);
    let case = case.unwrap_or_else(|| panic!("{id}: no check {caught_by}"));
    let named = Selection {
        run: vec![(*caught_by).to_owned()],
        ..Selection::default()
    };
    let mut problem = String::new();
    for result in named.run(&driver, |_| {}).await.unwrap() {
        if !matches!(result.verdict, Verdict::Fail | Verdict::Warn) {
            problem += &format!("{id} {bug:?} survives: {}\n", told(&[result]));
        }
    }
    let way = case.ways().next().unwrap();
    let all = Selection {
        skip: vec![(*caught_by).to_owned()],
        dialects: vec![way.dialect],
        bindings: vec![way.binding],
        scale: SCALE,
        ..Selection::default()
    };
    for result in unmet(&driver, &all).await {
        if !mutant.collateral.contains(&result.id.as_str()) {
            problem += &format!("{id} {bug:?} is caught by {}\n", told(&[result]));
        }
    }
    eprintln!("{id} {bug:?}: {:?}", began.elapsed());
    (!problem.is_empty()).then_some(problem)
}

#[test]
fn the_schema_of_cases_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/client-cases.json");
    let current = format!("{:#}\n", a2a_conformance::client::schema());
    if std::env::var_os("A2A_WRITE_SCHEMAS").is_some() {
        std::fs::write(path, &current).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == current,
        "A2A_WRITE_SCHEMAS=1 cargo test -p a2a-conformance --test client the_schema"
    );
}
