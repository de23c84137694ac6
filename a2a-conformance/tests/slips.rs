//! What people get wrong by hand is seen, wherever it shows.

use a2a_conformance::mutant::agent::{PLACES, SLIPS, slipped};
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
    while let Some((slip, (dialect, binding), red)) = running.next().await {
        match red.unwrap() {
            None => println!("{:24} {dialect} {binding}: does not show", slip.name),
            Some(red) if red.is_empty() => {
                println!("{:24} {dialect} {binding}: SURVIVED", slip.name);
                survivors.push(format!("{} {dialect} {binding}", slip.name));
            }
            Some(red) => {
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
}
