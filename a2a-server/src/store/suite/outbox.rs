//! Cases of notifications.

use super::super::{Notification, Settlement};
use super::bench::{Bench, eventually};
use super::observation::{Checked, same};
use super::sample::{LONG, NONE, SHORT};

super::promises! {
    "outbox":
    due_again = "what is taken or put off is due again once its time is over, and until then for nobody";
    late_outcome = "the outcome of an attempt that is not the last counts only if it was delivered";
}

/// Waits until a notification is due, and hides it for long.
async fn due(bench: &Bench) -> Checked<Notification> {
    eventually("the time is over", || async {
        Ok(bench.due().await?.pop())
    })
    .await
}

async fn due_again(bench: Bench) -> Checked {
    let mut writer = bench.watched("t", &["c"]).await?;
    writer.work(2).await?;
    let first = bench.store.notifications(10, SHORT).await?;
    same("how many are due", first.len(), 1)?;
    for attempt in [1, 2] {
        let again = due(&bench).await?;
        let found = (again.sequence, again.attempt);
        same("what is due again", found, (2, attempt))?;
        for pause in [LONG, SHORT] {
            same("what is due meanwhile", bench.due().await?, vec![])?;
            let later = Settlement::Later(pause);
            bench.store.settle(&again, later).await?;
        }
    }
    Ok(())
}

async fn late_outcome(bench: Bench) -> Checked {
    let mut writer = bench.watched("t", &["c"]).await?;
    writer.work(2).await?;
    let mut first = bench.store.notifications(10, SHORT).await?;
    let first = first.remove(0);
    let again = due(&bench).await?;
    for late in [
        Settlement::Later(NONE),
        Settlement::Untried(NONE),
        Settlement::GivenUp,
    ] {
        bench.store.settle(&first, late).await?;
        same("what is due after a failure", bench.due().await?, vec![])?;
    }
    bench.store.settle(&again, Settlement::GivenUp).await?;
    bench.store.settle(&first, Settlement::Later(NONE)).await?;
    let next = due(&bench).await?.sequence;
    same("what is due after the dead letter", next, 3)?;
    bench.store.settle(&first, Settlement::Delivered).await?;
    let dead = bench.store.dead_letters(10).await?;
    same("the dead letters", dead, vec![])
}
