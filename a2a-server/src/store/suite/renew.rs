//! Cases of renewed leases.

use std::time::Duration;

use a2a_types::TaskState;

use super::super::{Append, NewTask, StoreError};
use super::bench::{Bench, eventually};
use super::sample::{LONG, NONE, SHORT, ada, new, owner, taken};
use super::saw::{Checked, holds, refused, same};
use super::writer::Writer;

super::promises! {
    "renew":
    prolongs = "all leases of a holder last for the term from now on, also those that ran out";
    own = "nobody's lease is prolonged but the holder's own";
    not_given_back = "a lease that was handed back is not prolonged";
    not_lost = "a lease that somebody else has taken is not prolonged";
    for_the_term = "a renewed lease runs out too";
}

async fn begin(bench: &Bench, id: &str, holder: &str, term: Duration) -> Checked<Writer> {
    let new = NewTask {
        holder: holder.into(),
        term,
        ..new(id)
    };
    Ok(bench.create(&ada(), new).await?)
}

async fn lasts(writer: &Writer) -> Checked {
    let other = writer.with(taken("other", LONG), vec![]);
    refused!(writer.append(other).await, StoreError::Leased);
    Ok(())
}

async fn prolongs(bench: Bench) -> Checked {
    let one = begin(&bench, "one", "h", SHORT).await?;
    let two = begin(&bench, "two", "h", NONE).await?;
    let of_bob = NewTask {
        term: NONE,
        ..new("one")
    };
    let bobs = bench.create(&owner("bob"), of_bob).await?;
    // Runs out after the first one would have.
    begin(&bench, "clock", "c", SHORT).await?;
    bench.store.renew("h", LONG).await?;
    eventually("a lease runs out", || async {
        let orphans = bench.orphans().await?;
        Ok(orphans.contains(&(ada(), "clock".into())).then_some(()))
    })
    .await?;
    for mut writer in [one, two, bobs] {
        lasts(&writer).await?;
        writer.become_(TaskState::Working).await?;
    }
    let clock_alone = [(ada(), "clock".to_owned())].into();
    same("the orphans", bench.orphans().await?, clock_alone)
}

async fn own(bench: Bench) -> Checked {
    let mut writer = begin(&bench, "t", "h", NONE).await?;
    for other in ["", "H", "h2", "%", "other"] {
        bench.store.renew(other, LONG).await?;
    }
    writer
        .write(writer.with(taken("other", NONE), vec![]))
        .await
}

async fn not_given_back(bench: Bench) -> Checked {
    let mut writer = begin(&bench, "t", "h", LONG).await?;
    let hand_back = Append {
        release: true,
        ..writer.held(vec![])
    };
    writer.write(hand_back).await?;
    bench.store.renew("h", LONG).await?;
    writer
        .write(writer.with(taken("other", LONG), vec![]))
        .await
}

async fn not_lost(bench: Bench) -> Checked {
    let mut writer = begin(&bench, "t", "h", NONE).await?;
    writer
        .write(writer.with(taken("other", NONE), vec![]))
        .await?;
    bench.store.renew("h", LONG).await?;
    writer
        .write(writer.with(taken("third", LONG), vec![]))
        .await
}

async fn for_the_term(bench: Bench) -> Checked {
    let writer = begin(&bench, "t", "h", LONG).await?;
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
