//! Cases of notifications.

use a2a_types::{Dialect, TaskPushNotificationConfig};

use super::super::{Append, Notification, Settlement};
use super::bench::{Bench, eventually};
use super::sample::{LONG, SHORT, ada, chunk, config};
use super::saw::{Checked, same};
use super::writer::Writer;

super::promises! {
    "outbox":
    taken = "what somebody has taken is due for nobody else, until the term is over";
    put_off = "what is put off is due again after that time, and nothing overtakes it";
}

/// A task with these webhooks.
async fn watched(bench: &Bench, id: &str, webhooks: &[&str]) -> Checked<Writer> {
    let writer = bench.begin(id).await?;
    for webhook in webhooks {
        let config = config(&writer.task, webhook);
        bench
            .store
            .put_config(&ada(), config, Dialect::V1_0)
            .await?;
    }
    Ok(writer)
}

/// Adds so many chunks of which webhooks are notified.
async fn work(writer: &mut Writer, count: usize) -> Checked {
    let append = Append {
        notify: true,
        ..writer.held(vec![chunk(&writer.task, "a", "1", true); count])
    };
    writer.write(append).await
}

/// Returns task, webhook and sequence number of each notification, sorted.
fn told(due: &[Notification]) -> Vec<(String, String, u64)> {
    let mut told: Vec<_> = due
        .iter()
        .map(|due| {
            let TaskPushNotificationConfig { id, task_id, .. } = due.config.clone();
            (task_id.into(), id.into(), due.sequence)
        })
        .collect();
    told.sort();
    told
}

fn row(task: &str, webhook: &str, sequence: u64) -> (String, String, u64) {
    (task.to_owned(), webhook.to_owned(), sequence)
}

/// The only notification that is due.
async fn only(bench: &Bench) -> Checked<Notification> {
    let mut due = bench.due().await?;
    same("how many are due", due.len(), 1)?;
    Ok(due.remove(0))
}

async fn taken(bench: Bench) -> Checked {
    let mut writer = watched(&bench, "t", &["c"]).await?;
    work(&mut writer, 2).await?;
    let first = bench.store.notifications(10, SHORT).await?;
    same("what is due", told(&first), vec![row("t", "c", 2)])?;
    let again = eventually("the term is over", || async {
        let due = bench.due().await?;
        Ok((!due.is_empty()).then_some(due))
    })
    .await?;
    same("what is due again", told(&again), vec![row("t", "c", 2)])?;
    same("what is due meanwhile", bench.due().await?, vec![])?;
    // The first to take it may still settle it, and nothing happens twice.
    for _ in 0..2 {
        bench.store.settle(&first[0], Settlement::Delivered).await?;
    }
    let next = told(&bench.due().await?);
    same("what is due next", next, vec![row("t", "c", 3)])
}

async fn put_off(bench: Bench) -> Checked {
    let mut writer = watched(&bench, "t", &["c"]).await?;
    work(&mut writer, 2).await?;
    let first = only(&bench).await?;
    let later = Settlement::Later(LONG);
    bench.store.settle(&first, later).await?;
    same("what is due", bench.due().await?, vec![])?;
    work(&mut writer, 1).await?;
    same("what is due", bench.due().await?, vec![])?;
    let soon = Settlement::Later(SHORT);
    bench.store.settle(&first, soon).await?;
    let again = eventually("the time is over", || async {
        Ok(bench.due().await?.pop())
    })
    .await?;
    let found = (again.sequence, again.attempt);
    same("what is due again", found, (2, 1))
}
