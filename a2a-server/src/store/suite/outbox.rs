//! Cases of notifications.

use super::super::Settlement;
use super::bench::{Bench, eventually};
use super::observation::{Checked, same};
use super::sample::{LONG, SHORT};

super::promises! {
    "outbox":
    due_again = "what is taken or put off is due again once its time is over, and until then for nobody";
}

async fn due_again(bench: Bench) -> Checked {
    let mut writer = bench.watched("t", &["c"]).await?;
    writer.work(2).await?;
    let first = bench.store.notifications(10, SHORT).await?;
    same("how many are due", first.len(), 1)?;
    for attempt in [1, 2] {
        let again = eventually("the time is over", || async {
            Ok(bench.due().await?.pop())
        });
        let again = again.await?;
        let found = (again.sequence, again.attempt);
        same("what is due again", found, (2, attempt))?;
        // The first to take it may still settle it.
        for pause in [LONG, SHORT] {
            same("what is due meanwhile", bench.due().await?, vec![])?;
            let later = Settlement::Later(pause);
            bench.store.settle(&first[0], later).await?;
        }
    }
    Ok(())
}
