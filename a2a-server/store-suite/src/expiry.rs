//! Cases of terms that run out by the store's clock.

use a2a_server::{DeliveryResult, IdempotencyRecord, Notification, Outcome};
use a2a_types::{Message, TaskState};

use crate::bench::{Bench, eventually};
use crate::case::promises;
use crate::observation::{Checked, same};
use crate::sample::{
    LONG, NONE, SHORT, ada, digest, new_by, new_for, receipt, receipt_for, said, taken,
};

promises! {
    "lease.runs_out": lease = "a lease, also one that is renewed, can be taken once its term is over by the store's clock";
    "receipt.runs_out": message = "a message is forgotten after the term of its receipt, and can be sent again";
    "outbox.due_again": notification = "what is taken or put off is due again once its time is over, and for no sender before";
    "outbox.late_outcome": late_outcome = "the outcome of an attempt that is not the last counts only if it was delivered";
}

async fn lease(bench: Bench) -> Checked {
    let mut writer = bench.create(&ada(), new_for(SHORT, "t")).await?;
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

async fn message(bench: Bench) -> Checked {
    let begin = |id: &str| new_by(receipt_for("m", SHORT), id);
    let mut writer = bench.create(&ada(), begin("t")).await?;
    let forgotten = || {
        eventually("the receipt runs out", || async {
            let received = bench.store.received(&ada(), &"m".into()).await?;
            Ok(received.is_none().then_some(()))
        })
    };
    forgotten().await?;
    let mut append = writer.held(vec![said(&writer.task, "m")]);
    append.receipt = Some(receipt_for("m", SHORT));
    writer.write(append).await?;
    forgotten().await?;
    let answer = Message::agent("hello");
    let (store, again) = (&bench.store, receipt_for("m", SHORT));
    store.store_response(&ada(), again, answer).await?;
    forgotten().await?;
    // A sweep clears away no more than what is forgotten.
    bench.create(&ada(), begin("u")).await?;
    forgotten().await?;
    bench.create(&ada(), new_by(receipt("m"), "v")).await?;
    bench.sweep_all().await?;
    let found = bench.store.received(&ada(), &"m".into()).await?;
    let became = IdempotencyRecord::new(digest("m"), Outcome::Task("v".into()));
    same("what became of it", found, Some(became))
}

/// Waits until a notification is due, and hides it for long.
async fn due(bench: &Bench) -> Checked<Notification> {
    eventually("the time is over", || async {
        Ok(bench.due().await?.pop())
    })
    .await
}

async fn notification(bench: Bench) -> Checked {
    let mut writer = bench.watched("t").await?;
    writer.work(2).await?;
    let first = bench.store.notifications(10, SHORT).await?;
    same("how many are due", first.len(), 1)?;
    for attempt in [1, 2] {
        let again = due(&bench).await?;
        let found = (again.sequence, again.attempt);
        same("what is due again", found, (2, attempt))?;
        for pause in [LONG, SHORT] {
            same("what is due meanwhile", bench.due().await?, vec![])?;
            let later = DeliveryResult::Retry(pause);
            bench.store.record_delivery(&again, later).await?;
        }
    }
    Ok(())
}

async fn late_outcome(bench: Bench) -> Checked {
    let mut writer = bench.watched("t").await?;
    writer.work(2).await?;
    let mut first = bench.store.notifications(10, SHORT).await?;
    let first = first.remove(0);
    let again = due(&bench).await?;
    for late in [
        DeliveryResult::Retry(NONE),
        DeliveryResult::Deferred(NONE),
        DeliveryResult::DeadLetter,
    ] {
        bench.store.record_delivery(&first, late).await?;
        same("what is due after a failure", bench.due().await?, vec![])?;
    }
    bench
        .store
        .record_delivery(&again, DeliveryResult::DeadLetter)
        .await?;
    bench
        .store
        .record_delivery(&first, DeliveryResult::Retry(NONE))
        .await?;
    let next = due(&bench).await?.sequence;
    same("what is due after the dead letter", next, 3)?;
    bench
        .store
        .record_delivery(&first, DeliveryResult::Delivered)
        .await?;
    let dead = bench.store.dead_letters(10).await?;
    same("the dead letters", dead, vec![])
}
