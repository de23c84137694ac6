//! Cases of leases.

use a2a_types::TaskState;

use super::super::{NewTask, StoreError};
use super::bench::{Bench, eventually};
use super::sample::{SHORT, ada, new, taken};
use super::saw::{Checked, Saw, same};

super::promises! {
    "lease":
    runs_out = "a lease can be taken once its term is over by the store's clock";
}

async fn runs_out(bench: Bench) -> Checked {
    let new = NewTask {
        term: SHORT,
        ..new("t")
    };
    let mut writer = bench.create(&ada(), new).await?;
    for holder in ["b", "c"] {
        let epoch = eventually("the lease runs out", || async {
            match writer
                .append(writer.with(taken(holder, SHORT), vec![]))
                .await
            {
                Ok(appended) => Ok(Some(appended.epoch)),
                Err(StoreError::Leased) => Ok(None),
                Err(other) => Err(Saw::from(other)),
            }
        })
        .await?;
        same("the epoch", epoch, writer.epoch + 1)?;
        writer.epoch = epoch;
    }
    writer.become_(TaskState::Working).await
}
