//! The suite as the agent: our client meets everything.

use a2a_conformance::client::{Driver, Selection};
use a2a_conformance::run::{CheckResult, Verdict};

/// Deadlines are for a machine that has other things to do, too.
const SCALE: f64 = 3.0;

/// Formats results as text.
fn describe(results: &[CheckResult]) -> String {
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
    let unmet = unmet(&Driver::reference(), &selection).await;
    assert!(unmet.is_empty(), "{}", describe(&unmet));
}

#[test]
fn the_schema_of_cases_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/client-cases.json");
    let current = format!("{:#}\n", a2a_conformance::client::schema());
    if std::env::var_os("A2A_WRITE_SCHEMAS").is_some() {
        std::fs::write(path, &current).unwrap();
    }
    let recorded = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        recorded == current,
        "A2A_WRITE_SCHEMAS=1 cargo test -p a2a-conformance --test it client the_schema"
    );
}
