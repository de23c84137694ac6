//! Self-test of the suite: mutants are caught and controls pass. The program `self-test`
//! proves it in every protocol version and binding, for every mutant; here one mutant or control in
//! twelve is tested.

use a2a_conformance_proof::{Extent, Subject, prove_all};

/// One mutant or control in this many is tested.
const ONE_OF: usize = 12;

/// Number tested concurrently: much of the time passes in waiting.
const AT_ONCE: usize = 6;

#[tokio::test(flavor = "multi_thread")]
async fn mutants_are_caught_and_controls_pass() {
    let sample: Vec<_> = Subject::all().into_iter().step_by(ONE_OF).collect();
    let proofs = prove_all(&sample, Extent::Brief, AT_ONCE, |_, _| {}).await;
    let proofs = proofs.unwrap();
    let wrong: Vec<_> = proofs.iter().filter(|proof| !proof.holds()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
