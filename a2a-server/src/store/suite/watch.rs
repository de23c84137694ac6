//! Cases of watches on a log.

use a2a_types::TaskState;

use super::super::StoreError;
use super::bench::{Bench, soon};
use super::observation::{Checked, refused, same};
use super::sample::ada;

super::promises! {
    "watch":
    tells_of_growth = "a watcher sees every append, and the removal of the task";
}

async fn tells_of_growth(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let mut watch = bench.store.watch(&ada(), &writer.task).await?;
    for state in [TaskState::Working, TaskState::Completed] {
        writer.become_(state).await?;
        let grown = watch.wait_for(|end| *end >= writer.sequence);
        let end = soon("the watcher sees the append", grown)
            .await?
            .map(|end| *end);
        same("the sequence", end.ok(), Some(writer.sequence))?;
    }
    same("how many are swept", bench.sweep_all().await?, 1)?;
    let waiting = async { while watch.changed().await.is_ok() {} };
    soon("the watch is closed", waiting).await?;
    let again = bench.store.watch(&ada(), &writer.task).await;
    refused!(again, StoreError::NoTask);
    Ok(())
}
