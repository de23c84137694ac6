//! Cases of renewed leases.

use super::bench::{Bench, eventually};
use super::sample::{LONG, SHORT, taken};
use super::saw::{Checked, holds};

super::promises! {
    "renew":
    for_the_term = "a renewed lease runs out too";
}

async fn for_the_term(bench: Bench) -> Checked {
    let writer = bench.begin("t").await?;
    bench.store.renew("h", SHORT).await?;
    eventually("the renewed lease runs out", || async {
        Ok((!bench.orphans().await?.is_empty()).then_some(()))
    })
    .await?;
    let taken = writer
        .append(writer.with(taken("other", LONG), vec![]))
        .await;
    holds("a lease that ran out can be taken", taken.is_ok())
}
