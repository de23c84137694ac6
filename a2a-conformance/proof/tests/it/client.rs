//! The suite as the agent: our client meets everything.

use a2a_conformance::client::{Driver, Selection};
use a2a_conformance::record::{CheckResult, Verdict};
use a2a_conformance_proof::client::ClientSubject;
use a2a_conformance_proof::reference_client::connect;
use a2a_types::ProtocolVersion;

/// Deadlines are for a machine that has other things to do, too.
const SCALE: f64 = 3.0;

/// Formats results as text.
fn describe(results: &[CheckResult]) -> String {
    let mut text = String::new();
    for result in results {
        let (binding, protocol_version) = (&result.binding, &result.protocol_version);
        text += &format!(
            "\n{:?} {} {binding:?} {protocol_version:?}",
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
    let unmet = unmet(
        &Driver::connections(|| Ok(connect(ClientSubject::Reference))),
        &selection,
    )
    .await;
    assert!(unmet.is_empty(), "{}", describe(&unmet));
}

const REFERENCE_CLIENT: &str = env!("CARGO_BIN_EXE_reference-client");

#[tokio::test(flavor = "multi_thread")]
async fn command_started_for_each_case_meets_every_check() {
    let selection = Selection {
        protocol_versions: vec![ProtocolVersion::V1_0],
        scale: 10.0,
        ..Selection::default()
    };
    let driver = Driver::exec(REFERENCE_CLIENT);
    let results = selection.run(&driver, |_| {}).await.unwrap();
    let unmet: Vec<_> = results
        .iter()
        .filter(|result| !result.verdict.is_met() && result.verdict != Verdict::NotApplicable)
        .cloned()
        .collect();
    assert!(unmet.is_empty(), "{}", describe(&unmet));
    let has = |id: &str, verdict| {
        let mut results = results.iter();
        results.any(|result| result.id == id && result.verdict == verdict)
    };
    // The result that the client got is not seen.
    assert!(has("client.reads-answers", Verdict::NotApplicable));
    assert!(has("webhook.checks-credentials", Verdict::Pass));
    assert!(has("client.request-valid", Verdict::Pass));
}

#[tokio::test(flavor = "multi_thread")]
async fn command_that_reads_instructions_passes() {
    let selection = Selection {
        run: ["client.reads-*", "webhook.*"].map(str::to_owned).to_vec(),
        ..Selection::default()
    };
    let unmet = unmet(&Driver::stdio(REFERENCE_CLIENT), &selection).await;
    assert!(unmet.is_empty(), "{}", describe(&unmet));
}
