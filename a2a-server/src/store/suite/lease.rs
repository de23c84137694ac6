//! Cases of leases.

use a2a_types::TaskState;

use super::super::NewTask;
use super::bench::{Bench, eventually};
use super::observation::Checked;
use super::sample::{LONG, SHORT, ada, new, taken};

super::promises! {
    "lease":
    runs_out = "a lease, also one that is renewed, can be taken once its term is over by the store's clock";
}

async fn runs_out(bench: Bench) -> Checked {
    let new = NewTask {
        term: SHORT,
        ..new("t")
    };
    let mut writer = bench.create(&ada(), new).await?;
    for (holder, term) in [("b", SHORT), ("c", LONG), ("d", LONG)] {
        if holder == "d" {
            bench.store.renew("c", SHORT).await?;
        }
        eventually("the lease runs out", || async {
            Ok((!bench.orphans().await?.is_empty()).then_some(()))
        })
        .await?;
        writer
            .write(writer.with(taken(holder, term), vec![]))
            .await?;
    }
    writer.become_(TaskState::Working).await
}
