//! What people get wrong by hand is seen, wherever it shows.

use std::collections::BTreeSet;

use a2a_conformance::agent::invariants;
use a2a_conformance::mutant::agent::{Bug, PLACES, SLIPS, slipped};
use futures_util::stream::{self, StreamExt};

#[tokio::test(flavor = "multi_thread")]
async fn slips_are_seen() {
    let only = std::env::var("SLIPS").unwrap_or_default();
    let slips = SLIPS
        .iter()
        .filter(|slip| only.is_empty() || only.split(',').any(|name| slip.name.contains(name)));
    let jobs = slips.flat_map(|slip| PLACES.iter().map(move |place| (*slip, *place)));
    let running =
        jobs.map(|(slip, place)| async move { (slip, place, slipped(slip, place).await) });
    let mut running = std::pin::pin!(stream::iter(running).buffered(8));
    let mut survivors = Vec::new();
    let mut seen = BTreeSet::new();
    while let Some((slip, (dialect, binding), red)) = running.next().await {
        match red.unwrap() {
            None => println!("{:24} {dialect} {binding}: does not show", slip.name),
            Some(red) if red.is_empty() => {
                println!("{:24} {dialect} {binding}: SURVIVED", slip.name);
                survivors.push(format!("{} {dialect} {binding}", slip.name));
            }
            Some(red) => {
                seen.extend(red.iter().cloned());
                let some: Vec<_> = red.iter().take(6).cloned().collect();
                println!(
                    "{:24} {dialect} {binding}: {} {}",
                    slip.name,
                    red.len(),
                    some.join(" ")
                );
            }
        }
    }
    assert!(survivors.is_empty(), "{survivors:#?}");
    if only.is_empty() {
        // What holds in every exchange fails in some. That these bugs are caught is what the suite's
        // own test proves.
        let named = Bug::ALL.iter().flat_map(|bug| bug.story().kills);
        seen.extend(named.map(|&check| check.to_owned()));
        let never = invariants().map(|(id, ..)| id);
        let never: Vec<_> = never.filter(|id| !seen.contains(*id)).collect();
        assert_eq!(never, [""; 0], "they hold whatever an agent does");
    }
}
